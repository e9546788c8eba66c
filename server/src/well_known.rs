//! What clients look up before they connect.

use std::sync::Arc;

use axum::{Json, Router, extract::State, routing::get};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    auth::SCOPES,
    config::{AuthorizationServer, NetworkConfig},
    http::cors,
};

/// Everything below `/.well-known/`. What is not there is a 404 in JSON: clients probe for many
/// documents, and a page in their place would pass for one of them.
pub(crate) fn routes(network: Arc<NetworkConfig>) -> Router {
    let metadata = "/.well-known/oauth-protected-resource";
    Router::new()
        .route(metadata, get(protected_resource))
        .route(&format!("{metadata}{}", network.mcp_path), get(protected_resource))
        .route("/.well-known/{*document}", axum::routing::any(missing))
        .with_state(network)
        .layer(cors::for_metadata())
}

/// Protected resource metadata (RFC 9728). Where keys are given out by hand only, it names no
/// authorization server; the member is optional, and its absence says just that.
#[derive(Serialize)]
struct ProtectedResource {
    resource: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization_servers: Vec<String>,
    resource_name: &'static str,
    bearer_methods_supported: [&'static str; 1],
    scopes_supported: Vec<&'static str>,
}

async fn protected_resource(State(network): State<Arc<NetworkConfig>>, headers: HeaderMap) -> Json<ProtectedResource> {
    Json(ProtectedResource {
        resource: format!("{}{}", network.origin_for(&headers), network.mcp_path),
        authorization_servers: match &network.authorization_server {
            AuthorizationServer::None => Vec::new(),
            AuthorizationServer::External(issuer) => vec![issuer.clone()],
        },
        resource_name: "polymnemo",
        bearer_methods_supported: ["header"],
        scopes_supported: SCOPES.split(' ').collect(),
    })
}

async fn missing() -> (StatusCode, Json<Value>) {
    (
        StatusCode::NOT_FOUND,
        Json(json!({ "error": "not_found", "error_description": "There is no such document here." })),
    )
}
