//! Recall through the authenticated endpoint, at several sizes of one user's store.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use polymnemo_adapters::{
    embedded_postgres::{self, EmbeddedPostgres},
    embedder::FastEmbedder,
};
use polymnemo_memory::Ctx;
use polymnemo_server::config::Config;
use polymnemo_types::ListRequest;
use sea_orm::{ConnectionTrait as _, Database};
use serde_json::{Value, json};

use crate::{
    app::App,
    client::Client,
    embedders::TimedEmbedder,
    pages,
    queries::{Class, Queries},
    sample::{Sample, rate},
    setup::{self, Failure},
    table::Table,
    texts::Language,
};

/// How many memories are stored at a time while the store is filled.
const WRITERS: usize = 8;
/// Recalls that are not counted, so that every cache is warm.
const WARM_UP: usize = 5;
/// How often the progress is told while the store is filled.
const PROGRESS: Duration = Duration::from_secs(20);

pub(crate) async fn measure(data: &Path, model: &str, sizes: &[u32], queries: usize) -> Result<(), Failure> {
    let language = Language::new();
    let config = setup::config(data, model)?;
    let real = FastEmbedder::open(&config.embedder.model_dir, &config.embedder.runtime_library)?;
    let embedder = Arc::new(TimedEmbedder::new(real, &language).await?);
    let app = App::start(&config, embedder.clone()).await?;
    // Done before the first query is timed, as the server does after its start.
    app.service().warm_up().await?;

    let ctx = app.ctx().await?;
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    for size in sizes {
        embedder.be_cheap(true);
        let filled = fill(&app, &ctx, &language, size).await?;
        embedder.be_cheap(false);
        if let Some(filled) = filled {
            println!("{filled}");
            tidy_up(&config).await?;
        }
        recalls(&app.client(), &embedder, Queries::new(&language, size)?, size, queries).await?;
        reads(&app.client(), size, queries).await?;
        pages::measure(&app, &embedder, Queries::new(&language, size)?, size, queries).await?;
    }
    app.stop().await
}

