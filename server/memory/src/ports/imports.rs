use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{
    Import, ImportId, ImportLine, ImportOptions, ImportOutcome, ImportPlan, ImportState, MemoryId, Page,
};
use uuid::Uuid;

use crate::{Ctx, Result, User};

/// An import to be begun.
#[derive(Debug, Clone, PartialEq)]
pub struct NewImport {
    /// Its id.
    pub id: ImportId,
    /// How far it is.
    pub state: ImportState,
    /// The names of the files.
    pub files: Vec<String>,
    /// What of them is imported, and where to.
    pub options: ImportOptions,
    /// What is in them, where that is known already.
    pub plan: Option<ImportPlan>,
    /// The folder in which they wait, where they came from a browser.
    pub folder: Option<String>,
    /// How many bytes there are to read.
    pub total_bytes: u64,
    /// The time of the request.
    pub at: Timestamp,
}

/// The right to be at work on an import, until then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// The import.
    pub import: ImportId,
    /// Who is at work.
    pub worker: Uuid,
    /// Until when others leave it to them.
    pub until: Timestamp,
}

/// An import that there is something to do on.
#[derive(Debug, Clone)]
pub struct ImportToDo {
    /// Whose it is.
    pub user: User,
    /// The import.
    pub import: Import,
    /// The folder in which its files wait.
    pub folder: Option<String>,
}

/// What a product calls something.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceKey {
    /// The product.
    pub source: String,
    /// What it calls this.
    pub source_id: String,
}

/// What an earlier import made of something.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownItem {
    /// What its product calls it.
    pub key: SourceKey,
    /// What it is here, or was.
    pub memory: MemoryId,
    /// The digest of what was last read of it.
    pub digest: Vec<u8>,
    /// The time of the last change by an import.
    pub left_at: Timestamp,
    /// The time of its last change by anyone; nothing where the person deleted it.
    pub updated_at: Option<Timestamp>,
}

/// Something that was found, to be noted in the report.
#[derive(Debug, Clone, PartialEq)]
pub struct NewImportItem {
    /// Its place in the order of reading.
    pub ordinal: u64,
    /// What its product calls it.
    pub key: Option<SourceKey>,
    /// Its name, where it is left out.
    pub label: Option<String>,
    /// What becomes of it.
    pub outcome: ImportOutcome,
    /// Why.
    pub reason: Option<String>,
    /// Whether it is a conversation.
    pub is_session: bool,
    /// What it is here, or is to become.
    pub memory: Option<MemoryId>,
    /// Its digest.
    pub digest: Option<Vec<u8>>,
    /// The time of writing.
    pub at: Timestamp,
    /// The time of the last change by an import, where it is another one.
    pub left_at: Option<Timestamp>,
}

impl NewImportItem {
    /// Something of which nothing is known yet but this.
    #[must_use]
    pub fn new(ordinal: u64, outcome: ImportOutcome, at: Timestamp) -> Self {
        Self {
            ordinal,
            key: None,
            label: None,
            outcome,
            reason: None,
            is_session: false,
            memory: None,
            digest: None,
            at,
            left_at: None,
        }
    }
}

/// What became of something that was to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct WrittenItem {
    /// Its place in the order of reading.
    pub ordinal: u64,
    /// What became of it.
    pub outcome: ImportOutcome,
    /// Why.
    pub reason: Option<String>,
    /// Its name, where it is left out after all.
    pub label: Option<String>,
    /// What it is here.
    pub memory: Option<MemoryId>,
    /// How many messages were added.
    pub messages: u32,
}

/// An item that an import wrote, to be taken back.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemToUndo {
    /// Its place in the order of reading.
    pub ordinal: u64,
    /// What the import did.
    pub outcome: ImportOutcome,
    /// What it is here.
    pub memory: MemoryId,
    /// Whether it is a conversation.
    pub is_session: bool,
    /// When the import wrote it.
    pub at: Timestamp,
    /// The time of its last change by this import.
    pub left_at: Timestamp,
    /// The time of its last change by anyone; nothing where the person deleted it.
    pub updated_at: Option<Timestamp>,
    /// The revision that it has.
    pub revision: u32,
    /// Whether it is a later import that changed it last.
    pub is_of_later_import: bool,
}

/// The database, as far as it holds imports. What is true of [`super::Store`] is true of this.
#[async_trait]
pub trait Imports: Send + Sync {
    /// Begins an import. With a lease it is at once in the hands of that worker.
    async fn create_import(&self, ctx: &Ctx, new: NewImport, lease: Option<Lease>) -> Result<()>;

