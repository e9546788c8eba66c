use async_trait::async_trait;
use jiff::{Timestamp, tz::TimeZone};
use polymnemo_types::{MemoryId, MessageFormat, MessagePart, Origin, Page, Session, SessionForm};

use super::{Filter, Model, NewChunk, Place};
use crate::{Ctx, Result, transcript::Known};

/// A session to be saved, apart from its messages.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionState {
    /// Its id, where it turns out to be new.
    pub id: MemoryId,
    /// What the client calls it.
    pub key: String,
    /// The namespace it goes to where it is new.
    pub namespace: String,
    /// The title that it gets where it is new, or where `is_title_asked`; else it keeps the one that it has.
    pub title: String,
    /// Whether the title was asked for.
    pub is_title_asked: bool,
    /// The passage that makes the title searchable.
    pub title_chunk: NewChunk,
    /// The model that vectors are of.
    pub model: Model,
    /// In which form it comes.
    pub form: SessionForm,
    /// A JSON object, as text; absent leaves the former one.
    pub metadata: Option<String>,
    /// The labels that it gets where it is new.
    pub tags: Vec<String>,
    /// Where it comes from, where it is new.
    pub source: Option<String>,
    /// Whether what a message said is kept also where it only goes on, so that the saving can be taken back.
    pub keeps_every_state: bool,
    /// The time of the request.
    pub at: Timestamp,
}

/// A message to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenMessage {
    /// By what it is recognised.
    pub known: Known,
    /// Who speaks.
    pub role: String,
    /// How the content is to be read.
    pub format: MessageFormat,
    /// What it says.
    pub content: String,
}

/// What became of a session to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionSaved {
    /// It is saved.
    Done {
        /// Its id.
        id: MemoryId,
        /// Its namespace.
        namespace: String,
        /// Whether it is new.
        created: bool,
        /// How many messages are new.
        appended: u32,
        /// How many say something else than before.
        revised: u32,
        /// How many were there.
        unchanged: u32,
    },
    /// It is there in the other form; nothing was written.
    OtherForm(SessionForm),
    /// It would have more messages or bytes than a session may; nothing was written. Holds how many of either.
    TooLong {
        /// Its messages.
        messages: u64,
        /// Their length in bytes.
        bytes: u64,
    },
    /// The caller may not write where it is; nothing was written. Holds the namespace.
    Forbidden(String),
}

/// A message whose passages are still to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct UnindexedMessage {
    /// Its number in the database.
    pub message: i64,
    /// Its revision.
    pub revision: u32,
    /// Its session.
    pub session: MemoryId,
    /// Who speaks.
    pub role: String,
    /// How the content is to be read.
    pub format: MessageFormat,
    /// What it says.
    pub content: String,
    /// When it was said.
    pub at: Timestamp,
    /// The labels of the session.
    pub tags: Vec<String>,
    /// The source of the session.
    pub source: Option<String>,
    /// The zone of its user.
    pub time_zone: TimeZone,
}

/// A message with its passages.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedMessage {
    /// Its number in the database.
    pub message: i64,
    /// The revision that the passages are of.
    pub revision: u32,
    /// Texts, each with the passages cut from it.
    pub texts: Vec<(String, Vec<NewChunk>)>,
}

/// Which sessions a list is about. All conditions hold at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionFilter {
    /// Words that the title or the key has in it.
    pub words: Option<String>,
    /// The namespace's name.
    pub namespace: Option<String>,
    /// The client that stored it.
    pub client: Option<String>,
    /// The earliest time of the last message, inclusive.
    pub after: Option<Timestamp>,
    /// The latest time of the last message, exclusive.
    pub before: Option<Timestamp>,
}

/// The database, as far as it holds sessions. What is true of [`super::Store`] is true of this.
#[async_trait]
pub trait Sessions: Send + Sync {
    /// Saves a session: what is new of it (see [`crate::transcript::merge`]). Several that save one session at the same time
    /// come one after the other.
    async fn save_session(&self, ctx: &Ctx, state: SessionState, messages: Vec<GivenMessage>) -> Result<SessionSaved>;

    /// Puts a title in the place of the one that a session of the caller has, with its passage; false where there is no such
    /// session.
    async fn set_title(&self, ctx: &Ctx, model: &Model, id: MemoryId, title: &str, chunk: NewChunk) -> Result<bool>;

    /// The session of the caller's own that a client calls so; where there are several, the last saved one.
    async fn session_by_key(&self, ctx: &Ctx, model: &Model, key: &str) -> Result<Option<Session>>;

    /// A session that the caller may read.
    async fn session(&self, ctx: &Ctx, model: &Model, id: MemoryId) -> Result<Option<Session>>;

    /// A page of sessions that the caller may read, those with the latest messages first.
    async fn sessions(
        &self,
        ctx: &Ctx,
        model: &Model,
        filter: &SessionFilter,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Session>, Option<Place>)>;

    /// The messages that the parts from `first` on, counted from 0, are of, `count` parts at most, each with all of its
    /// content as its only part; and the number of the first one's first part.
    async fn messages_by_part(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        first: u32,
        count: u32,
    ) -> Result<Vec<(u32, MessagePart)>>;

    /// Up to `count` messages from `number` on, each with all of its content, or with its beginning: at most this many
    /// characters.
    async fn messages(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        number: u32,
        count: u32,
        characters: Option<u32>,
    ) -> Result<Vec<MessagePart>>;

    /// The part, counted from 0, with which a message begins.
    async fn part_of_message(&self, ctx: &Ctx, id: MemoryId, number: u32) -> Result<Option<u32>>;

    /// The earlier states of a message of a session of the caller's own, the latest first; at most `limit`.
    async fn message_revisions(&self, ctx: &Ctx, id: MemoryId, number: u32, limit: u32) -> Result<Vec<MessagePart>>;

    /// The message that a memory was taken from.
    async fn origin(&self, ctx: &Ctx, id: MemoryId) -> Result<Option<Origin>>;

    /// Messages of any user, or of one session, whose passages are still to be made; at most `limit` of them, and about a
    /// megabyte. For the background only.
    async fn unindexed(&self, session: Option<MemoryId>, limit: u32) -> Result<Vec<UnindexedMessage>>;

    /// Messages that the caller may read and the filter lets through, whose passages are still to be made, and that have some
    /// of these words in them, given in lower case; those with the most of them first, at most `limit` of them, and about a
    /// megabyte. Of very many that wait only the last ones are looked at.
    async fn unindexed_with(
        &self,
        ctx: &Ctx,
        filter: &Filter,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<UnindexedMessage>>;

    /// Stores passages of messages; those that were changed meanwhile are left out. For the background only.
    async fn index_messages(&self, model: &Model, messages: Vec<IndexedMessage>) -> Result<()>;
}
