//! `remember` with the real model, against what the model does alone: with as many requests at a time, and at best.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use polymnemo_adapters::embedder::FastEmbedder;
use polymnemo_memory::ports::Embedder;
use serde_json::json;

use crate::{
    app::App,
    client::Client,
    embedders::RecordingEmbedder,
    sample::{rate, seconds},
    setup::{self, Failure},
    table::Table,
    texts::Language,
};

/// The texts that are stored at each concurrency.
const TEXTS: u32 = 300;
const WRITERS: [usize; 3] = [1, 4, 8];
const BATCHES: [usize; 4] = [8, 32, 128, 512];

pub(crate) async fn measure(data: &Path, model: &str) -> Result<(), Failure> {
    let language = Language::new();
    let config = setup::config(data, model)?;
    let real = FastEmbedder::open(&config.embedder.model_dir, &config.embedder.runtime_library)?;
    real.ready().await?;
    let embedder = Arc::new(RecordingEmbedder::new(real.clone()));
    let app = App::start(&config, embedder.clone()).await?;
    app.service().warm_up().await?;

    let mut table =
        Table::new(["ingest", "texts", "passages", "s", "texts/s", "passages/s", "of the embedder's", "of its best"]);
    let client = app.client();
    for (series, writers) in (0..).zip(WRITERS) {
        embedder.take();
        let started = Instant::now();
        remember_all(&client, &language, series, TEXTS, writers).await?;
        // What a long text has beyond its first passages is embedded in the background and counts as well.
        until_embedded(&client).await?;
        let elapsed = started.elapsed();
        // The same passages once more, without anything around them.
        let requests = embedder.take();
        let alone = time_of(real.as_ref(), &requests, writers).await?;
        let passages = requests.concat();
        let best = best_time(real.as_ref(), &passages).await?;
        let number = TEXTS as usize;
        for (name, time) in [
            (format!("remember, {writers} at a time"), elapsed),
            (format!("the embedder alone, {writers} at a time"), alone),
            ("the embedder alone, in its best batches".into(), best),
        ] {
            let percent_of = |other: Duration| format!("{:.0} %", 100.0 * other.as_secs_f64() / time.as_secs_f64());
            table.row([
                name,
                number.to_string(),
                passages.len().to_string(),
                seconds(time),
                format!("{:.1}", rate(number, time)),
                format!("{:.1}", rate(passages.len(), time)),
                percent_of(alone),
                percent_of(best),
            ]);
        }
    }
    println!(
        "{model}; texts of mixed length through the endpoint, and the embedder alone with the same passages\n\n{table}"
    );
    app.stop().await
}

/// Stores texts of mixed length, so many at a time.
pub(crate) async fn remember_all(
    client: &Client,
    language: &Language,
    series: u32,
    texts: u32,
    writers: usize,
) -> Result<(), Failure> {
    stream::iter(0..texts)
        .map(|number| client.call("remember", json!({ "content": language.mixed(series, number) })))
        .buffer_unordered(writers)
        .try_for_each(async |_| Ok(()))
        .await
}

/// Waits until every passage has its vector.
pub(crate) async fn until_embedded(client: &Client) -> Result<(), Failure> {
    loop {
        let found = client.call("recall", json!({ "query": "time", "limit": 1 })).await?;
        if found["pending"] == 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// The time that the embedder takes for these requests, so many at a time.
async fn time_of(embedder: &dyn Embedder, requests: &[Vec<String>], at_a_time: usize) -> Result<Duration, Failure> {
    let started = Instant::now();
    stream::iter(requests)
        .map(|passages| embedder.embed_passages(passages.clone()))
        .buffer_unordered(at_a_time)
        .try_for_each(async |_| Ok(()))
        .await?;
    Ok(started.elapsed())
}

/// The time that the embedder takes for these passages in the batches that suit it best.
async fn best_time(embedder: &dyn Embedder, passages: &[String]) -> Result<Duration, Failure> {
    let mut best = Duration::MAX;
    for batch in BATCHES {
        let started = Instant::now();
        for passages in passages.chunks(batch) {
            embedder.embed_passages(passages.to_vec()).await?;
        }
        best = best.min(started.elapsed());
    }
    Ok(best)
}
