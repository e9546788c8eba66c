//! The probes.

use std::{ops::Range, sync::Arc};

use async_trait::async_trait;
use polymnemo_memory::{
    Error, Result,
    ports::{Embedder, Model},
    testing::FakeEmbedder,
};
use polymnemo_types::EmbedderStatus;
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::TestApp;

async fn readiness(app: &TestApp) -> (StatusCode, Value) {
    let response = app.http(Method::GET, "/readyz").send().await.unwrap();
    (response.status(), response.json().await.unwrap())
}

#[tokio::test]
async fn a_server_whose_parts_work_is_alive_and_ready() {
    let app = TestApp::start().await;
    // Probes call a bare address, and have no key.
    let response = app.http(Method::GET, "/healthz").header(header::HOST, "10.0.0.7").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.json::<Value>().await.unwrap()["status"], "alive");
    let ready = json!({ "status": "ready", "parts": { "database": "ready", "model": "ready" } });
    assert_eq!(readiness(&app).await, (StatusCode::OK, ready));
}

#[tokio::test]
async fn without_its_database_the_server_is_alive_but_not_ready() {
    let app = TestApp::start().await;
    app.cut_off_database().await;
    let (status, body) = readiness(&app).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["parts"], json!({ "database": "failed", "model": "ready" }));
    let alive = app.http(Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(alive.status(), StatusCode::OK);
    // A key is still checked, and its owner is told that it is not the key's fault.
    let response = app.mcp("alice").send("ping", json!({})).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
}

/// An embedder whose model is in this state for ever.
struct Stuck(EmbedderStatus, FakeEmbedder);

#[async_trait]
impl Embedder for Stuck {
    fn model(&self) -> &Model {
        self.1.model()
    }

    fn status(&self) -> EmbedderStatus {
        self.0.clone()
    }

    async fn ready(&self) -> Result<()> {
        match &self.0 {
            EmbedderStatus::Failed(reason) => Err(Error::Model(reason.clone())),
            _ => std::future::pending().await,
        }
    }

    async fn embed_query(&self, _: &str) -> Result<Vec<f32>> {
        self.ready().await.map(|()| Vec::new())
    }

    async fn embed_passages(&self, _: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.ready().await.map(|()| Vec::new())
    }

    async fn tokens(&self, _: &str) -> Result<Vec<Range<usize>>> {
        self.ready().await.map(|()| Vec::new())
    }
}

#[tokio::test]
async fn while_the_model_loads_the_server_is_not_ready_but_lists_memories() {
    let stuck = Stuck(EmbedderStatus::Loading, FakeEmbedder::default());
    let app = TestApp::builder().embedder(Arc::new(stuck)).start().await;
    let (status, body) = readiness(&app).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body, json!({ "status": "loading", "parts": { "database": "ready", "model": "loading" } }));
    assert_eq!(app.mcp("alice").call("list_memories", json!({})).await["total"], 0);
}

#[tokio::test]
async fn a_model_that_failed_is_told_without_its_reason() {
    let reason = EmbedderStatus::Failed("/secret/place is damaged; run `polymnemo setup`".to_owned());
    let app = TestApp::builder().embedder(Arc::new(Stuck(reason, FakeEmbedder::default()))).start().await;
    let (status, body) = readiness(&app).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(body["parts"]["model"], "failed");
    assert!(!body.to_string().contains("secret"), "{body}");
    // Whoever has a key is told, and what to do about it.
    let told = app.mcp("alice").call_in_vain("recall", json!({ "query": "bike" })).await;
    assert!(told.contains("polymnemo setup"), "{told}");
}
