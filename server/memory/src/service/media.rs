//! Files: announced, sent to the storage by whoever has them, confirmed, shown and fetched.
//!
//! The bytes go straight between a client and the storage, by signed requests; only small files, and those of a browser
//! without JavaScript, pass through here.
//!
//! # No bytes are lost or left behind
//!
//! A row in the database comes before each object in the storage: that of the upload it is sent for, or one that says when
//! it is to be deleted. The transaction that makes the memory takes the object over from that row. Whatever is interrupted
//! before leaves an object that the row's job finds, and whatever comes after it finds the memory.
//!
//! # What was promised is what is kept
//!
//! A signed request can be sent again until it expires, also after the upload was confirmed. So the memory does not get the
//! object that such a request writes to: it gets a copy, made of exactly the version that was looked at, under a key that no
//! request was ever signed for. An upload in parts needs none, for its requests end when the parts are put together.

mod announce;
mod confirm;
mod curl;
mod page;
mod parts;
mod read;
mod store;
mod sweep;
mod thumbnail;
mod validate;

use jiff::{SignedDuration, Timestamp};
use polymnemo_types::{BlobBackend, FileStorage, Media, Memory, MemoryId, limits};
use rand::RngExt as _;

use super::MemoryService;
use crate::{
    Error, Result,
    ports::{Delivery, Files, StoredFile},
};

pub(super) use self::{
    confirm::{Kept, UNCLAIMED},
    thumbnail::Thumbnails,
};

/// Requests that show a file are signed anew with each of these: until then its URL is the same, and the browser keeps it.
const SAME_VIEW_URL: SignedDuration = SignedDuration::from_hours(1);

impl MemoryService {
    /// Where files are kept.
    #[must_use]
    pub fn file_storage(&self) -> FileStorage {
        match &self.files {
            Some(files) => {
                FileStorage { backend: files.store.backend(), origin: files.store.origin(), max_bytes: files.max_bytes }
            }
            None => FileStorage { backend: BlobBackend::None, origin: None, max_bytes: 0 },
        }
    }

    /// Where files are kept, or what to do where they are not.
    fn files(&self) -> Result<&Files> {
        self.files.as_deref().ok_or_else(|| {
            Error::Invalid(
                "This server keeps no files: its setting POLYMNEMO_BLOB_BACKEND is `none`. Whoever runs it can set it to \
                 `local` or `s3`. A text can be remembered all the same."
                    .into(),
            )
        })
    }

    /// A file with what its readers see of it.
    async fn media_of(&self, mut memory: Memory, stored: StoredFile) -> Media {
        memory.file = Some(stored.file.clone());
        let thumbnail_url = match &stored.thumbnail_key {
            Some(key) => self.thumbnail_url(key).await,
            None => None,
        };
        Media { memory, file: stored.file, thumbnail_url }
    }

    /// A URL that shows an object for a while.
    async fn view_url(&self, key: &str, filename: &str, content_type: &str) -> Result<String> {
        let now = self.now().as_second();
        let hour = SAME_VIEW_URL.as_secs();
        let valid_from =
            Timestamp::from_second(now - now.rem_euclid(hour)).map_err(|error| Error::Internal(error.into()))?;
        let delivery = Delivery {
            filename: filename.to_owned(),
            content_type: content_type.to_owned(),
            inline: true,
            valid_from,
            expires_at: valid_from + SignedDuration::from_secs(i64::from(limits::VIEW_URL_SECONDS)),
        };
        self.files()?.store.sign_get(key, &delivery).await
    }
}

/// A key that nobody can guess and that says nothing.
pub(in crate::service) fn new_key() -> String {
    let random: [u8; 20] = rand::rng().random();
    hex::encode(random)
}

/// The digest that these hexadecimal digits stand for.
pub(crate) fn digest_of(hex: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    hex::decode_to_slice(hex, &mut digest).ok().map(|()| digest)
}

/// The answer about an upload that is not there (any more), or another user's.
fn no_upload(id: MemoryId) -> Error {
    Error::Missing(format!(
        "There is no upload {id} under way: it was never announced, was given up, or its time is over ({} hours). Announce \
         the file again with create_upload.",
        limits::UPLOAD_HOURS
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_comes_back_from_its_digits() {
        let digest = [7_u8; 32];
        assert_eq!(digest_of(&hex::encode(digest)), Some(digest));
        for wrong in ["", "07", "0", &"0".repeat(63), &"g".repeat(64), &"0".repeat(66)] {
            assert_eq!(digest_of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn keys_are_long_and_never_the_same() {
        let (one, other) = (new_key(), new_key());
        assert_eq!((one.len(), other.len()), (40, 40));
        assert_ne!(one, other);
    }
}
