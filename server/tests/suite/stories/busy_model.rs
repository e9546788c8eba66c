//! What happens while the model has more to do than it can.

use std::{
    future,
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
use serde_json::json;

use crate::support::TestApp;

/// An embedder that never comes to the passages that someone waits for.
struct Busy(FakeEmbedder);

#[async_trait]
impl Embedder for Busy {
    fn model(&self) -> &Model {
        self.0.model()
    }

    fn status(&self) -> EmbedderStatus {
        EmbedderStatus::Ready
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.0.embed_query(text).await
    }

    async fn embed_passages(&self, _texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        future::pending().await
    }

    async fn embed_when_idle(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.0.embed_passages(texts).await
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.0.tokens(text).await
    }
}

#[tokio::test]
async fn a_memory_is_stored_all_the_same_and_gets_its_meaning_later() {
    let app = TestApp::builder().embedder(Arc::new(Busy(FakeEmbedder::default()))).start().await;
    let alice = app.mcp("alice");
    let started = Instant::now();
    let remembered = alice.call("remember", json!({ "content": "The quince is in bloom." })).await;
    assert_eq!((&remembered["status"], &remembered["index"]), (&json!("stored"), &json!("pending")));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());

    let deadline = Instant::now() + Duration::from_secs(10);
    while app.service().embed_pending().await.unwrap() > 0 {
        assert!(Instant::now() < deadline);
    }
    let id = &remembered["id"];
    let updated = alice.call("update", json!({ "id": id, "content": "The quince has lost its bloom." })).await;
    assert_eq!(updated["index"], "pending");
}
