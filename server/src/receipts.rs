//! Receipts of erasures, for whoever knows the address of one, and the key that they are verified with.

use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{StatusCode, header};
use polymnemo_memory::{Error, MemoryService, receipt};
use polymnemo_types::ErasureId;
use serde_json::json;

use crate::http::cors;

/// Where the key is published, as a JWK.
pub(crate) const KEY_PATH: &str = "/.well-known/polymnemo-receipt-key";

/// Both need no sign-in: an id can't be guessed, a receipt holds no word of what was erased, and its owner may be gone.
pub(crate) fn routes(service: MemoryService) -> Router {
    Router::new()
        .route(KEY_PATH, get(key))
        .route("/receipts/{id}", get(document))
        .with_state(service)
        .layer(cors::for_metadata())
}

async fn key(State(service): State<MemoryService>) -> Response {
    match service.receipt_key().await {
        Ok(key) => ([(header::CACHE_CONTROL, "public, max-age=3600")], Json(key.to_jwk())).into_response(),
        Err(error) => failed(error),
    }
}

async fn document(State(service): State<MemoryService>, Path(id): Path<String>) -> Response {
    let Ok(id) = id.parse::<ErasureId>() else { return missing("An id of a receipt is a UUID.") };
    match service.receipt(id).await {
        Ok(found) => (
            [
                (header::CONTENT_TYPE, "application/json".to_owned()),
                (header::CONTENT_DISPOSITION, format!("attachment; filename=\"receipt-{id}.json\"")),
                (header::CACHE_CONTROL, "private, no-store".to_owned()),
            ],
            receipt::file_of(&found),
        )
            .into_response(),
        Err(error @ Error::Missing(_)) => missing(&error.to_string()),
        Err(error) => failed(error),
    }
}

fn missing(description: &str) -> Response {
    (StatusCode::NOT_FOUND, Json(json!({ "error": "not_found", "error_description": description }))).into_response()
}

fn failed(error: Error) -> Response {
    // Logs the cause.
    let error = polymnemo_types::ApiError::from(error);
    let body = json!({ "error": "temporarily_unavailable", "error_description": error.message });
    (StatusCode::SERVICE_UNAVAILABLE, Json(body)).into_response()
}
