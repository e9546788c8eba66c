//! What is found in an export, whatever product wrote it.

use std::{fmt, path::PathBuf};

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::blocks;

/// Something that was found, and how far the reading is.
#[derive(Debug, Clone)]
pub struct Found {
    /// What it is.
    pub item: Item,
    /// How many bytes have been read so far, of [`crate::Input::total_bytes`].
    pub bytes_read: u64,
}

/// What can be found.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A conversation.
    Conversation(Conversation),
    /// Something that was remembered.
    Memory(Memory),
    /// What is not imported, and why.
    Skipped(Skipped),
    /// An export of our own, to be read elsewhere.
    OwnExport(OwnExport),
}

/// The product that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// Claude, in the browser or an app.
    Claude,
    /// ChatGPT.
    ChatGpt,
    /// Claude Code, on the command line.
    ClaudeCode,
    /// mem0 and OpenMemory.
    Mem0,
    /// The official MCP server `server-memory`.
    ServerMemory,
    /// basic-memory.
    BasicMemory,
    /// Folders of Markdown and text.
    Markdown,
    /// Ourselves.
    Polymnemo,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Claude,
        Self::ChatGpt,
        Self::ClaudeCode,
        Self::Mem0,
        Self::ServerMemory,
        Self::BasicMemory,
        Self::Markdown,
        Self::Polymnemo,
    ];

    /// Its name where it is stored: this never changes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::ChatGpt => "chatgpt",
            Self::ClaudeCode => "claude-code",
            Self::Mem0 => "mem0",
            Self::ServerMemory => "server-memory",
            Self::BasicMemory => "basic-memory",
            Self::Markdown => "markdown",
            Self::Polymnemo => "polymnemo",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == name)
    }

    /// What people call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude",
            Self::ChatGpt => "ChatGPT",
            Self::ClaudeCode => "Claude Code",
            Self::Mem0 => "mem0",
            Self::ServerMemory => "server-memory",
            Self::BasicMemory => "basic-memory",
            Self::Markdown => "Markdown",
            Self::Polymnemo => "polymnemo",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Who wrote it.
    pub source: Source,
    /// The product's id of it, else one made from when and how it begins: the same in every export.
    pub source_id: String,
    /// What it is called, else the first words of the user. Empty where there is neither.
    pub title: String,
    /// Whether the product gave the title.
    pub is_title_given: bool,
    /// When it began: as given, else the time of its first message.
    pub created_at: Option<Timestamp>,
    /// When it was last changed: as given, else the time of its last message.
    pub updated_at: Option<Timestamp>,
    /// The current branch, from its beginning.
    pub messages: Vec<Message>,
    /// What else there is of it: answers that were made again, questions that were edited.
    pub branches: Vec<Branch>,
    /// The model that answered last.
    pub model: Option<String>,
    /// What else is known of it, under these names as far as there is something: `project`, `project_name`, `gpt`,
    /// `archived`, `starred`, `summary`, `instructions`, `cwd`, `git_branch`, `version`, `sidechain`, `session`.
    pub metadata: Map<String, Value>,
    /// Documents that were written in it, each as it was in the end.
    pub artifacts: Vec<Artifact>,
    /// SHA-256 of everything that matters: a conversation whose digest is the same has not changed.
    pub digest: [u8; 32],
}

/// Messages that are not on the current branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The message it goes on from, where there is one: on the current branch or on one before.
    pub off: Option<String>,
    /// Whether another agent spoke here, to which the task was given.
    pub is_sidechain: bool,
    /// The messages that only it has, in order.
    pub messages: Vec<Message>,
}

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The product's id of it.
    pub id: Option<String>,
    /// Who speaks: `user`, `assistant`, `system`, `tool`.
    pub role: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// What is said.
    pub content: MessageContent,
}

/// What a message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageContent {
    /// Text.
    Text(String),
    /// Content blocks: a JSON array as text. See [`crate::blocks`] for the kinds.
    Blocks(String),
}

/// A file that was given with a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attachment {
    /// Its name, or its id where it has none.
    pub name: String,
    /// What is written in it, as far as the product says.
    pub text: Option<String>,
}

impl Message {
    /// What a reader sees: what is said, and what is written in the files that were given with it. Nothing of thinking, of
    /// tools and of what the product said behind the scenes, and no NUL.
    #[must_use]
    pub fn visible_text(&self) -> String {
        let attached = self.attachments().into_iter().filter_map(|attachment| attachment.text);
        let parts: Vec<String> =
            std::iter::once(self.said_text()).chain(attached).filter(|text| !text.is_empty()).collect();
        parts.join("\n\n").replace('\0', "")
    }

    /// What is said, without what is written in files. No NUL.
    #[must_use]
    pub fn said_text(&self) -> String {
        match &self.content {
            MessageContent::Text(_) if self.role == "tool" => String::new(),
            MessageContent::Text(text) => text.replace('\0', ""),
            MessageContent::Blocks(json) => blocks::said(&blocks::parse(json)).replace('\0', ""),
        }
    }

