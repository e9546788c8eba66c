//! Taking everything out: asked for, written in the background, fetched by a signed link.

use std::{fs::File, io::Read as _, path::PathBuf, sync::Arc, time::Duration};

use bytes::Bytes;
use jiff::SignedDuration;
use polymnemo_types::{Export, ExportId, limits};
use sha2::{Digest as _, Sha256};
use tokio::sync::Notify;
use uuid::Uuid;

use super::{
    MemoryService,
    media::{UNCLAIMED, new_key},
};
use crate::{
    Ctx, Error, Result,
    export::{self, Exported},
    ports::{BlobStore, Delivery, ExportClaim, ReadyExport},
};

/// How many exports are shown.
const SHOWN: u32 = 20;

/// How often writing an export is begun before it is given up: each time it failed, or the process died over it.
const ATTEMPTS: u32 = 5;

/// How often what is done of an export is noted.
const NOTED: Duration = Duration::from_millis(700);

/// How long it is known that there was an export.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Whoever took an object to delete it and did not say so after this time is gone.
const GONE_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// How many objects are deleted at once.
const BATCH: u32 = 50;

/// The beginning of the keys of exports. It tells them from files where those are kept elsewhere.
const KEY: &str = "export.";

/// Where exports are kept, and written.
pub struct ExportPlace {
    /// A storage for finished ones: that of files, or one of its own where no files are kept.
    pub store: Arc<dyn BlobStore>,
    /// A folder for what is being written.
    pub folder: PathBuf,
}

/// What the service knows of exports.
#[derive(Clone, Default)]
pub(super) struct Exporting {
    place: Option<Arc<ExportPlace>>,
    requested: Arc<Notify>,
}

impl MemoryService {
    /// The same service, which keeps exports there.
    #[must_use]
    pub fn with_exports(mut self, place: ExportPlace) -> Self {
        self.exporting.place = Some(Arc::new(place));
        self
    }

    fn export_place(&self) -> Result<&ExportPlace> {
        self.exporting.place.as_deref().ok_or_else(|| Error::internal("no place for exports was given"))
    }

    /// A folder for what is needed only meanwhile.
    pub(super) fn temporary_folder(&self) -> Result<PathBuf> {
        match &self.exporting.place {
            Some(place) => made(&place.folder).map(|()| place.folder.clone()),
            None => Ok(std::env::temp_dir()),
        }
    }

