//! From an upload to a memory.

use futures::StreamExt as _;
use jiff::SignedDuration;
use polymnemo_types::{Action, Kind, Media, MediaFile, MemoryId, limits};
use sha2::{Digest as _, Sha256};

use super::{digest_of, new_key, no_upload, parts};
use crate::{
    Ctx, Error, Result,
    ports::{MediaInserted, MemoryState, NewMedia, NewMemory, Object, StoredFile, StoredUpload, media_file},
    service::{MemoryService, index::EMBEDDED_AT_ONCE, remember::index_state, validate},
};

/// Up to this length the digest of a file is computed where nobody told or vouches for it.
const HASHED_ANYWAY: u64 = 64 << 20;

/// An object that is made but never referred to is deleted after this time.
pub(in crate::service) const UNCLAIMED: SignedDuration = SignedDuration::from_hours(24);

/// How often a copy is tried while someone sends the object again.
const ATTEMPTS: usize = 3;

/// The object of a memory to be.
pub(in crate::service) struct Kept {
    pub(in crate::service) key: String,
    pub(in crate::service) size: u64,
    pub(in crate::service) sha256: Option<[u8; 32]>,
}

/// What a file becomes.
pub(super) struct Record {
    pub(super) id: MemoryId,
    pub(super) filename: String,
    pub(super) content_type: String,
    pub(super) description: String,
    pub(super) namespace: String,
    pub(super) tags: Vec<String>,
    /// The upload that ends by this.
    pub(super) upload: Option<MemoryId>,
}

impl Record {
    pub(super) fn of(stored: &StoredUpload) -> Self {
        let upload = stored.upload.clone();
        Self {
            id: upload.id,
            filename: upload.file.filename,
            content_type: upload.file.content_type,
            description: upload.description,
            namespace: upload.namespace,
            tags: upload.tags,
            upload: Some(upload.id),
        }
    }
}

impl MemoryService {
    /// Makes the memory of an upload whose bytes have arrived, all of them and just as promised. Doing so again gives the
    /// same memory.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is no such upload, or its time is over; [`Error::Invalid`] where the bytes have not
    /// arrived, or are not those that were promised: then they and the upload are deleted; [`Error::Forbidden`],
    /// [`Error::Model`], [`Error::Unavailable`].
    pub async fn confirm_upload(&self, ctx: &Ctx, id: MemoryId) -> Result<Media> {
        let (service, owned) = (self.clone(), ctx.clone());
        // Great files take a while to be copied and looked at. Whoever gives up waiting finds it done the next time.
        let confirming = tokio::spawn(async move { service.confirm(&owned, id).await });
        let media = confirming.await.map_err(|error| Error::Internal(error.into()))??;
        self.record_call(ctx, Action::Upload, None, vec![id]);
        Ok(media)
    }

    async fn confirm(&self, ctx: &Ctx, id: MemoryId) -> Result<Media> {
        self.files()?;
        let stored = match self.own_upload(ctx, id).await {
            Ok(stored) => stored,
            Err(error) => return self.confirmed(ctx, id, error).await,
        };
        let object = match self.arrived(&stored).await? {
            Ok(object) => object,
            Err(not_arrived) => return self.confirmed(ctx, id, not_arrived).await,
        };
        if let Err(broken) =
            as_promised(&stored.upload.file, object.size, object.content_type.as_deref(), object.sha256)
        {
            self.give_up(ctx, &stored).await?;
            return Err(broken);
        }
        let kept = match self.keep_object(ctx, &stored, object).await? {
            Some(kept) => kept,
            None => return self.confirmed(ctx, id, not_arrived(&stored)).await,
        };
        if let Err(broken) = as_promised(&stored.upload.file, kept.size, None, kept.sha256) {
            self.release(ctx, &kept.key).await;
            self.give_up(ctx, &stored).await?;
            return Err(broken);
        }
        let is_copy = kept.key != stored.object_key;
        let media = self.make_media(ctx, Record::of(&stored), kept).await?;
        if is_copy {
            // A copy is what is kept; the original may go. It is in the list of those to be deleted, too.
            self.delete_now(&stored.object_key, None).await;
        }
        Ok(media)
    }

