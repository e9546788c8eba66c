use jiff::Timestamp;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use polymnemo_types::{App, AuthorizationRequest, limits};

use super::grant_fields::{GrantFields, GrantValues, names_of};
use crate::{
    api::{
        WebError,
        consent::{ConsentProblem, PendingConsent, pending_consent},
        namespaces::readable_namespaces,
    },
    components::{Foreign, Missing, Time, Trouble, harmless, on_server, use_here},
    i18n::{self, dead_ends, language},
    web::lead_forms_to,
};

/// Where a person decides whether an app may use their memories, and how far: `?request=` says which app asks, and
/// `?problem=` why the answer before was not taken.
#[component]
pub(crate) fn Consent() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let (id, problem) = use_query_map().with_untracked(|query| {
        (query.get("request"), query.get_str("problem").and_then(|code| code.parse::<ConsentProblem>().ok()))
    });
    let asked = StoredValue::new(id.unwrap_or_default());
    let pending = Resource::new(|| (), move |()| read(asked.get_value()));
    view! {
        <div class="consent">
            <Suspense>
                {move || Suspend::new(async move {
                    match pending.await {
                        Ok(Some((pending, names))) => {
                            view! { <Decision id=asked.get_value() pending names problem /> }.into_any()
                        }
                        Ok(None) => view! { <Over /> }.into_any(),
                        Err(WebError(error)) => view! { <Trouble error /> }.into_any(),
                    }
                })}
            </Suspense>
        </div>
    }
    .into_any()
}

/// The request that waits, with the namespaces to choose among.
async fn read(id: String) -> Result<Option<(PendingConsent, Vec<String>)>, WebError> {
    let namespaces = readable_namespaces();
    let Some(pending) = pending_consent(&id).await? else { return Ok(None) };
    Ok(Some((pending, names_of(namespaces.await?))))
}

#[component]
fn Decision(id: String, pending: PendingConsent, names: Vec<String>, problem: Option<ConsentProblem>) -> impl IntoView {
    let text = &i18n::messages().on_server.consent;
    let PendingConsent { request, before, viewer } = pending;
    lead_forms_to(&request.redirect_uri);
    let [title, title_end] = text.title;
    let name = harmless(&request.client_name);

    view! {
        <Title text=format!("{title}{name}{title_end}") />
        <header>
            <h1>{title} <Foreign text=name /> {title_end}</h1>
            <p>{text.lead}</p>
        </header>
        <Asking request=request.clone() viewer />
        {before.clone().map(|app| {
            let [before, after] = text.before;
            view! { <p>{before} <Time at=app.granted_at /> {after}</p> }
        })}
        {(problem == Some(ConsentProblem::Unavailable))
            .then(|| view! { <p class="note is-bad" role="alert">{text.unavailable}</p> })}
        <Answer id request before names problem />
    }
    .into_any()
}

/// Who asks, where it leads, and who is asked.
#[component]
fn Asking(request: AuthorizationRequest, viewer: String) -> impl IntoView {
    let text = &i18n::messages().on_server.consent;
    let (domain, meaning) = match request.domain {
        Some(domain) => (domain, text.verified),
        None => (text.unverified.to_owned(), text.unverified_means),
    };
    view! {
        <dl class="properties">
            <dt>{text.domain}</dt>
            <dd>
                <strong><Foreign text=domain /></strong>
                <span class="hint">{meaning}</span>
            </dd>
            <dt>{text.led_back_to}</dt>
            <dd>
                <strong><Foreign text=request.redirect_host /></strong>
            </dd>
            <dt>{text.signed_in_as}</dt>
            <dd class="has-way-out">
                <strong>{viewer}</strong>
                <form method="post" action="/sign-out">
                    <input type="hidden" name="next" value=use_here() />
                    <button class="button-quiet">{text.someone_else}</button>
                </form>
            </dd>
        </dl>
        {request.is_loopback.then(|| view! { <p class="note">{text.loopback}</p> })}
    }
    .into_any()
}

/// The form. Its first button is what pressing Enter anywhere in it does, so that no app is let in by mistake.
#[component]
fn Answer(
    id: String,
    request: AuthorizationRequest,
    before: Option<App>,
    names: Vec<String>,
    problem: Option<ConsentProblem>,
) -> impl IntoView {
    let text = &i18n::messages().on_server.consent;
    let mut values = match &before {
        Some(app) => GrantValues::of_grants(&app.grants, &names),
        None => GrantValues { can_write: request.wants_write, ..GrantValues::default() },
    };
    values.can_write &= request.wants_write;
    let no_namespace = problem == Some(ConsentProblem::Namespaces);
    values.some |= no_namespace;
    let fault = no_namespace.then(|| i18n::messages().on_server.apps.no_namespace.to_owned());
    let days = days_of(before.as_ref());

    view! {
        <form method="post" action="/consent/answer" class="fields">
            <input type="hidden" name="request" value=id />
            <GrantFields
                values
                names
                names_field="names"
                reads_only=(!request.wants_write).then_some(text.reads_only)
                fault
            />
            <div class="field">
                <label for="days">{text.lifetime}</label>
                <select class="input" id="days" name="days" aria-describedby="days-hint">
                    {text
                        .lifetimes
                        .map(|(value, label)| view! { <option value=value selected=value == days>{label}</option> })
                        .collect_view()}
                </select>
                <span class="hint" id="days-hint">{text.lifetime_hint}</span>
            </div>
            <p class="buttons">
                <button class="button-main" name="answer" value="deny">{text.deny}</button>
                <button class="button-plain" name="answer" value="allow">{text.allow}</button>
            </p>
        </form>
    }
    .into_any()
}

/// For how many days it was let in before; else for as many as can be.
fn days_of(before: Option<&App>) -> &'static str {
    let lifetimes = i18n::messages().on_server.consent.lifetimes;
    let seconds = |at: Timestamp| at.as_second();
    let days = before.and_then(|app| Some((seconds(app.expires_at?) - seconds(app.granted_at)) / (24 * 3600)));
    let days = days.unwrap_or_else(|| limits::APP_DAYS.into()).to_string();
    lifetimes.iter().find(|(value, _)| *value == days).or(lifetimes.last()).map_or("", |(value, _)| value)
}

/// Stands where there is no request that waits for this browser's answer.
#[component]
fn Over() -> impl IntoView {
    let text = &dead_ends::messages(language()).app_over;
    view! {
        <Missing title=text.title text=text.text />
    }
}
