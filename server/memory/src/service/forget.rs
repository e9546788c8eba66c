use std::collections::HashMap;

use jiff::SignedDuration;
use polymnemo_types::{Action, Erased, Forgotten, Kind, MemoryId, Updated, limits};

use super::{
    MemoryService,
    index::{EMBEDDED_AT_ONCE, left_at_once, state_of},
    remember::index_state,
    update::same_as,
    validate,
};
use crate::{
    Ctx, Error, Result,
    ports::{Changed, StoredMemory},
};

impl MemoryService {
    /// Puts memories into the trash, where they stay for [`limits::TRASH_DAYS`] days: all of these, or none where
    /// one is not the caller's. No search finds any part of them from the moment this returns. Forgetting twice
    /// does no harm.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the first id that is not the caller's; [`Error::Forbidden`] where someone else shares that
    /// memory; [`Error::Invalid`] for no or too many ids; [`Error::Unavailable`].
    pub async fn forget(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Forgotten> {
        let unique = validate::ids(ids)?;
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let now = self.now();
        match self.store.forget(ctx, &unique, now).await? {
            Ok(_) => {
                self.record_call(ctx, Action::Forget, None, unique.clone());
                Ok(Forgotten { ids: unique, trash_until: now + trash_time() })
            }
            Err(id) => Err(self.why_not(ctx, id).await),
        }
    }

    /// Takes a memory out of the trash.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where it is not in the trash (any more); [`Error::Invalid`] where another memory has
    /// the same text by now; [`Error::Forbidden`], [`Error::Model`], [`Error::Unavailable`].
    pub async fn restore(&self, ctx: &Ctx, id: MemoryId) -> Result<Updated> {
        let mut at_once = EMBEDDED_AT_ONCE;
        let restored = self.restore_many(ctx, &[id], &mut at_once).await?;
        restored.into_iter().next().map_or(Err(Error::NotFound(id)), |(_, outcome)| outcome)
    }

    /// Takes memories out of the trash, each for itself; tells what became of each. Their first passages are embedded at
    /// once, as many as `at_once` says; it then says how many are left.
    pub(super) async fn restore_many(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        at_once: &mut usize,
    ) -> Result<Vec<(MemoryId, Result<Updated>)>> {
        let stored = self.store.own_memories(ctx, ids, true).await?;
        let mut stored: HashMap<MemoryId, StoredMemory> =
            stored.into_iter().map(|stored| (stored.memory.id, stored)).collect();
        let mut outcomes = Vec::with_capacity(ids.len());
        let (mut restoring, mut memories) = (Vec::new(), Vec::new());
        for &id in ids {
            let Some(StoredMemory { memory, content, .. }) = stored.remove(&id) else {
                outcomes.push((id, Err(Error::NotFound(id))));
                continue;
            };
            if let Err(error) = ctx.check_write(&memory.namespace) {
                outcomes.push((id, Err(error)));
                continue;
            }
            let (kind, namespace, revision) = (memory.kind, memory.namespace.clone(), memory.revision);
            let chunks = self.passages(ctx, &state_of(memory, content), *at_once).await?;
            *at_once = left_at_once(*at_once, &chunks);
            let index = index_state(&chunks);
            restoring.push((kind, Updated { id, namespace, revision, changed: true, index }));
            memories.push((id, chunks));
        }
        if memories.is_empty() {
            return Ok(outcomes);
        }
        let changed = self.store.restore(ctx, self.embedder.model(), memories).await?;
        self.pending.notify_one();
        self.unindexed.notify_one();
        outcomes.extend(restoring.into_iter().zip(changed).map(|((kind, updated), changed)| {
            let id = updated.id;
            let outcome = match changed {
                Changed::Done(_) => Ok(updated),
                Changed::SameAs(other) if kind == Kind::Session => Err(saved_again(other)),
                Changed::SameAs(other) => Err(same_as(other)),
                Changed::NotFound | Changed::Conflict(_) => Err(Error::NotFound(id)),
            };
            (id, outcome)
        }));
        outcomes.sort_by_key(|(id, _)| ids.iter().position(|other| other == id));
        Ok(outcomes)
    }

    /// Deletes memories from the trash now: their text, their history, and every word of theirs in the index that no
    /// other memory has; the bytes of files follow in a moment. All of these, or none where one is not in the caller's trash. Nobody can bring them back,
    /// so only the person themselves may ask for it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the first id that is not in the caller's trash; [`Error::Invalid`] for no or too many
    /// ids; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn erase(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Erased> {
        ctx.check_person()?;
        let unique = validate::ids(ids)?;
        let erased = self.store.erase(ctx, &unique).await?.map_err(Error::NotFound)?;
        self.deletions.notify_one();
        Ok(erased)
    }

    /// Deletes what has been in the trash of any user for longer than [`limits::TRASH_DAYS`] days. For the
    /// background. Gives the number of memories deleted.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn empty_trash(&self) -> Result<u64> {
        let deleted = self.store.empty_trash(self.now() - trash_time()).await?;
        if deleted > 0 {
            self.deletions.notify_one();
        }
        Ok(deleted)
    }
}

/// The refusal to bring back a session of which there is another one by now.
fn saved_again(other: MemoryId) -> Error {
    Error::Invalid(format!(
        "The client has saved this session again since, as {other}. Nothing was restored; forget that one first."
    ))
}

fn trash_time() -> SignedDuration {
    SignedDuration::from_hours(24 * i64::from(limits::TRASH_DAYS))
}
