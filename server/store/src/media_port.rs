//! The files' part of the port, a line for each method.

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result, TokenHash, User,
    ports::{
        Announced, Media, MediaFilter, MediaInserted, NewMedia, NewMemory, ObjectToDelete, Place, Room, StoredFile,
        StoredUpload,
    },
};
use polymnemo_types::{Memory, MemoryId, Page};

use crate::PgStore;

#[async_trait]
impl Media for PgStore {
    async fn announce_upload(
        &self,
        ctx: &Ctx,
        upload: &StoredUpload,
        page: &TokenHash,
        room: Room,
        now: Timestamp,
    ) -> Result<Announced> {
        self.insert_upload(ctx, upload, page, room, now).await
    }

    async fn room_left(&self, quota_bytes: u64, now: Timestamp) -> Result<u64> {
        self.bytes_left(quota_bytes, now).await
    }

    async fn upload(&self, ctx: &Ctx, id: MemoryId, now: Timestamp) -> Result<Option<StoredUpload>> {
        self.get_upload(ctx, id, now).await
    }

    async fn upload_of_page(&self, page: &TokenHash, now: Timestamp) -> Result<Option<(User, StoredUpload)>> {
        self.get_upload_of_page(page, now).await
    }

    async fn uploads(&self, ctx: &Ctx, now: Timestamp, limit: u32) -> Result<Vec<StoredUpload>> {
        self.list_uploads(ctx, now, limit).await
    }

    async fn note_parts(&self, ctx: &Ctx, id: MemoryId, handle: &str) -> Result<Option<String>> {
        self.set_parts_handle(ctx, id, handle).await
    }

    async fn delete_upload(&self, ctx: &Ctx, id: MemoryId) -> Result<bool> {
        self.end_upload(ctx, id).await
    }

    async fn reserve_object(&self, ctx: &Ctx, key: &str, handle: Option<&str>, due_at: Timestamp) -> Result<()> {
        self.insert_object(ctx, key, handle, due_at).await
    }

    async fn release_object(&self, ctx: &Ctx, key: &str, at: Timestamp) -> Result<()> {
        self.set_object_due(ctx, key, at).await
    }

    async fn insert_media(&self, ctx: &Ctx, new: NewMemory, media: NewMedia) -> Result<MediaInserted> {
        self.insert_memory_with_file(ctx, new, media).await
    }

    async fn files(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Vec<(MemoryId, StoredFile)>> {
        self.get_files(ctx, ids).await
    }

    async fn list_media(
        &self,
        ctx: &Ctx,
        filter: &MediaFilter,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<(Memory, StoredFile)>, Option<Place>)> {
        self.list_memories_with_files(ctx, filter, after, limit).await
    }

    async fn note_thumbnail(&self, ctx: &Ctx, id: MemoryId, key: Option<&str>, at: Timestamp) -> Result<bool> {
        self.set_thumbnail(ctx, id, key, at).await
    }

    async fn give_up_uploads(&self, before: Timestamp) -> Result<u64> {
        self.delete_expired_uploads(before).await
    }

    async fn take_objects(&self, now: Timestamp, again: Timestamp, limit: u32) -> Result<Vec<ObjectToDelete>> {
        self.take_due_objects(now, again, limit).await
    }

    async fn objects_deleted(&self, deleted: &[String], left: &[String]) -> Result<()> {
        self.delete_objects(deleted, left).await
    }
}
