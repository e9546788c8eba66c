use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{Export, ExportCounts, ExportId, ImportId, MemoryId, UserId};
use uuid::Uuid;

use super::{ContentHash, Model, NewChunk};
use crate::{
    Ctx, Result, User,
    export::{
        AppRecord, CallRecord, MediaRecord, MemoryRecord, MessageRecord, MessageRevisionRecord, NamespaceRecord, Part,
        Record, RevisionRecord, SessionRecord, SettingsRecord, SightingRecord, TokenRecord, UserRecord,
    },
};

/// All that a user has, as it was at one moment. Dropping it in between ends the reading.
#[async_trait]
pub trait Snapshot: Send + Sync {
    /// About how many records there are, and how many bytes of files.
    async fn extent(&mut self) -> Result<(u64, u64)>;

    /// Who the user is and what they chose.
    async fn user(&mut self) -> Result<(UserRecord, SettingsRecord)>;

    /// The next records of a part, some megabytes of them at most; none after the last one. With a session to be read comes
    /// its memory, before it.
    async fn next(&mut self, part: Part) -> Result<Vec<Record>>;

    /// Ends the reading.
    async fn end(self: Box<Self>) -> Result<()>;
}

/// An export that this process writes. Nobody else does as long as this is there; where the process dies, that is known at
/// once.
#[async_trait]
pub trait ExportClaim: Send + Sync {
    /// The export.
    fn id(&self) -> ExportId;

    /// Whose it is.
    fn user(&self) -> &User;

    /// How often it was begun, with this time.
    fn attempts(&self) -> u32;

    /// Notes how much is done, in thousandths.
    async fn progress(&self, progress: u32) -> Result<()>;

    /// Ends it: it is ready, and the object, which was reserved, is its own. False where it was deleted meanwhile, or the
    /// object is being.
    async fn ready(self: Box<Self>, export: ReadyExport) -> Result<bool>;

    /// Ends it: it can't be written.
    async fn failed(self: Box<Self>, at: Timestamp) -> Result<()>;
}

/// An export that was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyExport {
    /// When.
    pub at: Timestamp,
    /// Until when it is kept.
    pub expires_at: Timestamp,
    /// Its length.
    pub bytes: u64,
    /// Its digest.
    pub sha256: [u8; 32],
    /// What is in it.
    pub counts: ExportCounts,
    /// Where it is.
    pub object_key: String,
}

/// What became of a record to be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restored {
    /// It is there now.
    Added,
    /// It was there, just like this.
    Unchanged,
    /// Something else is in its place, which was left alone. Says what.
    Conflict(String),
}

/// A memory to be restored, with all that belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredMemory {
    /// The memory.
    pub record: MemoryRecord,
    /// Its earlier states.
    pub revisions: Vec<RevisionRecord>,
    /// By what a repetition of it is recognised.
    pub hash: ContentHash,
    /// Its pieces; none where it is in the trash.
    pub chunks: Vec<NewChunk>,
    /// Its file, with the object that was reserved for it.
    pub media: Option<MediaRecord>,
}

/// A memory that is there, with its earlier states and its file.
pub type OwnRecord = (MemoryRecord, Vec<RevisionRecord>, Option<MediaRecord>);

/// A message that is there, with what it said before.
pub type OwnMessage = (MessageRecord, Vec<MessageRevisionRecord>);

/// A message to be restored.
#[derive(Debug, Clone, PartialEq)]
pub struct RestoredMessage {
    /// The message.
    pub record: MessageRecord,
    /// What it said before.
    pub revisions: Vec<MessageRevisionRecord>,
    /// By what it is recognised.
    pub hash: ContentHash,
}

/// A session that is being restored: all of it at once, when [`RestoringSession::finish`] is called.
#[async_trait]
pub trait RestoringSession: Send + Sync {
    /// The next messages.
    async fn add(&mut self, messages: Vec<RestoredMessage>) -> Result<()>;

    /// Ends it.
    async fn finish(self: Box<Self>) -> Result<()>;
}

/// What became of a session to be restored.
pub enum SessionBegun {
    /// Its messages may come.
    Begun(Box<dyn RestoringSession>),
    /// It is there, with the same title, labels, history and times; its messages are still to be compared.
    Same,
    /// Something else is in its place. Says what.
    Conflict(String),
}

