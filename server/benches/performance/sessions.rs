//! Saving and reading long conversations, and recall among a thousand of them.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use polymnemo_adapters::embedder::FastEmbedder;
use polymnemo_memory::ports::Embedder as _;
use serde_json::{Value, json};

use crate::{
    app::App,
    client::Client,
    embedders::TimedEmbedder,
    sample::{Sample, rate, seconds},
    setup::{self, Failure},
    table::Table,
    texts::Language,
};

/// The messages of the conversations that are saved whole; the last is one of 20 MB.
const LONG: [u32; 3] = [2_000, 20_000, 32_000];
/// The series of texts that their messages are of, apart from those of other measurements.
const SERIES: u32 = 100;
/// The conversations among which is recalled, and their messages.
const SESSIONS: (u32, u32) = (1_000, 50);
const RECALLS: u32 = 100;
const PAGES: u32 = 100;

pub(crate) async fn measure(data: &Path, model: &str) -> Result<(), Failure> {
    let language = Language::new();
    let config = setup::config(data, model)?;
    let real = FastEmbedder::open(&config.embedder.model_dir, &config.embedder.runtime_library)?;
    real.ready().await?;
    let embedder = Arc::new(TimedEmbedder::new(real, &language).await?);
    // What is stored is what counts here; how quickly it is embedded is measured elsewhere.
    embedder.be_cheap(true);
    let app = App::start(&config, embedder.clone()).await?;
    app.service().warm_up().await?;
    let client = app.client();
    long(&client, &language).await?;
    many(&client, &embedder, &language).await?;
    app.stop().await
}

fn message(language: &Language, series: u32, number: u32) -> Value {
    let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
    json!({ "role": role, "content": language.mixed(series, number) })
}

/// Long conversations: saved whole, saved again with one message more, read page by page.
async fn long(client: &Client, language: &Language) -> Result<(), Failure> {
    let mut saves = Table::new(["save_session", "MB", "first, s", "one more, s", "searchable, s", "messages/s"]);
    let mut reads = Table::new(["load_session, ms", "pages", "p50", "p95", "p99", "the first"]);
    for (number, messages) in (0..).zip(LONG) {
        let session_id = format!("long-{messages}");
        let mut said: Vec<Value> = (0..messages).map(|place| message(language, SERIES + number, place)).collect();
        let bytes: usize = said.iter().filter_map(|message| message["content"].as_str()).map(str::len).sum();
        let started = Instant::now();
        let (saved, first) =
            client.timed_call("save_session", json!({ "session_id": session_id, "messages": said })).await?;
        let searchable = until_searchable(client, &session_id, started).await?;
        said.push(message(language, SERIES + number, messages));
        let (_, again) =
            client.timed_call("save_session", json!({ "session_id": session_id, "messages": said })).await?;
        saves.row([
            format!("{messages} messages"),
            format!("{:.1}", bytes as f64 / 1e6),
            seconds(first),
            seconds(again),
            seconds(searchable),
            format!("{:.0}", rate(messages as usize, searchable)),
        ]);

        let open = |page: u32| json!({ "session_id": saved["id"], "page": page });
        let (page, opened) = client.timed_call("load_session", open(1)).await?;
        let pages = page["pages"].as_u64().and_then(|pages| u32::try_from(pages).ok()).unwrap_or(1);
        let mut sample = Sample::default();
        for step in 0..PAGES {
            sample.push(client.timed_call("load_session", open(1 + step * 7_919 % pages)).await?.1);
        }
        let name = format!("of {messages} messages");
        let shown = [name, PAGES.to_string()].into_iter().chain(sample.columns());
        reads.row(shown.chain([format!("{:.1}", opened.as_secs_f64() * 1_000.0)]));
    }
    println!("Conversations saved through the endpoint (vectors made up)\n\n{saves}\n{reads}");
    Ok(())
}

/// The time until every message of a session is found by keyword.
async fn until_searchable(client: &Client, session_id: &str, started: Instant) -> Result<Duration, Failure> {
    loop {
        let found = client.call("list_sessions", json!({ "query": session_id })).await?;
        let index = &found["items"][0]["index"];
        if index["searchable"] == index["messages"] {
            return Ok(started.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Recall among many conversations.
async fn many(client: &Client, embedder: &TimedEmbedder, language: &Language) -> Result<(), Failure> {
    let (sessions, messages) = SESSIONS;
    for session in 0..sessions {
        let said: Vec<Value> = (0..messages).map(|place| message(language, SERIES + 10 + session, place)).collect();
        client
            .call("save_session", json!({ "session_id": format!("one-of-many-{session}"), "messages": said }))
            .await?;
    }
    while client.call("recall", json!({ "query": "time", "limit": 1 })).await?["pending"] != 0 {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    embedder.be_cheap(false);
    let (mut total, mut rest) = (Sample::default(), Sample::default());
    for number in 0..RECALLS {
        let query: Vec<&str> = (0..4).map(|word| language.word((number * 37 + word * 211) as usize % 2_000)).collect();
        embedder.take_time();
        let (_, elapsed) = client.timed_call("recall", json!({ "query": query.join(" ") })).await?;
        total.push(elapsed);
        rest.push(elapsed.saturating_sub(embedder.take_time()));
    }
    let mut table = Table::new(["recall, ms", "calls", "p50", "p95", "p99", "rest p50", "p95", "p99"]);
    let shown = ["four words".to_owned(), RECALLS.to_string()].into_iter();
    table.row(shown.chain(total.columns()).chain(rest.columns()));
    println!("{sessions} sessions of {messages} messages, beside the long ones\n\n{table}");
    Ok(())
}