    /// An import of the caller.
    async fn import(&self, ctx: &Ctx, id: ImportId) -> Result<Option<Import>>;

    /// As many imports of the caller as asked for, the last ones first, those begun before `before`; with the number of all.
    async fn imports(&self, ctx: &Ctx, before: Option<ImportId>, limit: u32) -> Result<Page<Import>>;

    /// As many lines of the report of an import of the caller as asked for: what became of what was found, in the order of
    /// reading, behind the place `after`; only these outcomes where there are any. With the number of all.
    async fn import_lines(
        &self,
        ctx: &Ctx,
        id: ImportId,
        outcomes: &[ImportOutcome],
        after: Option<u64>,
        limit: u32,
    ) -> Result<Page<ImportLine>>;

    /// What earlier imports made of these; what they made nothing of, or what was taken back, is left out.
    async fn known_items(&self, ctx: &Ctx, keys: &[SourceKey]) -> Result<Vec<KnownItem>>;

    /// Takes on an import of any user that there is something to do on and that nobody is at work on. For the background
    /// only.
    async fn take_import(&self, worker: Uuid, now: Timestamp, until: Timestamp) -> Result<Option<ImportToDo>>;

    /// Takes on an import of the caller that nobody is at work on; false where somebody is, or it has another state.
    async fn hold_import(&self, ctx: &Ctx, lease: Lease, state: ImportState, now: Timestamp) -> Result<bool>;

    /// Keeps an import, and tells how far it has read; false where it is to stop: it is in other hands, or has another state.
    async fn keep_import(&self, ctx: &Ctx, lease: Lease, state: ImportState, bytes_read: u64) -> Result<bool>;

    /// Lets an import go that was stopped: from now on nothing more is written for it.
    async fn let_import_go(&self, ctx: &Ctx, lease: Lease) -> Result<()>;

    /// Whether somebody is at work on an import of the caller, even if it was stopped.
    async fn is_import_held(&self, ctx: &Ctx, id: ImportId, now: Timestamp) -> Result<bool>;

    /// Brings an import of the caller from one of these states to another one; false where it is in none of them. With a
    /// plan, the plan is kept; with an error, that.
    async fn set_import_state(
        &self,
        ctx: &Ctx,
        id: ImportId,
        from: &[ImportState],
        to: ImportState,
        note: ImportNote,
        at: Timestamp,
    ) -> Result<bool>;

    /// The place of the first item that is not done: behind the last one that is.
    async fn import_place(&self, ctx: &Ctx, id: ImportId) -> Result<u64>;

    /// Notes items. Gives for each the memory and the time that it was noted with first, which is an earlier one where it was
    /// being written when the work was interrupted. None is noted any more once someone has stopped the import.
    async fn note_items(
        &self,
        ctx: &Ctx,
        id: ImportId,
        items: &[NewImportItem],
    ) -> Result<Vec<(Option<MemoryId>, Timestamp)>>;

    /// Notes memories of the caller as there already, those that are not noted.
    async fn note_unchanged(&self, ctx: &Ctx, id: ImportId, memories: &[MemoryId]) -> Result<()>;

    /// Notes what became of an item that was being written.
    async fn finish_item(&self, ctx: &Ctx, id: ImportId, item: WrittenItem) -> Result<()>;

    /// Items that an import wrote, the last ones first.
    async fn items_to_undo(&self, ctx: &Ctx, id: ImportId, limit: u32) -> Result<Vec<ItemToUndo>>;

    /// Takes back what came into a session at this time: messages that are new since then go, changed ones say again what they
    /// said. False where there is no such session.
    async fn take_back_messages(&self, ctx: &Ctx, session: MemoryId, at: Timestamp) -> Result<bool>;

    /// Notes that the last change to a memory brought back how an earlier import had left it.
    async fn note_as_left(&self, ctx: &Ctx, id: ImportId, memory: MemoryId) -> Result<()>;

    /// Deletes an import of the caller that is in one of these states, with its report; false where it is in none.
    async fn delete_import(&self, ctx: &Ctx, id: ImportId, states: &[ImportState]) -> Result<bool>;
}

/// What is noted of an import when its state changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportNote {
    /// What is in its files.
    pub plan: Option<ImportPlan>,
    /// How many bytes there are to read.
    pub total_bytes: Option<u64>,
    /// Why it can't go on.
    pub error: Option<String>,
}
