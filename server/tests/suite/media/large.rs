use bytes::Bytes;
use futures::{StreamExt as _, stream};
use reqwest::StatusCode;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::media::world::{World, bytes};

const CHUNK: usize = 1 << 20;
const CHUNKS: usize = 200;

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap_or_default() * 1024
}

async fn a_great_file_takes_little_memory(world: &World) {
    let alice = world.app.mcp("alice");
    let chunk = Bytes::from(bytes(CHUNK));
    let size = CHUNK * CHUNKS;
    let mut digest = Sha256::new();
    (0..CHUNKS).for_each(|_| digest.update(&chunk));
    let digest = hex::encode(digest.finalize());
    let announced = alice
        .call(
            "create_upload",
            json!({
                "filename": "great.bin", "content_type": "video/mp4", "size": size, "description": "A great file",
                "sha256": digest,
            }),
        )
        .await;
    let before = peak();
    let sent = stream::repeat(chunk.clone()).take(CHUNKS).map(Ok::<_, std::io::Error>);
    let response = world.send(&announced, reqwest::Body::wrap_stream(sent)).await;
    assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap());
    let confirmed = alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
    assert_eq!((&confirmed["file"]["size"], &confirmed["sha256"]), (&json!(size), &json!(digest)));

    let url =
        alice.call("get_download_url", json!({ "id": announced["id"] })).await["url"].as_str().unwrap().to_owned();
    let mut received = world.app.client().get(url).send().await.unwrap().bytes_stream();
    let mut of_received = Sha256::new();
    while let Some(piece) = received.next().await {
        of_received.update(piece.unwrap());
    }
    let of_received = hex::encode(of_received.finalize());
    assert_eq!(of_received, digest);
    let grown = peak().saturating_sub(before);
    assert!(grown < 100 << 20, "for a file of {size} bytes, {grown} bytes of memory");
}

#[tokio::test]
async fn a_great_file_takes_little_memory_with_the_directory() {
    a_great_file_takes_little_memory(&World::local().await).await;
}

#[tokio::test]
async fn a_great_file_takes_little_memory_with_s3() {
    a_great_file_takes_little_memory(&World::s3().await).await;
}
