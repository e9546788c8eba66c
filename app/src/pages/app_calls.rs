use leptos::{either::Either, prelude::*};
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use polymnemo_types::{Action, ApiError, App, AppCall, AppId, ErrorCode, Page as ListPage, SeenMemory};

use super::apps::{access, app_path, called};
use crate::{
    api::{
        WebError,
        apps::{app, app_calls},
        changes::memory_path,
    },
    components::{Foreign, Missing, Pager, Time, Trouble, harmless, on_server},
    i18n,
};

/// More memories than these in an answer are shown when they are asked for.
const FEW: usize = 5;

/// What one app saw and did.
#[component]
pub(crate) fn AppCalls() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let id = use_params_map().with_untracked(|params| params.get_str("id").and_then(|id| id.parse::<AppId>().ok()));
    let cursor = use_query_map().with_untracked(|query| query.get("cursor"));
    let seen = Resource::new(|| (), move |()| read(id, cursor.clone()));
    view! {
        <div class="page">
            <Suspense>
                {move || Suspend::new(async move {
                    match seen.await {
                        Ok(Some((app, calls))) => view! { <Saw app calls /> }.into_any(),
                        Ok(None) => view! { <NoSuchApp /> }.into_any(),
                        Err(WebError(error)) => view! { <Unreadable error /> }.into_any(),
                    }
                })}
            </Suspense>
        </div>
    }
    .into_any()
}

/// The app with a page of its calls; `None` where the caller has none of this id.
async fn read(id: Option<AppId>, cursor: Option<String>) -> Result<Option<(App, ListPage<AppCall>)>, WebError> {
    let Some(id) = id else { return Ok(None) };
    let app = match app(id).await {
        Err(WebError(error)) if error.code == ErrorCode::NotFound => return Ok(None),
        app => app?,
    };
    Ok(Some((app, app_calls(id, cursor).await?)))
}

#[component]
fn Saw(app: App, calls: ListPage<AppCall>) -> impl IntoView {
    let apps = &i18n::messages().on_server.apps;
    let text = &apps.saw;
    let path = app_path(app.id);
    let (name, origin) = called(&app);
    let is_first = use_query_map().with_untracked(|query| query.get_str("cursor").is_none());
    let list = if calls.items.is_empty() && is_first {
        Either::Left(view! {
            <section class="empty">
                <h2>{text.nothing}</h2>
                <p>{text.nothing_text}</p>
            </section>
        })
    } else {
        let calls = calls.items.into_iter().map(|call| view! { <Call call /> });
        Either::Right(view! { <ol class="calls">{calls.collect_view()}</ol> })
    };
    view! {
        <Title text=name.clone() />
        <header>
            <p class="way-back">
                <a href="/apps" rel="external">{text.all_apps}</a>
            </p>
            <h1>
                <Foreign text=name />
            </h1>
            <p class="meta">
                {origin.map(|origin| view! { <span>{origin}</span> })}
                <span>{access(&app)}</span>
                <span>{apps.namespaces.briefly(&app.grants.namespaces)}</span>
                <span>{(apps.calls)(app.calls)}</span>
            </p>
            <p>{text.lead}</p>
        </header>
        {list}
        <Pager page=path next=calls.next_cursor />
    }
    .into_any()
}

/// One call: what it was and when, and under it what was in the answer.
#[component]
fn Call(call: AppCall) -> impl IntoView {
    view! {
        <li>
            <p class="call">
                <Did action=call.action query=call.query />
                <Time at=call.at />
            </p>
            <Answer memories=call.memories />
        </li>
    }
}

/// What an app did, in words.
#[component]
fn Did(action: Action, query: Option<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.apps.saw;
    let words = match action {
        Action::Recall => text.searched,
        Action::List => text.listed,
        Action::Get => text.read,
        Action::Remember => text.stored,
        Action::Update => text.changed,
        Action::Forget => text.forgot,
        Action::Upload => text.uploaded,
        Action::Download => text.downloaded,
        Action::Namespaces => text.namespaces,
        Action::SaveSession => text.saved_session,
        Action::LoadSession => text.read_session,
        Action::ListSessions => text.listed_sessions,
    };
    match query.map(|query| harmless(&query)).filter(|query| !query.is_empty()) {
        Some(query) if action == Action::Recall => {
            let [before, after] = text.searched_for;
            let title = query.clone();
            Either::Left(view! { <span class="did" title=title>{before} <Foreign text=query /> {after}</span> })
        }
        _ => Either::Right(view! { <span class="did">{words}</span> }),
    }
}

/// The memories in an answer, folded where they are many.
#[component]
fn Answer(memories: Vec<SeenMemory>) -> impl IntoView {
    let text = &i18n::messages().on_server.apps.saw;
    if memories.is_empty() {
        return ().into_any();
    }
    let (count, is_long) = (memories.len() as u64, memories.len() > FEW);
    let gone = memories.iter().filter(|memory| memory.beginning.is_none()).count() as u64;
    let there = memories.into_iter().filter_map(|memory| {
        let beginning = match harmless(&memory.beginning?) {
            text if text.is_empty() => memory.id.to_string(),
            text => text,
        };
        Some(view! {
            <li>
                <a href=memory_path(memory.id)>
                    <Foreign text=beginning />
                </a>
            </li>
        })
    });
    let list = view! {
        <ul class="seen">
            {there.collect_view()}
            {(gone > 0).then(|| view! { <li class="gone">{(text.gone)(gone)}</li> })}
        </ul>
    };
    if is_long {
        view! {
            <details class="answer">
                <summary>{(text.memories)(count)}</summary>
                {list}
            </details>
        }
        .into_any()
    } else {
        list.into_any()
    }
}

/// Stands where an app was to be and there is none of this id, or it is someone else's: the two look the same.
#[component]
fn NoSuchApp() -> impl IntoView {
    let text = &i18n::messages().on_server.apps.saw;
    view! {
        <Missing title=text.missing text=text.missing_text />
        <p class="buttons">
            <a class="button-plain" href="/apps" rel="external">{text.all_apps}</a>
        </p>
    }
    .into_any()
}

/// Stands where the server could not tell.
#[component]
fn Unreadable(error: ApiError) -> impl IntoView {
    let title = i18n::messages().on_server.apps.what_it_saw;
    view! {
        <Title text=title />
        <header>
            <h1>{title}</h1>
        </header>
        <Trouble error />
    }
}
