use polymnemo_types::{MemoryId, Page, Revision, RevisionChanges, RevisionView, UpdateRequest, Updated};

use super::{MemoryService, cursor, validate};
use crate::{Ctx, Error, Result, diff, ports::StoredMemory};

/// Which list a cursor belongs to.
const LIST: char = 'v';

impl MemoryService {
    /// A page of the states that a memory of the caller has had, the current one first, each with what it changed.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] for a bad limit or cursor; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn history(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Page<RevisionView>> {
        ctx.check_read()?;
        let limit = validate::limit(limit)?;
        let before = cursor.map(|cursor| cursor::to_key::<u32>(LIST, cursor)).transpose()?;
        let stored = self.own_memory(ctx, id).await?;
        let current = stored.memory.revision;
        let mut states = match before {
            Some(_) => Vec::new(),
            None => vec![current_state(stored)],
        };
        // One more than is shown, to compare the last one with.
        let further = limit + 1 - u32::try_from(states.len()).unwrap_or_default();
        states.extend(self.store.revisions(ctx, id, before, further).await?);
        // Comparing long texts takes a while, and the threads here serve everyone.
        let views = tokio::task::spawn_blocking(move || views(&states, current));
        let mut items = views.await.map_err(|error| Error::Internal(error.into()))?;
        let next_cursor = cursor::next(LIST, &mut items, limit, |view| view.revision);
        Ok(Page { items, total: current.into(), next_cursor })
    }

    /// One state of a memory of the caller, with its text; the current one included.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Missing`] for a number that it has no state of; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn revision(&self, ctx: &Ctx, id: MemoryId, revision: u32) -> Result<Revision> {
        ctx.check_read()?;
        let stored = self.own_memory(ctx, id).await?;
        let current = stored.memory.revision;
        if revision == current {
            return Ok(current_state(stored));
        }
        let found = self.store.revisions(ctx, id, Some(revision.saturating_add(1)), 1).await?;
        found.into_iter().find(|found| found.revision == revision).ok_or_else(|| {
            Error::Missing(format!("The memory {id} has no revision {revision}; it has those from 1 to {current}."))
        })
    }

    /// Makes a memory say again what it said in an earlier revision: text, labels, source and time. It stays in the
    /// namespace that it is in, so that nothing private becomes public by way of its past. The state before becomes a
    /// revision itself.
    ///
    /// # Errors
    ///
    /// As [`MemoryService::revision`] and [`MemoryService::update`].
    pub async fn restore_revision(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        revision: u32,
        expected_revision: Option<u32>,
    ) -> Result<Updated> {
        let earlier = self.revision(ctx, id, revision).await?;
        let request = UpdateRequest {
            content: Some(earlier.content),
            tags: Some(earlier.tags),
            source: Some(earlier.source.unwrap_or_default()),
            occurred_at: Some(earlier.occurred_at.to_string()),
            expected_revision,
            ..UpdateRequest::new(id)
        };
        self.update(ctx, request).await
    }
}

/// The state that a memory has now.
fn current_state(stored: StoredMemory) -> Revision {
    let StoredMemory { memory, content, changed_by } = stored;
    Revision {
        revision: memory.revision,
        content,
        tags: memory.tags,
        source: memory.source,
        namespace: memory.namespace,
        occurred_at: memory.occurred_at,
        created_at: memory.updated_at,
        client: changed_by,
    }
}

/// States, the latest first, each compared with the next one.
fn views(states: &[Revision], current: u32) -> Vec<RevisionView> {
    let before = states.iter().skip(1).map(Some).chain([None]);
    states
        .iter()
        .zip(before)
        .map(|(state, before)| RevisionView {
            revision: state.revision,
            current: state.revision == current,
            created_at: state.created_at,
            client: state.client.clone(),
            tags: state.tags.clone(),
            source: state.source.clone(),
            namespace: state.namespace.clone(),
            occurred_at: state.occurred_at,
            bytes: state.content.len() as u64,
            changes: before.map(|before| changes(before, state)),
        })
        .collect()
}

fn changes(before: &Revision, after: &Revision) -> RevisionChanges {
    let missing_in = |tags: &[String], others: &[String]| -> Vec<String> {
        tags.iter().filter(|tag| !others.contains(tag)).cloned().collect()
    };
    let source_changed = before.source != after.source;
    RevisionChanges {
        text: (before.content != after.content).then(|| diff::difference(&before.content, &after.content)),
        added_tags: missing_in(&after.tags, &before.tags),
        removed_tags: missing_in(&before.tags, &after.tags),
        source_changed,
        previous_source: before.source.clone().filter(|_| source_changed),
        previous_namespace: (before.namespace != after.namespace).then(|| before.namespace.clone()),
        previous_occurred_at: (before.occurred_at != after.occurred_at).then_some(before.occurred_at),
    }
}