/// What became of settings and namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredAccount {
    /// What became of the settings.
    pub settings: Option<Restored>,
    /// What became of the namespaces, in the given order.
    pub namespaces: Vec<Restored>,
    /// Those that everyone could read here though they could not there: nothing may go there.
    pub exposed: Vec<String>,
}

/// The database, as far as it exports all that a user has and takes it back. What is true of [`super::Store`] is true of
/// this; only [`Exports::snapshot`] and [`Exports::begin_session`] go on for longer than a call.
#[async_trait]
pub trait Exports: Send + Sync {
    /// All that the caller has, as it is now.
    async fn snapshot(&self, ctx: &Ctx) -> Result<Box<dyn Snapshot>>;

    /// How many of these are memories of the caller's own, of whatever kind, in the trash or not.
    async fn count_own(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<u64>;

    /// The users of this name, or of this id, or that the settings name so.
    async fn users_named(&self, name: &str) -> Result<Vec<User>>;

    /// Notes that the caller wants an export; the one that is under way, where there is one.
    async fn request_export(&self, ctx: &Ctx, id: ExportId, at: Timestamp) -> Result<Export>;

    /// The caller's exports, the newest first; at most `limit`.
    async fn exports(&self, ctx: &Ctx, limit: u32) -> Result<Vec<Export>>;

    /// An export of the caller, and where it is, where it is ready.
    async fn export(&self, ctx: &Ctx, id: ExportId) -> Result<Option<(Export, Option<String>)>>;

    /// Deletes an export of the caller; false where there is none.
    async fn delete_export(&self, ctx: &Ctx, id: ExportId) -> Result<bool>;

    /// The next export of anyone that nobody writes. For the background only.
    async fn claim_export(&self) -> Result<Option<Box<dyn ExportClaim>>>;

    /// Lets go of exports whose time was over before this, and drops what is known of those that were asked for before
    /// `forget`; gives the number of the former. For the background only.
    async fn expire_exports(&self, now: Timestamp, forget: Timestamp) -> Result<u64>;

    /// As [`super::Media::take_objects`], of exports only.
    async fn take_export_objects(&self, now: Timestamp, again: Timestamp, limit: u32) -> Result<Vec<String>>;

    /// Those of these ids that other users' memories, tokens or apps have.
    async fn ids_of_others(&self, user: UserId, ids: &[Uuid]) -> Result<Vec<Uuid>>;

    /// Restores settings and namespaces. In an account that holds nothing they take the place of what is there.
    async fn restore_account(
        &self,
        ctx: &Ctx,
        settings: &SettingsRecord,
        namespaces: &[NamespaceRecord],
    ) -> Result<RestoredAccount>;

    /// Restores tokens as they were, but ended at this time.
    async fn restore_tokens(&self, ctx: &Ctx, tokens: &[TokenRecord], at: Timestamp) -> Result<Vec<Restored>>;

    /// Restores apps as they were, but ended at this time.
    async fn restore_apps(&self, ctx: &Ctx, apps: &[AppRecord], at: Timestamp) -> Result<Vec<Restored>>;

    /// Restores calls that are not there.
    async fn restore_calls(&self, ctx: &Ctx, calls: &[CallRecord]) -> Result<Vec<Restored>>;

    /// Restores clients that were seen.
    async fn restore_sightings(&self, ctx: &Ctx, sightings: &[SightingRecord]) -> Result<Vec<Restored>>;

    /// Those of these memories that the caller has, with their earlier states and files.
    async fn own_records(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<HashMap<MemoryId, OwnRecord>>;

    /// Restores memories, each with its earlier states and its file, all at once. Where an import brings them, each is noted
    /// as brought by it in the same moment.
    async fn restore_memories(
        &self,
        ctx: &Ctx,
        model: &Model,
        import: Option<ImportId>,
        memories: Vec<RestoredMemory>,
    ) -> Result<Vec<Restored>>;

    /// Begins to restore a session, which is noted likewise.
    async fn begin_session(
        &self,
        ctx: &Ctx,
        model: &Model,
        import: Option<ImportId>,
        memory: RestoredMemory,
        session: SessionRecord,
    ) -> Result<SessionBegun>;

    /// The messages of a session of the caller's own from this place on, with what they said before; at most `limit`.
    async fn own_messages(&self, ctx: &Ctx, session: MemoryId, from: u32, limit: u32) -> Result<Vec<OwnMessage>>;
}
