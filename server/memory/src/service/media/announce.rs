//! Announcing a file, and what becomes of it before it is confirmed.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use jiff::{SignedDuration, Timestamp};
use polymnemo_types::{Action, CreatedUpload, MemoryId, NewUpload, SignedRequest, Upload, limits};
use rand::distr::{Alphanumeric, SampleString as _};
use uuid::Uuid;

use super::{curl, digest_of, new_key, no_upload, validate};
use crate::{
    Ctx, Error, Result,
    ports::{Announced, Promise, Room, StoredUpload},
    service::{MemoryService, tokens},
};

/// The number of random letters and digits in the address of an upload page: 256 bits.
const SECRET_CHARS: usize = 43;

impl MemoryService {
    /// Announces a file, and tells how to send it; or stores one that came along.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], also where this server keeps no files or has no room left; [`Error::FileTooLarge`],
    /// [`Error::TooLarge`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn create_upload(&self, ctx: &Ctx, new: NewUpload) -> Result<CreatedUpload> {
        let files = self.files()?;
        if let Some(encoded) = &new.content_base64 {
            let bytes = inline_bytes(encoded)?;
            return self.store_inline(ctx, new, bytes).await;
        }
        let size = new.size.ok_or_else(|| {
            Error::Invalid(
                "`size` is missing: give the length of the file in bytes, as `wc -c < FILE` prints it.".into(),
            )
        })?;
        let plan = validate::plan(ctx, files, &new, size)?;
        let now = self.now();
        let secret = Alphanumeric.sample_string(&mut rand::rng(), SECRET_CHARS);
        let stored = StoredUpload {
            upload: Upload {
                id: MemoryId(Uuid::now_v7()),
                file: plan.file,
                description: plan.description,
                namespace: plan.namespace,
                tags: plan.tags,
                client: ctx.client.clone(),
                in_parts: plan.in_parts,
                created_at: now,
                expires_at: now + SignedDuration::from_hours(i64::from(limits::UPLOAD_HOURS)),
            },
            app: ctx.app,
            object_key: new_key(),
            parts_handle: None,
        };
        // Signed first: where that fails, there is nothing to be told of and nothing is kept.
        let request = if plan.in_parts { None } else { Some(self.signed_put(&stored).await?) };
        let room = Room { uploads: limits::UPLOADS, quota_bytes: files.quota_bytes };
        match self.store.announce_upload(ctx, &stored, &tokens::hash(&secret), room, now).await? {
            Announced::Done => {}
            Announced::TooMany => {
                return Err(Error::Invalid(format!(
                    "You have {} uploads under way, more can't be announced. Confirm those that are done, or cancel them \
                     in the web app.",
                    limits::UPLOADS
                )));
            }
            Announced::NoRoom(left) => return Err(no_room(size, left)),
        }
        self.record_call(ctx, Action::Upload, None, vec![stored.upload.id]);
        Ok(CreatedUpload {
            curl: request.as_ref().map(|request| curl::line(request, &stored.upload.file.filename)),
            request,
            upload_page: Some(format!("{}/upload/{secret}", files.origin.get())),
            upload: stored.upload,
            stored: None,
        })
    }

    async fn store_inline(&self, ctx: &Ctx, new: NewUpload, bytes: Bytes) -> Result<CreatedUpload> {
        let length = bytes.len() as u64;
        if new.size.is_some_and(|size| size != length) {
            return Err(Error::Invalid(format!(
                "`content_base64` holds {length} bytes, `size` promises {}. Nothing was stored. Leave `size` out.",
                new.size.unwrap_or_default()
            )));
        }
        let new = NewUpload { size: Some(length), content_base64: None, in_parts: false, ..new };
        let media = self.store_file(ctx, new, stream::once(async { Ok(bytes) }).boxed()).await?;
        let upload = Upload {
            id: media.memory.id,
            file: media.file.clone(),
            description: media.memory.preview.clone(),
            namespace: media.memory.namespace.clone(),
            tags: media.memory.tags.clone(),
            client: media.memory.client.clone(),
            in_parts: false,
            created_at: media.memory.created_at,
            expires_at: media.memory.created_at,
        };
        Ok(CreatedUpload { upload, stored: Some(media), request: None, curl: None, upload_page: None })
    }

    /// The request that sends all bytes of an upload that was announced: a new one, where the first has expired.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is no such upload, or its time is over; [`Error::Invalid`] for one in parts;
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn upload_request(&self, ctx: &Ctx, id: MemoryId) -> Result<SignedRequest> {
        let stored = self.own_upload(ctx, id).await?;
        self.signed_put(&stored).await
    }

    pub(super) async fn signed_put(&self, stored: &StoredUpload) -> Result<SignedRequest> {
        if stored.upload.in_parts {
            return Err(Error::Invalid(
                "This upload was announced to come in parts. Ask for the requests of its parts.".into(),
            ));
        }
        let file = &stored.upload.file;
        let promise = Promise {
            content_type: file.content_type.clone(),
            size: file.size,
            sha256: file.sha256.as_deref().and_then(digest_of),
        };
        self.files()?.store.sign_put(&stored.object_key, &promise, self.request_expiry(&stored.upload)).await
    }

    /// Until when a request for an upload is good; never longer than the upload itself, after which its object is deleted.
    pub(super) fn request_expiry(&self, upload: &Upload) -> Timestamp {
        let at_most = self.now() + SignedDuration::from_secs(i64::from(limits::UPLOAD_URL_SECONDS));
        at_most.min(upload.expires_at)
    }

    /// Gives an upload up; its bytes are deleted. One that is there no longer is left at that.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn cancel_upload(&self, ctx: &Ctx, id: MemoryId) -> Result<()> {
        match self.own_upload(ctx, id).await {
            Ok(stored) => self.give_up(ctx, &stored).await,
            Err(Error::Missing(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives an upload up. Its bytes are deleted as soon as may be, and looked for again when no request for it is good any
    /// more.
    pub(super) async fn give_up(&self, ctx: &Ctx, stored: &StoredUpload) -> Result<()> {
        // Not those of an upload that was confirmed in the meantime.
        if self.store.delete_upload(ctx, stored.upload.id).await? {
            self.delete_now(&stored.object_key, stored.parts_handle.as_deref()).await;
        }
        Ok(())
    }

    /// The caller's uploads that are under way, the newest first; there are at most [`limits::UPLOADS`].
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn pending_uploads(&self, ctx: &Ctx) -> Result<Vec<Upload>> {
        ctx.check_person()?;
        let stored = self.store.uploads(ctx, self.now(), limits::UPLOADS).await?;
        Ok(stored.into_iter().map(|stored| stored.upload).collect())
    }

    /// An upload of the caller that they may go on with.
    pub(super) async fn own_upload(&self, ctx: &Ctx, id: MemoryId) -> Result<StoredUpload> {
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let stored = self.store.upload(ctx, id, self.now()).await?;
        stored.filter(|stored| ctx.covers(&stored.upload.namespace)).ok_or_else(|| no_upload(id))
    }
}

/// The refusal of a file for which there is no room.
pub(super) fn no_room(size: u64, left: u64) -> Error {
    Error::Invalid(format!(
        "There is no room for {size} bytes: {left} are left of what this server keeps of files. Nothing was stored. Erase \
         files that are no longer needed, or ask whoever runs the server for more room (POLYMNEMO_BLOB_QUOTA_BYTES)."
    ))
}

/// A small file that came inside a request.
fn inline_bytes(encoded: &str) -> Result<Bytes> {
    let too_long = || {
        Error::Invalid(format!(
            "`content_base64` holds more than {} bytes. Leave it out, give `size`, and send the file with the request that \
             create_upload answers with.",
            limits::INLINE_BYTES
        ))
    };
    // Line breaks are common in Base64, and mean nothing.
    let encoded: String = encoded.chars().filter(|character| !character.is_ascii_whitespace()).collect();
    if encoded.len() > limits::INLINE_BYTES.div_ceil(3) * 4 {
        return Err(too_long());
    }
    let bytes = STANDARD.decode(encoded).map_err(|_| {
        Error::Invalid(
            "`content_base64` is not Base64 (with the letters + and /, and = at the end). Nothing was stored. Encode the \
             bytes of the file, without a `data:` prefix."
                .into(),
        )
    })?;
    if bytes.len() > limits::INLINE_BYTES {
        return Err(too_long());
    }
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_bytes_are_bounded_and_told_from_other_text() {
        assert_eq!(inline_bytes("aGVs\nbG8=").expect("Base64"), "hello");
        for wrong in ["data:image/png;base64,aGVsbG8=", "aGVsbG8", "é", "aGVs bG8-"] {
            assert!(inline_bytes(wrong).expect_err(wrong).to_string().contains("not Base64"));
        }
        let at_most = STANDARD.encode(vec![0; limits::INLINE_BYTES]);
        assert_eq!(inline_bytes(&at_most).expect("just short enough").len(), limits::INLINE_BYTES);
        for length in [limits::INLINE_BYTES + 1, 2 * limits::INLINE_BYTES] {
            let told = inline_bytes(&STANDARD.encode(vec![0; length])).expect_err("too long").to_string();
            assert!(told.contains("1000000"), "{told}");
        }
    }
}
