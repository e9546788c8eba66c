//! Memories: finding them and reading one.

#[cfg(feature = "ssr")]
mod excerpt;
#[cfg(feature = "ssr")]
pub(crate) mod markdown;
mod selection;

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{Facets, Memory, MemoryId, NamespaceSummary, Origin, Page, Revision, RevisionView};
use serde::{Deserialize, Serialize};

use super::WebError;

#[cfg(feature = "ssr")]
pub(crate) use answers::{moment, preview};
#[cfg(feature = "ssr")]
pub(crate) use excerpt::Marker;
#[cfg(feature = "ssr")]
pub(crate) use selection::since;
pub use selection::{Period, Selection};

/// A part of what a [`Selection`] selects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The memories: the newest first, or the best match first where something is searched for.
    pub rows: Vec<Row>,
    /// How many there are over all pages; a search does not know.
    pub total: Option<u64>,
    /// How many further memories a search looked at and left out, because they lay below its floor.
    pub below_threshold: u32,
    /// Passages that a search could compare by word only, because they are still being embedded.
    pub pending: u32,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

/// A memory in a list, as it is shown there: what would need code to be read in the browser is text
/// already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub id: String,
    /// Where it is read, if that is a page of its own: that of a session, with the message that was found.
    pub page: Option<String>,
    /// What it is about, where it has a title.
    pub title: Option<String>,
    /// Its current revision.
    pub revision: u32,
    /// The beginning of its text, or what a search found of it.
    pub text: Vec<Piece>,
    /// The namespace it is in.
    pub namespace: String,
    /// Whose it is, where it is not the caller's own.
    pub author: Option<String>,
    /// Its labels.
    pub tags: Vec<String>,
    /// Whether another memory corrects it.
    pub corrected: bool,
    /// The client that stored it, or else where it comes from.
    pub from: Option<String>,
    /// When it was stored.
    pub stored: Moment,
    /// Why a search found it.
    pub why: Option<Why>,
}

/// A time, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// For programs (RFC 3339).
    pub rfc3339: String,
    /// To the second, in the person's time zone.
    pub exact: String,
}

/// Why a search found a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Why {
    /// The blended score, from 0 to 1; comparable within one answer only.
    pub score: String,
    /// Cosine similarity of the passage and what is telling in the query; absent where the passage is not embedded yet.
    pub similarity: Option<String>,
    /// BM25 score of the passage.
    pub keyword: String,
    /// The query's words that the passage holds, in lower case.
    pub words: Vec<String>,
}

/// A piece of an excerpt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// True where it is a word that was searched for.
    pub matched: bool,
}

/// Finds what a selection selects: by recall where it has a query, else the newest.
///
/// # Errors
///
/// Those of [`recall`](polymnemo_memory::MemoryService::recall) and
/// [`list_memories`](polymnemo_memory::MemoryService::list_memories).
#[server(endpoint = "find_memories", input = GetUrl)]
pub async fn find_memories(
    /// What to find.
    #[server(default)]
    selection: Selection,
) -> Result<Found, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    if let Some(request) = selection.recall_request(&ctx.user.time_zone)? {
        return Ok(service.recall(&ctx, request).await?.into());
    }
    let request = selection.list_request(&ctx.user.time_zone)?;
    Ok(service.list_memories(&ctx, request).await?.into())
}

/// A page of the trash, the last forgotten first.
///
/// # Errors
///
/// Those of [`list_memories`](polymnemo_memory::MemoryService::list_memories).
#[server(endpoint = "find_forgotten", input = GetUrl)]
pub async fn find_forgotten(
    /// The cursor of the page.
    cursor: Option<String>,
) -> Result<Page<Memory>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let request =
        polymnemo_types::ListRequest { trash: true, limit: Some(selection::LISTED), cursor, ..Default::default() };
    Ok(service.list_memories(&ctx, request).await?)
}

/// How many memories there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// In the list that narrows nothing.
    pub memories: u64,
    /// In the trash.
    pub forgotten: u64,
}

