use async_trait::async_trait;
use polymnemo_memory::{
    Ctx, Result,
    ports::{
        Filter, GivenMessage, IndexedMessage, Model, NewChunk, Place, SessionFilter, SessionSaved, SessionState,
        Sessions, UnindexedMessage,
    },
};
use polymnemo_types::{MemoryId, MessagePart, Origin, Page, Session};

use crate::PgStore;

#[async_trait]
impl Sessions for PgStore {
    async fn save_session(&self, ctx: &Ctx, state: SessionState, messages: Vec<GivenMessage>) -> Result<SessionSaved> {
        self.write_session(ctx, state, &messages).await
    }

    async fn set_title(&self, ctx: &Ctx, model: &Model, id: MemoryId, title: &str, chunk: NewChunk) -> Result<bool> {
        self.change_title(ctx, model, id, title, &chunk).await
    }

    async fn session_by_key(&self, ctx: &Ctx, model: &Model, key: &str) -> Result<Option<Session>> {
        self.get_session_by_key(ctx, model, key).await
    }

    async fn session(&self, ctx: &Ctx, model: &Model, id: MemoryId) -> Result<Option<Session>> {
        self.get_session(ctx, model, id).await
    }

    async fn sessions(
        &self,
        ctx: &Ctx,
        model: &Model,
        filter: &SessionFilter,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Session>, Option<Place>)> {
        self.list_sessions(ctx, model, filter, after, limit).await
    }

    async fn messages_by_part(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        first: u32,
        count: u32,
    ) -> Result<Vec<(u32, MessagePart)>> {
        self.get_messages_by_part(ctx, id, first, count).await
    }

    async fn messages(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        number: u32,
        count: u32,
        characters: Option<u32>,
    ) -> Result<Vec<MessagePart>> {
        self.get_messages(ctx, id, number, count, characters).await
    }

    async fn part_of_message(&self, ctx: &Ctx, id: MemoryId, number: u32) -> Result<Option<u32>> {
        self.get_part_of_message(ctx, id, number).await
    }

    async fn message_revisions(&self, ctx: &Ctx, id: MemoryId, number: u32, limit: u32) -> Result<Vec<MessagePart>> {
        self.list_message_revisions(ctx, id, number, limit).await
    }

    async fn origin(&self, ctx: &Ctx, id: MemoryId) -> Result<Option<Origin>> {
        self.get_origin(ctx, id).await
    }

    async fn unindexed(&self, session: Option<MemoryId>, limit: u32) -> Result<Vec<UnindexedMessage>> {
        self.unindexed_messages(session, limit).await
    }

    async fn unindexed_with(
        &self,
        ctx: &Ctx,
        filter: &Filter,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<UnindexedMessage>> {
        self.unindexed_messages_with(ctx, filter, words, limit).await
    }

    async fn index_messages(&self, model: &Model, messages: Vec<IndexedMessage>) -> Result<()> {
        self.store_passages(model, &messages).await
    }
}
