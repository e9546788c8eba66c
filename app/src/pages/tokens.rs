use jiff::Timestamp;
use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use leptos_router::hooks::use_query_map;
use polymnemo_types::{ApiToken, CreatedApiToken, ErrorCode, NamespaceDetails, Page as ListPage, limits};

use crate::{
    api::{
        connection::connection_details,
        namespaces::own_namespaces,
        tokens::{CreateApiToken, RevokeApiToken, api_tokens},
    },
    clients,
    components::{CallForm, CodeBlock, Fault, Now, Pager, TextField, TextPage, Time, Trouble, on_server},
    form::SentForm,
    i18n,
};

const PATH: &str = "/tokens";

/// The person's API tokens: a new one, those in use, and those that were.
#[component]
pub(crate) fn Tokens() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    let created = SentForm::calling::<CreateApiToken>().and_then(|sent| sent.answer::<CreatedApiToken>());
    let first = match created {
        Some(created) => Either::Left(view! { <Created created /> }),
        None => Either::Right(view! { <NewToken /> }),
    };
    let query = use_query_map();
    let cursor = move || query.with(|query| query.get("cursor"));
    let tokens = Resource::new(cursor, api_tokens);

    view! {
        <TextPage title=text.title lead=text.lead>
            {first}
            <p class="hint">
                <a href="/apps" rel="external">{text.see_apps}</a>
            </p>
            <Suspense>
                {move || Suspend::new(async move {
                    match tokens.await {
                        Ok(page) => Either::Left(view! { <List page /> }),
                        Err(error) => Either::Right(view! { <Trouble error=error.0 /> }),
                    }
                })}
            </Suspense>
        </TextPage>
    }
    .into_any()
}

/// The token that was just made, this once, with what to do with it.
#[component]
fn Created(created: CreatedApiToken) -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    let connection = Resource::new(|| (), |()| connection_details());
    let secret = StoredValue::new(created.secret);
    let in_url = created.token.in_url;

    view! {
        <section class="created" aria-labelledby="created">
            <h2 id="created">{text.created} ": " {created.token.name}</h2>
            <p>{text.created_hint}</p>
            <CodeBlock label=text.secret text=secret.get_value() />
            <p>{text.created_entry}</p>
            <Suspense>
                {move || Suspend::new(async move {
                    connection
                        .await
                        .ok()
                        .map(|connection| {
                            let entry = clients::mcp_servers(&connection.mcp_url, &secret.get_value());
                            let address = in_url
                                .then(|| clients::with_token_in(&connection.mcp_url, &secret.get_value()))
                                .map(|url| view! { <p>{text.created_url}</p> <CodeBlock label="URL" text=url /> });
                            view! { <CodeBlock label="mcp.json" text=entry /> {address} }
                        })
                })}
            </Suspense>
            <p class="buttons">
                // `external` loads the page anew, so that nothing of the secret stays behind.
                <a class="button-main" href=PATH rel="external">{text.done}</a>
                <a class="button-plain" href="/connect" target="_blank">{text.created_more}</a>
            </p>
        </section>
    }
    .into_any()
}

