use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{MediaFile, MemoryId, MessagePlace};

/// What a record is. Plain memories are the only kind that `remember` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A text that someone asked to keep.
    Memory,
    /// A conversation.
    Session,
    /// A file; its description is what is searched.
    Media,
}

/// Keep a text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RememberRequest {
    /// The text, at most [`crate::limits::CONTENT_BYTES`] long.
    pub content: String,
    /// The namespace it goes to; the user's default one when absent. Made when it is new.
    #[serde(default)]
    pub namespace: Option<String>,
    /// Labels, compared without regard to case.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Where the text comes from: a person, an app, a page.
    #[serde(default)]
    pub source: Option<String>,
    /// The time the text speaks of or was said at: RFC 3339, or a date in the user's time zone. Now, when absent.
    #[serde(default)]
    pub occurred_at: Option<String>,
    /// The memories that this one corrects; they are kept as history and no longer recalled.
    #[serde(default)]
    pub supersedes: Vec<MemoryId>,
    /// The same key with the same text is the same request: repeating it stores nothing twice.
    #[serde(default)]
    pub idempotency_key: Option<String>,
    /// The message it was taken from, of a session that the caller may read.
    #[serde(default)]
    pub origin: Option<MessagePlace>,
}

/// Whether `remember` made a new memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum RememberStatus {
    /// A new memory was made.
    Stored,
    /// The user already had this text in this namespace; nothing was written.
    AlreadyStored,
}

/// Whether all of a memory's text is in the search index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum IndexState {
    /// Every passage is found by meaning and by keyword.
    Complete,
    /// Every passage is found by keyword; the rest is being embedded in the background.
    Pending,
}

/// A stored memory that says nearly the same as a new one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimilarMemory {
    /// The similar memory.
    pub id: MemoryId,
    /// The beginning of its closest passage.
    pub preview: String,
    /// Cosine similarity of the two passages, from 0 to 1.
    pub similarity: f32,
}

/// The outcome of `remember`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The memory, new or found.
    pub id: MemoryId,
    /// Whether it is new.
    pub status: RememberStatus,
    /// The namespace it is in.
    pub namespace: String,
    /// Its current revision, from 1.
    pub revision: u32,
    /// Whether the search index holds all of it.
    pub index: IndexState,
    /// Memories that say nearly the same, the closest first; at most five.
    pub similar_to: Vec<SimilarMemory>,
}

/// A memory without its text: what a list shows of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its id.
    pub id: MemoryId,
    /// The namespace it is in.
    pub namespace: String,
    /// True where the memory is the caller's own; false for one that someone shared.
    pub own: bool,
    /// The name of its owner.
    pub author: String,
    /// What it is.
    pub kind: Kind,
    /// Its labels, in the order given.
    pub tags: Vec<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// The client that stored it, as far as known, whoever changed it later.
    pub client: Option<String>,
    /// The time it speaks of.
    pub occurred_at: Timestamp,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Its current revision, from 1.
    pub revision: u32,
    /// The length of its text in bytes of UTF-8.
    pub bytes: u64,
    /// The beginning of its text.
    pub preview: String,
    /// The memories that this one corrects.
    pub supersedes: Vec<MemoryId>,
    /// The memory that corrects this one.
    pub superseded_by: Option<MemoryId>,
    /// When it was put into the trash.
    pub forgotten_at: Option<Timestamp>,
    /// Its file, where it is [`Kind::Media`].
    #[serde(default)]
    pub file: Option<MediaFile>,
}

/// Read one memory, all of it or a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GetRequest {
    /// The memory.
    pub id: MemoryId,
    /// Where to begin, in bytes of UTF-8; an offset inside a character is moved to its start.
    #[serde(default)]
    pub offset: u64,
    /// The greatest length of the answer's text in bytes; [`crate::limits::TEXT_BYTES`] when absent, `u64::MAX` for all.
    #[serde(default)]
    pub max_bytes: Option<u64>,
}

/// A memory with its text, or a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryText {
    /// The memory.
    pub memory: Memory,
    /// The text from `offset` on.
    pub content: String,
    /// Where `content` begins, in bytes of UTF-8.
    pub offset: u64,
    /// Where to go on reading; absent at the end of the text.
    pub next_offset: Option<u64>,
}

/// List memories, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListRequest {
    /// Only this namespace; all that the caller may read when absent.
    pub namespace: Option<String>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only this source.
    pub source: Option<String>,
    /// Only what this client stored.
    pub client: Option<String>,
    /// Only what occurred at this time or later: RFC 3339, or a date in the user's time zone.
    pub after: Option<String>,
    /// Only what occurred before this time: RFC 3339, or a date in the user's time zone, whose whole day is then left out.
    pub before: Option<String>,
    /// Also memories that others correct.
    pub include_superseded: bool,
    /// The trash instead of the store.
    pub trash: bool,
    /// Records on a page, 1 to 50.
    pub limit: Option<u32>,
    /// From the page before.
    pub cursor: Option<String>,
}

/// Change a memory. Absent fields stay as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UpdateRequest {
    /// The memory.
    pub id: MemoryId,
    /// The new text, in place of all of the old one.
    #[serde(default)]
    pub content: Option<String>,
    /// The new labels, in place of all the old ones.
    #[serde(default)]
    pub tags: Option<Vec<String>>,
    /// The new source; an empty text takes the source away.
    #[serde(default)]
    pub source: Option<String>,
    /// The namespace to move to.
    #[serde(default)]
    pub namespace: Option<String>,
    /// The new time: RFC 3339, or a date in the user's time zone.
    #[serde(default)]
    pub occurred_at: Option<String>,
    /// The revision that the caller read; when the memory has another one by now, nothing is changed.
    #[serde(default)]
    pub expected_revision: Option<u32>,
}

impl UpdateRequest {
    /// A change of nothing yet.
    #[must_use]
    pub fn new(id: MemoryId) -> Self {
        Self {
            id,
            content: None,
            tags: None,
            source: None,
            namespace: None,
            occurred_at: None,
            expected_revision: None,
        }
    }
}

/// The outcome of `update`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Updated {
    /// The memory.
    pub id: MemoryId,
    /// Its namespace, after the change.
    pub namespace: String,
    /// Its revision, after the change.
    pub revision: u32,
    /// False where the memory already was as asked, and nothing was written.
    pub changed: bool,
    /// Whether the search index holds all of it.
    pub index: IndexState,
}

/// The outcome of `forget`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The memories that are in the trash now.
    pub ids: Vec<MemoryId>,
    /// When the trash empties itself of them.
    pub trash_until: Timestamp,
}

/// The outcome of `erase`: what is nowhere any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// The memories.
    pub ids: Vec<MemoryId>,
    /// How many earlier states of them went with them.
    pub revisions: u64,
}

/// An earlier state of a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revision {
    /// Its number, from 1.
    pub revision: u32,
    /// The text it had.
    pub content: String,
    /// The labels it had.
    pub tags: Vec<String>,
    /// The source it had.
    pub source: Option<String>,
    /// The namespace it was in.
    pub namespace: String,
    /// The time it spoke of.
    pub occurred_at: Timestamp,
    /// When this state began.
    pub created_at: Timestamp,
    /// The client that made it.
    pub client: Option<String>,
}
