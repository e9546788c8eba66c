//! How the server is doing.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use serde::{Deserialize, Serialize};

use super::WebError;

/// How the memory is doing, as far as it is anyone's business: reasons are for the log and for
/// `polymnemo doctor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// Everything works.
    Ready,
    /// The store works; the embedding model is still being loaded.
    ModelLoading,
    /// The store works; the embedding model does not.
    ModelFailed,
    /// The database does not answer.
    StoreUnavailable,
}

/// Tells how the memory is doing.
///
/// # Errors
///
/// Only those of the way to the server: a part that fails is a status, not an error.
#[server(endpoint = "server_status", input = GetUrl)]
pub async fn server_status() -> Result<Readiness, WebError> {
    use polymnemo_types::EmbedderStatus;

    let service = expect_context::<crate::WebContext>().service;
    if service.check_store().await.is_err() {
        return Ok(Readiness::StoreUnavailable);
    }
    Ok(match service.embedder().status() {
        EmbedderStatus::Ready => Readiness::Ready,
        EmbedderStatus::Loading => Readiness::ModelLoading,
        EmbedderStatus::Failed(_) => Readiness::ModelFailed,
    })
}