/// Counts the memories that the caller may read, and those in their trash.
///
/// # Errors
///
/// Those of [`list_memories`](polymnemo_memory::MemoryService::list_memories).
#[server(endpoint = "count_memories", input = GetUrl)]
pub async fn count_memories() -> Result<Counts, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let count = |trash| {
        let request = polymnemo_types::ListRequest { trash, limit: Some(1), ..Default::default() };
        service.list_memories(&ctx, request)
    };
    let (memories, forgotten) = futures::future::try_join(count(false), count(true)).await?;
    Ok(Counts { memories: memories.total, forgotten: forgotten.total })
}

/// What a person can choose from to narrow a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// The namespaces that they may read.
    pub namespaces: Vec<NamespaceSummary>,
    /// What their memories have in common.
    pub facets: Facets,
}

/// The most namespaces that a person can choose from; others can be typed.
#[cfg(feature = "ssr")]
pub(crate) const NAMESPACES: u32 = 200;

/// Tells what a person can choose from to narrow a list.
///
/// # Errors
///
/// Those of [`facets`](polymnemo_memory::MemoryService::facets).
#[server(endpoint = "list_choices", input = GetUrl)]
pub async fn list_choices() -> Result<Choices, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let all = polymnemo_types::ListRequest::default();
    let (namespaces, facets) =
        futures::future::try_join(service.namespaces(&ctx, "", NAMESPACES), service.facets(&ctx, &all)).await?;
    Ok(Choices { namespaces, facets })
}

/// A memory, to be read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryPage {
    /// What is known about it.
    pub memory: Memory,
    /// Its text, or the beginning of it.
    pub text: String,
    /// The same, formatted.
    pub markup: Markup,
    /// True where there is more text.
    pub truncated: bool,
    /// The memories that it corrects, as far as they are still there.
    pub supersedes: Vec<Memory>,
    /// The memory that corrects it.
    pub superseded_by: Option<Memory>,
    /// The message that it was taken from, as far as that is still there.
    pub origin: Option<Origin>,
}

/// HTML that is safe to show, whoever wrote the text it was made from. Only
/// [`get_memory`] and [`read_transcript`](super::sessions::read_transcript) make it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Markup(pub(in crate::api) String);

impl Markup {
    /// The HTML.
    pub(crate) fn into_html(self) -> String {
        self.0
    }
}

/// The most of the memories that another one corrects that are shown with it.
#[cfg(feature = "ssr")]
const RELATED: usize = 5;

/// Gives a memory to be read: the beginning of its text, or all of it.
///
/// # Errors
///
/// Those of [`get_memory`](polymnemo_memory::MemoryService::get_memory).
#[server(endpoint = "get_memory", input = GetUrl)]
pub async fn get_memory(
    /// The memory.
    id: MemoryId,
    /// Whether to give all of its text.
    whole: bool,
) -> Result<MemoryPage, WebError> {
    use polymnemo_types::GetRequest;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let max_bytes = whole.then_some(u64::MAX);
    let read = service.get_memory(&ctx, GetRequest { id, offset: 0, max_bytes }).await?;

    // What it is related to may be gone, or not the caller's to read: then there is nothing to show.
    let related = |id| {
        let (service, ctx) = (&service, &ctx);
        async move {
            let request = GetRequest { id, offset: 0, max_bytes: Some(0) };
            service.get_memory(ctx, request).await.ok().map(|read| read.memory)
        }
    };
    let mut supersedes = Vec::new();
    for &id in read.memory.supersedes.iter().take(RELATED) {
        supersedes.extend(related(id).await);
    }
    let superseded_by = match read.memory.superseded_by {
        Some(id) => related(id).await,
        None => None,
    };
    Ok(MemoryPage {
        memory: read.memory,
        markup: Markup(markdown::to_html(&read.content)),
        text: read.content,
        truncated: read.next_offset.is_some(),
        supersedes,
        superseded_by,
        // As with the others that it is related to.
        origin: service.origin(&ctx, id).await.unwrap_or_default(),
    })
}