/// Stores memories until there are this many, and says how quickly. A store that is used again may hold some.
async fn fill(app: &App, ctx: &Ctx, language: &Language, size: u32) -> Result<Option<String>, Failure> {
    let stored = || async {
        let request = ListRequest { limit: Some(1), ..ListRequest::default() };
        Ok::<_, Failure>(u32::try_from(app.service().list_memories(ctx, request).await?.total)?)
    };
    let present = stored().await?;
    if present > size {
        return Err(format!("the store holds {present} memories already, {size} can't be measured with it").into());
    }
    if present == size {
        return Ok(None);
    }
    let started = Instant::now();
    let done = AtomicU32::new(0);
    let progress = async {
        loop {
            tokio::time::sleep(PROGRESS).await;
            let done = done.load(Ordering::Relaxed);
            eprintln!("{} of {size} memories, {:.0} a second", present + done, rate(done as usize, started.elapsed()));
        }
    };
    // Those that were being stored when an earlier run was interrupted may be missing among the last ones.
    let first = present.saturating_sub(2 * u32::try_from(WRITERS)?);
    let filling = stream::iter(first..size)
        .map(|number| {
            let (service, ctx, request) = (app.service().clone(), ctx.clone(), language.memory(number).request);
            tokio::spawn(async move { service.remember(&ctx, request).await })
        })
        .buffer_unordered(WRITERS)
        .map(|outcome| Ok::<_, Failure>(outcome??))
        .try_for_each(async |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
    tokio::select! {
        outcome = filling => outcome?,
        () = progress => {}
    }
    let elapsed = started.elapsed();
    let now = stored().await?;
    if now != size {
        return Err(format!("{now} memories are stored instead of {size}").into());
    }
    let number = (size - present) as usize;
    Ok(Some(format!(
        "Filled from {present} to {size} memories by {WRITERS} writers in {:.0} s: {:.0} a second (vectors made up).\n",
        elapsed.as_secs_f64(),
        rate(number, elapsed)
    )))
}

/// What the database does by itself within a minute or so, done now, so that it does not run beside the measurement.
async fn tidy_up(config: &Config) -> Result<(), Failure> {
    let postgres = EmbeddedPostgres::start(embedded_postgres::Options {
        runtime_dir: config.directories.runtime.clone(),
        data_dir: config.directories.data.clone(),
        durability: embedded_postgres::Durability::Durable,
    });
    let postgres = postgres.await?;
    let connection = Database::connect(postgres.url()).await?;
    let tables = "namespaces, memories, tags, chunks, vectors, terms, postings";
    connection.execute_unprepared(&format!("vacuum (analyze) {tables}")).await?;
    connection.close().await?;
    postgres.stop().await?;
    Ok(())
}

/// What was measured of one class of queries.
#[derive(Default)]
struct Recalls {
    total: Sample,
    embedding: Sample,
    rest: Sample,
    hits: usize,
}

impl Recalls {
    fn row(&self, name: &str) -> Vec<String> {
        let hits = self.hits as f64 / self.total.len().max(1) as f64;
        [name.to_owned(), self.total.len().to_string()]
            .into_iter()
            .chain([&self.total, &self.embedding, &self.rest].into_iter().flat_map(Sample::columns))
            .chain([format!("{hits:.1}")])
            .collect()
    }
}

async fn recalls(
    client: &Client,
    embedder: &TimedEmbedder,
    mut queries: Queries<'_>,
    size: u32,
    number: usize,
) -> Result<(), Failure> {
    let mut classes: Vec<(Class, Recalls)> = Class::ALL.map(|class| (class, Recalls::default())).into();
    for round in 0..number + WARM_UP {
        // The classes take turns, so that whatever else the machine does meets all alike.
        for (class, recalls) in &mut classes {
            embedder.take_time();
            let (found, total) = client.timed_call("recall", queries.next(*class)).await?;
            let embedding = embedder.take_time();
            if round < WARM_UP {
                continue;
            }
            recalls.total.push(total);
            recalls.embedding.push(embedding);
            recalls.rest.push(total.saturating_sub(embedding));
            recalls.hits += found["hits"].as_array().map_or(0, Vec::len);
        }
    }
    let mut table = Table::new([
        "recall, ms",
        "calls",
        "p50",
        "p95",
        "p99",
        "embed p50",
        "p95",
        "p99",
        "rest p50",
        "p95",
        "p99",
        "hits",
    ]);
    let mut all = Recalls::default();
    for (class, recalls) in &classes {
        table.row(recalls.row(class.name()));
        all.total.extend(&recalls.total);
        all.embedding.extend(&recalls.embedding);
        all.rest.extend(&recalls.rest);
        all.hits += recalls.hits;
    }
    table.row(all.row("all"));
    let (least, most) = queries.common_share;
    println!(
        "{size} memories of one user; a common word is in {:.0} to {:.0} % of them\n\n{table}",
        100.0 * least,
        100.0 * most
    );
    Ok(())
}

/// Lists and single memories, which need no embedding.
async fn reads(client: &Client, size: u32, number: usize) -> Result<(), Failure> {
    let (mut lists, mut gets) = (Sample::default(), Sample::default());
    let mut cursor = Value::Null;
    for _ in 0..number {
        let arguments = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let (page, elapsed) = client.timed_call("list_memories", arguments).await?;
        lists.push(elapsed);
        let id = page["items"][0]["id"].as_str().ok_or_else(|| format!("a list without memories: {page}"))?;
        gets.push(client.timed_call("get_memory", json!({ "id": id })).await?.1);
        cursor = page["next_cursor"].clone();
    }
    let mut table = Table::new(["reading, ms", "calls", "p50", "p95", "p99"]);
    for (name, sample) in [("list_memories, page by page", lists), ("get_memory", gets)] {
        table.row([name.to_owned(), sample.len().to_string()].into_iter().chain(sample.columns()));
    }
    println!("{size} memories of one user\n\n{table}");
    Ok(())
}
