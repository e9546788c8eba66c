//! Measures the embedder alone: what the model gives on this machine, which `remember` can reach but not exceed.
//!
//! `cargo bench -p polymnemo-adapters --bench embedder -- [MODEL [TEXTS]]`, with POLYMNEMO_RUNTIME_DIR as for the tests;
//! TEXTS is the number of texts of mixed length that come in at the end, 10,000 if left out.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement prints, and ends where it fails")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use polymnemo_adapters::embedder::FastEmbedder;
use polymnemo_memory::ports::Embedder;

const SENTENCES: [&str; 6] = [
    "The spare key is under the blue flower pot beside the door.",
    "She moved to Lisbon in 2019 and works for a small publisher there.",
    "我把备用钥匙放在蓝色花盆下面了，你回来的时候自己拿。",
    "Our train to Vienna leaves at nine on Friday, from platform four.",
    "会议改到了下周三下午三点，地点还是老地方。",
    "He is allergic to peanuts, so the cake must be made without them.",
];

/// A text of some sentences, different for each number.
fn text(number: usize, sentences: usize) -> String {
    let chosen: Vec<&str> = SENTENCES.iter().cycle().skip(number % SENTENCES.len()).take(sentences).copied().collect();
    format!("{number}: {}", chosen.join(" "))
}

/// What Linux says about the memory of this process, in MB: now, and at most so far.
fn resident() -> (u64, u64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kilobytes| kilobytes.parse::<u64>().ok())
    };
    (field("VmRSS").unwrap_or_default() / 1024, field("VmHWM").unwrap_or_default() / 1024)
}

/// The processor time that this process has used, by what Linux says.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields.get(place).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default();
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}

async fn throughput(embedder: &FastEmbedder, label: &str, texts: Vec<String>) {
    let count = texts.len() as f64;
    let mut tokens = 0;
    for text in &texts {
        tokens += embedder.tokens(text).await.expect("tokens").len();
    }
    let (started, processor) = (Instant::now(), processor_time());
    embedder.embed_passages(texts).await.expect("vectors");
    let (took, processor) = (started.elapsed().as_secs_f64(), (processor_time() - processor).as_secs_f64());
    println!(
        "{label:<26} {:>6.0} tokens each {:>8.1} texts/s {:>8.0} tokens/s {:>8.1} ms of processor each   resident {:?} MB",
        tokens as f64 / count,
        count / took,
        tokens as f64 / took,
        processor * 1e3 / count,
        resident(),
    );
}

async fn latency(embedder: &FastEmbedder, label: &str, count: usize) {
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let query = format!("{label}: where did I put the {number} keys of the house?");
        let started = Instant::now();
        embedder.tokens(&query).await.expect("tokens");
        embedder.embed_query(&query).await.expect("a vector");
        times.push(started.elapsed());
    }
    times.sort_unstable();
    let at = |share: usize| times.get((count * share / 100).min(count - 1)).copied().unwrap_or_default();
    println!("{label:<26} p50 {:.1?}   p95 {:.1?}", at(50), at(95));
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with('-'));
    let model = arguments.next().unwrap_or_else(|| "multilingual-e5-small".into());
    let count = arguments.next().map_or(10_000, |count| count.parse().expect("a number of texts"));
    let runtime = support::runtime_dir();
    let library = if cfg!(target_os = "macos") { "libonnxruntime.dylib" } else { "libonnxruntime.so" };
    println!("{model}; resident memory as (now, at most so far)");

    let started = Instant::now();
    let embedder = FastEmbedder::open(&runtime.join("models").join(&model), &runtime.join("onnxruntime").join(library))
        .expect("the manifest");
    embedder.ready().await.expect("the model");
    println!("{:<26} {:.1?}   resident {:?} MB", "loaded after", started.elapsed(), resident());

    latency(&embedder, "query, idle", 50).await;
    throughput(&embedder, "short passages", (0..256).map(|number| text(number, 2)).collect()).await;
    throughput(&embedder, "long passages", (0..64).map(|number| text(number, 12)).collect()).await;

    let megabyte = text(0, 6).repeat(1_000_000 / text(0, 6).len());
    let started = Instant::now();
    let tokens = embedder.tokens(&megabyte).await.expect("tokens").len();
    println!(
        "{:<26} {tokens} tokens in {:.1?}   resident {:?} MB",
        "a megabyte tokenized",
        started.elapsed(),
        resident()
    );

    let busy = tokio::spawn({
        let embedder = Arc::clone(&embedder);
        async move { embedder.embed_passages((0..400).map(|number| text(number, 1 + number * 7 % 12)).collect()).await }
    });
    latency(&embedder, "query, during ingest", 50).await;
    busy.abort();

    throughput(&embedder, "mixed passages", (0..count).map(|number| text(number, 1 + number * 7 % 12)).collect()).await;
}
