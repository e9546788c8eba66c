//! Small images of files. Each is made once, by the server, of images only, within limits on what it may cost.

use std::{
    collections::HashSet,
    io::Cursor,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt as _;
use image::{
    DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, codecs::jpeg::JpegEncoder, metadata::Orientation,
};
use polymnemo_types::{MemoryId, limits};
use tokio::sync::Semaphore;

use super::{confirm::UNCLAIMED, new_key};
use crate::{Ctx, Error, Result, ports::StoredFile, service::MemoryService};

/// Greater files are not even read.
const MOST_BYTES: u64 = 32 << 20;
/// The most pixels that are decoded, and what that may take of memory.
const MOST_PIXELS: u64 = 50_000_000;
const MOST_MEMORY: u64 = 256 << 20;
/// How many are made at once.
const AT_ONCE: usize = 1;
/// How long whoever stores a file waits for its small image. It is finished in any case.
const PATIENCE: Duration = Duration::from_secs(5);
/// The quality of a JPEG, of 100.
const QUALITY: u8 = 80;

/// What this process is making.
#[derive(Clone)]
pub(in crate::service) struct Thumbnails {
    permits: Arc<Semaphore>,
    under_way: Arc<Mutex<HashSet<MemoryId>>>,
}

impl Default for Thumbnails {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(AT_ONCE)), under_way: Arc::default() }
    }
}

impl Thumbnails {
    /// False where it is being made already.
    fn begin(&self, id: MemoryId) -> bool {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(id)
    }

    fn end(&self, id: MemoryId) {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}

/// The format of an image that a small one is made of.
fn format(stored: &StoredFile) -> Option<ImageFormat> {
    if stored.thumbnail_tried || stored.file.size > MOST_BYTES {
        return None;
    }
    match stored.file.content_type.as_str() {
        "image/png" => Some(ImageFormat::Png),
        "image/jpeg" => Some(ImageFormat::Jpeg),
        "image/gif" => Some(ImageFormat::Gif),
        "image/webp" => Some(ImageFormat::WebP),
        _ => None,
    }
}

impl MemoryService {
    /// A file just stored, with its small image, unless that takes too long.
    pub(super) async fn with_thumbnail(&self, ctx: &Ctx, id: MemoryId, mut stored: StoredFile) -> StoredFile {
        let Some(making) = self.make_thumbnail_soon(ctx, id, &stored) else { return stored };
        if let Ok(Ok(key)) = tokio::time::timeout(PATIENCE, making).await {
            stored.thumbnail_key = key;
        }
        stored
    }

    /// Makes the small image of a file of the caller where there may be one and none was made yet; the handle gives its key.
    pub(in crate::service) fn make_thumbnail_soon(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        stored: &StoredFile,
    ) -> Option<tokio::task::JoinHandle<Option<String>>> {
        let format = format(stored)?;
        if !self.thumbnails.begin(id) {
            return None;
        }
        let (service, ctx, key) = (self.clone(), ctx.clone(), stored.object_key.clone());
        Some(tokio::spawn(async move {
            let made = service.make_thumbnail(&ctx, id, &key, format).await;
            service.thumbnails.end(id);
            made.unwrap_or_else(|error| {
                tracing::info!(%error, "a small image could not be made; it will be tried again");
                None
            })
        }))
    }

    async fn make_thumbnail(&self, ctx: &Ctx, id: MemoryId, key: &str, format: ImageFormat) -> Result<Option<String>> {
        let permits = self.thumbnails.permits.clone();
        let permit = permits.acquire_owned().await.map_err(|error| Error::Internal(error.into()))?;
        let store = &self.files()?.store;
        let Some(mut chunks) = store.read(key, None).await? else { return Ok(None) };
        let mut bytes = Vec::new();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|source| Error::Unavailable { part: "file storage", source: source.into() })?;
            bytes.extend_from_slice(&chunk);
            if bytes.len() as u64 > MOST_BYTES {
                break;
            }
        }
        // The permit goes along: a decoder that takes long is not joined by another one.
        let rendering = tokio::task::spawn_blocking(move || {
            let rendered = render(&bytes, format);
            drop(permit);
            rendered
        });
        // Whatever a decoder does with a file that was made to harm it: there is no small image then.
        let Ok(Some((small, content_type, ending))) = rendering.await else {
            self.store.note_thumbnail(ctx, id, None, self.now()).await?;
            return Ok(None);
        };
        let key = format!("{}{ending}", new_key());
        self.store.reserve_object(ctx, &key, None, self.now() + UNCLAIMED).await?;
        store.put(&key, content_type, small).await?;
        if self.store.note_thumbnail(ctx, id, Some(&key), self.now()).await? {
            return Ok(Some(key));
        }
        // Another process was quicker, or the file is gone.
        self.release(ctx, &key).await;
        Ok(None)
    }

    /// A URL of a small image.
    pub(super) async fn thumbnail_url(&self, key: &str) -> Option<String> {
        let (content_type, name) =
            if key.ends_with(JPEG_ENDING) { ("image/jpeg", "preview.jpg") } else { ("image/webp", "preview.webp") };
        // The list is worth more than its images.
        self.view_url(key, name, content_type).await.ok()
    }
}

