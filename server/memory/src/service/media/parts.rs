//! Uploads in parts, each of which can be sent again on its own.

use polymnemo_types::{MemoryId, PartRequest, UploadParts, limits};

use crate::{
    Ctx, Error, Result,
    ports::{Part, StoredUpload},
    service::MemoryService,
};

impl MemoryService {
    /// Which parts of an upload in parts have arrived, and the requests that send those asked for, by number from 1; at most
    /// [`limits::PART_REQUESTS`] at once.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::upload_request`], but [`Error::Invalid`] for one that is not in parts.
    pub async fn upload_parts(&self, ctx: &Ctx, id: MemoryId, numbers: &[u32]) -> Result<UploadParts> {
        let stored = self.own_upload(ctx, id).await?;
        self.parts_of(ctx, &stored, numbers).await
    }

    pub(super) async fn parts_of(&self, ctx: &Ctx, stored: &StoredUpload, numbers: &[u32]) -> Result<UploadParts> {
        let upload = &stored.upload;
        if !upload.in_parts {
            return Err(Error::Invalid("This upload was announced to come in one go. Ask for its request.".into()));
        }
        let count = count(upload.file.size);
        if numbers.len() > limits::PART_REQUESTS || numbers.iter().any(|number| !(1..=count).contains(number)) {
            return Err(Error::Invalid(format!(
                "Ask for at most {} parts at once, by their numbers from 1 to {count}.",
                limits::PART_REQUESTS
            )));
        }
        let store = &self.files()?.store;
        let key = &stored.object_key;
        let handle = match &stored.parts_handle {
            Some(handle) => handle.clone(),
            None => self.begin_parts(ctx, stored).await?,
        };
        let present = match store.parts(key, &handle).await? {
            Some(arrived) => {
                let missing = missing(upload.file.size, &arrived);
                (1..=count).filter(|number| !missing.contains(number)).collect()
            }
            // They were put together.
            None => (1..=count).collect(),
        };
        let expires_at = self.request_expiry(upload);
        let mut requests = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let size = length(upload.file.size, number);
            let request = store.sign_part(key, &handle, number, size, expires_at).await?;
            requests.push(PartRequest { number, offset: offset(number), size, request });
        }
        Ok(UploadParts { part_bytes: limits::PART_BYTES, count, present, requests })
    }

    /// Begins the parts of an upload, unless someone did at the same time; gives what the storage calls them.
    async fn begin_parts(&self, ctx: &Ctx, stored: &StoredUpload) -> Result<String> {
        let store = &self.files()?.store;
        let (id, key) = (stored.upload.id, &stored.object_key);
        let begun = store.begin_parts(key, &stored.upload.file.content_type).await?;
        let noted = self.store.note_parts(ctx, id, &begun).await;
        if !matches!(&noted, Ok(Some(noted)) if *noted == begun) {
            // Nobody was told of it, so it is empty.
            let _ = store.abort_parts(key, &begun).await;
        }
        noted?.ok_or_else(|| super::no_upload(id))
    }
}

/// How many parts a file has.
pub(super) fn count(size: u64) -> u32 {
    u32::try_from(size.div_ceil(limits::PART_BYTES)).unwrap_or(u32::MAX)
}

/// Where a part begins.
fn offset(number: u32) -> u64 {
    u64::from(number.saturating_sub(1)) * limits::PART_BYTES
}

/// How long a part is.
fn length(size: u64, number: u32) -> u64 {
    size.saturating_sub(offset(number)).min(limits::PART_BYTES)
}

/// The numbers of the parts that have not arrived, or not whole.
pub(super) fn missing(size: u64, arrived: &[Part]) -> Vec<u32> {
    let whole: std::collections::HashSet<u32> =
        arrived.iter().filter(|part| part.size == length(size, part.number)).map(|part| part.number).collect();
    (1..=count(size)).filter(|number| !whole.contains(number)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: u64 = limits::PART_BYTES;

    #[test]
    fn parts_cover_the_file() {
        for size in [1, PART - 1, PART, PART + 1, 3 * PART + 7] {
            let lengths: Vec<u64> = (1..=count(size)).map(|number| length(size, number)).collect();
            assert_eq!(lengths.iter().sum::<u64>(), size);
            assert!(lengths.iter().all(|&length| length > 0), "{size}: {lengths:?}");
            assert_eq!(offset(count(size)) + lengths.last().copied().unwrap_or_default(), size);
        }
    }

    #[test]
    fn a_part_of_another_length_has_not_arrived() {
        let part = |number, size| Part { number, size, tag: String::new() };
        assert_eq!(missing(PART + 1, &[part(1, PART), part(2, 1)]), [0_u32; 0]);
        assert_eq!(missing(PART + 1, &[part(1, PART), part(2, 2)]), [2]);
        assert_eq!(missing(PART + 1, &[part(2, 1)]), [1]);
    }
}
