use leptos::{
    either::{Either, EitherOf3},
    prelude::*,
    server_fn::ServerFn,
};
use leptos_meta::Title;
use leptos_router::{
    hooks::{use_params_map, use_query_map},
    params::ParamsMap,
};
use polymnemo_types::{
    ErasePreview, EraseTarget, ErasedCounts, ErasedStore, Erasure, ErasureId, ErasureState, ErrorCode,
    Page as ListPage, ReceiptDocument, Survivor,
};

use crate::{
    api::{
        WebError,
        apps::list_apps,
        erase::{Erase as EraseCall, ErasurePage, erasure_path, erasures, preview_erasure, read_erasure},
        namespaces::own_namespaces,
    },
    components::{
        CallForm, Fault, Missing, Pager, TextPage, Time, Trouble, YourDataTabs, answer_not_found, exact, on_server,
        with_code,
    },
    form::SentForm,
    i18n,
    pages::apps::called,
};

const PATH: &str = "/erase";

/// Where the key is published that receipts are verified with.
const KEY_PATH: &str = "/.well-known/polymnemo-receipt-key";

/// Chooses what to erase; with a query that names it, `/erase?memory=ID`, `?ids=ID,ID`, `?namespace=NAME`, `?app=ID` or
/// `?account=all`, shows what goes.
#[component]
pub(crate) fn Erase() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

/// What is asked about: what kind of thing, and which one.
fn asked(query: &ParamsMap) -> Option<(&'static str, String)> {
    let filled = |name: &str| query.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
    // What is selected in a list comes as a value for each.
    let selected: Vec<String> = query.get_all("ids[]").into_iter().flatten().collect();
    if !selected.is_empty() {
        return Some(("memories", selected.join(",")));
    }
    let named = [
        ("memory", "memories"),
        ("ids", "memories"),
        ("namespace", "namespace"),
        ("app", "app"),
        ("import", "import"),
        ("account", "account"),
    ];
    named.into_iter().find_map(|(name, what)| Some((what, filled(name)?)))
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let of_query = use_query_map().with_untracked(asked);
    // A form that failed comes back without the query.
    let of_form = || {
        let sent = SentForm::calling::<EraseCall>()?;
        let what = ["memories", "namespace", "app", "import", "account"]
            .into_iter()
            .find(|what| sent.text("what") == Some(what))?;
        Some((what, sent.text("which").unwrap_or_default().to_owned()))
    };
    match of_query.or_else(of_form) {
        Some((what, which)) => Either::Left(view! { <Preview what which /> }),
        None => Either::Right(view! {
            <TextPage title=text.title lead=text.lead>
                <YourDataTabs />
                <Choose />
                <Receipts />
            </TextPage>
        }),
    }
}

#[component]
fn Choose() -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let namespaces = Resource::new(|| (), |()| own_namespaces(None));
    let clients = Resource::new(|| (), |()| list_apps(None));
    view! {
        <section class="erase-choice" aria-labelledby="choose">
            <h2 id="choose">{text.choose}</h2>
            <p class="hint">{text.single}</p>
            <Suspense>
                {move || Suspend::new(async move {
                    match (namespaces.await, clients.await) {
                        (Ok(namespaces), Ok(clients)) => {
                            let namespaces = namespaces
                                .items
                                .into_iter()
                                .map(|namespace| (namespace.name.clone(), namespace.name))
                                .collect::<Vec<_>>();
                            let clients: Vec<(String, String)> = clients
                                .items
                                .into_iter()
                                .map(|app| (app.id.to_string(), called(&app).0))
                                .collect();
                            let no_apps = clients.is_empty().then(|| view! { <p class="hint">{text.no_apps}</p> });
                            Either::Left(view! {
                                <Select id="erase-namespace" name="namespace" label=text.namespace options=namespaces />
                                {no_apps}
                                <Select id="erase-app" name="app" label=text.app options=clients />
                            })
                        }
                        (Err(WebError(error)), _) | (_, Err(WebError(error))) => Either::Right(view! { <Trouble error /> }),
                    }
                })}
            </Suspense>
            <section class="action">
                <h3>{text.account}</h3>
                <p class="hint">{text.account_hint}</p>
                <a class="button-plain" href="/erase?account=all" rel="external">{text.account_show}</a>
            </section>
        </section>
    }
    .into_any()
}

