use std::collections::HashMap;

use polymnemo_types::{ApiError, BulkChange, BulkReport, BulkUndo, Memory, MemoryId, RevertChange, Skipped, limits};

use super::{
    MemoryService,
    index::{EMBEDDED_AT_ONCE, new_terms, state_of},
    update::{ATTEMPTS, being_changed, same_as},
    validate,
};
use crate::{
    Ctx, Error, Result,
    ports::{Changed, EarlierLabels, MemoryState, Relabelling, StoredChunk, StoredMemory},
};

/// How many memories are changed in one transaction: bounds what is held of their texts, and how long other writers wait.
const BATCH: usize = 20;

/// The labels and the namespace of a memory.
struct Labels {
    tags: Vec<String>,
    namespace: String,
}

/// For each memory the revision that a change made, nothing where it was as asked already, or why it was not changed.
type Outcomes = Vec<(MemoryId, Result<Option<u32>>)>;

impl MemoryService {
    /// Changes several memories: labels and moves them, or forgets them. Each of them wholly or not at all, whatever
    /// becomes of the others; the report says which, and holds what [`MemoryService::undo_changes`] needs.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for no or too many ids, for a bad tag or namespace, and where nothing or both a change and
    /// forgetting are asked; [`Error::Forbidden`] where the caller may not write at all. Nothing is changed then. Anything
    /// else that goes wrong is the reason in the report why a memory was skipped.
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
        if change.forget {
            return Ok(self.forget_each(ctx, ids).await);
        }
        let mut report = BulkReport::default();
        let revert = self.relabel_each(ctx, &ids, &|memory: &Memory| Ok(change.labels(memory)), &mut report).await;
        report.undo = (!revert.is_empty()).then_some(BulkUndo { restore: Vec::new(), revert });
        Ok(report)
    }

    /// Undoes a change to several memories, as far as nobody changed them since: restores what was forgotten, and gives
    /// back labels and namespace. What can't be undone is said in the report.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for no or too many memories; [`Error::Forbidden`] where the caller may not write at all;
    /// [`Error::Unavailable`] where nothing was undone yet.
    pub async fn undo_changes(&self, ctx: &Ctx, undo: BulkUndo) -> Result<BulkReport> {
        let count = undo.restore.len() + undo.revert.len();
        if count == 0 || count > limits::IDS {
            return Err(Error::Invalid(format!("Give 1 to {} changes to undo, you gave {count}.", limits::IDS)));
        }
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let made: Vec<(MemoryId, u32)> = undo.revert.iter().map(|change| (change.id, change.revision)).collect();
        let before = self.store.labels_before(ctx, &made).await?;
        let before: HashMap<MemoryId, EarlierLabels> = before.into_iter().map(|before| (before.id, before)).collect();
        let labels = |memory: &Memory| {
            let before = before.get(&memory.id).ok_or(Error::NotFound(memory.id))?;
            if memory.revision != before.revision {
                return Err(Error::Conflict { expected: before.revision, current: memory.revision });
            }
            Ok(Labels { tags: before.tags.clone(), namespace: before.namespace.clone() })
        };

        let mut report = BulkReport::default();
        self.restore_each(ctx, &validate::without_repetitions(undo.restore), &mut report).await;
        let ids = validate::without_repetitions(undo.revert.into_iter().map(|change| change.id));
        self.relabel_each(ctx, &ids, &labels, &mut report).await;
        Ok(report)
    }

    /// Gives each memory the labels that it is to have; tells what undoes that.
    async fn relabel_each(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        labels: &(impl Fn(&Memory) -> Result<Labels> + Sync),
        report: &mut BulkReport,
    ) -> Vec<RevertChange> {
        let mut undo = Vec::new();
        for (place, batch) in ids.chunks(BATCH).enumerate() {
            let outcomes = match self.relabel_batch(ctx, batch, labels).await {
                Ok(outcomes) => outcomes,
                Err(error) => {
                    skip_rest(report, ids, place, error);
                    break;
                }
            };
            for (id, outcome) in outcomes {
                if let Ok(Some(revision)) = outcome {
                    undo.push(RevertChange { id, revision });
                }
                note(report, id, outcome.map(|revision| revision.is_some()));
            }
        }
        undo
    }

    async fn relabel_batch(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        labels: &(impl Fn(&Memory) -> Result<Labels> + Sync),
    ) -> Result<Outcomes> {
        let mut outcomes = Vec::with_capacity(ids.len());
        let mut open = ids.to_vec();
        for _ in 0..ATTEMPTS {
            open = self.try_relabel(ctx, &open, labels, &mut outcomes).await?;
            if open.is_empty() {
                break;
            }
        }
        outcomes.extend(open.into_iter().map(|id| (id, Err(being_changed(id)))));
        outcomes.sort_by_key(|(id, _)| ids.iter().position(|other| other == id));
        Ok(outcomes)
    }

    /// Gives those that someone else changed at the same time.
    async fn try_relabel(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        labels: &(impl Fn(&Memory) -> Result<Labels> + Sync),
        outcomes: &mut Outcomes,
    ) -> Result<Vec<MemoryId>> {
        let stored = self.store.own_memories(ctx, ids, false).await?;
        let mut stored: HashMap<MemoryId, StoredMemory> =
            stored.into_iter().map(|stored| (stored.memory.id, stored)).collect();
        let mut chunks: HashMap<MemoryId, Vec<StoredChunk>> = HashMap::new();
        for chunk in self.store.chunks(ctx, ids).await? {
            chunks.entry(chunk.memory).or_default().push(chunk);
        }
        let mut changes = Vec::with_capacity(ids.len());
        for &id in ids {
            let Some(StoredMemory { memory, content, .. }) = stored.remove(&id) else {
                outcomes.push((id, Err(self.why_not(ctx, id).await)));
                continue;
            };
            let Labels { tags, namespace } = match wanted(ctx, &memory, labels) {
                Ok(Some(labels)) => labels,
                Ok(None) => {
                    outcomes.push((id, Ok(None)));
                    continue;
                }
                Err(error) => {
                    outcomes.push((id, Err(error)));
                    continue;
                }
            };
            let from_revision = memory.revision;
            let state = MemoryState { tags, namespace, ..state_of(memory, content) };
            let chunks = new_terms(ctx, &state, chunks.get(&id).map(Vec::as_slice).unwrap_or_default()).await?;
            changes.push(Relabelling { id, from_revision, namespace: state.namespace, tags: state.tags, chunks });
        }
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let changed = self.store.relabel(ctx, &changes, self.now()).await?;
        let mut again = Vec::new();
        for (id, changed) in changes.into_iter().map(|change| change.id).zip(changed) {
            match changed {
                Changed::Done(revision) => outcomes.push((id, Ok(Some(revision)))),
                Changed::NotFound => outcomes.push((id, Err(Error::NotFound(id)))),
                Changed::SameAs(other) => outcomes.push((id, Err(same_as(other)))),
                Changed::Conflict(_) => again.push(id),
            }
        }
        Ok(again)
    }

    async fn forget_each(&self, ctx: &Ctx, mut ids: Vec<MemoryId>) -> BulkReport {
        let mut report = BulkReport::default();
        while !ids.is_empty() {
            match self.store.forget(ctx, &ids, self.now()).await {
                Ok(Ok(forgotten)) => {
                    (report.changed, report.unchanged) = ids.into_iter().partition(|id| forgotten.contains(id));
                    break;
                }
                Ok(Err(missing)) => {
                    ids.retain(|id| *id != missing);
                    let reason = self.why_not(ctx, missing).await;
                    note(&mut report, missing, Err(reason));
                }
                Err(error) => {
                    skip_rest(&mut report, &ids, 0, error);
                    break;
                }
            }
        }
        if !report.changed.is_empty() {
            report.undo = Some(BulkUndo { restore: report.changed.clone(), revert: Vec::new() });
        }
        report
    }

    async fn restore_each(&self, ctx: &Ctx, ids: &[MemoryId], report: &mut BulkReport) {
        // The first passages are embedded at once, however many memories they belong to; the others in the background.
        let mut at_once = EMBEDDED_AT_ONCE;
        for (place, batch) in ids.chunks(BATCH).enumerate() {
            let outcomes = match self.restore_many(ctx, batch, &mut at_once).await {
                Ok(outcomes) => outcomes,
                Err(error) => return skip_rest(report, ids, place, error),
            };
            for (id, outcome) in outcomes {
                let restored = match outcome {
                    Ok(_) => Ok(true),
                    // One that is not in the trash may have been restored already.
                    Err(Error::NotFound(_)) => self.own_memory(ctx, id).await.map(|_| false),
                    Err(error) => Err(error),
                };
                note(report, id, restored);
            }
        }
    }
}