    /// The files that were given with it.
    #[must_use]
    pub fn attachments(&self) -> Vec<Attachment> {
        match &self.content {
            MessageContent::Text(_) => Vec::new(),
            MessageContent::Blocks(json) => blocks::attachments(&blocks::parse(json)),
        }
    }
}

/// A document that was written in a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Artifact {
    /// The product's id of it.
    pub id: String,
    /// What it is called.
    pub title: Option<String>,
    /// What it is: a MIME type, or the product's word for it.
    pub kind: Option<String>,
    /// The programming language.
    pub language: Option<String>,
    /// How it reads in the end.
    pub content: String,
    /// False where a change could not be made again, so that the text may be an older one.
    pub is_complete: bool,
}

/// What kind of thing was remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemoryKind {
    /// What the product remembered, or the person wrote down.
    Memory,
    /// What a project asks of every conversation in it.
    ProjectInstructions,
    /// A document of a project.
    ProjectDocument,
}

/// Something that was remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Who wrote it.
    pub source: Source,
    /// The product's id of it, else one made from what it says: the same in every export.
    pub source_id: String,
    /// What kind of thing it is.
    pub kind: MemoryKind,
    /// What it says: at most [`crate::Limits::memory_bytes`]; longer ones come in parts.
    pub content: String,
    /// Tags.
    pub tags: Vec<String>,
    /// When it was stored.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// When it happened, where the product says so.
    pub occurred_at: Option<Timestamp>,
    /// What it is called.
    pub title: Option<String>,
    /// Where it was: a path within the folder or within the product, without `..`. Only to be shown.
    pub path: Option<String>,
    /// The user, project or folder it belongs to, as a wish for a namespace.
    pub namespace_hint: Option<String>,
    /// SHA-256 of everything that matters: a memory whose digest is the same has not changed.
    pub digest: [u8; 32],
}

/// What is not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Whose it is, where that is known.
    pub source: Option<Source>,
    /// The file it is in, as it was given; within an archive or a folder with the path in it.
    pub file: String,
    /// Its id or title, where it is only a part of the file.
    pub item: Option<String>,
    /// Why.
    pub reason: Reason,
}

/// Why something is not imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// A conversation without a message, a memory without a word.
    #[error("there is nothing in it")]
    NothingInIt,
    /// A file that belongs to an export and holds nothing to import.
    #[error("this is not part of an import: {0}")]
    NotForImport(String),
    /// The list of downloads.
    #[error("this is the download list, not the data: download what it names and import that: {}", .0.join(", "))]
    DownloadList(Vec<String>),
    /// It is in this import another time.
    #[error("it is in this import another time, the same or newer")]
    Double,
    /// Nothing that is known here.
    #[error("this is not an export that is known here")]
    NotRecognised,
    /// It can't be read.
    #[error("it is broken: {0}")]
    Broken(String),
    /// It ends in the middle.
    #[error(
        "the file ends in the middle: the download was cut off, or the disk was full. What comes before is imported; download it again for the rest"
    )]
    CutOff,
    /// An archive without its end.
    #[error("this is a cut-off download: the end of the archive is missing. Download it again")]
    CutOffDownload,
    /// More than may be read at once.
    #[error("it is too large: more than {} MB", .0.div_ceil(1_000_000))]
    TooLarge(u64),
    /// More than may be read in all.
    #[error("there is too much in it: more than {} MB unpacked", .0.div_ceil(1_000_000))]
    TooMuch(u64),
    /// Packed so tightly that it can only be meant to do harm.
    #[error("it unpacks to so much more than its size that it looks like a zip bomb")]
    Bomb,
    /// More files than may be read.
    #[error("there are too many files in it: more than {0}")]
    TooManyFiles(usize),
    /// Folders in folders in folders.
    #[error("the folders are nested too deep: more than {0}")]
    TooDeep(usize),
    /// A name that leads out of the archive.
    #[error("its name leads out of the archive")]
    UnsafeName,
    /// A link.
    #[error("it is a link, and links are not followed")]
    Link,
    /// It needs a password.
    #[error("it is encrypted: unpack it with its password and import what was in it")]
    Encrypted,
    /// Packed in a way that can't be unpacked here.
    #[error("it is packed in a way that is not known here ({0}): unpack it and import what was in it")]
    Packing(String),
    /// An archive in an archive.
    #[error("it is an archive in an archive: unpack the outer one and import what was in it")]
    NestedArchive,
    /// The system refused.
    #[error("it can't be opened: {0}")]
    Unreadable(String),
}

/// An export of our own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnExport {
    /// The archive, or the folder it was unpacked to.
    pub path: PathBuf,
    /// Whether `path` is an archive.
    pub is_archive: bool,
    /// Where in it the manifest is: empty at its root, else with `/` at the end.
    pub prefix: String,
}