/// One of several, to be shown.
#[component]
fn Select(id: &'static str, name: &'static str, label: &'static str, options: Vec<(String, String)>) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    (!options.is_empty()).then(|| {
        let options = options.into_iter().map(|(value, name)| view! { <option value=value>{name}</option> });
        view! {
            <form method="get" action=PATH class="one-line">
                <div class="field">
                    <label for=id>{label}</label>
                    <select class="input" id=id name=name>{options.collect_view()}</select>
                </div>
                <button class="button-plain">{text.show}</button>
            </form>
        }
    })
}

#[component]
fn Receipts() -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let cursor = use_query_map().with_untracked(|query| query.get("cursor").filter(|cursor| !cursor.is_empty()));
    let page = Resource::new(move || cursor.clone(), erasures);
    view! {
        <section aria-labelledby="receipts">
            <h2 id="receipts">{text.receipts}</h2>
            <Suspense>
                {move || Suspend::new(async move {
                    match page.await {
                        Ok(page) if page.total == 0 => EitherOf3::A(view! { <p class="hint">{text.no_receipts}</p> }),
                        Ok(page) => EitherOf3::B(view! { <List page /> }),
                        Err(WebError(error)) => EitherOf3::C(view! { <Trouble error /> }),
                    }
                })}
            </Suspense>
        </section>
    }
    .into_any()
}

#[component]
fn List(page: ListPage<Erasure>) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let rows = page.items.into_iter().map(|erasure| {
        let state = match erasure.state {
            ErasureState::Running => Either::Left(text.running),
            ErasureState::Done => {
                Either::Right(view! { <Time at=erasure.finished_at.unwrap_or(erasure.requested_at) /> })
            }
        };
        view! {
            <li class="record-line">
                <a href=erasure_path(erasure.id) rel="external">{(text.subject)(&erasure.subject)}</a>
                <span class="meta">
                    <span>{(text.items)(erasure.before.items())}</span>
                    <span>{state}</span>
                </span>
            </li>
        }
    });
    view! {
        <ul class="records">{rows.collect_view()}</ul>
        <Pager page=PATH next=page.next_cursor />
    }
    .into_any()
}

/// What goes, and the form that makes it go.
#[component]
fn Preview(what: &'static str, which: String) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let of = which.clone();
    let preview = Resource::new(|| (), move |()| preview_erasure(what.to_owned(), of.clone()));
    view! {
        <TextPage title=text.preview>
            <YourDataTabs />
            <Suspense>
                {move || {
                    let which = which.clone();
                    Suspend::new(async move {
                        match preview.await {
                            Ok(preview) => Either::Left(view! { <Previewed preview what which /> }),
                            Err(WebError(error)) => Either::Right(view! { <Trouble error /> }),
                        }
                    })
                }}
            </Suspense>
            <p>
                <a href=PATH rel="external">{text.back}</a>
            </p>
        </TextPage>
    }
    .into_any()
}

