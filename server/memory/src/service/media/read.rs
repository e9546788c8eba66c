//! Showing and fetching files.

use std::collections::HashMap;

use futures::StreamExt as _;
use jiff::SignedDuration;
use polymnemo_types::{
    Action, DownloadUrl, Kind, ListMediaRequest, Media, MediaDetails, MediaText, Memory, MemoryId, Page, ShownAs,
    limits,
};

use crate::{
    Ctx, Error, Result,
    ports::{Delivery, MediaFilter, StoredFile, StoredMemory},
    service::{MemoryService, cursor, validate},
};

/// The greatest length of a text that names or descriptions are searched for, in characters.
const TEXT_CHARS: usize = 200;

impl MemoryService {
    /// A page of files, the newest first, with small images of those that have one.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad filter, limit or cursor; [`Error::NamespaceNotFound`], [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn list_media(&self, ctx: &Ctx, request: ListMediaRequest) -> Result<Page<Media>> {
        ctx.check_read()?;
        let filter = filter(&request)?;
        let limit = validate::limit(request.limit)?;
        let place = request.cursor.as_deref().map(cursor::to_place).transpose()?;
        let (page, next) = self.store.list_media(ctx, &filter, place, limit).await?;
        if page.total == 0 {
            self.check_namespace(ctx, filter.namespace.as_deref()).await?;
        }
        let mut items = Vec::with_capacity(page.items.len());
        for (memory, stored) in page.items {
            if memory.own {
                self.make_thumbnail_soon(ctx, memory.id, &stored);
            }
            items.push(self.media_of(memory, stored).await);
        }
        self.record_call(ctx, Action::List, None, items.iter().map(|media| media.memory.id).collect());
        Ok(Page { items, total: page.total, next_cursor: next.map(cursor::from_place) })
    }

    /// One file, with URLs to show and to save it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where there is none, or it is in the trash; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn media(&self, ctx: &Ctx, id: MemoryId) -> Result<MediaDetails> {
        let (StoredMemory { memory, content, .. }, stored) = self.readable_file(ctx, id).await?;
        self.record_call(ctx, Action::Get, None, vec![id]);
        let file = &stored.file;
        let served_as = match file.shown_as {
            ShownAs::Download => None,
            // Whatever it is, a browser is to take it for nothing but text.
            ShownAs::Text => Some(if file.content_type.contains(";charset=") {
                format!("text/plain;{}", file.content_type.split(';').nth(1).unwrap_or_default())
            } else {
                "text/plain;charset=utf-8".to_owned()
            }),
            ShownAs::Image | ShownAs::Video | ShownAs::Audio | ShownAs::Pdf => Some(file.content_type.clone()),
        };
        let view_url = match served_as {
            Some(served_as) => Some(self.view_url(&stored.object_key, &file.filename, &served_as).await?),
            None => None,
        };
        let download_url = self.download_url(&stored).await?.0;
        if memory.own {
            self.make_thumbnail_soon(ctx, id, &stored);
        }
        let end = content.floor_char_boundary(limits::TEXT_BYTES);
        let description = content.get(..end).unwrap_or_default().to_owned();
        Ok(MediaDetails { media: self.media_of(memory, stored).await, description, view_url, download_url })
    }

    /// The beginning of a text file; nothing where it is of another type.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::media`].
    pub async fn media_text(&self, ctx: &Ctx, id: MemoryId) -> Result<Option<MediaText>> {
        let (_, stored) = self.readable_file(ctx, id).await?;
        if stored.file.shown_as != ShownAs::Text {
            return Ok(None);
        }
        let size = stored.file.size;
        let most = size.min(limits::TEXT_BYTES as u64);
        let Some(mut chunks) = self.files()?.store.read(&stored.object_key, Some(0..most)).await? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|source| Error::Unavailable { part: "file storage", source: source.into() })?;
            bytes.extend_from_slice(&chunk);
        }
        let truncated = size > bytes.len() as u64;
        // The end may be in the middle of a character.
        let whole = match std::str::from_utf8(&bytes) {
            Err(error) if truncated && error.error_len().is_none() => error.valid_up_to(),
            _ => bytes.len(),
        };
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text).replace('\0', "\u{FFFD}");
        let end = text.floor_char_boundary(limits::TEXT_BYTES);
        Ok(Some(MediaText {
            truncated: truncated || end < text.len(),
            text: text.get(..end).unwrap_or_default().to_owned(),
        }))
    }

    /// A URL that saves a file, for a little while.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::media`].
    pub async fn get_download_url(&self, ctx: &Ctx, id: MemoryId) -> Result<DownloadUrl> {
        let (_, stored) = self.readable_file(ctx, id).await?;
        let (url, expires_at) = self.download_url(&stored).await?;
        self.record_call(ctx, Action::Download, None, vec![id]);
        Ok(DownloadUrl { id, file: stored.file, url, expires_at })
    }

    async fn download_url(&self, stored: &StoredFile) -> Result<(String, jiff::Timestamp)> {
        let now = self.now();
        let delivery = Delivery {
            filename: stored.file.filename.clone(),
            content_type: stored.file.content_type.clone(),
            inline: false,
            valid_from: now,
            expires_at: now + SignedDuration::from_secs(i64::from(limits::DOWNLOAD_URL_SECONDS)),
        };
        Ok((self.files()?.store.sign_get(&stored.object_key, &delivery).await?, delivery.expires_at))
    }

    /// A file that the caller may read, and its memory.
    async fn readable_file(&self, ctx: &Ctx, id: MemoryId) -> Result<(StoredMemory, StoredFile)> {
        ctx.check_read()?;
        let stored = self.store.memory(ctx, id, false).await?.ok_or(Error::NotFound(id))?;
        if stored.memory.kind != Kind::Media {
            return Err(Error::Invalid(format!("The memory {id} has no file. Read it with get_memory.")));
        }
        let file = self.store.files(ctx, &[id]).await?.into_iter().next();
        file.map(|(_, file)| (stored, file)).ok_or(Error::NotFound(id))
    }

    /// Tells of memories which files they have. Most have none, and cost nothing.
    pub(in crate::service) async fn add_files(&self, ctx: &Ctx, memories: Vec<&mut Memory>) -> Result<()> {
        let memories: Vec<&mut Memory> = memories.into_iter().filter(|memory| memory.kind == Kind::Media).collect();
        if memories.is_empty() {
            return Ok(());
        }
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let mut files: HashMap<MemoryId, StoredFile> = self.store.files(ctx, &ids).await?.into_iter().collect();
        for memory in memories {
            memory.file = files.remove(&memory.id).map(|stored| stored.file);
        }
        Ok(())
    }
}