/// The labels that a memory is to get; nothing where it has them.
fn wanted(ctx: &Ctx, memory: &Memory, labels: &(impl Fn(&Memory) -> Result<Labels> + Sync)) -> Result<Option<Labels>> {
    ctx.check_write(&memory.namespace)?;
    let Labels { tags, namespace } = labels(memory)?;
    let labels = Labels { tags: validate::tags(&tags)?, namespace };
    ctx.check_write(&labels.namespace)?;
    Ok((labels.tags != memory.tags || labels.namespace != memory.namespace).then_some(labels))
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

    fn labels(&self, memory: &Memory) -> Labels {
        let mut tags: Vec<String> = memory.tags.iter().filter(|tag| !self.remove_tags.contains(tag)).cloned().collect();
        for tag in &self.add_tags {
            if !tags.contains(tag) {
                tags.push(tag.clone());
            }
        }
        Labels { tags, namespace: self.namespace.clone().unwrap_or_else(|| memory.namespace.clone()) }
    }
}

/// Notes what became of a memory: whether it changed, or why not.
fn note(report: &mut BulkReport, id: MemoryId, outcome: Result<bool>) {
    match outcome {
        Ok(true) => report.changed.push(id),
        Ok(false) => report.unchanged.push(id),
        Err(error) => report.skipped.push(Skipped { id, reason: ApiError::from(error) }),
    }
}

/// Notes that a batch failed, and that those after it were not tried: what is down for one is down for the next, and to
/// wait for each would take for ever.
fn skip_rest(report: &mut BulkReport, ids: &[MemoryId], batch: usize, error: Error) {
    let reason = ApiError::from(error);
    report.skipped.extend(ids.iter().skip(batch * BATCH).map(|&id| Skipped { id, reason: reason.clone() }));
}
