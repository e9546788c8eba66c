use polymnemo_types::{
    Action, Facets, GetRequest, ListRequest, Memory, MemoryId, MemoryText, NamespaceSummary, Page, Revision, limits,
};

use super::{MemoryService, cursor, validate};
use crate::{Ctx, Error, Result, ports::Filter, when};

impl MemoryService {
    /// A page of memories, the newest first. Stable while others write: what is stored meanwhile shows up on a
    /// new first page, never in between.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad filter, limit or cursor; [`Error::NamespaceNotFound`]; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn list_memories(&self, ctx: &Ctx, request: ListRequest) -> Result<Page<Memory>> {
        ctx.check_read()?;
        let filter = list_filter(ctx, &request)?;
        let limit = validate::limit(request.limit)?;
        let place = request.cursor.as_deref().map(cursor::to_place).transpose()?;
        let (mut page, next) = self.store.list(ctx, &filter, request.trash, place, limit).await?;
        if page.total == 0 {
            self.check_namespace(ctx, filter.namespace.as_deref()).await?;
        }
        page.next_cursor = next.map(cursor::from_place);
        self.add_files(ctx, page.items.iter_mut().collect()).await?;
        self.record_call(ctx, Action::List, None, page.items.iter().map(|memory| memory.id).collect());
        Ok(page)
    }

    /// Tells an empty answer from one about a namespace that there isn't: a slip in its name must not read as "nothing is
    /// stored". The caller's default namespace is theirs even before the first memory is in it.
    pub(super) async fn check_namespace(&self, ctx: &Ctx, name: Option<&str>) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        if name == ctx.user.default_namespace && ctx.covers(name) {
            return Ok(());
        }
        // They come in the order of their names, in which a name precedes those that begin with it.
        let found = self.store.namespaces(ctx, name, 1).await?;
        match found.iter().any(|found| found.name == name) {
            true => Ok(()),
            false => Err(Error::NamespaceNotFound(name.to_owned())),
        }
    }

    /// What the memories of a list have in common, over all its pages; limit and cursor of the request don't matter.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad filter; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn facets(&self, ctx: &Ctx, request: &ListRequest) -> Result<Facets> {
        ctx.check_read()?;
        let filter = list_filter(ctx, request)?;
        self.store.facets(ctx, &filter, request.trash, limits::FACET_VALUES).await
    }

    /// One memory with its text, or with a part of it.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn get_memory(&self, ctx: &Ctx, request: GetRequest) -> Result<MemoryText> {
        self.read_memory(ctx, request, false).await
    }

    /// One memory of the caller with its text, even if it is in the trash.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn get_forgotten(&self, ctx: &Ctx, request: GetRequest) -> Result<MemoryText> {
        ctx.check_person()?;
        self.read_memory(ctx, request, true).await
    }

    async fn read_memory(&self, ctx: &Ctx, request: GetRequest, trash: bool) -> Result<MemoryText> {
        ctx.check_read()?;
        let mut stored = self.store.memory(ctx, request.id, trash).await?.ok_or(Error::NotFound(request.id))?;
        self.add_files(ctx, vec![&mut stored.memory]).await?;
        self.record_call(ctx, Action::Get, None, vec![request.id]);
        let content = stored.content;
        let place = |byte: u64| content.floor_char_boundary(usize::try_from(byte).unwrap_or(usize::MAX));
        let most = request.max_bytes.unwrap_or(limits::TEXT_BYTES as u64).max(4);
        let start = place(request.offset);
        let end = place((start as u64).saturating_add(most));
        Ok(MemoryText {
            memory: stored.memory,
            offset: start as u64,
            next_offset: (end < content.len()).then_some(end as u64),
            content: content.get(start..end).unwrap_or_default().to_owned(),
        })
    }

    /// The earlier states of a memory of the caller, the latest first; those below `before`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Invalid`] for a bad limit, [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn revisions(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        before: Option<u32>,
        limit: Option<u32>,
    ) -> Result<Vec<Revision>> {
        ctx.check_read()?;
        let limit = validate::limit(limit)?;
        self.own_memory(ctx, id).await?;
        self.store.revisions(ctx, id, before, limit).await
    }

    /// The namespaces that the caller may read, by name; those that begin with `prefix`, at most `limit`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn namespaces(&self, ctx: &Ctx, prefix: &str, limit: u32) -> Result<Vec<NamespaceSummary>> {
        ctx.check_read()?;
        let namespaces = self.store.namespaces(ctx, prefix, limit).await?;
        self.record_call(ctx, Action::Namespaces, None, Vec::new());
        Ok(namespaces)
    }
}

/// The conditions of a list, checked.
fn list_filter(ctx: &Ctx, request: &ListRequest) -> Result<Filter> {
    let conditions = FilterRequest {
        namespace: request.namespace.as_deref(),
        tags: &request.tags,
        kind: request.kind,
        source: request.source.as_deref(),
        client: request.client.as_deref(),
        after: request.after.as_deref(),
        before: request.before.as_deref(),
        include_superseded: request.include_superseded || request.trash,
    };
    filter(ctx, conditions)
}

/// The conditions of a list or a recall, as they come in.
pub(super) struct FilterRequest<'a> {
    pub(super) namespace: Option<&'a str>,
    pub(super) tags: &'a [String],
    pub(super) kind: Option<polymnemo_types::Kind>,
    pub(super) source: Option<&'a str>,
    pub(super) client: Option<&'a str>,
    pub(super) after: Option<&'a str>,
    pub(super) before: Option<&'a str>,
    pub(super) include_superseded: bool,
}

/// The conditions of a list or a recall, checked.
pub(super) fn filter(ctx: &Ctx, request: FilterRequest<'_>) -> Result<Filter> {
    let zone = &ctx.user.time_zone;
    let after = request.after.map(|text| when::parse("after", text, zone)).transpose()?;
    let before = request.before.map(|text| when::parse("before", text, zone)).transpose()?;
    if let (Some(after), Some(before)) = (after, before)
        && after >= before
    {
        return Err(Error::Invalid("`after` must be earlier than `before`: nothing can lie in between.".into()));
    }
    Ok(Filter {
        namespace: request.namespace.map(validate::namespace).transpose()?,
        tags: validate::tags(request.tags)?,
        kind: request.kind,
        source: validate::source(request.source)?,
        client: validate::client(request.client)?,
        after,
        before,
        include_superseded: request.include_superseded,
        session: None,
    })
}
