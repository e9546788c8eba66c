use jiff::SignedDuration;
use polymnemo_types::{Erased, Forgotten, MemoryId, Updated, limits};

use super::{MemoryService, index::EMBEDDED_AT_ONCE, remember::index_state, update::same_as, validate};
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
        let unique = validate::ids(ids)?;
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let now = self.now();
        match self.store.forget(ctx, &unique, now).await? {
            Ok(_) => Ok(Forgotten { ids: unique, trash_until: now + trash_time() }),
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
        self.restore_embedding(ctx, id, EMBEDDED_AT_ONCE).await.map(|(updated, _)| updated)
    }

    /// Takes a memory out of the trash with at most this many passages embedded at once; gives the number of those.
    pub(super) async fn restore_embedding(&self, ctx: &Ctx, id: MemoryId, at_once: usize) -> Result<(Updated, usize)> {
        let stored = self.store.memory(ctx, id, true).await?;
        let Some(StoredMemory { memory, content }) =
            stored.filter(|stored| stored.memory.own && stored.memory.forgotten_at.is_some())
        else {
            return Err(Error::NotFound(id));
        };
        ctx.check_write(&memory.namespace)?;
        let state = MemoryState {
            namespace: memory.namespace,
            hash: validate::hash(&content),
            content,
            tags: memory.tags,
            source: memory.source,
            occurred_at: memory.occurred_at,
        };
        let chunks = self.passages(ctx, &state, at_once).await?;
        let (index, embedded) = (index_state(&chunks), chunks.len().min(at_once));
        match self.store.restore(ctx, id, self.embedder.model(), chunks).await? {
            Changed::Done(revision) => {
                self.pending.notify_one();
                Ok((Updated { id, namespace: state.namespace, revision, changed: true, index }, embedded))
            }
            Changed::SameAs(other) => Err(same_as(other)),
            Changed::NotFound | Changed::Conflict(_) => Err(Error::NotFound(id)),
        }
    }

    /// Deletes memories from the trash now: their text, their history, and every word of theirs in the index that no
    /// other memory has. All of these, or none where one is not in the caller's trash. Nobody can bring them back,
    /// so only the person themselves may ask for it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] with the first id that is not in the caller's trash; [`Error::Invalid`] for no or too many
    /// ids; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn erase(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Erased> {
        ctx.check_person()?;
        let unique = validate::ids(ids)?;
        self.store.erase(ctx, &unique).await?.map_err(Error::NotFound)
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
