use polymnemo_types::{Action, IndexState, Kind, MemoryId, UpdateRequest, Updated};

use super::{
    MemoryService,
    index::{EMBEDDED_AT_ONCE, new_terms},
    remember::index_state,
    validate,
};
use crate::{
    Ctx, Error, Result,
    ports::{Changed, MemoryChange, MemoryState, Reindex, StoredMemory},
    when,
};

/// How often a change that names no expected revision is tried again when others change the memory at the same time.
pub(super) const ATTEMPTS: usize = 8;

impl MemoryService {
    /// Changes a memory: text, labels, source, namespace or time. The state before is kept as a revision, and
    /// the whole memory is indexed anew; only a new text has to be embedded.
    ///
    /// # Errors
    ///
    /// [`Error::Conflict`] where `expected_revision` is given and no longer true; [`Error::NotFound`];
    /// [`Error::Invalid`] also where another memory in that namespace has this text; and those of
    /// [`MemoryService::remember`]. Nothing is changed then.
    pub async fn update(&self, ctx: &Ctx, request: UpdateRequest) -> Result<Updated> {
        for _ in 0..ATTEMPTS {
            if let Some(updated) = self.try_update(ctx, &request).await? {
                self.record_call(ctx, Action::Update, None, vec![updated.id]);
                return Ok(updated);
            }
        }
        Err(being_changed(request.id))
    }

    /// Nothing where the memory changed in between and the caller did not say which revision they expect.
    async fn try_update(&self, ctx: &Ctx, request: &UpdateRequest) -> Result<Option<Updated>> {
        let id = request.id;
        let StoredMemory { memory, content, .. } = self.own_memory(ctx, id).await?;
        if let Some(expected) = request.expected_revision.filter(|&expected| expected != memory.revision) {
            return Err(Error::Conflict { expected, current: memory.revision });
        }
        ctx.check_write(&memory.namespace)?;
        if memory.kind == Kind::Session && request.content.is_some() {
            return Err(Error::Invalid(format!(
                "{id} is a session: its text is its messages, which save_session adds to and changes. Nothing was changed."
            )));
        }
        let new_content = match request.content.as_deref() {
            Some(text) => validate::content(text)?,
            None => content.clone(),
        };
        let state = MemoryState {
            namespace: match request.namespace.as_deref() {
                Some(name) => validate::namespace(name)?,
                None => memory.namespace.clone(),
            },
            hash: validate::hash_of(memory.kind, id, &new_content),
            content: new_content,
            tags: match &request.tags {
                Some(tags) => validate::tags(tags)?,
                None => memory.tags.clone(),
            },
            source: match request.source.as_deref() {
                Some(source) => validate::source(Some(source))?,
                None => memory.source.clone(),
            },
            occurred_at: match request.occurred_at.as_deref() {
                Some(text) => when::parse("occurred_at", text, &ctx.user.time_zone)?,
                None => memory.occurred_at,
            },
        };
        ctx.check_write(&state.namespace)?;
        let same_text = state.content == content;
        let same = same_text
            && state.tags == memory.tags
            && state.source == memory.source
            && state.namespace == memory.namespace
            && state.occurred_at == memory.occurred_at;
        if same {
            return Ok(Some(Updated {
                id,
                namespace: memory.namespace,
                revision: memory.revision,
                changed: false,
                index: IndexState::Complete,
            }));
        }

        let (reindex, index) = if same_text {
            let chunks = self.store.chunks(ctx, &[id]).await?;
            let index = match chunks.iter().all(|chunk| chunk.embedded) {
                true => IndexState::Complete,
                false => IndexState::Pending,
            };
            (Reindex::Labels(new_terms(ctx, &state, &chunks).await?), index)
        } else {
            let chunks = self.passages(ctx, &state, EMBEDDED_AT_ONCE).await?;
            let index = index_state(&chunks);
            (Reindex::Text { model: self.embedder.model().clone(), chunks }, index)
        };
        let namespace = state.namespace.clone();
        let change = MemoryChange { id, from_revision: memory.revision, state, at: self.now(), reindex };
        let revision = match self.store.change(ctx, change).await? {
            Changed::Done(revision) => revision,
            Changed::NotFound => return Err(Error::NotFound(id)),
            Changed::SameAs(other) => return Err(same_as(other)),
            Changed::Conflict(current) => match request.expected_revision.filter(|&expected| expected != current) {
                Some(expected) => return Err(Error::Conflict { expected, current }),
                None => return Ok(None),
            },
        };
        if index == IndexState::Pending {
            self.pending.notify_one();
        }
        Ok(Some(Updated { id, namespace, revision, changed: true, index }))
    }

    /// A memory that the caller may change: their own, and not in the trash.
    pub(super) async fn own_memory(&self, ctx: &Ctx, id: MemoryId) -> Result<StoredMemory> {
        match self.store.memory(ctx, id, false).await? {
            Some(stored) if stored.memory.own => Ok(stored),
            // Whoever may read it knows of it anyway.
            Some(_) if ctx.grants.read => Err(Error::Forbidden(format!(
                "The memory {id} was shared by someone else; only its author can change or forget it. \
                 To correct it for yourself, remember the right text in a namespace of your own."
            ))),
            _ => Err(Error::NotFound(id)),
        }
    }

    /// Why a memory is not among the caller's own: one that someone else shares is answered in other words than one
    /// that is not there.
    pub(super) async fn why_not(&self, ctx: &Ctx, id: MemoryId) -> Error {
        self.own_memory(ctx, id).await.err().unwrap_or(Error::NotFound(id))
    }
}

/// The refusal to try for ever.
pub(super) fn being_changed(id: MemoryId) -> Error {
    Error::Invalid(format!(
        "The memory {id} is being changed by others at the same time. Nothing was written; try again."
    ))
}

/// The refusal to let two memories of one namespace say the same.
pub(super) fn same_as(other: MemoryId) -> Error {
    Error::Invalid(format!(
        "The memory {other} has exactly this text in this namespace already. Nothing was changed. \
         Forget one of the two instead."
    ))
}
