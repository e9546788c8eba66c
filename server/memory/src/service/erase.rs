//! Erasing with proof: a preview says what and how much, one transaction hides it from everyone, a job deletes it batch by
//! batch, every place is looked at again, and only then there is a receipt.
//!
//! What is being done is a row in the database, and each step of it a transaction that can be repeated; so an interruption
//! at any moment costs at most the step that it interrupts.

mod receipts;
mod run;

use jiff::{SignedDuration, Timestamp};
use polymnemo_types::{ErasePreview, EraseTarget, Erasure, ErasureId, MemoryId, Page, Survivor, SurvivorKind};
use uuid::Uuid;

use super::{MemoryService, cursor, validate};
use crate::{
    Ctx, Error, Result,
    ports::{Measured, NewErasure, NothingToErase, Place},
};

impl MemoryService {
    /// What erasing this would take, exactly, and what would be left.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the first memory that is not the caller's; [`Error::Missing`] for a namespace, an app or an
    /// import that is not; [`Error::Invalid`] for no or too many ids; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn preview_erasure(&self, ctx: &Ctx, target: EraseTarget) -> Result<ErasePreview> {
        ctx.check_person()?;
        let target = checked(target)?;
        let measured = self.store.measure(ctx, &target).await?.map_err(missing)?;
        let confirm = confirmation(&target, &measured);
        let imports = if target == EraseTarget::Account { 0 } else { self.store.imports(ctx, None, 1).await?.total };
        let survives = self.survivors(self.now(), measured.uploads_until, imports);
        let Measured { name, beginnings, counts, in_trash, is_default, .. } = measured;
        Ok(ErasePreview { target, name, beginnings, counts, in_trash, is_default, confirm, survives })
    }

    /// Begins to erase. From the moment that this returns nobody sees any of it; it is deleted in the background, which
    /// [`Self::erasure`] tells of. `confirm` is what the person typed: the name of the namespace or of the account, where
    /// that is what goes.
    ///
    /// # Errors
    ///
    /// Those of [`Self::preview_erasure`], and [`Error::Invalid`] where what was typed is something else.
    pub async fn begin_erasure(&self, ctx: &Ctx, target: EraseTarget, confirm: Option<&str>) -> Result<Erasure> {
        ctx.check_person()?;
        let target = checked(target)?;
        if matches!(target, EraseTarget::Namespace(_) | EraseTarget::Account) {
            let name = match &target {
                EraseTarget::Namespace(name) => name.clone(),
                _ => ctx.user.name.clone(),
            };
            if confirm.map(str::trim) != Some(name.trim()) {
                return Err(Error::Invalid(format!("`confirm`: type `{name}` to confirm. Nothing was erased.")));
            }
        }
        self.end_imports(ctx, &target).await?;
        let new = NewErasure { id: ErasureId(Uuid::new_v4()), target, at: self.now() };
        let erasure = self.store.begin_erasure(ctx, &new).await?.map_err(missing)?;
        tracing::info!(user.id = %ctx.user.id, erasure.id = %erasure.id, items = erasure.before.items(), "an erasure began");
        self.drop_exports(ctx).await?;
        self.erasures.notify_one();
        Ok(erasure)
    }

    /// Drops the exports of the caller, finished and under way: they hold what is being erased.
    async fn drop_exports(&self, ctx: &Ctx) -> Result<()> {
        for export in self.store.exports(ctx, EXPORTS).await? {
            self.store.delete_export(ctx, export.id).await?;
        }
        self.deletions.notify_one();
        Ok(())
    }

    /// How far an erasure of the caller is.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where it is not the caller's; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn erasure(&self, ctx: &Ctx, id: ErasureId) -> Result<Erasure> {
        ctx.check_person()?;
        self.store.erasure(ctx, id).await?.ok_or_else(|| no_erasure(id))
    }

    /// How far the erasure of an account is, for whoever knows its id: its owner can't sign in any more.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Unavailable`].
    pub async fn account_erasure(&self, id: ErasureId) -> Result<Erasure> {
        self.store.account_erasure(id).await?.ok_or_else(|| no_erasure(id))
    }

    /// A page of the caller's erasures, the newest first.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad limit or cursor; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn list_erasures(&self, ctx: &Ctx, cursor: Option<&str>, limit: Option<u32>) -> Result<Page<Erasure>> {
        ctx.check_person()?;
        let limit = validate::limit(limit)?;
        let after: Option<Place> = cursor.map(cursor::to_place).transpose()?;
        let (mut page, next) = self.store.erasures(ctx, after, limit).await?;
        page.next_cursor = next.map(cursor::from_place);
        Ok(page)
    }

    /// Waits until an erasure begins.
    pub async fn erasure_arrived(&self) {
        self.erasures.notified().await;
    }

    /// What an erasure leaves that is done at this time.
    fn survivors(&self, at: Timestamp, uploads_until: Option<Timestamp>, imports: u64) -> Vec<Survivor> {
        let backups = match self.backup_days {
            Some(days) => Survivor {
                what: SurvivorKind::Backups,
                until: at.checked_add(SignedDuration::from_hours(24 * i64::from(days))).ok(),
                note: format!("Whoever runs this server keeps backups for {days} days, as they state."),
            },
            None => Survivor {
                what: SurvivorKind::Backups,
                until: None,
                note: "No backups are made by this server.".into(),
            },
        };
        let logs = Survivor {
            what: SurvivorKind::Logs,
            until: None,
            note: "The server's logs name requests and ids. They hold no content.".into(),
        };
        let receipt = Survivor {
            what: SurvivorKind::Receipt,
            until: None,
            note: "The record of this erasure and its receipt: ids and counts, no content.".into(),
        };
        let uploads = uploads_until.map(|until| Survivor {
            what: SurvivorKind::UploadRequests,
            until: Some(until),
            note: "Addresses that were signed for uploads are good until then; whatever is sent to them is deleted."
                .into(),
        });
        let imports = (imports > 0).then(|| Survivor {
            what: SurvivorKind::Imports,
            until: None,
            note: "The list of your imports: the names of their files, and a digest of the name of each thing that came in, so \
                   that what was erased does not come in again. Files of an import that waits for you stay until you decide."
                .into(),
        });
        [backups, logs, receipt].into_iter().chain(uploads).chain(imports).collect()
    }
}

