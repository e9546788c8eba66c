use jiff::SignedDuration;
use polymnemo_types::{Forgotten, MemoryId, Updated, limits};

use super::{MemoryService, remember::index_state, update::same_as};
use crate::{
    Ctx, Error, Result,
    ports::{Changed, MemoryState, StoredMemory},
};

impl MemoryService {
    /// Puts memories into the trash, where they stay for [`limits::TRASH_DAYS`] days: all of these, or none where
    /// one is not the caller's. No search finds any part of them from the moment this returns. Forgetting twice
    /// does no harm.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the first id that is not the caller's; [`Error::Invalid`] for no or too many ids;
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn forget(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Forgotten> {
        if ids.is_empty() || ids.len() > limits::IDS {
            return Err(Error::Invalid(format!(
                "Give the id of the memory to forget, or 1 to {} ids. Take them from recall or list_memories.",
                limits::IDS
            )));
        }
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let mut unique: Vec<MemoryId> = Vec::with_capacity(ids.len());
        for &id in ids {
            if !unique.contains(&id) {
                unique.push(id);
            }
        }
        let now = self.now();
        match self.store.forget(ctx, &unique, now).await? {
            Ok(()) => Ok(Forgotten { ids: unique, trash_until: now + trash_time() }),
            Err(id) => Err(Error::NotFound(id)),
        }
    }

    /// Takes a memory out of the trash.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] where it is not in the trash (any more); [`Error::Invalid`] where another memory has
    /// the same text by now; [`Error::Forbidden`], [`Error::Model`], [`Error::Unavailable`].
    pub async fn restore(&self, ctx: &Ctx, id: MemoryId) -> Result<Updated> {
        let stored = self.store.memory(ctx, id, true).await?;
        let Some(StoredMemory { memory, content }) =
            stored.filter(|stored| stored.memory.own && stored.memory.forgotten_at.is_some())
        else {
            return Err(Error::NotFound(id));
        };
        ctx.check_write(&memory.namespace)?;
        let state = MemoryState {
            namespace: memory.namespace,
            hash: super::validate::hash(&content),
            content,
            tags: memory.tags,
            source: memory.source,
            occurred_at: memory.occurred_at,
        };
        let chunks = self.passages(ctx, &state).await?;
        let index = index_state(&chunks);
        match self.store.restore(ctx, id, self.embedder.model(), chunks).await? {
            Changed::Done(revision) => {
                self.pending.notify_one();
                Ok(Updated { id, namespace: state.namespace, revision, changed: true, index })
            }
            Changed::SameAs(other) => Err(same_as(other)),
            Changed::NotFound | Changed::Conflict(_) => Err(Error::NotFound(id)),
        }
    }

    /// Deletes what has been in the trash of any user for longer than [`limits::TRASH_DAYS`] days. For the
    /// background. Gives the number of memories deleted.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn empty_trash(&self) -> Result<u64> {
        self.store.empty_trash(self.now() - trash_time()).await
    }
}

fn trash_time() -> SignedDuration {
    SignedDuration::from_hours(24 * i64::from(limits::TRASH_DAYS))
}
