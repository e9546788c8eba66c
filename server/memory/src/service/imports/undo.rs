use std::time::Instant;

use polymnemo_types::{ImportOutcome, ImportState};

use super::{Ended, LEASE, RENEWAL, run::outcome};
use crate::{
    Ctx, Error, Result,
    ports::{ItemToUndo, Lease, WrittenItem},
    service::MemoryService,
};

/// How many items are looked at in one go.
const BATCH: u32 = 50;

impl MemoryService {
    /// Takes back what an import wrote, the last of it first, so that each thing is found as it was left.
    pub(super) async fn take_back(&self, ctx: &Ctx, lease: &mut Lease) -> Result<Ended> {
        let mut renewed = Instant::now();
        loop {
            let items = self.store.items_to_undo(ctx, lease.import, BATCH).await?;
            if items.is_empty() {
                return Ok(Ended::Finished);
            }
            for item in items {
                let ordinal = item.ordinal;
                let undone = match self.take_item_back(ctx, lease, &item).await {
                    Ok(undone) => undone,
                    Err(error @ (Error::Invalid(_) | Error::NotFound(_) | Error::Conflict { .. })) => {
                        outcome(ImportOutcome::Kept, Some(error.to_string()), item.memory, 0)
                    }
                    Err(error) => return Err(error),
                };
                self.store.finish_item(ctx, lease.import, WrittenItem { ordinal, ..undone }).await?;
                if renewed.elapsed() > RENEWAL {
                    renewed = Instant::now();
                    lease.until = self.now() + LEASE;
                    if !self.store.keep_import(ctx, *lease, ImportState::Undoing, 0).await? {
                        return Ok(Ended::Halted);
                    }
                }
            }
        }
    }

    async fn take_item_back(&self, ctx: &Ctx, lease: &Lease, item: &ItemToUndo) -> Result<WrittenItem> {
        let undone = |reason: Option<&str>| outcome(ImportOutcome::Undone, reason.map(str::to_owned), item.memory, 0);
        let kept = |reason: &str| outcome(ImportOutcome::Kept, Some(reason.to_owned()), item.memory, 0);
        let Some(updated_at) = item.updated_at else {
            return Ok(undone(Some("You had deleted it already.")));
        };
        let is_being_written = item.outcome == ImportOutcome::Writing;
        if updated_at != item.left_at && !is_being_written {
            return Ok(kept(match item.is_of_later_import {
                true => "A later import changed it. Undo that one first.",
                false => "It was changed since it came in, so it stays.",
            }));
        }
        match item.outcome {
            ImportOutcome::Grown => {
                self.store.take_back_messages(ctx, item.memory, item.at).await?;
                self.unindexed.notify_one();
                self.store.note_as_left(ctx, lease.import, item.memory).await?;
            }
            ImportOutcome::Updated => {
                let before = item.revision.saturating_sub(1);
                self.restore_revision(ctx, item.memory, before, Some(item.revision)).await?;
                self.store.note_as_left(ctx, lease.import, item.memory).await?;
            }
            _ => {
                let forgotten = self.store.forget(ctx, &[item.memory], self.now()).await?;
                if forgotten.is_err() {
                    return Ok(undone(Some("You had deleted it already.")));
                }
            }
        }
        Ok(undone(None))
    }
}
