use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{
        ImportNote, ImportToDo, Imports, ItemToUndo, KnownItem, Lease, NewImport, NewImportItem, SourceKey, WrittenItem,
    },
};
use polymnemo_types::{Import, ImportId, ImportLine, ImportOutcome, ImportState, MemoryId, Page};
use uuid::Uuid;

use crate::PgStore;

#[async_trait]
impl Imports for PgStore {
    async fn create_import(&self, ctx: &Ctx, new: NewImport, lease: Option<Lease>) -> Result<()> {
        self.insert_import(ctx, new, lease).await
    }

    async fn import(&self, ctx: &Ctx, id: ImportId) -> Result<Option<Import>> {
        self.get_import(ctx, id).await
    }

    async fn imports(&self, ctx: &Ctx, before: Option<ImportId>, limit: u32) -> Result<Page<Import>> {
        self.list_imports(ctx, before, limit).await
    }

    async fn import_lines(
        &self,
        ctx: &Ctx,
        id: ImportId,
        outcomes: &[ImportOutcome],
        after: Option<u64>,
        limit: u32,
    ) -> Result<Page<ImportLine>> {
        self.list_import_lines(ctx, id, outcomes, after, limit).await
    }

    async fn known_items(&self, ctx: &Ctx, keys: &[SourceKey]) -> Result<Vec<KnownItem>> {
        self.get_known_items(ctx, keys).await
    }

    async fn take_import(&self, worker: Uuid, now: Timestamp, until: Timestamp) -> Result<Option<ImportToDo>> {
        self.take_next_import(worker, now, until).await
    }

    async fn hold_import(&self, ctx: &Ctx, lease: Lease, state: ImportState, now: Timestamp) -> Result<bool> {
        self.lease_import(ctx, lease, state, Some(now), 0).await
    }

    async fn keep_import(&self, ctx: &Ctx, lease: Lease, state: ImportState, bytes_read: u64) -> Result<bool> {
        self.lease_import(ctx, lease, state, None, bytes_read).await
    }

    async fn let_import_go(&self, ctx: &Ctx, lease: Lease) -> Result<()> {
        self.end_lease(ctx, lease).await
    }

    async fn is_import_held(&self, ctx: &Ctx, id: ImportId, now: Timestamp) -> Result<bool> {
        self.has_lease(ctx, id, now).await
    }

    async fn set_import_state(
        &self,
        ctx: &Ctx,
        id: ImportId,
        from: &[ImportState],
        to: ImportState,
        note: ImportNote,
        at: Timestamp,
    ) -> Result<bool> {
        self.change_import_state(ctx, id, from, to, note, at).await
    }

    async fn import_place(&self, ctx: &Ctx, id: ImportId) -> Result<u64> {
        self.next_ordinal(ctx, id).await
    }

    async fn note_items(
        &self,
        ctx: &Ctx,
        id: ImportId,
        items: &[NewImportItem],
    ) -> Result<Vec<(Option<MemoryId>, Timestamp)>> {
        self.insert_items(ctx, id, items).await
    }

    async fn note_unchanged(&self, ctx: &Ctx, id: ImportId, memories: &[MemoryId]) -> Result<()> {
        self.insert_unchanged(ctx, id, memories).await
    }

    async fn finish_item(&self, ctx: &Ctx, id: ImportId, item: WrittenItem) -> Result<()> {
        self.set_outcome(ctx, id, item).await
    }

    async fn items_to_undo(&self, ctx: &Ctx, id: ImportId, limit: u32) -> Result<Vec<ItemToUndo>> {
        self.list_items_to_undo(ctx, id, limit).await
    }

    async fn take_back_messages(&self, ctx: &Ctx, session: MemoryId, at: Timestamp) -> Result<bool> {
        self.take_messages_back(ctx, session, at).await
    }

    async fn note_as_left(&self, ctx: &Ctx, id: ImportId, memory: MemoryId) -> Result<()> {
        self.set_left(ctx, id, memory).await
    }

    async fn delete_import(&self, ctx: &Ctx, id: ImportId, states: &[ImportState]) -> Result<bool> {
        self.remove_import(ctx, id, states).await
    }
}