#[component]
fn NewToken() -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    let namespaces = Resource::new(|| (), |()| own_namespaces(None));
    let sent = SentForm::calling::<CreateApiToken>();
    let name = sent.as_ref().and_then(|sent| sent.text("name")).unwrap_or_default().to_owned();
    let [name_fault, namespaces_fault, fault] = faults(sent.as_ref());
    let can_write = sent.as_ref().is_some_and(|sent| sent.has("can_write", "true"));
    let some_namespaces = sent.as_ref().is_some_and(|sent| sent.has("all_namespaces", "false"));
    let in_url = sent.as_ref().is_some_and(|sent| sent.has("in_url", "true"));
    let days = sent.as_ref().and_then(|sent| sent.text("days")).unwrap_or("365").to_owned();

    view! {
        <section aria-labelledby="create">
            <h2 id="create">{text.create}</h2>
            <CallForm page=PATH call=CreateApiToken::PATH class="fields">
                <TextField
                    id="token-name"
                    name="name"
                    label=text.name
                    value=name
                    hint=text.name_hint
                    fault=name_fault
                    max=limits::TOKEN_NAME_CHARS
                />
                <fieldset class="choice">
                    <legend>{text.access}</legend>
                    <label>
                        <input type="radio" name="can_write" value="false" checked=!can_write />
                        <span>{text.read}</span>
                        <span class="hint">{text.read_hint}</span>
                    </label>
                    <label>
                        <input type="radio" name="can_write" value="true" checked=can_write />
                        <span>{text.write}</span>
                        <span class="hint">{text.write_hint}</span>
                    </label>
                </fieldset>
                <fieldset class="choice">
                    <legend>{text.namespaces}</legend>
                    <label>
                        <input type="radio" name="all_namespaces" value="true" checked=!some_namespaces />
                        <span>{text.all_namespaces}</span>
                    </label>
                    <label>
                        <input class="opens" type="radio" name="all_namespaces" value="false" checked=some_namespaces />
                        <span>{text.some_namespaces}</span>
                    </label>
                    <Suspense>
                        {move || {
                            let sent = sent.clone();
                            Suspend::new(async move {
                                namespaces.await.ok().map(|page| view! { <NamespaceChoice namespaces=page.items sent /> })
                            })
                        }}
                    </Suspense>
                    {namespaces_fault.map(|fault| view! { <Fault fault /> })}
                </fieldset>
                <fieldset class="choice">
                    <legend>{text.way}</legend>
                    <label>
                        <input type="checkbox" name="in_url" value="true" checked=in_url />
                        <span>{text.in_url}</span>
                        <span class="hint">{text.in_url_hint}</span>
                    </label>
                </fieldset>
                <div class="field">
                    <label for="days">{text.expires}</label>
                    <select class="input" id="days" name="days">
                        {text
                            .lifetimes
                            .map(|(value, label)| view! { <option value=value selected=value == days>{label}</option> })
                            .collect_view()}
                    </select>
                </div>
                {fault.map(|fault| view! { <Fault fault /> })}
                <p class="buttons">
                    <button class="button-main">{text.create_button}</button>
                </p>
            </CallForm>
        </section>
    }
    .into_any()
}

/// What is wrong with the name of a token that was to be made, with its namespaces, and with all of
/// it; one of them at most.
fn faults(sent: Option<&SentForm>) -> [Option<String>; 3] {
    let text = &i18n::messages().on_server.tokens;
    let Some((sent, error)) = sent.and_then(|sent| Some((sent, sent.error()?))) else { return [None, None, None] };
    let fault = Some(i18n::explain(error, text.refused));
    let name = sent.text("name").unwrap_or_default().trim();
    let no_namespace = sent.has("all_namespaces", "false") && sent.text("namespaces[]").is_none();
    if error.code != ErrorCode::InvalidInput {
        [None, None, fault]
    } else if name.is_empty() || name.chars().count() > limits::TOKEN_NAME_CHARS {
        [fault, None, None]
    } else if no_namespace {
        [None, fault, None]
    } else {
        [None, None, fault]
    }
}

/// A box to tick for each namespace. The style sheet shows them where they matter.
#[component]
fn NamespaceChoice(namespaces: Vec<NamespaceDetails>, sent: Option<SentForm>) -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    let chosen = move |name: &str| sent.as_ref().is_some_and(|sent| sent.has("namespaces[]", name));
    view! {
        <div class="opened" role="group" aria-label=text.some_namespaces>
            {namespaces
                .into_iter()
                .map(|namespace| {
                    let checked = chosen(&namespace.name);
                    view! {
                        <label>
                            <input type="checkbox" name="namespaces[]" value=namespace.name.clone() checked=checked />
                            <span>{namespace.name}</span>
                        </label>
                    }
                })
                .collect_view()}
        </div>
    }
    .into_any()
}

