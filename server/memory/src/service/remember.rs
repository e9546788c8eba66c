use polymnemo_types::{
    Action, IndexState, Kind, MemoryId, RememberRequest, RememberStatus, Remembered, SimilarMemory, limits,
};
use uuid::Uuid;

use super::{MemoryService, index::EMBEDDED_AT_ONCE, validate};
use crate::{
    Ctx, Error, Result,
    ports::{Duplicate, Inserted, MemoryState, NewChunk, NewMemory},
    rank, when,
};

/// The most similar memories named in an answer.
const SIMILAR: usize = 5;
/// How many of the closest memories are compared with a new one, word by word.
const COMPARED: u32 = 20;

impl MemoryService {
    /// Keeps a text. It is on disk when this returns.
    ///
    /// The same text in the same namespace is one memory, however often and from however many
    /// sides it comes; nothing is superseded by similarity alone.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::TooLarge`], [`Error::Forbidden`], also for a memory to supersede that someone else
    /// shares; [`Error::NotFound`] for one that is not there; [`Error::Model`], [`Error::Unavailable`]. Nothing is stored then.
    pub async fn remember(&self, ctx: &Ctx, request: RememberRequest) -> Result<Remembered> {
        let remembered = self.keep(ctx, request).await?;
        let similar = remembered.similar_to.iter().map(|similar| similar.id);
        self.record_call(ctx, Action::Remember, None, std::iter::once(remembered.id).chain(similar).collect());
        Ok(remembered)
    }

    async fn keep(&self, ctx: &Ctx, request: RememberRequest) -> Result<Remembered> {
        let content = validate::content(&request.content)?;
        let namespace = validate::namespace(request.namespace.as_deref().unwrap_or(&ctx.user.default_namespace))?;
        ctx.check_write(&namespace)?;
        let now = self.now();
        let idempotency_key = validate::idempotency_key(request.idempotency_key.as_deref())?;
        let state = MemoryState {
            hash: validate::hash(&content),
            tags: validate::tags(&request.tags)?,
            source: validate::source(request.source.as_deref())?,
            occurred_at: match request.occurred_at.as_deref() {
                Some(text) => when::parse("occurred_at", text, &ctx.user.time_zone)?,
                None => now,
            },
            namespace,
            content,
        };
        if request.supersedes.len() > limits::IDS {
            return Err(Error::Invalid(format!("`supersedes` holds at most {} ids.", limits::IDS)));
        }

        // Embedding is the expensive part, so what is known already is answered before, even without the model. The text is
        // taken apart meanwhile.
        let known = async {
            match self.store.find_duplicate(ctx, &state.namespace, &state.hash, idempotency_key.as_deref()).await {
                Ok(None) => Ok(()),
                Ok(Some(duplicate)) => Err(already_stored(duplicate)),
                Err(error) => Err(Err(error)),
            }
        };
        let chunks = async { Ok(self.cut_passages(ctx, &state).await) };
        let mut chunks = match tokio::try_join!(known, chunks) {
            Ok(((), chunks)) => chunks?,
            Err(answer) => return self.correct_nothing(ctx, answer?, &request.supersedes).await,
        };
        self.embed_first(&state, &mut chunks, EMBEDDED_AT_ONCE).await?;
        let index = index_state(&chunks);
        let beginning = chunks
            .first()
            .and_then(|chunk| Some((state.content.get(chunk.range.clone())?.to_owned(), chunk.vector.clone()?)));
        let namespace = state.namespace.clone();
        let id = MemoryId(Uuid::now_v7());
        let new = NewMemory {
            id,
            kind: Kind::Memory,
            state,
            created_at: now,
            supersedes: request.supersedes,
            idempotency_key,
            origin: request.origin,
            model: self.embedder.model().clone(),
            chunks,
        };
        let superseded = new.supersedes.clone();
        let similar_to = async {
            match beginning {
                Some((text, vector)) if ctx.grants.read => self.similar(ctx, &text, &vector, id, &superseded).await,
                _ => Vec::new(),
            }
        };
        let (inserted, similar_to) = tokio::join!(self.store.insert(ctx, new), similar_to);
        match inserted? {
            Inserted::New => {}
            Inserted::Existing(duplicate) => {
                return self.correct_nothing(ctx, already_stored(duplicate)?, &superseded).await;
            }
            Inserted::NoSuch(id) => return Err(self.why_not(ctx, id).await),
        }
        if index == IndexState::Pending {
            self.pending.notify_one();
        }
        Ok(Remembered { id, status: RememberStatus::Stored, namespace, revision: 1, index, similar_to })
    }

    /// The answer where the text is stored already. Nothing is written then, so it can't correct what it was not stored to
    /// correct, and the caller must not believe that it did.
    async fn correct_nothing(&self, ctx: &Ctx, stored: Remembered, supersedes: &[MemoryId]) -> Result<Remembered> {
        if supersedes.is_empty() {
            return Ok(stored);
        }
        let found = self.store.own_memories(ctx, &[stored.id], false).await?;
        let corrected = found.into_iter().flat_map(|found| found.memory.supersedes).collect::<Vec<_>>();
        if supersedes.iter().all(|id| corrected.contains(id)) {
            return Ok(stored);
        }
        Err(Error::Invalid(format!(
            "This text is stored already, as {}, so nothing was written and nothing was corrected. To have it replace another \
             memory, forget that one.",
            stored.id
        )))
    }

    /// Memories that say nearly the same as a new one, which may be among them or not yet. It is being stored whatever
    /// happens here, so a failure is told to the log, not to the caller.
    async fn similar(
        &self,
        ctx: &Ctx,
        text: &str,
        vector: &[f32],
        id: MemoryId,
        superseded: &[MemoryId],
    ) -> Vec<SimilarMemory> {
        let model = self.embedder.model();
        match self.store.nearest(ctx, vector, model, COMPARED).await {
            Ok(neighbours) => neighbours
                .into_iter()
                .filter(|neighbour| neighbour.memory != id && !superseded.contains(&neighbour.memory))
                .filter(|neighbour| rank::is_similar(neighbour.cosine, text, &neighbour.text, &model.calibration))
                .take(SIMILAR)
                .map(|neighbour| SimilarMemory {
                    id: neighbour.memory,
                    preview: neighbour.text.chars().take(limits::PREVIEW_CHARS).collect(),
                    similarity: neighbour.cosine,
                })
                .collect(),
            Err(error) => {
                tracing::warn!(%error, "similar memories could not be looked up");
                Vec::new()
            }
        }
    }
}

fn already_stored(duplicate: Duplicate) -> Result<Remembered> {
    if !duplicate.same_content {
        return Err(Error::Invalid(format!(
            "`idempotency_key` was used before for another text, the memory {}. Nothing was stored. \
             Use a new key for a new text.",
            duplicate.id
        )));
    }
    Ok(Remembered {
        id: duplicate.id,
        status: RememberStatus::AlreadyStored,
        namespace: duplicate.namespace,
        revision: duplicate.revision,
        index: IndexState::Complete,
        similar_to: Vec::new(),
    })
}

/// Whether all passages have their vector.
pub(super) fn index_state(chunks: &[NewChunk]) -> IndexState {
    if chunks.iter().all(|chunk| chunk.vector.is_some()) { IndexState::Complete } else { IndexState::Pending }
}
