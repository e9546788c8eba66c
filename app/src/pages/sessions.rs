use leptos::{either::Either, prelude::*};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{Page as ListPage, Session};

use crate::{
    api::{
        WebError,
        memories::{Choices, Selection},
        sessions::{SessionSelection, find_sessions, list_session_choices, session_path},
    },
    components::{Choice, Foreign, Select, Time, Trouble, harmless, on_server, periods},
    i18n,
};

/// The conversations that clients have saved.
#[component]
pub(crate) fn Sessions() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.sessions;
    let selection = use_query_map().with_untracked(SessionSelection::of_query);
    let found = {
        let selection = selection.clone();
        Resource::new(|| (), move |()| find_sessions(selection.clone()))
    };
    view! {
        <leptos_meta::Title text=text.title />
        <h1 class="visually-hidden">{text.title}</h1>
        <section class="list-pane sessions" aria-label=text.list>
            <Search selection=selection.clone() />
            // Kept true while it is read: sessions come, and are being indexed.
            <div class="session-list" id="session-list" data-live>
                <Suspense>
                    {move || {
                        let selection = selection.clone();
                        Suspend::new(async move {
                            match found.await {
                                Ok(page) => Either::Left(view! { <List selection page /> }),
                                Err(WebError(error)) => Either::Right(view! { <Trouble error /> }),
                            }
                        })
                    }}
                </Suspense>
            </div>
        </section>
    }
    .into_any()
}

/// Searches and narrows the list: a form whose fields are the query of the page's URL.
#[component]
fn Search(selection: SessionSelection) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions;
    let filters = &i18n::messages().on_server.filters;
    let choices = Resource::new(|| (), |()| list_session_choices());
    let SessionSelection { q, namespace, client, time, .. } = selection;
    view! {
        <form class="search-bar" role="search" method="get" action="/sessions" data-live-search="session-list">
            <div class="search-line">
                <input
                    class="input"
                    type="search"
                    name="q"
                    value=q
                    placeholder=text.placeholder
                    aria-label=text.placeholder
                    maxlength=polymnemo_types::limits::TITLE_CHARS
                    autocomplete="off"
                    data-key="/"
                />
                <button class="button-plain">{text.search}</button>
            </div>
            <Suspense>
                {move || {
                    let (namespace, client, time) = (namespace.clone(), client.clone(), time.clone());
                    Suspend::new(async move {
                        let Choices { namespaces, facets } = choices.await.unwrap_or_default();
                        let namespaces = namespaces.into_iter().map(|namespace| Choice::from(namespace.name)).collect();
                        let clients = facets.clients.into_iter().map(|client| Choice::from(client.value)).collect();
                        view! {
                            <div class="filters">
                                <Select name="namespace" label=filters.namespace any=filters.any_namespace choices=namespaces chosen=namespace />
                                <Select name="client" label=filters.client any=filters.any_client choices=clients chosen=client />
                                <Select name="time" label=filters.time any=filters.any_time choices=periods() chosen=time />
                                <a class="clear" href="/sessions" rel="external">
                                    {filters.clear}
                                </a>
                            </div>
                        }
                    })
                }}
            </Suspense>
        </form>
    }
}

#[component]
fn List(selection: SessionSelection, page: ListPage<Session>) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions;
    let is_first = selection.cursor.is_empty();
    if page.items.is_empty() && is_first && !selection.is_narrowed() {
        return Either::Left(view! {
            <section class="empty">
                <h2>{text.empty}</h2>
                <p>{text.empty_text}</p>
                <blockquote>{text.empty_example}</blockquote>
                <p class="buttons">
                    <a class="button-main" href="/connect" rel="external">{text.empty_connect}</a>
                </p>
            </section>
        });
    }
    let pages = &i18n::messages().memories;
    let newest = (!is_first).then(|| selection.page(String::new()).to_string());
    let older = page.next_cursor.map(|cursor| selection.page(cursor).to_string());
    let has_pages = newest.is_some() || older.is_some();
    let nothing = page.items.is_empty();
    let words = selection.q.trim().to_owned();
    // The titles are searched here; what was said is found where everything is.
    let in_messages = || {
        (!words.is_empty()).then(|| {
            let said = Selection { q: words.clone(), kind: "session".to_owned(), ..Selection::default() };
            view! { <a href=said.at("/memories") rel="external">{text.in_messages}</a> }
        })
    };
    let rows = page.items.into_iter().map(|session| view! { <Row session /> });
    Either::Right(view! {
        <h2 class="visually-hidden">{text.list}</h2>
        <p class="list-summary">
            <span role="status">{(text.count)(page.total)}</span>
            {(!nothing).then(in_messages)}
        </p>
        <ol class="memory-list">{rows.collect_view()}</ol>
        {nothing
            .then(|| {
                view! {
                    <section class="empty">
                        <h3>{text.none_selected}</h3>
                        <p>{text.none_selected_text}</p>
                        <p class="buttons">
                            {in_messages()}
                            <a class="button-plain" href="/sessions" rel="external">{text.show_all}</a>
                        </p>
                    </section>
                }
            })}
        {has_pages
            .then(|| {
                view! {
                    <nav class="pager" aria-label=pages.pager>
                        {newest.map(|href| view! { <a class="button-plain" href=href rel="external">{pages.pages.0}</a> })}
                        {older.map(|href| view! { <a class="button-plain" href=href rel="external next">{pages.pages.1}</a> })}
                    </nav>
                }
            })}
    })
}

/// A session in the list: what it is about, and one quiet line.
#[component]
fn Row(session: Session) -> impl IntoView {
    view! {
        <li class="memory-row">
            <h3>
                <a href=session_path(session.memory.id) rel="external">
                    <Foreign text=title_of(&session) />
                </a>
            </h3>
            <Facts session />
        </li>
    }
}

/// What is known about a session, in one quiet line.
#[component]
pub(crate) fn Facts(session: Session) -> impl IntoView {
    let text = &i18n::messages().on_server.sessions;
    let Session { memory, messages, index, .. } = session;
    // Words are found first, their meaning later: what is not there at all yet counts for more.
    let progress = if index.searchable < index.messages {
        (text.indexing)(index.searchable, index.messages)
    } else {
        (text.indexing)(index.embedded, index.passages)
    };
    view! {
        <p class="meta">
            <span class="namespace">{memory.namespace}</span>
            {(!memory.own).then(|| view! { <span>{(text.by)(&harmless(&memory.author))}</span> })}
            {memory.client.map(|client| view! { <span>{harmless(&client)}</span> })}
            <span>{(text.messages)(messages)}</span>
            {(!index.is_complete()).then(|| view! { <span class="indexing">{progress}</span> })}
            <Time at=memory.occurred_at />
        </p>
    }
}

/// What a session is about, as a person reads it.
pub(crate) fn title_of(session: &Session) -> String {
    let title = harmless(&session.title);
    if title.is_empty() { i18n::messages().on_server.sessions.untitled.to_owned() } else { title }
}
