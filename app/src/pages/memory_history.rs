use leptos::{
    either::{Either, EitherOf4},
    prelude::*,
    server_fn::ServerFn,
};
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use polymnemo_types::{
    DiffPart, Difference, ErrorCode, MemoryId, Page as ListPage, Revision, RevisionChanges, RevisionView,
};

use super::{
    beside::{link_with_list, links},
    memory_header::BackToList,
    no_such_memory::NoSuchMemory,
};
use crate::{
    api::{
        WebError,
        changes::{RestoreRevision, memory_path},
        memories::{memory_history, memory_revision},
    },
    components::{LiveForm, Sending, Time, Trouble},
    i18n,
};

/// The states that a memory has had, each with what it changed: `/memories/{id}/history`, with
/// `?revision=3` the whole text of one of them, and with `?older=` the page that this cursor leads to.
#[component]
pub(crate) fn MemoryHistory(id: MemoryId) -> impl IntoView {
    let text = &i18n::messages().on_server.history;
    let (older, revision) = use_query_map().with_untracked(|query| {
        (query.get("older"), query.get_str("revision").and_then(|number| number.parse::<u32>().ok()))
    });
    let history = Resource::new(|| (), move |()| read(id, older.clone(), revision));
    view! {
        <Title text=text.title />
        <Suspense>
            {move || Suspend::new(async move {
                match history.await {
                    Ok((history, revision)) => view! { <States id history revision /> }.into_any(),
                    Err(WebError(error)) if error.code == ErrorCode::NotFound => view! { <NoSuchMemory /> }.into_any(),
                    Err(WebError(error)) => view! { <article class="detail"><Trouble error /></article> }.into_any(),
                }
            })}
        </Suspense>
    }
}

/// A page of the history, and the state that is shown whole.
async fn read(
    id: MemoryId,
    older: Option<String>,
    revision: Option<u32>,
) -> Result<(ListPage<RevisionView>, Option<Revision>), WebError> {
    let history = memory_history(id, older).await?;
    let revision = match revision {
        Some(revision) => Some(memory_revision(id, revision).await?),
        None => None,
    };
    Ok((history, revision))
}

#[component]
fn States(id: MemoryId, history: ListPage<RevisionView>, revision: Option<Revision>) -> impl IntoView {
    let text = &i18n::messages().on_server.history;
    let sending = Sending::to(&[RestoreRevision::PATH]);
    let path = format!("{}/history", memory_path(id));
    let current = u32::try_from(history.total).unwrap_or(u32::MAX);
    let states = history.items.into_iter().map(|state| {
        let whole = links(&path, "revision", &state.revision.to_string());
        view! {
            <li class="state">
                <header>
                    <h3>{(text.revision)(state.revision)}</h3>
                    {state.current.then_some(view! { <span class="now">{text.current}</span> })}
                    <Time at=state.created_at />
                    {state.client.clone().map(|client| view! { <span>{client}</span> })}
                    <div class="buttons">
                        <a class="button-quiet" href=whole data-list>{text.show_text}</a>
                        {(!state.current).then(|| view! { <Restore id revision=state.revision current sending /> })}
                    </div>
                </header>
                {match state.changes.clone() {
                    Some(changes) => Either::Left(view! { <WhatChanged changes state /> }),
                    None => Either::Right(view! { <p class="quiet">{(text.first)(state.bytes)}</p> }),
                }}
            </li>
        }
    });
    view! {
        <article class="detail" tabindex="-1" aria-labelledby="detail-title">
            <header>
                <BackToList />
                <h2 class="where" id="detail-title">
                    {text.title}
                </h2>
                <div class="buttons">
                    <a class="button-quiet" href=link_with_list(&memory_path(id)) data-list>
                        {text.to_memory}
                    </a>
                </div>
            </header>
            <p class="fault" role="alert" data-trouble>
                {sending.error().map(|error| i18n::explain(&error, Some(text.refused)))}
            </p>
            {revision.map(|revision| view! { <Whole revision close=link_with_list(&path) /> })}
            <ol class="history">{states.collect_view()}</ol>
            {history.next_cursor.map(|cursor| view! {
                <nav class="pager" aria-label=text.pager>
                    <a class="button-plain" href=links(&path, "older", &cursor) data-list rel="next">{text.older}</a>
                </nav>
            })}
        </article>
    }
}