    /// The memory of an upload that was confirmed before, else this error.
    async fn confirmed(&self, ctx: &Ctx, id: MemoryId, otherwise: Error) -> Result<Media> {
        if !matches!(otherwise, Error::Missing(_) | Error::Invalid(_)) {
            return Err(otherwise);
        }
        let memory = self.store.memory(ctx, id, false).await?.map(|stored| stored.memory);
        let Some(memory) = memory.filter(|memory| memory.own) else { return Err(otherwise) };
        match self.store.files(ctx, &[id]).await?.into_iter().next() {
            Some((_, stored)) => Ok(self.media_of(memory, stored).await),
            None => Err(otherwise),
        }
    }

    /// The object of an upload, or what is missing of it.
    async fn arrived(&self, stored: &StoredUpload) -> Result<Result<Object>> {
        let store = &self.files()?.store;
        let Some(handle) = stored.parts_handle.as_ref().filter(|_| stored.upload.in_parts) else {
            return Ok(store.head(&stored.object_key).await?.ok_or_else(|| not_arrived(stored)));
        };
        if let Some(object) = store.head(&stored.object_key).await? {
            // They were put together before.
            return Ok(Ok(object));
        }
        let put_together = self.put_together(stored, handle).await;
        // Where that failed, someone else may have been quicker.
        match (store.head(&stored.object_key).await?, put_together) {
            (Some(object), _) => Ok(Ok(object)),
            (None, Ok(Ok(()))) => Ok(Err(not_arrived(stored))),
            (None, Ok(Err(missing))) => Ok(Err(missing)),
            (None, Err(error)) => Err(error),
        }
    }

    /// Puts the parts of an upload together, or tells which are missing.
    async fn put_together(&self, stored: &StoredUpload, handle: &str) -> Result<Result<()>> {
        let store = &self.files()?.store;
        if let Some(arrived) = store.parts(&stored.object_key, handle).await? {
            let missing = parts::missing(stored.upload.file.size, &arrived);
            if !missing.is_empty() {
                return Ok(Err(parts_missing(&missing)));
            }
            store.complete_parts(&stored.object_key, handle, &arrived).await?;
        }
        Ok(Ok(()))
    }

    /// The object that the memory is to have. Nothing where it vanished or kept changing.
    async fn keep_object(&self, ctx: &Ctx, stored: &StoredUpload, mut object: Object) -> Result<Option<Kept>> {
        let store = &self.files()?.store;
        let mut key = stored.object_key.clone();
        if !stored.upload.in_parts {
            key = new_key();
            self.store.reserve_object(ctx, &key, None, self.now() + UNCLAIMED).await?;
            let mut attempts = ATTEMPTS;
            while !store.copy(&stored.object_key, &object, &key).await? {
                attempts -= 1;
                match store.head(&stored.object_key).await?.filter(|_| attempts > 0) {
                    Some(now) => object = now,
                    None => return Ok(None),
                }
            }
            // Whatever was sent to the other key since: this one is what counts from here on.
            let Some(copy) = store.head(&key).await? else { return Ok(None) };
            object = copy;
        }
        let wanted = stored.upload.file.sha256.is_some() || object.size <= HASHED_ANYWAY;
        let sha256 = match object.sha256 {
            Some(digest) => Some(digest),
            None if wanted => Some(self.digest_of_object(&key).await?),
            None => None,
        };
        Ok(Some(Kept { key, size: object.size, sha256 }))
    }

    async fn digest_of_object(&self, key: &str) -> Result<[u8; 32]> {
        let unavailable = |source: std::io::Error| Error::Unavailable { part: "file storage", source: source.into() };
        let bytes = self.files()?.store.read(key, None).await?;
        let mut bytes = bytes.ok_or_else(|| unavailable(std::io::ErrorKind::NotFound.into()))?;
        let mut digest = Sha256::new();
        while let Some(chunk) = bytes.next().await {
            digest.update(chunk.map_err(unavailable)?);
        }
        Ok(digest.finalize().into())
    }

    /// Makes the memory of a file whose object is there.
    pub(super) async fn make_media(&self, ctx: &Ctx, record: Record, kept: Kept) -> Result<Media> {
        let made = self.try_make_media(ctx, record, &kept).await;
        if made.as_ref().is_ok_and(|(_, is_new)| !is_new) || made.is_err() {
            self.release(ctx, &kept.key).await;
        }
        made.map(|(media, _)| media)
    }