const JPEG_ENDING: &str = ".jpg";
const WEBP_ENDING: &str = ".webp";

/// A small image of another one, its type and the ending of its key. Nothing where that is damaged or too much.
fn render(bytes: &[u8], format: ImageFormat) -> Option<(Bytes, &'static str, &'static str)> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut limits_of_decoder = Limits::default();
    limits_of_decoder.max_alloc = Some(MOST_MEMORY);
    reader.limits(limits_of_decoder);
    let mut decoder = reader.into_decoder().ok()?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MOST_PIXELS || decoder.total_bytes() > MOST_MEMORY {
        return None;
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).ok()?;
    let most = limits::THUMBNAIL_PIXELS;
    let mut small = if width > most || height > most { image.thumbnail(most, most) } else { image };
    small.apply_orientation(orientation);
    let mut encoded = Vec::new();
    if small.color().has_alpha() {
        let small = DynamicImage::ImageRgba8(small.to_rgba8());
        small.write_to(&mut Cursor::new(&mut encoded), ImageFormat::WebP).ok()?;
        Some((encoded.into(), "image/webp", WEBP_ENDING))
    } else {
        JpegEncoder::new_with_quality(&mut encoded, QUALITY).encode_image(&small.to_rgb8()).ok()?;
        Some((encoded.into(), "image/jpeg", JPEG_ENDING))
    }
}

#[cfg(test)]
mod tests {
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn png(image: impl Into<DynamicImage>) -> Vec<u8> {
        let mut bytes = Vec::new();
        image.into().write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).expect("an image");
        bytes
    }

    #[test]
    fn an_image_becomes_small_and_keeps_its_shape() {
        let (small, content_type, ending) =
            render(&png(RgbImage::from_pixel(1200, 600, Rgb([200, 30, 30]))), ImageFormat::Png).expect("rendered");
        assert_eq!((content_type, ending), ("image/jpeg", ".jpg"));
        let small = image::load_from_memory(&small).expect("an image");
        assert_eq!((small.width(), small.height()), (400, 200));
    }

    #[test]
    fn one_that_is_small_stays_as_large_as_it_is_and_clear_where_it_was() {
        let (small, content_type, _) =
            render(&png(RgbaImage::from_pixel(20, 10, Rgba([0, 0, 0, 0]))), ImageFormat::Png).expect("rendered");
        assert_eq!(content_type, "image/webp");
        let small = image::load_from_memory(&small).expect("an image").to_rgba8();
        assert_eq!((small.width(), small.height(), small.get_pixel(3, 3).0[3]), (20, 10, 0));
    }

    #[test]
    fn what_is_damaged_or_of_another_type_or_far_too_large_has_none() {
        let mut damaged = png(RgbImage::new(50, 50));
        damaged.truncate(60);
        assert!(render(&damaged, ImageFormat::Png).is_none());
        assert!(render(b"<svg/>", ImageFormat::Png).is_none());
        assert!(render(&png(RgbImage::new(5, 5)), ImageFormat::Jpeg).is_none());
        // A few bytes that claim to be 60,000 pixels wide and high.
        let mut bomb = png(RgbImage::new(1, 1));
        bomb[16..24].copy_from_slice(&[0, 0, 0xEA, 0x60, 0, 0, 0xEA, 0x60]);
        assert!(render(&bomb, ImageFormat::Png).is_none());
    }
}
