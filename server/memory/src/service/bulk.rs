use polymnemo_types::{
    ApiError, BulkChange, BulkReport, BulkUndo, Memory, MemoryId, RevertChange, Skipped, UpdateRequest, Updated, limits,
};

use super::{MemoryService, index::EMBEDDED_AT_ONCE, validate};
use crate::{Ctx, Error, Result};

impl MemoryService {
    /// Changes several memories: labels and moves them, or forgets them. Each of them wholly or not at all, whatever
    /// becomes of the others; the report says which, and holds what [`MemoryService::undo_changes`] needs.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for no or too many ids, for a bad tag or namespace, and where nothing or both a change and
    /// forgetting are asked; [`Error::Forbidden`] where the caller may not write at all; [`Error::Unavailable`].
    /// Nothing is changed then.
    pub async fn change_memories(&self, ctx: &Ctx, change: BulkChange) -> Result<BulkReport> {
        let ids = validate::ids(&change.ids)?;
        let change = Relabel {
            add_tags: validate::tags(&change.add_tags)?,
            remove_tags: validate::tags(&change.remove_tags)?,
            namespace: change.namespace.as_deref().map(validate::namespace).transpose()?,
            forget: change.forget,
        };
        change.check()?;
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        if change.forget { self.forget_each(ctx, ids).await } else { Ok(self.relabel_each(ctx, &ids, &change).await) }
    }

    /// Undoes a change to several memories, as far as nobody changed them since: restores what was forgotten, and gives
    /// back labels and namespace. What can't be undone is said in the report.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for no or too many memories; [`Error::Forbidden`] where the caller may not write at all.
    pub async fn undo_changes(&self, ctx: &Ctx, undo: BulkUndo) -> Result<BulkReport> {
        let count = undo.restore.len() + undo.revert.len();
        if count == 0 || count > limits::IDS {
            return Err(Error::Invalid(format!("Give 1 to {} changes to undo, you gave {count}.", limits::IDS)));
        }
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let mut report = BulkReport::default();
        // The first passages are embedded at once, however many memories they belong to; the others in the background.
        let mut at_once = EMBEDDED_AT_ONCE;
        for (place, &id) in undo.restore.iter().enumerate() {
            let restored = match self.restore_embedding(ctx, id, at_once).await {
                Ok((updated, embedded)) => {
                    at_once -= embedded;
                    Ok(updated.changed)
                }
                Err(Error::NotFound(_)) => self.own_memory(ctx, id).await.map(|_| false),
                Err(error) => Err(error),
            };
            if note(&mut report, id, restored) == Then::Stop {
                skip_rest(&mut report, undo.restore.iter().skip(place + 1).copied());
                skip_rest(&mut report, undo.revert.iter().map(|change| change.id));
                return Ok(report);
            }
        }
        for (place, change) in undo.revert.iter().enumerate() {
            let reverted = self.revert(ctx, change).await.map(|updated| updated.changed);
            if note(&mut report, change.id, reverted) == Then::Stop {
                skip_rest(&mut report, undo.revert.iter().skip(place + 1).map(|change| change.id));
                break;
            }
        }
        Ok(report)
    }

    async fn relabel_each(&self, ctx: &Ctx, ids: &[MemoryId], change: &Relabel) -> BulkReport {
        let mut report = BulkReport::default();
        let mut undo = BulkUndo::default();
        for (place, &id) in ids.iter().enumerate() {
            let outcome = self.update_with(ctx, id, |memory| change.request(memory)).await;
            if let Ok(updated) = &outcome
                && updated.changed
            {
                undo.revert.push(RevertChange { id, revision: updated.revision });
            }
            if note(&mut report, id, outcome.map(|updated| updated.changed)) == Then::Stop {
                skip_rest(&mut report, ids.iter().skip(place + 1).copied());
                break;
            }
        }
        report.undo = (!undo.revert.is_empty()).then_some(undo);
        report
    }

    async fn forget_each(&self, ctx: &Ctx, mut ids: Vec<MemoryId>) -> Result<BulkReport> {
        let mut report = BulkReport::default();
        while !ids.is_empty() {
            match self.store.forget(ctx, &ids, self.now()).await? {
                Ok(forgotten) => {
                    (report.changed, report.unchanged) = ids.into_iter().partition(|id| forgotten.contains(id));
                    break;
                }
                Err(missing) => {
                    ids.retain(|id| *id != missing);
                    // One that someone else shares is answered in other words than one that is not there.
                    let reason = self.own_memory(ctx, missing).await.err().unwrap_or(Error::NotFound(missing));
                    report.skipped.push(Skipped { id: missing, reason: reason.into() });
                }
            }
        }
        if !report.changed.is_empty() {
            report.undo = Some(BulkUndo { restore: report.changed.clone(), revert: Vec::new() });
        }
        Ok(report)
    }

    /// Gives a memory the labels and the namespace back that it had before a change.
    async fn revert(&self, ctx: &Ctx, change: &RevertChange) -> Result<Updated> {
        let RevertChange { id, revision } = *change;
        let before = self.store.revisions(ctx, id, Some(revision), 1).await?;
        let Some(before) = before.into_iter().find(|before| before.revision.checked_add(1) == Some(revision)) else {
            return Err(Error::NotFound(id));
        };
        let request = UpdateRequest {
            tags: Some(before.tags),
            namespace: Some(before.namespace),
            expected_revision: Some(revision),
            ..UpdateRequest::new(id)
        };
        self.update(ctx, request).await
    }
}

/// A [`BulkChange`], checked.
struct Relabel {
    add_tags: Vec<String>,
    remove_tags: Vec<String>,
    namespace: Option<String>,
    forget: bool,
}

impl Relabel {
    fn check(&self) -> Result<()> {
        let changes = !self.add_tags.is_empty() || !self.remove_tags.is_empty() || self.namespace.is_some();
        if changes == self.forget {
            return Err(Error::Invalid(
                "Give tags to add or to remove or a namespace to move to, or else ask to forget the memories.".into(),
            ));
        }
        if let Some(tag) = self.add_tags.iter().find(|tag| self.remove_tags.contains(tag)) {
            return Err(Error::Invalid(format!(
                "The tag `{tag}` can't be both added and removed. Leave it out of one."
            )));
        }
        Ok(())
    }

    fn request(&self, memory: &Memory) -> UpdateRequest {
        let mut tags: Vec<String> = memory.tags.iter().filter(|tag| !self.remove_tags.contains(tag)).cloned().collect();
        for tag in &self.add_tags {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        UpdateRequest { tags: Some(tags), namespace: self.namespace.clone(), ..UpdateRequest::new(memory.id) }
    }
}

/// Whether to go on with the next memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Stop,
}

/// Notes what became of a memory: whether it changed, or why not.
fn note(report: &mut BulkReport, id: MemoryId, outcome: Result<bool>) -> Then {
    match outcome {
        Ok(true) => report.changed.push(id),
        Ok(false) => report.unchanged.push(id),
        Err(error) => {
            // What is down for one memory is down for the next, and to wait for each would take for ever.
            let then = if matches!(error, Error::Unavailable { .. }) { Then::Stop } else { Then::GoOn };
            report.skipped.push(Skipped { id, reason: ApiError::from(error) });
            return then;
        }
    }
    Then::GoOn
}

/// Notes that these were not tried, for the same reason as the last one.
fn skip_rest(report: &mut BulkReport, ids: impl Iterator<Item = MemoryId>) {
    if let Some(reason) = report.skipped.last().map(|skipped| skipped.reason.clone()) {
        report.skipped.extend(ids.map(|id| Skipped { id, reason: reason.clone() }));
    }
}