/// A target with everything in it valid.
fn checked(target: EraseTarget) -> Result<EraseTarget> {
    Ok(match target {
        EraseTarget::Memories(ids) => EraseTarget::Memories(validate::ids(&ids)?),
        EraseTarget::Namespace(name) => EraseTarget::Namespace(validate::namespace(&name)?),
        other => other,
    })
}

/// What has to be typed before this is erased.
fn confirmation(target: &EraseTarget, measured: &Measured) -> Option<String> {
    match target {
        EraseTarget::Namespace(_) | EraseTarget::Account => measured.name.clone(),
        EraseTarget::Memories(_) | EraseTarget::App(_) | EraseTarget::Import(_) => None,
    }
}

fn missing(nothing: NothingToErase) -> Error {
    match nothing {
        NothingToErase::Memory(id) => Error::NotFound(id),
        NothingToErase::Namespace(name) => {
            Error::Missing(format!("You have no namespace `{name}`. Take its name from the list of your namespaces."))
        }
        NothingToErase::App(id) => {
            Error::Missing(format!("You have no app with the id {id}. Take it from the list of your apps."))
        }
        NothingToErase::Import => {
            Error::Missing("You have no such import. Take it from the list of your imports.".into())
        }
    }
}

fn no_erasure(id: ErasureId) -> Error {
    Error::Missing(format!("You have no erasure with the id {id}. Take it from the list of your erasures."))
}

/// More exports than are ever kept of a user.
const EXPORTS: u32 = 1_000;

/// Ids are looked at in portions of this size.
const PORTION: u32 = 200;

/// The last of a portion, where there may be another one.
fn last_of_full<T: Copy>(portion: &[T]) -> Option<T> {
    portion.last().copied().filter(|_| portion.len() >= PORTION as usize)
}

/// For the list of what is read again.
type Ids = Vec<MemoryId>;
