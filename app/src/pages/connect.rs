use jiff::Timestamp;
use leptos::{either::Either, prelude::*, server_fn::ServerFn};
use polymnemo_types::{ClientSighting, ConnectionOutcome, ConnectionReport, Door};

use crate::{
    api::{
        clients::connected_clients,
        connection::{Connection, TestConnection, connection_details},
    },
    clients::{self, KnownClient, YOUR_TOKEN},
    components::{CallForm, CodeBlock, Fault, TextPage, Time, Trouble, on_server, with_code},
    form::SentForm,
    i18n::{self, Language, Steps, connection_test},
};

/// How to connect each client, and which ones are.
#[component]
pub(crate) fn Connect() -> impl IntoView {
    on_server(|| view! { <Page /> }.into_any())
}

#[component]
fn Page() -> impl IntoView {
    let text = &i18n::messages().on_server.connect;
    let connection = Resource::new(|| (), |()| connection_details());
    let sightings = Resource::new(|| (), |()| connected_clients());

    view! {
        <TextPage title=text.title lead=text.lead>
            <Suspense>
                {move || Suspend::new(async move {
                    match (connection.await, sightings.await) {
                        (Ok(connection), Ok(seen)) => Either::Left(view! { <SetUp connection seen /> }),
                        (Err(error), _) | (_, Err(error)) => Either::Right(view! { <Trouble error=error.0 /> }),
                    }
                })}
            </Suspense>
        </TextPage>
    }
}

#[component]
fn SetUp(connection: Connection, seen: Vec<ClientSighting>) -> impl IntoView {
    let text = &i18n::messages().on_server.connect;
    let url = connection.mcp_url;
    let clients = entries(&url).into_iter().map(|entry| {
        let last_seen = entry.known.and_then(|known| last_seen(known, &seen));
        view! { <Client entry last_seen /> }
    });
    let clients = clients.collect_view();

    view! {
        <ol class="steps">
            <li>
                <h2>{text.address}</h2>
                <p class="hint">{text.address_hint}</p>
                <CodeBlock label="URL" text=url />
            </li>
            <li>
                <h2>{text.client}</h2>
                <p class="hint">{text.client_hint}</p>
                <ul class="records">{clients}</ul>
            </li>
            <li>
                <h2>{text.token}</h2>
                <p class="hint">{with_code(text.token_hint)}</p>
                <p>
                    <a class="button-plain" href="/tokens" target="_blank">
                        {text.token_link}
                    </a>
                </p>
            </li>
            <li>
                <h2>{text.instruction}</h2>
                <p class="hint">{text.instruction_hint}</p>
                <CodeBlock label=text.instruction text=text.instruction_text.to_owned() wraps=true />
            </li>
        </ol>
        <ConnectionTest />
        <section aria-labelledby="seen">
            <h2 id="seen">{text.all_seen}</h2>
            <div id="all-seen" data-live="">
                <AllSeen seen />
            </div>
        </section>
    }
}

/// A test of the connection, and what became of it when it was run.
#[component]
fn ConnectionTest() -> impl IntoView {
    let text = &i18n::messages().on_server.connect.test;
    let sent = SentForm::calling::<TestConnection>();
    let fault = sent.as_ref().and_then(SentForm::error).map(|error| error.message.clone());
    let reports = sent.and_then(|sent| sent.answer::<Vec<ConnectionReport>>());

    view! {
        <section id="test" aria-labelledby="test-title">
            <h2 id="test-title">{text.title}</h2>
            <p class="hint">{text.hint}</p>
            <CallForm page="/connect" call=TestConnection::PATH>
                <button class="button-plain">{text.button}</button>
            </CallForm>
            {fault.map(|fault| view! { <Fault fault /> })}
            {reports.map(|reports| view! { <TestReport reports /> })}
        </section>
    }
    .into_any()
}

#[component]
fn TestReport(reports: Vec<ConnectionReport>) -> impl IntoView {
    let text = &i18n::messages().on_server.connect.test;
    let language = Language::of_page();
    let has_failed = reports.iter().any(|report| matches!(report.outcome, ConnectionOutcome::Failed { .. }));
    let summary = if has_failed { text.fails } else { text.works };
    let lines = reports.into_iter().map(|ConnectionReport { step, outcome }| {
        let (state, more) = match outcome {
            ConnectionOutcome::Passed => (text.passed, None),
            ConnectionOutcome::Skipped => (text.skipped, None),
            ConnectionOutcome::Failed { problem, seen } => {
                let fix = connection_test::fix(language, problem);
                let seen =
                    (!seen.is_empty()).then(|| view! { <p class="hint">{text.seen} " " <code>{seen}</code></p> });
                (text.failed, Some(view! { <div><p>{text.fix} " " {with_code(fix)}</p> {seen}</div> }))
            }
        };
        let failed = more.is_some().then_some("");
        view! {
            <li class="record-line" data-failed=failed>
                <span>{connection_test::step(language, step)}</span>
                <span class="meta">{state}</span>
                {more}
            </li>
        }
    });
    let lines = lines.collect_view();

    view! {
        <p role="status"><strong>{summary}</strong></p>
        <ol class="records test-report">{lines}</ol>
    }
    .into_any()
}