/// The states on a page of a memory's history.
#[cfg(feature = "ssr")]
const STATES: u32 = 20;

/// A page of the states that a memory has had, the current one first, each with what it changed.
///
/// # Errors
///
/// Those of [`history`](polymnemo_memory::MemoryService::history).
#[server(endpoint = "memory_history", input = GetUrl)]
pub async fn memory_history(
    /// The memory.
    id: MemoryId,
    /// The cursor of the page.
    cursor: Option<String>,
) -> Result<Page<RevisionView>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.history(&ctx, id, cursor.as_deref(), Some(STATES)).await?)
}

/// One of the states that a memory has had, with its text.
///
/// # Errors
///
/// Those of [`revision`](polymnemo_memory::MemoryService::revision).
#[server(endpoint = "memory_revision", input = GetUrl)]
pub async fn memory_revision(
    /// The memory.
    id: MemoryId,
    /// The number of the state.
    revision: u32,
) -> Result<Revision, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.revision(&ctx, id, revision).await?)
}

#[cfg(feature = "ssr")]
mod answers {
    use jiff::Timestamp;
    use polymnemo_types::{Hit, Kind, Memory, MessageHit, Page, Recall, limits};

    use super::{Found, Moment, Piece, Row, Why, excerpt};
    use crate::api::sessions::{message_path, session_path};

    impl From<Page<Memory>> for Found {
        fn from(page: Page<Memory>) -> Self {
            let rows = page.items.into_iter().map(|memory| {
                let text = vec![Piece { text: preview(&memory), matched: false }];
                row(memory, text, None)
            });
            Self { rows: rows.collect(), total: Some(page.total), next_cursor: page.next_cursor, ..Self::default() }
        }
    }

    impl From<Recall> for Found {
        fn from(recall: Recall) -> Self {
            let mut marker = excerpt::Marker::default();
            let rows = recall.hits.into_iter().map(|Hit { memory, passage, message, score, why, .. }| {
                let text = marker.excerpt(&passage, &why.matched);
                let why = Why {
                    score: format!("{score:.3}"),
                    similarity: why.similarity.map(|similarity| format!("{similarity:.3}")),
                    keyword: format!("{:.2}", why.keyword),
                    words: why.matched,
                };
                let id = memory.id;
                let mut row = row(memory, text, Some(why));
                if let Some(MessageHit { number, title, .. }) = message {
                    row.page = Some(message_path(id, number));
                    row.title = Some(crate::components::harmless(&title)).filter(|title| !title.is_empty());
                }
                row
            });
            Self {
                rows: rows.collect(),
                total: None,
                below_threshold: recall.below_threshold,
                pending: recall.pending,
                next_cursor: recall.next_cursor,
            }
        }
    }

    fn row(memory: Memory, text: Vec<Piece>, why: Option<Why>) -> Row {
        Row {
            id: memory.id.to_string(),
            page: (memory.kind == Kind::Session).then(|| session_path(memory.id)),
            title: None,
            revision: memory.revision,
            text,
            namespace: memory.namespace,
            author: (!memory.own).then_some(memory.author),
            tags: memory.tags,
            corrected: memory.superseded_by.is_some(),
            from: memory.client.or(memory.source),
            stored: moment(memory.created_at),
            why,
        }
    }

    /// The beginning of a memory's text.
    pub(crate) fn preview(memory: &Memory) -> String {
        let cut = memory.preview.chars().count() >= limits::PREVIEW_CHARS;
        if cut { format!("{}…", memory.preview.trim_end()) } else { memory.preview.clone() }
    }

    /// A time, as it is shown to who is signed in.
    pub(crate) fn moment(at: Timestamp) -> Moment {
        Moment { seconds: at.as_second(), rfc3339: at.to_string(), exact: crate::components::exact(at) }
    }
}
