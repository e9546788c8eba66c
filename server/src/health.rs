//! `/healthz`: the process is alive. `/readyz`: its parts work.

use std::time::Duration;

use axum::{Json, Router, extract::State, routing::get};
use http::StatusCode;
use polymnemo_memory::MemoryService;
use polymnemo_types::EmbedderStatus;
use serde::Serialize;

/// How long the database may take to answer. Whoever asks has little patience.
const PATIENCE: Duration = Duration::from_secs(2);

/// Both probes. They need no key, answer to any host name (probes call a bare address), and tell
/// nothing that a stranger could use: why a part doesn't work is in the log.
pub(crate) fn routes(service: MemoryService) -> Router {
    Router::new().route("/healthz", get(alive)).route("/readyz", get(ready)).with_state(service)
}

#[derive(Serialize)]
struct Alive {
    status: &'static str,
    version: &'static str,
}

async fn alive() -> Json<Alive> {
    Json(Alive { status: "alive", version: env!("CARGO_PKG_VERSION") })
}

#[derive(Serialize)]
struct Readiness {
    status: PartState,
    parts: Parts,
}

#[derive(Serialize)]
struct Parts {
    database: PartState,
    model: PartState,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum PartState {
    Ready,
    Loading,
    Failed,
}

async fn ready(State(service): State<MemoryService>) -> (StatusCode, Json<Readiness>) {
    let database = match tokio::time::timeout(PATIENCE, service.check_store()).await {
        Ok(Ok(_)) => PartState::Ready,
        Ok(Err(error)) => {
            tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "the database does not work");
            PartState::Failed
        }
        Err(_) => {
            tracing::warn!("the database does not answer");
            PartState::Failed
        }
    };
    let model = match service.embedder().status() {
        EmbedderStatus::Ready => PartState::Ready,
        EmbedderStatus::Loading => PartState::Loading,
        EmbedderStatus::Failed(reason) => {
            tracing::warn!(reason, "the embedding model does not work");
            PartState::Failed
        }
    };
    let status = match (database, model) {
        (PartState::Ready, PartState::Ready) => PartState::Ready,
        (PartState::Failed, _) | (_, PartState::Failed) => PartState::Failed,
        _ => PartState::Loading,
    };
    let code = if status == PartState::Ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(Readiness { status, parts: Parts { database, model } }))
}
