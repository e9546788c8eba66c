//! Files whose bytes pass through here.

use bytes::{Bytes, BytesMut};
use futures::StreamExt as _;
use polymnemo_types::{Action, Media, MemoryId, NewUpload, limits};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{
    announce::no_room,
    confirm::{Kept, Record, UNCLAIMED},
    digest_of, new_key, validate,
};
use crate::{
    Ctx, Error, Result,
    ports::{FileBytes, StoredUpload},
    service::MemoryService,
};

/// The length of a part, which bounds what is held of a file at any time.
const PART: usize = limits::PART_BYTES as usize;

/// An object on its way into the storage.
struct Incoming<'a> {
    service: &'a MemoryService,
    ctx: &'a Ctx,
    key: &'a str,
    content_type: &'a str,
    buffer: BytesMut,
    digest: Sha256,
    size: u64,
    /// What the storage calls the parts, and how many it has, once the file is known to be longer than one.
    parts: Option<(String, u32)>,
}

impl MemoryService {
    /// Stores a file whose bytes pass through here: announced and confirmed in one go. `size` and `sha256` may be absent.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::create_upload`] and [`MemoryService::confirm_upload`].
    pub async fn store_file(&self, ctx: &Ctx, new: NewUpload, bytes: FileBytes) -> Result<Media> {
        let files = self.files()?;
        // Where the length is not known, it is found out to be too great while the file comes in.
        let plan = validate::plan(ctx, files, &new, new.size.unwrap_or(1))?;
        let mut most = new.size.unwrap_or(files.max_bytes);
        if let Some(quota) = files.quota_bytes {
            let left = self.store.room_left(quota, self.now()).await?;
            if new.size.is_some_and(|size| size > left) || left == 0 {
                return Err(no_room(new.size.unwrap_or(1), left));
            }
            most = most.min(left);
        }
        let kept = self.take_in(ctx, &plan.file.content_type, bytes, most).await?;
        if let Err(broken) = received_as_promised(new.size, plan.file.sha256.as_deref(), &kept) {
            self.release(ctx, &kept.key).await;
            return Err(broken);
        }
        let record = Record {
            id: MemoryId(Uuid::now_v7()),
            filename: plan.file.filename,
            content_type: plan.file.content_type,
            description: plan.description,
            namespace: plan.namespace,
            tags: plan.tags,
            upload: None,
        };
        let media = self.make_media(ctx, record, kept).await?;
        self.record_call(ctx, Action::Upload, None, vec![media.memory.id]);
        Ok(media)
    }

    /// Makes the memory of an upload whose file came through here.
    pub(super) async fn finish_upload(&self, ctx: &Ctx, stored: &StoredUpload, kept: Kept) -> Result<Media> {
        let media = self.make_media(ctx, Record::of(stored), kept).await?;
        self.record_call(ctx, Action::Upload, None, vec![media.memory.id]);
        Ok(media)
    }

    /// Takes bytes into the storage, as an object that nothing refers to yet; at most so many.
    pub(in crate::service) async fn take_in(
        &self,
        ctx: &Ctx,
        content_type: &str,
        bytes: FileBytes,
        most: u64,
    ) -> Result<Kept> {
        let key = new_key();
        self.store.reserve_object(ctx, &key, None, self.now() + UNCLAIMED).await?;
        let incoming = Incoming {
            service: self,
            ctx,
            key: &key,
            content_type,
            buffer: BytesMut::new(),
            digest: Sha256::new(),
            size: 0,
            parts: None,
        };
        let taken = incoming.take(bytes, most).await;
        if taken.is_err() {
            self.release(ctx, &key).await;
        }
        let (size, digest) = taken?;
        Ok(Kept { key, size, sha256: Some(digest) })
    }
}

impl Incoming<'_> {
    async fn take(mut self, mut bytes: FileBytes, most: u64) -> Result<(u64, [u8; 32])> {
        while let Some(chunk) = bytes.next().await {
            let chunk = chunk.map_err(|error| {
                tracing::debug!(%error, "the bytes of a file stopped coming");
                Error::Invalid("The file did not arrive whole, so nothing was stored. Send it again.".into())
            })?;
            self.size += chunk.len() as u64;
            if self.size > most {
                return Err(Error::FileTooLarge { given: self.size, most });
            }
            self.digest.update(&chunk);
            self.buffer.extend_from_slice(&chunk);
            while self.buffer.len() > PART {
                let part = self.buffer.split_to(PART).freeze();
                self.put_part(part).await?;
            }
        }
        if self.size == 0 {
            return Err(Error::Invalid("The file is empty: there is nothing to keep.".into()));
        }
        let last = self.buffer.split().freeze();
        let store = &self.service.files()?.store;
        if self.parts.is_some() {
            self.put_part(last).await?;
        } else {
            store.put(self.key, self.content_type, last).await?;
        }
        if let Some((handle, _)) = &self.parts {
            let arrived = store.parts(self.key, handle).await?.unwrap_or_default();
            store.complete_parts(self.key, handle, &arrived).await?;
        }
        Ok((self.size, self.digest.finalize().into()))
    }

    async fn put_part(&mut self, bytes: Bytes) -> Result<()> {
        let store = &self.service.files()?.store;
        let (handle, number) = match self.parts.take() {
            Some((handle, number)) => (handle, number + 1),
            None => {
                let handle = store.begin_parts(self.key, self.content_type).await?;
                let due_at = self.service.now() + UNCLAIMED;
                self.service.store.reserve_object(self.ctx, self.key, Some(&handle), due_at).await?;
                (handle, 1)
            }
        };
        let put = store.put_part(self.key, &handle, number, bytes).await;
        self.parts = Some((handle, number));
        put
    }
}

/// Whether what came through here is what was promised, as far as anything was.
pub(super) fn received_as_promised(size: Option<u64>, sha256: Option<&str>, kept: &Kept) -> Result<()> {
    if let Some(size) = size.filter(|&size| size != kept.size) {
        return Err(Error::Invalid(format!(
            "The file is {} bytes long, {size} were promised. Nothing was stored.",
            kept.size
        )));
    }
    if sha256.and_then(digest_of).is_some_and(|expected| Some(expected) != kept.sha256) {
        return Err(Error::Invalid(
            "The SHA-256 of the file is another one than was promised. Nothing was stored.".into(),
        ));
    }
    Ok(())
}
