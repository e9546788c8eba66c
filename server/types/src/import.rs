use serde::{Deserialize, Serialize};

use crate::{ImportId, MemoryId};
use jiff::Timestamp;

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    /// What is in the files is being looked at. Nothing is written yet.
    Planning,
    /// What is in them is known, and the person is to say whether it comes in.
    Planned,
    /// It is coming in.
    Running,
    /// All of it is in.
    Done,
    /// The person stopped it. What had come in is in.
    Cancelled,
    /// It can't go on; the reason is told.
    Failed,
    /// It is being taken back.
    Undoing,
    /// It was taken back.
    Undone,
}

impl ImportState {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Planning,
        Self::Planned,
        Self::Running,
        Self::Done,
        Self::Cancelled,
        Self::Failed,
        Self::Undoing,
        Self::Undone,
    ];

    /// Its name where it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Planned => "planned",
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Undoing => "undoing",
            Self::Undone => "undone",
        }
    }

    /// Whether the server is at work on it.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Planning | Self::Running | Self::Undoing)
    }

    /// Whether it brought something in that can be taken back.
    #[must_use]
    pub fn can_be_undone(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled | Self::Failed)
    }
}

/// What of the files is imported, and where to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportOptions {
    /// The namespace it goes to; the user's default one when absent.
    pub namespace: Option<String>,
    /// Only what was changed at this time or later: RFC 3339, or a date in the user's time zone. What has no time comes in.
    pub since: Option<String>,
    /// At most this many conversations and memories.
    pub limit: Option<u64>,
    /// Also what an earlier import brought and the person deleted since.
    pub again: bool,
}

/// What became of something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// It is being written.
    Writing,
    /// It is new.
    Created,
    /// The session has more messages than before.
    Grown,
    /// The memory says what the newer export says.
    Updated,
    /// It was in already, just so.
    Unchanged,
    /// The person changed it since it came in, so it was left as it is.
    Edited,
    /// The person deleted it since it came in, so it was left out.
    Deleted,
    /// It was left out for the reason that is told.
    Skipped,
    /// It was taken back.
    Undone,
    /// It stays although the import was taken back, for the reason that is told.
    Kept,
}

impl ImportOutcome {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Writing,
        Self::Created,
        Self::Grown,
        Self::Updated,
        Self::Unchanged,
        Self::Edited,
        Self::Deleted,
        Self::Skipped,
        Self::Undone,
        Self::Kept,
    ];

    /// Its name where it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Writing => "writing",
            Self::Created => "created",
            Self::Grown => "grown",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Edited => "edited",
            Self::Deleted => "deleted",
            Self::Skipped => "skipped",
            Self::Undone => "undone",
            Self::Kept => "kept",
        }
    }
}

/// How many things an outcome became of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeCount {
    /// The outcome.
    pub outcome: ImportOutcome,
    /// Whether it is about conversations, or else about memories. What was skipped counts as neither.
    pub is_session: bool,
    /// How many.
    pub items: u64,
    /// How many messages of conversations were added.
    pub messages: u64,
}

/// What was found in the files of one product.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourcePlan {
    /// The product, as people call it.
    pub source: String,
    /// Its conversations, those on other branches included.
    pub conversations: u64,
    /// The messages in them.
    pub messages: u64,
    /// Its memories: what it remembered, documents of projects, notes.
    pub memories: u64,
    /// Of conversations and memories those that are new.
    pub new: u64,
    /// Those that say more or other than what is in.
    pub changed: u64,
    /// Those that are in already, just so.
    pub unchanged: u64,
    /// Those that the person deleted since they came in.
    pub deleted: u64,
}

/// Why things are left out, and how many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedPlan {
    /// Why.
    pub reason: String,
    /// How many.
    pub items: u64,
    /// The first of them, for example.
    pub example: String,
}

/// What an import would do. Nothing is written yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportPlan {
    /// What is there, by product.
    pub sources: Vec<SourcePlan>,
    /// What is left out, by reason.
    pub skipped: Vec<SkippedPlan>,
    /// How many are left out because they are older than asked, or more than asked.
    pub not_asked: u64,
    /// The characters that will be searched by meaning.
    pub characters: u64,
    /// About how long it takes until all of it can be searched by meaning, in seconds; absent where the model is not
    /// there to tell. It can be read and found by keyword long before.
    pub seconds: Option<u64>,
    /// Whether it is an export of polymnemo itself.
    pub is_own_export: bool,
    /// Whether everyone on the server can read what is in the namespace that it goes to.
    pub is_shared: bool,
}

impl ImportPlan {
    /// How many conversations and memories would be written.
    #[must_use]
    pub fn to_write(&self) -> u64 {
        self.sources.iter().map(|source| source.new + source.changed).sum()
    }
}

/// An import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// Its id.
    pub id: ImportId,
    /// How far it is.
    pub state: ImportState,
    /// The names of the files.
    pub files: Vec<String>,
    /// What of them is imported, and where to.
    pub options: ImportOptions,
    /// What is in them, once that is known.
    pub plan: Option<ImportPlan>,
    /// What became of it so far.
    pub counts: Vec<OutcomeCount>,
    /// How many bytes were read.
    pub bytes_read: u64,
    /// How many there are.
    pub total_bytes: u64,
    /// Why it can't go on.
    pub error: Option<String>,
    /// When it was begun.
    pub created_at: Timestamp,
    /// When it began to come in, or to be taken back.
    pub started_at: Option<Timestamp>,
    /// When that ended.
    pub finished_at: Option<Timestamp>,
}

impl Import {
    /// How many things this outcome became of.
    #[must_use]
    pub fn count(&self, outcome: ImportOutcome) -> u64 {
        self.counts.iter().filter(|count| count.outcome == outcome).map(|count| count.items).sum()
    }
}

/// A line of the report of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImportLine {
    /// Its place in the order of reading.
    pub ordinal: u64,
    /// What became of it.
    pub outcome: ImportOutcome,
    /// The product.
    pub source: Option<String>,
    /// What the product calls it, or the file that it is in.
    pub source_id: Option<String>,
    /// Its title or beginning, as far as it is there.
    pub title: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The memory or session, where it is there.
    pub memory: Option<MemoryId>,
    /// Whether it is a conversation.
    pub is_session: bool,
    /// How many messages were added.
    pub messages: u32,
}
