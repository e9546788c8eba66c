//! The exports' part of the port, a line for each method.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result, User,
    export::{AppRecord, CallRecord, NamespaceRecord, SessionRecord, SettingsRecord, SightingRecord, TokenRecord},
    ports::{
        ExportClaim, Exports, Model, OwnMessage, OwnRecord, Restored, RestoredAccount, RestoredMemory, SessionBegun,
        Snapshot,
    },
};
use polymnemo_types::{Export, ExportId, ImportId, MemoryId, UserId};
use uuid::Uuid;

use crate::{PgStore, transaction::Scope};

#[async_trait]
impl Exports for PgStore {
    async fn snapshot(&self, ctx: &Ctx) -> Result<Box<dyn Snapshot>> {
        self.begin_snapshot(ctx).await
    }

    async fn count_own(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<u64> {
        self.count_own_memories(ctx, ids).await
    }

    async fn users_named(&self, name: &str) -> Result<Vec<User>> {
        self.find_users(name).await
    }

    async fn request_export(&self, ctx: &Ctx, id: ExportId, at: Timestamp) -> Result<Export> {
        self.insert_export(ctx, id, at).await
    }

    async fn exports(&self, ctx: &Ctx, limit: u32) -> Result<Vec<Export>> {
        self.list_exports(ctx, limit).await
    }

    async fn export(&self, ctx: &Ctx, id: ExportId) -> Result<Option<(Export, Option<String>)>> {
        self.get_export(ctx, id).await
    }

    async fn delete_export(&self, ctx: &Ctx, id: ExportId) -> Result<bool> {
        self.drop_export(ctx, id).await
    }

    async fn claim_export(&self) -> Result<Option<Box<dyn ExportClaim>>> {
        self.take_export().await
    }

    async fn expire_exports(&self, now: Timestamp, forget: Timestamp) -> Result<u64> {
        self.end_exports(now, forget).await
    }

    async fn take_export_objects(&self, now: Timestamp, again: Timestamp, limit: u32) -> Result<Vec<String>> {
        self.take_due_exports(now, again, limit).await
    }

    async fn ids_of_others(&self, user: UserId, ids: &[Uuid]) -> Result<Vec<Uuid>> {
        self.taken_ids(user, ids).await
    }

    async fn restore_account(
        &self,
        ctx: &Ctx,
        settings: &SettingsRecord,
        namespaces: &[NamespaceRecord],
    ) -> Result<RestoredAccount> {
        self.put_account_back(ctx, settings, namespaces).await
    }

    async fn restore_tokens(&self, ctx: &Ctx, tokens: &[TokenRecord], at: Timestamp) -> Result<Vec<Restored>> {
        self.put_tokens_back(ctx, tokens, at).await
    }

    async fn restore_apps(&self, ctx: &Ctx, apps: &[AppRecord], at: Timestamp) -> Result<Vec<Restored>> {
        self.put_apps_back(ctx, apps, at).await
    }

    async fn restore_calls(&self, ctx: &Ctx, calls: &[CallRecord]) -> Result<Vec<Restored>> {
        self.put_calls_back(ctx, calls).await
    }

    async fn restore_sightings(&self, ctx: &Ctx, sightings: &[SightingRecord]) -> Result<Vec<Restored>> {
        self.put_sightings_back(ctx, sightings).await
    }

    async fn own_records(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<HashMap<MemoryId, OwnRecord>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let found = transaction.memory_records(ctx.user.id, ids).await?;
        transaction.commit().await?;
        Ok(found)
    }

    async fn restore_memories(
        &self,
        ctx: &Ctx,
        model: &Model,
        import: Option<ImportId>,
        memories: Vec<RestoredMemory>,
    ) -> Result<Vec<Restored>> {
        self.put_memories_back(ctx, model, import, memories).await
    }

    async fn begin_session(
        &self,
        ctx: &Ctx,
        model: &Model,
        import: Option<ImportId>,
        memory: RestoredMemory,
        session: SessionRecord,
    ) -> Result<SessionBegun> {
        self.begin_to_put_session_back(ctx, model, import, memory, session).await
    }

    async fn own_messages(&self, ctx: &Ctx, session: MemoryId, from: u32, limit: u32) -> Result<Vec<OwnMessage>> {
        self.messages_from(ctx, session, from, limit).await
    }
}
