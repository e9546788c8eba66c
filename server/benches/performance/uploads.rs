//! Files sent to the server's own store and read back, against a bare copy on the same disk.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    time::{Duration, Instant},
};

use futures::TryStreamExt as _;
use polymnemo_adapters::embedder::FastEmbedder;
use polymnemo_memory::ports::Embedder as _;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use reqwest::Method;
use serde_json::json;

use crate::{
    app::App,
    sample::seconds,
    setup::{self, Failure},
    table::Table,
};

/// The lengths of the files, in bytes.
const SIZES: [usize; 3] = [1 << 10, 5 << 20, 200 << 20];
/// Each is sent so often; the best counts.
const ROUNDS: usize = 3;

pub(crate) async fn measure(data: &Path, model: &str) -> Result<(), Failure> {
    let config = setup::config(data, model)?;
    let embedder = FastEmbedder::open(&config.embedder.model_dir, &config.embedder.runtime_library)?;
    embedder.ready().await?;
    let app = App::start(&config, embedder).await?;
    let mut table =
        Table::new(["files", "announce, s", "send, s", "MB/s", "confirm, s", "read back, s", "bare copy, s", "MB/s"]);
    for size in SIZES {
        let mut bytes = vec![0; size];
        StdRng::seed_from_u64(size as u64).fill(bytes.as_mut_slice());
        let mut best = [Duration::MAX; 5];
        for round in 0..ROUNDS {
            let times = once(&app, &config.directories.data, &bytes, round).await?;
            for (best, time) in best.iter_mut().zip(times) {
                *best = time.min(*best);
            }
        }
        let [announce, send, confirm, read, copy] = best;
        let speed = |time: Duration| format!("{:.0}", size as f64 / 1e6 / time.as_secs_f64().max(f64::EPSILON));
        table.row([
            format!("of {size} bytes"),
            seconds(announce),
            seconds(send),
            speed(send),
            seconds(confirm),
            seconds(read),
            seconds(copy),
            speed(copy),
        ]);
    }
    println!("Files in the server's own store, each written through to the disk; the best of {ROUNDS}\n\n{table}");
    app.stop().await
}

/// Sends a file, confirms it and reads it back; then copies the same bytes on the same disk.
async fn once(app: &App, folder: &Path, bytes: &[u8], round: usize) -> Result<[Duration; 5], Failure> {
    let client = app.client();
    let http = reqwest::Client::new();
    let arguments = json!({
        "filename": "measured.bin",
        "content_type": "application/octet-stream",
        "size": bytes.len(),
        "description": format!("A file of {} bytes, sent to see how quickly, {round}", bytes.len()),
    });
    let (upload, announce) = client.timed_call("create_upload", arguments).await?;
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let mut request = http.request(Method::PUT, here(app, &text(&upload["url"]))?).body(bytes.to_vec());
    for header in upload["headers"].as_array().into_iter().flatten() {
        let name = text(&header["name"]);
        if !name.eq_ignore_ascii_case("content-length") {
            request = request.header(name, text(&header["value"]));
        }
    }
    let started = Instant::now();
    request.send().await?.error_for_status()?;
    let send = started.elapsed();
    let (confirmed, confirm) = client.timed_call("confirm_upload", json!({ "id": upload["id"] })).await?;
    let link = client.call("get_download_url", json!({ "id": confirmed["id"] })).await?;
    let started = Instant::now();
    let response = http.get(here(app, &text(&link["url"]))?).send().await?.error_for_status()?;
    let length = response.bytes_stream().try_fold(0, |sum, piece| std::future::ready(Ok(sum + piece.len()))).await?;
    let read = started.elapsed();
    if length != bytes.len() {
        return Err(format!("{length} bytes came back of {}", bytes.len()).into());
    }
    let started = Instant::now();
    copy(&folder.join("bare-copy"), bytes)?;
    let copy = started.elapsed();
    Ok([announce, send, confirm, read, copy])
}

/// The same address at the port that is measured.
fn here(app: &App, url: &str) -> Result<String, Failure> {
    let url = reqwest::Url::parse(url)?;
    let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
    Ok(format!("{}{}{query}", app.base(), url.path()))
}

fn copy(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