fn filter(request: &ListMediaRequest) -> Result<MediaFilter> {
    let content_type = match request.content_type.as_deref().map(str::trim).filter(|given| !given.is_empty()) {
        None => None,
        Some(given) if given.len() > limits::CONTENT_TYPE_CHARS => {
            return Err(Error::Invalid(
                "`content_type` is no media type, nor a family of them such as `image`.".into(),
            ));
        }
        Some(given) => {
            let given = given.to_ascii_lowercase().replace('\0', "");
            let family = given.strip_suffix("/*").unwrap_or(&given);
            Some(if family.contains('/') { family.to_owned() } else { format!("{family}/") })
        }
    };
    let text = request.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if text.is_some_and(|text| text.chars().count() > TEXT_CHARS) {
        return Err(Error::Invalid(format!("`text` has at most {TEXT_CHARS} characters.")));
    }
    Ok(MediaFilter {
        namespace: request.namespace.as_deref().map(validate::namespace).transpose()?,
        tags: validate::tags(&request.tags)?,
        content_type,
        text: text.map(|text| text.to_lowercase().replace('\0', "\u{FFFD}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_of_types_is_asked_for_in_either_way() {
        let asked = |content_type: &str| {
            let request = ListMediaRequest { content_type: Some(content_type.into()), ..Default::default() };
            filter(&request).expect("valid").content_type
        };
        assert_eq!(asked("image").as_deref(), Some("image/"));
        assert_eq!(asked("Image/*").as_deref(), Some("image/"));
        assert_eq!(asked("image/png").as_deref(), Some("image/png"));
        assert_eq!(asked(" "), None);
    }
}
