use jiff::Timestamp;
use leptos::{either::Either, prelude::*};
use polymnemo_types::{ClientSighting, Door};

use crate::{
    api::{
        clients::connected_clients,
        connection::{Connection, connection_details},
    },
    clients::{self, KnownClient, YOUR_TOKEN},
    components::{CodeBlock, TextPage, Time, Trouble, on_server, with_code},
    i18n::{self, Steps},
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
                <h2>{text.token}</h2>
                <p class="hint">{with_code(text.token_hint)}</p>
                <p>
                    <a class="button-plain" href="/tokens" target="_blank">
                        {text.token_link}
                    </a>
                </p>
            </li>
            <li>
                <h2>{text.client}</h2>
                <p class="hint">{text.client_hint}</p>
                <ul class="records">{clients}</ul>
            </li>
            <li>
                <h2>{text.instruction}</h2>
                <p class="hint">{text.instruction_hint}</p>
                <CodeBlock label=text.instruction text=text.instruction_text.to_owned() wraps=true />
            </li>
        </ol>
        <section aria-labelledby="seen">
            <h2 id="seen">{text.all_seen}</h2>
            <div id="all-seen" data-live="">
                <AllSeen seen />
            </div>
        </section>
    }
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
            ("shell", clients::claude_code(url, token)),
        ),
        entry(
            "claude-desktop",
            "Claude Desktop",
            Some(KnownClient::Claude),
            &steps.claude_desktop,
            ("claude_desktop_config.json", clients::claude_desktop(url, token)),
        ),
        entry("claude", "Claude", Some(KnownClient::Claude), &steps.claude_web, ("URL", url.to_owned())),
        Entry {
            then: Some(("config.toml", clients::codex(url))),
            ..entry("chatgpt", "ChatGPT, Codex", Some(KnownClient::OpenAi), &steps.chatgpt, ("URL", url.to_owned()))
        },
        entry("cursor", "Cursor", Some(KnownClient::Cursor), &steps.cursor, ("mcp.json", clients::cursor(url, token))),
        entry("vs-code", "VS Code", Some(KnownClient::VsCode), &steps.vs_code, ("mcp.json", clients::vs_code(url))),
        entry(
            "gemini-cli",
            "Gemini CLI",
            Some(KnownClient::Gemini),
            &steps.gemini_cli,
            ("settings.json", clients::gemini_cli(url, token)),
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