#[component]
fn Previewed(preview: ErasePreview, what: &'static str, which: String) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let name = preview.name.clone().unwrap_or_default();
    let items = preview.counts.items();
    let said = match &preview.target {
        EraseTarget::Memories(_) | EraseTarget::Import(_) => (text.of_memories)(items),
        EraseTarget::Namespace(_) if preview.is_default => (text.of_default)(&name),
        EraseTarget::Namespace(_) => (text.of_namespace)(&name),
        EraseTarget::App(_) => (text.of_app)(&name),
        EraseTarget::Account => (text.of_account)(&name),
    };
    let shown = preview.beginnings.len() as u64;
    let beginnings = (shown > 0).then(|| {
        let more = (items > shown).then(|| view! { <li class="quiet">{(text.and_more)(items - shown)}</li> });
        view! {
            <ul class="points erase-beginnings">
                {preview.beginnings.iter().map(|beginning| view! { <li>{beginning.clone()}</li> }).collect_view()} {more}
            </ul>
        }
    });
    let sent = SentForm::calling::<EraseCall>();
    let refused = sent.as_ref().and_then(SentForm::error);
    let is_mistyped = refused.is_some_and(|error| error.code == ErrorCode::InvalidInput && preview.confirm.is_some());
    let other = refused.filter(|_| !is_mistyped).map(|error| i18n::explain(error, None));
    let typed = sent.as_ref().and_then(|sent| sent.text("confirm")).unwrap_or_default().to_owned();
    let confirm = preview.confirm.as_ref().map(|name| {
        let fault = is_mistyped.then(|| view! { <Fault id="confirm-fault" fault=text.confirm_refused.to_owned() /> });
        view! {
            <div class="field">
                <label for="confirm">{(text.confirm)(name)}</label>
                <input
                    class="input"
                    id="confirm"
                    name="confirm"
                    value=typed
                    required
                    autocomplete="off"
                    autofocus=is_mistyped
                    aria-invalid=is_mistyped.then_some("true")
                    aria-describedby=is_mistyped.then_some("confirm-fault")
                />
                {fault}
            </div>
        }
    });
    let nothing = preview.counts.present().next().is_none();
    let in_trash = (preview.in_trash > 0).then(|| view! { <p class="hint">{(text.in_trash)(preview.in_trash)}</p> });

    view! {
        <section class="erase-preview" aria-label=text.preview>
            <p>{said}</p>
            {beginnings}
            {if nothing {
                Either::Left(view! { <p class="hint">{text.nothing}</p> })
            } else {
                Either::Right(view! { <Counts counts=preview.counts /> })
            }}
            {in_trash}
            <Survivors survivors=preview.survives />
            <CallForm page=PATH call=EraseCall::PATH class="action">
                <input type="hidden" name="what" value=what />
                <input type="hidden" name="which" value=which />
                <p>{text.means}</p>
                {confirm}
                {other.map(|fault| view! { <Fault fault /> })}
                <button class="button-danger">{text.erase}</button>
            </CallForm>
        </section>
    }
    .into_any()
}

/// A number, or a length where it is one of bytes.
fn shown(store: ErasedStore, count: u64) -> String {
    if store == ErasedStore::FileBytes { i18n::size(count) } else { i18n::grouped(count) }
}

#[component]
fn Counts(counts: ErasedCounts) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let rows = counts.present().map(|(store, count)| {
        view! {
            <tr>
                <th scope="row">{(text.store)(store)}</th>
                <td>{shown(store, count)}</td>
            </tr>
        }
    });
    let rows: Vec<_> = rows.collect();
    view! {
        <table class="counts">
            <thead>
                <tr>
                    <th scope="col">{text.what}</th>
                    <th scope="col">{text.how_much}</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

#[component]
fn Survivors(survivors: Vec<Survivor>) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let items = survivors.into_iter().map(|survivor| {
        let until = survivor.until.map(|until| format!(" ({} {})", text.until, exact(until)));
        view! { <li>{(text.survivor)(survivor.what, survivor.until.is_some())} {until}</li> }
    });
    view! {
        <section aria-labelledby="survives">
            <h2 id="survives">{text.survives}</h2>
            <ul class="points">{items.collect_view()}</ul>
        </section>
    }
    .into_any()
}

/// How far an erasure is, and its receipt: `/erase/{id}`. Whoever erased their account sees it without signing in.
#[component]
pub(crate) fn ErasureDetail() -> impl IntoView {
    on_server(|| view! { <Detail /> }.into_any())
}

#[component]
fn Detail() -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let id = use_params_map().with_untracked(|params| params.get("id")).and_then(|id| id.parse::<ErasureId>().ok());
    let Some(id) = id else {
        answer_not_found();
        return Either::Left(view! { <NoSuchErasure /> });
    };
    let page = Resource::new(|| (), move |()| read_erasure(id));
    Either::Right(view! {
        <Suspense>
            {move || Suspend::new(async move {
                match page.await {
                    Ok(page) => EitherOf3::A(view! { <Found page /> }),
                    Err(WebError(error)) if error.code == ErrorCode::NotFound => EitherOf3::B(view! { <NoSuchErasure /> }),
                    Err(WebError(error)) => {
                        EitherOf3::C(view! { <TextPage title=text.receipt><Trouble error /></TextPage> })
                    }
                }
            })}
        </Suspense>
    })
}

#[component]
fn NoSuchErasure() -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    view! {
        <div class="page">
            <Missing title=text.none_title text=text.none_text />
        </div>
    }
}