    /// Asks for an export of all that the caller has. Where one is under way, it is that one.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn request_export(&self, ctx: &Ctx) -> Result<Export> {
        ctx.check_person()?;
        let export = self.store.request_export(ctx, ExportId(Uuid::now_v7()), self.now()).await?;
        self.exporting.requested.notify_one();
        Ok(export)
    }

    /// The caller's exports, the newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn list_exports(&self, ctx: &Ctx) -> Result<Vec<Export>> {
        ctx.check_person()?;
        let now = self.now();
        let mut exports = self.store.exports(ctx, SHOWN).await?;
        for export in &mut exports {
            if export.expires_at.is_some_and(|expires_at| expires_at <= now) {
                export.state = polymnemo_types::ExportState::Expired;
            }
        }
        Ok(exports)
    }

    /// A URL that hands an export out, for a little while.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is none that can be fetched; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn export_url(&self, ctx: &Ctx, id: ExportId) -> Result<String> {
        ctx.check_person()?;
        let now = self.now();
        let found = self.store.export(ctx, id).await?;
        let (export, key) = match found {
            Some((export, Some(key))) if export.expires_at.is_none_or(|expires_at| now < expires_at) => (export, key),
            _ => return Err(no_export(id)),
        };
        let expires_at = now + SignedDuration::from_secs(i64::from(limits::DOWNLOAD_URL_SECONDS));
        let date = export.requested_at.to_zoned_datetime(ctx.user.time_zone.clone()).strftime("%Y-%m-%d").to_string();
        let delivery = Delivery {
            filename: format!("polymnemo {date}.zip"),
            content_type: "application/zip".to_owned(),
            inline: false,
            valid_from: now,
            expires_at,
        };
        self.export_place()?.store.sign_get(&key, &delivery).await
    }

    /// Deletes an export at once, or gives one up that is under way.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is none; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn delete_export(&self, ctx: &Ctx, id: ExportId) -> Result<()> {
        ctx.check_person()?;
        if !self.store.delete_export(ctx, id).await? {
            return Err(no_export(id));
        }
        self.deletions.notify_one();
        self.exporting.requested.notify_one();
        Ok(())
    }

    /// Writes all that the caller has into this file, which must be empty. `on` is told how much of the work is done, in
    /// thousandths.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn write_export(&self, ctx: &Ctx, file: File, on: &(dyn Fn(u32) + Send + Sync)) -> Result<Exported> {
        ctx.check_person()?;
        self.write_export_of(ctx, file, on).await
    }

    async fn write_export_of(&self, ctx: &Ctx, file: File, on: &(dyn Fn(u32) + Send + Sync)) -> Result<Exported> {
        let temporary = self.temporary_folder()?;
        let source = export::Source {
            store: self.store.as_ref(),
            blobs: self.files.as_ref().map(|files| files.store.as_ref()),
            temporary: &temporary,
        };
        export::write(source, ctx, file, self.now(), on).await
    }

    /// Waits until an export was asked for.
    pub async fn export_requested(&self) {
        self.exporting.requested.notified().await;
    }

    /// Writes the next export that someone asked for; gives how many there were, one or none. For the background. What is
    /// interrupted is begun again.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]; it is tried again later.
    pub async fn make_export(&self) -> Result<u32> {
        if self.exporting.place.is_none() {
            return Ok(0);
        }
        let Some(claim) = self.store.claim_export().await? else { return Ok(0) };
        if claim.attempts() > ATTEMPTS {
            tracing::error!(id = %claim.id(), "an export could not be written in {ATTEMPTS} attempts and is given up");
            claim.failed(self.now()).await?;
            return Ok(1);
        }
        match self.make(claim).await {
            // Whoever asked for it gave it up, or is gone.
            Ok(()) | Err(Error::Missing(_)) => Ok(1),
            Err(error) => Err(error),
        }
    }

    async fn make(&self, claim: Box<dyn ExportClaim>) -> Result<()> {
        let place = self.export_place()?;
        made(&place.folder)?;
        let ctx = Ctx::of_person(claim.user().clone());
        let path = place.folder.join(format!("{}.zip.part", claim.id()));
        // Deleted with this, whatever happens, and by its next attempt, where the process dies.
        let path = tempfile::TempPath::try_from_path(path).map_err(disk)?;
        let file = File::options().create(true).truncate(true).read(true).write(true).open(&path).map_err(disk)?;
        let (noted, mut to_note) = tokio::sync::watch::channel(0);
        let on = move |progress| {
            noted.send_replace(progress);
        };
        let writing = async {
            let writing = self.write_export_of(&ctx, file.try_clone().map_err(disk)?, &on);
            tokio::pin!(writing);
            loop {
                tokio::select! {
                    exported = &mut writing => break exported,
                    () = tokio::time::sleep(NOTED) => {
                        let progress = *to_note.borrow_and_update();
                        claim.progress(progress).await?;
                    }
                }
            }
        };
        let exported = writing.await?;
        let (key, bytes, sha256) = self.put_export(&ctx, place, file).await?;
        let at = self.now();
        let ready = ReadyExport {
            at,
            expires_at: at + SignedDuration::from_hours(24 * i64::from(limits::EXPORT_DAYS)),
            bytes,
            sha256,
            counts: exported.manifest.counts,
            object_key: key.clone(),
        };
        let id = claim.id();
        if claim.ready(ready).await? {
            tracing::info!(%id, bytes, "an export is ready");
        } else {
            self.store.release_object(&ctx, &key, self.now()).await?;
            self.deletions.notify_one();
        }
        Ok(())
    }

    /// Puts a finished export into the storage.
    async fn put_export(&self, ctx: &Ctx, place: &ExportPlace, mut file: File) -> Result<(String, u64, [u8; 32])> {
        let key = format!("{KEY}{}", new_key());
        let content_type = "application/zip";
        self.store.reserve_object(ctx, &key, None, self.now() + UNCLAIMED).await?;
        std::io::Seek::rewind(&mut file).map_err(disk)?;
        let mut digest = Sha256::new();
        let mut length = 0;
        let mut parts: Option<(String, u32)> = None;
        loop {
            let (read, piece);
            (file, read, piece) = tokio::task::spawn_blocking(move || {
                let mut piece = Vec::with_capacity(usize::try_from(limits::PART_BYTES).unwrap_or_default());
                let read = (&mut file).take(limits::PART_BYTES).read_to_end(&mut piece);
                (file, read, Bytes::from(piece))
            })
            .await
            .map_err(|error| Error::Internal(error.into()))?;
            read.map_err(disk)?;
            let is_last = (piece.len() as u64) < limits::PART_BYTES;
            digest.update(&piece);
            length += piece.len() as u64;
            match parts.take() {
                None if is_last => {
                    place.store.put(&key, content_type, piece).await?;
                    break;
                }
                begun => {
                    let (handle, number) = match begun {
                        Some((handle, number)) => (handle, number + 1),
                        None => {
                            let handle = place.store.begin_parts(&key, content_type).await?;
                            let due_at = self.now() + UNCLAIMED;
                            self.store.reserve_object(ctx, &key, Some(&handle), due_at).await?;
                            (handle, 1)
                        }
                    };
                    if !piece.is_empty() {
                        place.store.put_part(&key, &handle, number, piece).await?;
                    }
                    if is_last {
                        let arrived = place.store.parts(&key, &handle).await?.unwrap_or_default();
                        if !place.store.complete_parts(&key, &handle, &arrived).await? {
                            return Err(Error::internal("the parts of an export were given up by someone else"));
                        }
                        break;
                    }
                    parts = Some((handle, number));
                }
            }
        }
        Ok((key, length, digest.finalize().into()))
    }

    /// Deletes exports whose time is over; gives their number. For the background.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]; it is tried again later.
    pub async fn sweep_exports(&self) -> Result<u64> {
        let now = self.now();
        let expired = self.store.expire_exports(now, now - REMEMBERED).await?;
        if expired > 0 {
            self.deletions.notify_one();
        }
        // The storage of files is swept with them.
        if let (None, Some(place)) = (&self.files, &self.exporting.place) {
            loop {
                let taken = self.store.take_export_objects(self.now(), self.now() - GONE_AFTER, BATCH).await?;
                for key in &taken {
                    place.store.delete(key).await?;
                }
                self.store.objects_deleted(&taken, &[]).await?;
                if taken.len() < BATCH as usize {
                    break;
                }
            }
        }
        Ok(expired)
    }
}

fn no_export(id: ExportId) -> Error {
    Error::Missing(format!(
        "There is no export {id} of yours that can be fetched. Exports are deleted after {} days; ask for a new one.",
        limits::EXPORT_DAYS
    ))
}

/// Makes a folder that nobody else may look into.
pub(super) fn made(folder: &std::path::Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(disk)
}

fn disk(error: std::io::Error) -> Error {
    Error::Unavailable { part: "disk", source: error.into() }
}