/// When a client was last seen, whatever it came through.
fn last_seen(client: KnownClient, seen: &[ClientSighting]) -> Option<Timestamp> {
    let is_it = |name: &String| KnownClient::by_name(name) == Some(client);
    let sightings = seen.iter().filter(|sighting| sighting.client.as_ref().is_some_and(is_it));
    sightings.map(|sighting| sighting.last_seen_at).max()
}

/// One client and how it is set up.
struct Entry {
    /// Unique on the page.
    id: &'static str,
    name: &'static str,
    known: Option<KnownClient>,
    steps: &'static Steps,
    /// What is copied into it: a label and the text.
    first: (&'static str, String),
    /// What is copied after that.
    then: Option<(&'static str, String)>,
}

fn entries(url: &str) -> Vec<Entry> {
    let text = &i18n::messages().on_server.connect;
    let steps = &text.clients;
    let entry = |id, name, known, steps, first| Entry { id, name, known, steps, first, then: None };
    let token = YOUR_TOKEN;
    vec![
        entry(
            "claude-code",
            "Claude Code",
            Some(KnownClient::ClaudeCode),
            &steps.claude_code,
            ("shell", clients::claude_code(url)),
        ),
        entry(
            "claude-desktop",
            "Claude Desktop",
            Some(KnownClient::Claude),
            &steps.claude_desktop,
            ("claude_desktop_config.json", clients::claude_desktop(url)),
        ),
        entry("claude", "Claude", Some(KnownClient::Claude), &steps.claude_web, ("URL", url.to_owned())),
        Entry {
            then: Some(("config.toml", clients::codex(url))),
            ..entry("chatgpt", "ChatGPT, Codex", Some(KnownClient::OpenAi), &steps.chatgpt, ("URL", url.to_owned()))
        },
        entry("cursor", "Cursor", Some(KnownClient::Cursor), &steps.cursor, ("mcp.json", clients::cursor(url))),
        entry("vs-code", "VS Code", Some(KnownClient::VsCode), &steps.vs_code, ("mcp.json", clients::vs_code(url))),
        entry(
            "gemini-cli",
            "Gemini CLI",
            Some(KnownClient::Gemini),
            &steps.gemini_cli,
            ("settings.json", clients::gemini_cli(url)),
        ),
        entry("any", text.clients.any_name, None, &steps.any, ("mcp.json", clients::mcp_servers(url, token))),
        entry("curl", text.clients.curl_name, None, &steps.curl, ("shell", clients::curl(url, token))),
    ]
}

/// One client: when it was seen, and under it how it is set up.
#[component]
fn Client(entry: Entry, last_seen: Option<Timestamp>) -> impl IntoView {
    let text = &i18n::messages().on_server.connect;
    let Entry { id, name, known, steps, first, then } = entry;
    let state = known.map(|_| match last_seen {
        Some(at) => Either::Left(view! { <span class="is-seen">{text.seen} " " <Time at /></span> }),
        None => Either::Right(text.never_seen),
    });

    view! {
        <li>
            <details class="record">
                <summary>
                    <h3>{name}</h3>
                    <span class="meta" id=format!("seen-{id}") data-live="">
                        {state}
                    </span>
                </summary>
                <div class="record-body">
                    <p>{with_code(steps.first)}</p>
                    <CodeBlock label=first.0 text=first.1 />
                    <p>{with_code(steps.then)}</p>
                    {then.map(|(label, copied)| view! { <CodeBlock label text=copied /> })}
                    <p class="hint">{text.instruction_place} " " {with_code(steps.instruction)}</p>
                </div>
            </details>
        </li>
    }
}

/// Every client that was seen, also those that nobody knows.
#[component]
fn AllSeen(seen: Vec<ClientSighting>) -> impl IntoView {
    let text = &i18n::messages().on_server.connect;
    if seen.is_empty() {
        return Either::Left(view! { <p class="hint">{text.all_seen_none}</p> });
    }
    let lines = seen.into_iter().map(|sighting| {
        view! {
            <li class="record-line">
                <span>{sighting.client.unwrap_or_else(|| text.unnamed.to_owned())}</span>
                <span class="meta">
                    <span>{door(sighting.door)}</span>
                    <Time at=sighting.last_seen_at />
                </span>
            </li>
        }
    });
    Either::Right(view! { <ul class="records">{lines.collect_view()}</ul> })
}

/// What a client came through, in words.
fn door(door: Door) -> &'static str {
    let text = &i18n::messages().on_server.connect.doors;
    match door {
        Door::Browser => text.browser,
        Door::ApiToken => text.api_token,
        Door::OauthApp => text.oauth_app,
        Door::StaticKey => text.static_key,
        Door::CapabilityPath => text.capability_path,
        Door::Stdio => text.stdio,
    }
}