#[component]
fn Found(page: ErasurePage) -> impl IntoView {
    let ErasurePage { erasure, receipt, own } = page;
    match receipt {
        Some(document) => Either::Left(view! { <Receipt document own /> }),
        None => Either::Right(view! { <Running erasure own /> }),
    }
}

/// How often a browser looks again while it runs, in seconds.
const LOOK_AGAIN: &str = "2";

#[component]
fn Running(erasure: Erasure, own: bool) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>() {
        // With and without JavaScript.
        response.insert_header(http::HeaderName::from_static("refresh"), http::HeaderValue::from_static(LOOK_AGAIN));
    }
    let (done, all) = (erasure.erased.items(), erasure.before.items());
    let problem = erasure.problem.map(|problem| {
        view! { <div class="note is-bad" role="alert"><p>{text.stuck}</p><p>{with_code(&problem)}</p></div> }
    });
    view! {
        <TextPage title=text.running lead=text.running_hint>
            {own.then(|| view! { <YourDataTabs /> })}
            <section class="erase-preview" aria-label=text.running>
                <p>{(text.subject)(&erasure.subject)}</p>
                <progress max=all.max(1).to_string() value=done.to_string() aria-label=text.running></progress>
                <p role="status">{(text.progress)(done, all)}</p>
                {problem}
                <p class="buttons">
                    <a class="button-plain" href=erasure_path(erasure.id) rel="external">{text.look_again}</a>
                </p>
            </section>
        </TextPage>
    }
    .into_any()
}

#[component]
fn Receipt(document: ReceiptDocument, own: bool) -> impl IntoView {
    let text = &i18n::messages().on_server.erase;
    let file = format!("/receipts/{}", document.id);
    let counts = document.counts.iter().map(|(&store, count)| {
        view! {
            <tr>
                <th scope="row">{(text.store)(store)}</th>
                <td>{shown(store, count.before)}</td>
                <td>{shown(store, count.after)}</td>
            </tr>
        }
    });
    let counts: Vec<_> = counts.collect();
    let places = document.checks.len() as u64;
    let checks = document.checks.into_iter().map(|check| {
        view! {
            <tr>
                <th scope="row"><code>{check.path}</code></th>
                <td>{i18n::grouped(check.looked_for)}</td>
                <td>{i18n::grouped(check.found)}</td>
            </tr>
        }
    });
    let checks: Vec<_> = checks.collect();
    let all = own.then(|| view! { <a class="button-plain" href=PATH rel="external">{text.receipts}</a> });
    view! {
        <Title text=text.receipt />
        <div class="page">
            <header>
                <h1>{text.receipt}</h1>
                <p>{text.done}</p>
            </header>
            {own.then(|| view! { <YourDataTabs /> })}
            {(!own).then(|| view! { <p class="note">{text.gone_account}</p> })}
            <section class="erase-preview" aria-label=text.receipt>
                <p>{(text.subject)(&document.what)}</p>
                <p class="buttons">
                    <a class="button-main" href=file download rel="external">{text.download}</a>
                    {all}
                </p>
                <p class="hint">
                    {with_code(text.verify)} " " <a href=KEY_PATH rel="external">{KEY_PATH}</a>
                </p>
                <dl class="properties">
                    <dt>{text.requested}</dt>
                    <dd>{exact(document.requested_at)}</dd>
                    <dt>{text.finished}</dt>
                    <dd>{exact(document.finished_at)}</dd>
                    <dt>{text.by}</dt>
                    <dd><code>{document.erased_by.user_id.to_string()}</code></dd>
                    <dt>{text.key}</dt>
                    <dd><code>{document.key_id}</code></dd>
                </dl>
                <table class="counts">
                    <thead>
                        <tr>
                            <th scope="col">{text.what}</th>
                            <th scope="col">{text.before}</th>
                            <th scope="col">{text.after}</th>
                        </tr>
                    </thead>
                    <tbody>{counts}</tbody>
                </table>
                <details class="record">
                    <summary>{(text.checks)(places)}</summary>
                    <table class="counts">
                        <thead>
                            <tr>
                                <th scope="col">{text.place}</th>
                                <th scope="col">{text.looked_for}</th>
                                <th scope="col">{text.found}</th>
                            </tr>
                        </thead>
                        <tbody>{checks}</tbody>
                    </table>
                </details>
                <Survivors survivors=document.survives />
            </section>
        </div>
    }
    .into_any()
}
