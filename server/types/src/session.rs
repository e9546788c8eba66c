use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Memory, MemoryId};

/// Keep a conversation, as a whole or as far as it is new.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SaveSessionRequest {
    /// What the client calls the conversation: the same id is the same session of this user.
    pub session_id: String,
    /// The transcript as one text: all of it so far. Either this or `messages`.
    pub content: Option<String>,
    /// The messages in their order: all so far, or only those that are new.
    pub messages: Option<Vec<NewMessage>>,
    /// The namespace it goes to; the user's default one when absent. A session that is there already stays where it is.
    pub namespace: Option<String>,
    /// What it is about; when absent the beginning of its first message.
    pub title: Option<String>,
    /// What the client wants kept with it: a JSON object, as text. Absent leaves the former one.
    pub metadata: Option<String>,
}

/// A message to be kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewMessage {
    /// Who speaks: `user`, `assistant`, `system`, `tool`, or whatever the client calls it.
    pub role: String,
    /// What is said.
    pub content: MessageContent,
    /// When it was said: RFC 3339, or a date in the user's time zone.
    pub at: Option<String>,
    /// What the client calls the message; the same id is the same message of the session.
    pub id: Option<String>,
}

/// What a message says, as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageContent {
    /// Text.
    Text(String),
    /// Content blocks: JSON as text, its members in the order given.
    Blocks(String),
}

impl Default for MessageContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// How the content of a message is to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum MessageFormat {
    /// As it stands.
    #[default]
    Text,
    /// As JSON: the content blocks that the client gave.
    Blocks,
}

/// In which form a session was saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum SessionForm {
    /// As messages.
    #[default]
    Messages,
    /// As one text, which is kept in pieces; one after the other they are that text, byte for byte.
    Text,
}

/// How far a session is in the search index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct IndexProgress {
    /// Its messages.
    pub messages: u32,
    /// Those that are found by keyword.
    pub searchable: u32,
    /// Its passages so far.
    pub passages: u32,
    /// Those that are found by meaning too.
    pub embedded: u32,
}

impl IndexProgress {
    /// Whether there is nothing left to do.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.searchable == self.messages && self.embedded == self.passages
    }
}

/// The outcome of `save_session`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SavedSession {
    /// The session's id among all that is remembered.
    pub id: MemoryId,
    /// What the client calls it.
    pub session_id: String,
    /// The namespace it is in.
    pub namespace: String,
    /// True where there was no session of this name before.
    pub created: bool,
    /// How many messages are new.
    pub appended: u32,
    /// How many messages say something else than before; what they said is kept as a revision.
    pub revised: u32,
    /// How many messages were there already.
    pub unchanged: u32,
    /// How far it is in the search index.
    pub index: IndexProgress,
}

/// A session, without its messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The record that it is among all that is remembered: id, namespace, tags, author, times, whether it is in the trash.
    /// `occurred_at` is the time of the last message, as far as known.
    pub memory: Memory,
    /// What the client calls it.
    pub session_id: String,
    /// What it is about.
    pub title: String,
    /// In which form it was saved.
    pub form: SessionForm,
    /// What the client wanted kept with it: a JSON object, as text.
    pub metadata: Option<String>,
    /// The number of its messages; of pieces, where it was saved as text.
    pub messages: u32,
    /// The length of all messages, in bytes of UTF-8.
    pub bytes: u64,
    /// The number of its parts, see [`MessagePart`].
    pub parts: u32,
    /// How far it is in the search index.
    pub index: IndexProgress,
}

/// A message, or a part of a long one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessagePart {
    /// The place of the message in the session, from 1.
    pub number: u32,
    /// Who speaks; empty where that is not known.
    pub role: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// What the client calls it.
    pub client_id: Option<String>,
    /// How the content is to be read; the parts of a message one after the other.
    pub format: MessageFormat,
    /// Its revision, from 1.
    pub revision: u32,
    /// What it says, or this part of it.
    pub content: String,
    /// Which part this is, from 1.
    pub part: u32,
    /// How many parts the message has.
    pub parts: u32,
    /// The length of the whole message, in bytes of UTF-8.
    pub bytes: u64,
}

/// Read a session, a page of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadSessionRequest {
    /// What the client calls the session, or its id.
    pub session_id: String,
    /// The page, from 1; the first one when absent.
    pub page: Option<u32>,
    /// How many parts a page has, 1 to [`crate::limits::SESSION_PAGE_MAX`]; [`crate::limits::SESSION_PAGE_DEFAULT`] when absent.
    pub page_size: Option<u32>,
    /// The page with this message instead.
    pub message: Option<u32>,
}

/// A page of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionPage {
    /// The session.
    pub session: Session,
    /// Which page this is, from 1.
    pub page: u32,
    /// How many parts a page has.
    pub page_size: u32,
    /// How many pages there are.
    pub pages: u32,
    /// The parts on this page, in their order. All pages one after the other give each message byte for byte.
    pub parts: Vec<MessagePart>,
}

/// List sessions, those with the latest messages first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListSessionsRequest {
    /// Only those whose title or client's id has these words in it.
    pub query: Option<String>,
    /// Only this namespace; all that the caller may read when absent.
    pub namespace: Option<String>,
    /// Only what this client stored.
    pub client: Option<String>,
    /// Only those with a message at this time or later: RFC 3339, or a date in the user's time zone.
    pub after: Option<String>,
    /// Only those whose last message is earlier: RFC 3339, or a date in the user's time zone, whose whole day is then left out.
    pub before: Option<String>,
    /// Records on a page, 1 to 50.
    pub limit: Option<u32>,
    /// From the page before.
    pub cursor: Option<String>,
}

/// Where in a session a hit is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageHit {
    /// What the client calls the session.
    pub session_id: String,
    /// What the session is about.
    pub title: String,
    /// The place of the message in the session, from 1.
    pub number: u32,
    /// How many messages the session has.
    pub messages: u32,
    /// Who speaks; empty where it is the title that fits.
    pub role: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// The messages before and after, as far as there are: their beginnings.
    pub neighbours: Vec<MessageBeginning>,
}

/// How a message begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageBeginning {
    /// Its place in the session, from 1.
    pub number: u32,
    /// Who speaks.
    pub role: String,
    /// Its first words, at most [`crate::limits::PREVIEW_CHARS`] characters of what it says.
    pub beginning: String,
}

/// A place inside one session that fits a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionMatch {
    /// The place of the message in the session, from 1.
    pub number: u32,
    /// Who speaks.
    pub role: String,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// The passage of the message that fits best.
    pub passage: String,
    /// The query's words that the passage holds, in lower case.
    pub matched: Vec<String>,
}

/// A message of a session, as the origin of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessagePlace {
    /// The session.
    pub session: MemoryId,
    /// The place of the message in it, from 1.
    pub number: u32,
}

/// What a memory was taken from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The message.
    pub place: MessagePlace,
    /// What its session is about.
    pub title: String,
}