#[component]
fn List(page: ListPage<ApiToken>) -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    if page.total == 0 {
        return Either::Left(view! {
            <section class="empty">
                <h2>{text.none_title}</h2>
                <p>{text.none_text}</p>
            </section>
        });
    }
    let now = Timestamp::from_second(Now::seconds_once()).unwrap_or_default();
    let (active, inactive): (Vec<ApiToken>, Vec<ApiToken>) =
        page.items.into_iter().partition(|token| token.is_active(now));
    Either::Right(view! {
        <Part id="active" title=text.active tokens=active />
        <Part id="inactive" title=text.inactive tokens=inactive />
        <Pager page=PATH next=page.next_cursor />
    })
}

#[component]
fn Part(id: &'static str, title: &'static str, tokens: Vec<ApiToken>) -> impl IntoView {
    (!tokens.is_empty()).then(|| {
        view! {
            <section aria-labelledby=id>
                <h2 id=id>{title}</h2>
                <ul class="records">{tokens.into_iter().map(|token| view! { <Token token /> }).collect_view()}</ul>
            </section>
        }
    })
}

/// One token: a line, and under it all that is known about it.
#[component]
fn Token(token: ApiToken) -> impl IntoView {
    let text = &i18n::messages().on_server.tokens;
    let now = Timestamp::from_second(Now::seconds_once()).unwrap_or_default();
    let access = if token.can_write { text.reads_and_writes } else { text.reads };
    let namespaces = token.namespaces.as_ref().map_or_else(|| text.everywhere.to_owned(), |names| names.join(", "));
    let used = match token.last_used_at {
        Some(at) => Either::Left(view! { <span>{text.used} " " <Time at /></span> }),
        None => Either::Right(view! { <span>{text.never_used}</span> }),
    };
    let time_or_never = |at: Option<Timestamp>| match at {
        Some(at) => Either::Left(view! { <Time at /> }),
        None => Either::Right(text.never),
    };
    let is_paused = token.paused_at.is_some() && token.is_active(now);
    let paused = token.paused_at.filter(|_| is_paused).map(|at| view! { <dt>{text.paused}</dt> <dd><Time at /></dd> });
    let revoked = token.revoked_at.map(|at| view! { <dt>{text.revoked}</dt> <dd><Time at /></dd> });
    let id = token.id.to_string();
    let sent = SentForm::calling::<RevokeApiToken>().filter(|sent| sent.text("id") == Some(id.as_str()));
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| i18n::explain(error, None));
    let open = fault.is_some();
    let revoke = token.is_active(now).then(|| {
        view! {
            <CallForm page=PATH call=RevokeApiToken::PATH then=PATH class="action">
                <input type="hidden" name="id" value=id />
                <p class="hint">{text.revoke_means}</p>
                {fault.map(|fault| view! { <Fault fault /> })}
                <button class="button-danger">{text.revoke}</button>
            </CallForm>
        }
    });

    view! {
        <li>
            <details class="record" open=open>
                <summary>
                    <h3>{token.name}</h3>
                    <span class="meta">
                        {is_paused.then(|| view! { <span class="is-paused">{text.paused}</span> })}
                        <span>{access}</span>
                        <span>{namespaces}</span>
                        {token.in_url.then(|| view! { <span>{text.by_url}</span> })}
                        {used}
                    </span>
                </summary>
                <div class="record-body">
                    <dl class="properties">
                        <dt>{text.begins_with}</dt>
                        <dd>
                            <code>{token.hint}</code>
                        </dd>
                        <dt>{text.made}</dt>
                        <dd>
                            <Time at=token.created_at />
                        </dd>
                        <dt>{text.last_used}</dt>
                        <dd>{time_or_never(token.last_used_at)}</dd>
                        <dt>{text.expires_at}</dt>
                        <dd>{time_or_never(token.expires_at)}</dd>
                        {paused}
                        {revoked}
                    </dl>
                    {revoke}
                </div>
            </details>
        </li>
    }
    .into_any()
}
