use jiff::Timestamp;
use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{App, AppId, Door, Page as ListPage};

use super::grant_fields::{GrantFields, GrantValues, names_of};
use crate::{
    api::{
        apps::{ChangeApp, PauseApp, RevokeApp, list_apps},
        namespaces::readable_namespaces,
    },
    components::{CallForm, Fault, Foreign, Now, Pager, TextPage, Time, Trouble, harmless, on_server},
    form::SentForm,
    i18n,
};

const PATH: &str = "/apps";

/// All that was let in: apps, tokens and keys, and what can be done with each.
#[component]
pub(crate) fn Apps() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    let query = use_query_map();
    let cursor = move || query.with(|query| query.get("cursor"));
    let apps = Resource::new(cursor, list_apps);
    let namespaces = Resource::new(|| (), |()| readable_namespaces());

    view! {
        <TextPage title=text.title lead=text.lead>
            <Suspense>
                {move || Suspend::new(async move {
                    match (apps.await, namespaces.await) {
                        (Ok(page), Ok(namespaces)) => {
                            Either::Left(view! { <List page namespaces=names_of(namespaces) /> })
                        }
                        (Err(error), _) | (_, Err(error)) => Either::Right(view! { <Trouble error=error.0 /> }),
                    }
                })}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

#[component]
fn List(page: ListPage<App>, namespaces: Vec<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    if page.total == 0 {
        return Either::Left(view! {
            <section class="empty">
                <h2>{text.none_title}</h2>
                <p>{text.none_text}</p>
                <p>
                    <a class="button-plain" href="/connect" rel="external">{text.none_link}</a>
                </p>
            </section>
        });
    }
    // What was to be done with one that is not in this list is told above it.
    let is_here = |sent: &SentForm| page.items.iter().any(|app| is_about(sent, app.id));
    let elsewhere = SentForm::any().filter(|sent| !is_here(sent));
    let fault = elsewhere.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, text.refused));
    let (active, inactive): (Vec<App>, Vec<App>) = page.items.into_iter().partition(|app| app.is_active(now()));
    Either::Right(view! {
        {fault.map(|fault| view! { <Fault fault /> })}
        <Part id="active" title=text.active apps=active namespaces=namespaces />
        <Part id="inactive" title=text.inactive apps=inactive namespaces=Vec::new() />
        <Pager page=PATH next=page.next_cursor />
    })
}

#[component]
fn Part(id: &'static str, title: &'static str, apps: Vec<App>, namespaces: Vec<String>) -> impl IntoView {
    (!apps.is_empty()).then(|| {
        let records = apps.into_iter().map(|app| view! { <Record app namespaces=namespaces.clone() /> });
        view! {
            <section aria-labelledby=id>
                <h2 id=id>{title}</h2>
                <ul class="records">{records.collect_view()}</ul>
            </section>
        }
    })
}

/// One of them: a line, and under it all that is known about it and can be done.
#[component]
fn Record(app: App, namespaces: Vec<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    // A form that was just sent and failed keeps its record open.
    let open = SentForm::any().is_some_and(|sent| is_about(&sent, app.id));
    let is_active = app.is_active(now());
    let is_paused = is_active && app.paused_at.is_some();
    let used = match app.last_used_at {
        Some(at) => Either::Left(view! { <span>{text.used} " " <Time at /></span> }),
        None => Either::Right(view! { <span>{text.never_used}</span> }),
    };
    let (name, origin) = called(&app);
    let actions = is_active.then(|| {
        view! {
            <Pause app=app.clone() />
            <Change app=app.clone() namespaces />
            <End app=app.clone() />
        }
    });

    view! {
        <li>
            <details class="record" open=open>
                <summary>
                    <h3>
                        <Foreign text=name />
                    </h3>
                    <span class="meta">
                        {is_paused.then(|| view! { <span class="is-paused">{text.state.paused}</span> })}
                        {origin.map(|origin| view! { <span>{origin}</span> })}
                        <span>{access(&app)}</span>
                        <span>{text.namespaces.briefly(&app.grants.namespaces)}</span>
                        {used}
                        {(app.calls > 0).then(|| view! { <span>{(text.calls)(app.calls)}</span> })}
                    </span>
                </summary>
                <div class="record-body">
                    <Facts app=app.clone() />
                    <p>
                        <a href=app_path(app.id) rel="external">{text.what_it_saw}</a>
                    </p>
                    {actions}
                </div>
            </details>
        </li>
    }
    .into_any()
}

/// What an app is called, and what else there is to say of where it comes from.
pub(crate) fn called(app: &App) -> (String, Option<String>) {
    match harmless(&app.name) {
        name if name.is_empty() => (origin(app), None),
        name => (name, Some(origin(app))),
    }
}

#[component]
fn Facts(app: App) -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    let facts = &text.facts;
    let time_or_never = |at: Option<Timestamp>| match at {
        Some(at) => Either::Left(view! { <Time at /> }),
        None => Either::Right(text.never),
    };
    let led_back_to = app.redirect_host.clone().map(|host| {
        view! { <dt>{facts.led_back_to}</dt> <dd><Foreign text=host /></dd> }
    });
    let (state, since) = state(&app, now());
    view! {
        <dl class="properties">
            <dt>{facts.state}</dt>
            <dd>{state} {since.map(|at| view! { " " <Time at /> })}</dd>
            <dt>{if app.door == Door::OauthApp { facts.domain } else { facts.kind }}</dt>
            <dd>{origin(&app)}</dd>
            {led_back_to}
            <dt>{facts.namespaces}</dt>
            <dd>{text.namespaces.fully(&app.grants.namespaces)}</dd>
            <dt>{facts.granted}</dt>
            <dd>
                <Time at=app.granted_at />
            </dd>
            <dt>{facts.expires}</dt>
            <dd>{time_or_never(app.expires_at)}</dd>
            <dt>{facts.last_used}</dt>
            <dd>{time_or_never(app.last_used_at)}</dd>
            <dt>{facts.calls}</dt>
            <dd>{i18n::grouped(app.calls)}</dd>
        </dl>
    }
    .into_any()
}