    /// The memory, and whether it was made by this.
    async fn try_make_media(&self, ctx: &Ctx, record: Record, kept: &Kept) -> Result<(Media, bool)> {
        let Record { id, filename, content_type, description, namespace, tags, upload } = record;
        let now = self.now();
        let state = MemoryState {
            namespace,
            hash: validate::hash_of(Kind::Media, id, &description),
            content: description,
            tags,
            source: None,
            occurred_at: now,
        };
        let chunks = self.passages(ctx, &state, EMBEDDED_AT_ONCE).await?;
        let index = index_state(&chunks);
        let new = NewMemory {
            id,
            kind: Kind::Media,
            state,
            created_at: now,
            supersedes: Vec::new(),
            idempotency_key: None,
            origin: None,
            model: self.embedder.model().clone(),
            chunks,
        };
        let file = media_file(filename, content_type, kept.size, kept.sha256);
        let media = NewMedia { file: file.clone(), object_key: kept.key.clone(), upload };
        match self.store.insert_media(ctx, new, media).await? {
            MediaInserted::New => {}
            MediaInserted::Exists | MediaInserted::Gone => {
                return Ok((self.confirmed(ctx, id, no_upload(id)).await?, false));
            }
        }
        if index == polymnemo_types::IndexState::Pending {
            self.pending.notify_one();
        }
        let stored = StoredFile { file, object_key: kept.key.clone(), thumbnail_key: None, thumbnail_tried: false };
        let stored = self.with_thumbnail(ctx, id, stored).await;
        let memory = self.store.memory(ctx, id, false).await?.ok_or(Error::NotFound(id))?.memory;
        Ok((self.media_of(memory, stored).await, true))
    }

    /// Lets an object be deleted that will not be referred to. What is in the way is told to the log: it is deleted later
    /// in any case.
    pub(in crate::service) async fn release(&self, ctx: &Ctx, key: &str) {
        match self.store.release_object(ctx, key, self.now()).await {
            Ok(()) => self.deletions.notify_one(),
            Err(error) => tracing::warn!(%error, "a stored object that is not needed could not be released"),
        }
    }
}

/// Whether an object is what was promised.
fn as_promised(promised: &MediaFile, size: u64, content_type: Option<&str>, sha256: Option<[u8; 32]>) -> Result<()> {
    let broken = |what: String| {
        Err(Error::Invalid(format!(
            "The file that arrived is not the one that was announced: {what}. It was deleted, and nothing was stored. \
             Announce it again with create_upload as it is."
        )))
    };
    if size != promised.size {
        return broken(format!("it is {size} bytes long, {} were promised", promised.size));
    }
    if let Some(content_type) = content_type.filter(|given| !same_type(given, &promised.content_type)) {
        let shown: String = content_type.chars().take(limits::CONTENT_TYPE_CHARS).collect();
        return broken(format!("its type is `{shown}`, `{}` was promised", promised.content_type));
    }
    let expected = promised.sha256.as_deref().and_then(digest_of);
    if let (Some(expected), Some(digest)) = (expected, sha256)
        && expected != digest
    {
        return broken("its SHA-256 is another one than was promised".to_owned());
    }
    Ok(())
}

/// Storages write a type as they like.
fn same_type(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace([' ', '"'], "").to_ascii_lowercase();
    plain(one) == plain(other)
}

fn not_arrived(stored: &StoredUpload) -> Error {
    Error::Invalid(format!(
        "The bytes of upload {} have not arrived yet, so nothing was stored. Send them with the request that create_upload \
         answered with, or let the user open the upload page; then confirm again.",
        stored.upload.id
    ))
}

fn parts_missing(missing: &[u32]) -> Error {
    let shown: Vec<String> = missing.iter().take(10).map(ToString::to_string).collect();
    let more = if missing.len() > shown.len() { " and more" } else { "" };
    Error::Invalid(format!(
        "Of the parts of this file {}{more} have not arrived yet, so nothing was stored. Send them, then confirm again.",
        shown.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_promised_is_held_to() {
        let promised = media_file("tea.png".into(), "text/plain;charset=utf-8".into(), 3, Some([7; 32]));
        as_promised(&promised, 3, Some("text/plain; charset=UTF-8"), Some([7; 32])).expect("the same");
        as_promised(&promised, 3, None, None).expect("nothing else is known");
        for (size, content_type, digest, told) in [
            (4, "text/plain;charset=utf-8", [7; 32], "4 bytes"),
            (3, "text/html", [7; 32], "`text/html`"),
            (3, "text/plain;charset=utf-8", [8; 32], "SHA-256"),
        ] {
            let error = as_promised(&promised, size, Some(content_type), Some(digest)).expect_err(told).to_string();
            assert!(error.contains(told) && error.contains("deleted"), "{error}");
        }
    }
}
