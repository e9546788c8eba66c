use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{AppId, MediaFile, Memory, MemoryId, Page, ShownAs, Upload};

use super::{NewMemory, Place};
use crate::{Ctx, Result, TokenHash, User};

/// An upload as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUpload {
    /// What its owner sees of it.
    pub upload: Upload,
    /// The app or token that announced it.
    pub app: Option<AppId>,
    /// Where in the storage its bytes arrive.
    pub object_key: String,
    /// What the storage calls an upload in parts, once it has begun.
    pub parts_handle: Option<String>,
}

/// What became of an upload to be announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announced {
    /// It is kept.
    Done,
    /// The user has too many already.
    TooMany,
    /// There is no room for it; this many bytes are left.
    NoRoom(u64),
}

/// What an upload may take up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The greatest number of uploads of a user.
    pub uploads: u32,
    /// The greatest length of all files and uploads of everyone together, in bytes.
    pub quota_bytes: Option<u64>,
}

/// A file as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// What its readers see of it.
    pub file: MediaFile,
    /// Where its bytes are.
    pub object_key: String,
    /// Where its small image is.
    pub thumbnail_key: Option<String>,
    /// Whether a small image was tried to be made.
    pub thumbnail_tried: bool,
}

/// The file of a memory to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMedia {
    /// The file.
    pub file: MediaFile,
    /// Where its bytes are.
    pub object_key: String,
    /// The upload that is confirmed by this.
    pub upload: Option<MemoryId>,
}

/// What became of a file to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaInserted {
    /// It is stored.
    New,
    /// There is a memory of this id.
    Exists,
    /// Its upload was given up, or its object is being deleted; nothing was stored.
    Gone,
}

/// Which files a list is about. All conditions hold at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaFilter {
    /// The namespace's name.
    pub namespace: Option<String>,
    /// Labels that a file must have, all of them.
    pub tags: Vec<String>,
    /// The media type, or with `/` at the end all that begin so.
    pub content_type: Option<String>,
    /// A text in the name or the description, in lower case.
    pub text: Option<String>,
}

/// An object that nothing refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectToDelete {
    /// Its key.
    pub key: String,
    /// What the storage calls its parts.
    pub parts_handle: Option<String>,
}

/// The part of the database that knows files.
///
/// What [`super::Store`] promises holds here too. No object of the storage is without a row here: the one that refers to
/// it, that of its upload, or one that says when it is to be deleted.
#[async_trait]
pub trait Media: Send + Sync {
    /// Keeps an upload, by the hash of its page's secret.
    async fn announce_upload(
        &self,
        ctx: &Ctx,
        upload: &StoredUpload,
        page: &TokenHash,
        room: Room,
        now: Timestamp,
    ) -> Result<Announced>;

    /// How many bytes are left for files.
    async fn room_left(&self, quota_bytes: u64, now: Timestamp) -> Result<u64>;

    /// An upload of the caller whose time is not over.
    async fn upload(&self, ctx: &Ctx, id: MemoryId, now: Timestamp) -> Result<Option<StoredUpload>>;

    /// The upload of a page whose time is not over, and whose it is.
    async fn upload_of_page(&self, page: &TokenHash, now: Timestamp) -> Result<Option<(User, StoredUpload)>>;

    /// The caller's uploads whose time is not over, the newest first; at most `limit`.
    async fn uploads(&self, ctx: &Ctx, now: Timestamp, limit: u32) -> Result<Vec<StoredUpload>>;

    /// Notes what the storage calls the parts of an upload, unless that is noted already; gives what is noted then, nothing
    /// where there is no such upload.
    async fn note_parts(&self, ctx: &Ctx, id: MemoryId, handle: &str) -> Result<Option<String>>;

    /// Gives an upload of the caller up; its object is to be deleted. False where there is none.
    async fn delete_upload(&self, ctx: &Ctx, id: MemoryId) -> Result<bool>;

    /// Notes that an object is to be deleted at this time, unless something refers to it by then. To be called before it is
    /// made, and again with the handle before the first part of one in parts.
    async fn reserve_object(&self, ctx: &Ctx, key: &str, handle: Option<&str>, due_at: Timestamp) -> Result<()>;

    /// Notes that a reserved object is to be deleted at once.
    async fn release_object(&self, ctx: &Ctx, key: &str, at: Timestamp) -> Result<()>;

    /// Stores a memory with its file, whose object was reserved or is that of its upload, which ends by this.
    async fn insert_media(&self, ctx: &Ctx, new: NewMemory, media: NewMedia) -> Result<MediaInserted>;

    /// The files of those of these memories that the caller may read and that are not in the trash, or are in their own.
    async fn files(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Vec<(MemoryId, StoredFile)>>;

    /// A page of files that the caller may read, the newest first.
    async fn list_media(
        &self,
        ctx: &Ctx,
        filter: &MediaFilter,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<(Memory, StoredFile)>, Option<Place>)>;

    /// Notes where the small image of a file of the caller is, a reserved object, or that there can be none. False where
    /// that is noted already.
    async fn note_thumbnail(&self, ctx: &Ctx, id: MemoryId, key: Option<&str>, at: Timestamp) -> Result<bool>;

    /// Gives up uploads of any user whose time was over before this; gives their number. For the background only.
    async fn give_up_uploads(&self, before: Timestamp) -> Result<u64>;

    /// Takes objects of anyone that are due to be deleted, or that someone took before `again` and did not finish with.
    /// Nobody can refer to them from then on. For the background only.
    async fn take_objects(&self, now: Timestamp, again: Timestamp, limit: u32) -> Result<Vec<ObjectToDelete>>;

    /// Notes that objects are deleted, and which of those taken are not: they may be taken again at once. For the background
    /// only.
    async fn objects_deleted(&self, deleted: &[String], left: &[String]) -> Result<()>;
}

/// How a browser may show files of a type: only what it can't run.
fn shown_as(content_type: &str) -> ShownAs {
    match content_type.split(';').next().unwrap_or_default() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif" => ShownAs::Image,
        "video/mp4" | "video/webm" | "video/ogg" | "video/quicktime" => ShownAs::Video,
        "audio/mpeg" | "audio/mp4" | "audio/aac" | "audio/ogg" | "audio/wav" | "audio/x-wav" | "audio/webm"
        | "audio/flac" => ShownAs::Audio,
        "application/pdf" => ShownAs::Pdf,
        "text/plain" | "text/markdown" | "text/csv" => ShownAs::Text,
        _ => ShownAs::Download,
    }
}

/// A file of these properties.
#[must_use]
pub fn media_file(filename: String, content_type: String, size: u64, sha256: Option<[u8; 32]>) -> MediaFile {
    let shown_as = shown_as(&content_type);
    let sha256 = sha256.map(hex::encode);
    MediaFile { filename, content_type, size, sha256, shown_as }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_run_is_never_shown() {
        for runs in ["image/svg+xml", "text/html", "application/xhtml+xml", "text/xml", "text/javascript", "x/y", ""] {
            assert_eq!(shown_as(runs), ShownAs::Download, "{runs}");
        }
        assert_eq!(shown_as("text/plain;charset=utf-8"), ShownAs::Text);
        assert_eq!(shown_as("image/png"), ShownAs::Image);
    }
}