/// The whole text of a state.
#[component]
fn Whole(revision: Revision, close: String) -> impl IntoView {
    let text = &i18n::messages().on_server.history;
    let title = (text.revision)(revision.revision);
    view! {
        <section class="whole-state" aria-labelledby="whole-state">
            <header>
                <h3 id="whole-state">{title.clone()}</h3>
                <Time at=revision.created_at />
                <div class="buttons">
                    <a class="button-quiet" href=close data-list>{text.hide_text}</a>
                </div>
            </header>
            <pre class="raw-text" tabindex="0" aria-label=title>
                {revision.content}
            </pre>
        </section>
    }
}

/// Makes the memory say again what it said then.
#[component]
fn Restore(id: MemoryId, revision: u32, current: u32, sending: Sending) -> impl IntoView {
    let text = &i18n::messages().on_server.history;
    view! {
        <LiveForm sending call=RestoreRevision::PATH then=link_with_list(&memory_path(id))>
            <input type="hidden" name="id" value=id.to_string() />
            <input type="hidden" name="revision" value=revision.to_string() />
            <input type="hidden" name="current" value=current.to_string() />
            <button class="button-quiet">{text.restore}</button>
        </LiveForm>
    }
}

/// What a state changed of the one before it.
#[component]
fn WhatChanged(changes: RevisionChanges, state: RevisionView) -> impl IntoView {
    let text = &i18n::messages().on_server.history;
    let tags = |tags: Vec<String>, label| {
        (!tags.is_empty()).then(|| {
            let tags = tags.into_iter().map(|tag| view! { <span class="tag">{tag}</span> });
            view! { <dt>{label}</dt><dd class="tags">{tags.collect_view()}</dd> }
        })
    };
    let RevisionChanges { added_tags, removed_tags, source_changed, previous_source, .. } = changes;
    view! {
        {changes.text.map(|difference| view! { <Compared difference /> })}
        <dl class="properties">
            {tags(added_tags, text.added_tags)}
            {tags(removed_tags, text.removed_tags)}
            {changes.previous_namespace.map(|before| view! {
                <dt>{text.namespace}</dt>
                <dd><del>{before}</del> " → " <ins>{state.namespace}</ins></dd>
            })}
            {source_changed.then(|| view! {
                <dt>{text.source}</dt>
                <dd>
                    {previous_source.map(|before| view! { <del>{before}</del> " → " })}
                    {match state.source {
                        Some(source) => Either::Left(view! { <ins>{source}</ins> }),
                        None => Either::Right(text.no_source),
                    }}
                </dd>
            })}
            {changes.previous_occurred_at.map(|before| view! {
                <dt>{text.occurred}</dt>
                <dd><del><Time at=before /></del> " → " <ins><Time at=state.occurred_at /></ins></dd>
            })}
        </dl>
    }
}

/// How a text became another one.
#[component]
fn Compared(difference: Difference) -> impl IntoView {
    let text = &i18n::messages().on_server.history;
    let parts = difference.parts.into_iter().map(|part| match part {
        DiffPart::Kept(text) => EitherOf4::A(text),
        DiffPart::Removed(text) => EitherOf4::B(view! { <del>{text}</del> }),
        DiffPart::Added(text) => EitherOf4::C(view! { <ins>{text}</ins> }),
        DiffPart::Skipped(length) => EitherOf4::D(view! { <span class="skipped">{(text.skipped)(length)}</span> }),
    });
    view! {
        <div class="difference">{parts.collect_view()}</div>
        {difference.truncated.then_some(view! { <p class="quiet">{text.truncated}</p> })}
    }
}