/// Stops it for a while, or lets it go on.
#[component]
fn Pause(app: App) -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    let fault = fault_of::<PauseApp>(app.id);
    let is_paused = app.paused_at.is_some();
    let [meaning, button] = if is_paused { [text.go_on_means, text.go_on] } else { [text.pause_means, text.pause] };
    view! {
        <CallForm page=PATH call=PauseApp::PATH then=PATH class="action">
            <input type="hidden" name="id" value=app.id.to_string() />
            <input type="hidden" name="paused" value=(!is_paused).to_string() />
            <p class="hint">{meaning}</p>
            {fault.map(|fault| view! { <Fault fault /> })}
            <button class="button-plain">{button}</button>
        </CallForm>
    }
    .into_any()
}

/// Decides anew what it may do.
#[component]
fn Change(app: App, namespaces: Vec<String>) -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    if app.door == Door::ApiToken {
        return Either::Left(view! { <p class="hint">{text.token_is_fixed}</p> });
    }
    let sent = SentForm::calling::<ChangeApp>().filter(|sent| is_about(sent, app.id));
    let values = match &sent {
        Some(sent) => GrantValues::of_sent(sent),
        None => GrantValues::of_grants(&app.grants, &namespaces),
    };
    let no_namespace = values.some && values.names.is_empty() && !values.later;
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, text.refused));
    let [namespaces_fault, fault] = match fault {
        Some(_) if no_namespace => [Some(text.no_namespace.to_owned()), None],
        fault => [None, fault],
    };
    Either::Right(view! {
        <details class="change" open=sent.is_some()>
            <summary class="button-plain">{text.change}</summary>
            <CallForm page=PATH call=ChangeApp::PATH then=PATH class="fields">
                <input type="hidden" name="id" value=app.id.to_string() />
                <GrantFields values names=namespaces names_field="names[]" reads_only=None fault=namespaces_fault />
                {fault.map(|fault| view! { <Fault fault /> })}
                <p class="buttons">
                    <button class="button-main">{text.change_button}</button>
                </p>
            </CallForm>
        </details>
    })
}

/// Ends its access, where that can be done here.
#[component]
fn End(app: App) -> impl IntoView {
    let text = &i18n::messages().on_server.apps;
    // An app of another authorization server is let in there, for as long as that says.
    let is_let_in_here = app.door == Door::OauthApp && app.expires_at.is_some();
    if !is_let_in_here && app.door != Door::ApiToken {
        return Either::Left(view! { <p class="hint">{text.key_ends}</p> });
    }
    let fault = fault_of::<RevokeApp>(app.id);
    let meaning =
        if app.door == Door::ApiToken { i18n::messages().on_server.tokens.revoke_means } else { text.end_means };
    Either::Right(view! {
        <CallForm page=PATH call=RevokeApp::PATH then=PATH class="action">
            <input type="hidden" name="id" value=app.id.to_string() />
            <p class="hint">{meaning}</p>
            {fault.map(|fault| view! { <Fault fault /> })}
            <button class="button-danger">{text.end}</button>
        </CallForm>
    })
}

/// The page of what an app saw.
pub(crate) fn app_path(id: AppId) -> String {
    format!("{PATH}/{id}")
}

/// Who vouches for it, or what it is.
fn origin(app: &App) -> String {
    let text = &i18n::messages().on_server.apps;
    let known = match app.door {
        Door::OauthApp => return app.domain.clone().unwrap_or_else(|| text.unverified.to_owned()),
        Door::ApiToken => text.api_token,
        Door::StaticKey => text.static_key,
        Door::CapabilityPath => text.capability_path,
        Door::Stdio | Door::Browser => text.stdio,
    };
    known.to_owned()
}

/// What it may do, in a word.
pub(crate) fn access(app: &App) -> &'static str {
    let text = &i18n::messages().on_server.apps;
    match (app.grants.can_read, app.grants.can_write) {
        (true, true) => text.reads_and_writes,
        (false, true) => text.writes,
        (_, false) => text.reads,
    }
}

/// Whether it can do anything, and since when it can't.
fn state(app: &App, now: Timestamp) -> (&'static str, Option<Timestamp>) {
    let text = &i18n::messages().on_server.apps.state;
    match (app.revoked_at, app.expires_at, app.paused_at) {
        (Some(at), ..) => (text.ended, Some(at)),
        (_, Some(at), _) if at <= now => (text.expired, Some(at)),
        (.., Some(at)) => (text.paused, Some(at)),
        _ => (text.active, None),
    }
}

fn now() -> Timestamp {
    Timestamp::from_second(Now::seconds_once()).unwrap_or_default()
}

/// Whether a form was about this app.
fn is_about(sent: &SentForm, id: AppId) -> bool {
    sent.text("id").and_then(|sent| sent.parse().ok()) == Some(id)
}

/// What went wrong when this was to be done with this app.
fn fault_of<Call: ServerFn>(id: AppId) -> Option<String> {
    let sent = SentForm::calling::<Call>().filter(|sent| is_about(sent, id))?;
    sent.error().map(|error| i18n::explain(error, i18n::messages().on_server.apps.refused))
}
