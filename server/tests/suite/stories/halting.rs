//! How the server comes to a halt.

use std::{
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use polymnemo_memory::{
    Result,
    ports::{Embedder, Model},
    testing::FakeEmbedder,
};
use polymnemo_types::EmbedderStatus;
use rmcp::{
    ServerHandler,
    model::{ServerCapabilities, ServerConfig, SubscriptionFilter},
};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use crate::support::{ServerProcess, TestApp, data_folder};

/// An embedder that waits with each passage until it is let go.
struct Held {
    inner: FakeEmbedder,
    entered: Notify,
    gate: Semaphore,
}

#[async_trait]
impl Embedder for Held {
    fn model(&self) -> &Model {
        self.inner.model()
    }

    fn status(&self) -> EmbedderStatus {
        EmbedderStatus::Ready
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.inner.embed_query(text).await
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.entered.notify_one();
        self.gate.acquire().await.unwrap().forget();
        self.inner.embed_passages(texts).await
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.inner.tokens(text).await
    }
}

#[tokio::test]
async fn a_request_in_flight_finishes_while_new_ones_are_turned_away() {
    let held = Arc::new(Held { inner: FakeEmbedder::default(), entered: Notify::new(), gate: Semaphore::new(0) });
    let mut app = TestApp::builder().embedder(held.clone()).start().await;
    let alice = app.mcp("alice");
    let storing =
        tokio::spawn(async move { alice.call("remember", json!({ "content": "said at the last moment" })).await });
    held.entered.notified().await;

    let ended = app.halt();
    let address = app.base().trim_start_matches("http://").to_owned();
    let deadline = Instant::now() + Duration::from_secs(10);
    while tokio::net::TcpStream::connect(&address).await.is_ok() {
        assert!(Instant::now() < deadline, "the server still takes connections");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!ended.is_finished() && !storing.is_finished());

    held.gate.add_permits(1);
    assert_eq!(storing.await.unwrap()["status"], "stored");
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("the server ends").unwrap().unwrap();
    let ctx = app.ctx("alice").await;
    assert_eq!(app.service().list_memories(&ctx, Default::default()).await.unwrap().total, 1);
}

/// An MCP handler whose event streams stay open for as long as the client likes.
#[derive(Clone)]
struct Listening;

impl ServerHandler for Listening {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }
}

#[tokio::test]
async fn an_open_event_stream_does_not_hold_up_the_end() {
    let mut app = TestApp::builder().handler(Listening).start().await;
    let client = app.mcp("alice").speaking("2026-07-28");
    let response = client.send("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } })).await;
    assert!(response.status().is_success(), "{}", response.status());
    let started = Instant::now();
    let ended = app.halt();
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the server ends").unwrap().unwrap();
    // Far below the time that requests in flight get: the stream was not waited for.
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    drop(response);
}

#[test]
fn a_signal_ends_the_process_well_and_its_database_with_it() {
    let folder = data_folder();
    let server = ServerProcess::serve(folder.path(), &[]);
    let running = folder.path().join("data/cluster/postmaster.pid");
    assert!(running.exists(), "the embedded database runs");
    server.finish();
    assert!(!running.exists(), "the embedded database was stopped");
}
