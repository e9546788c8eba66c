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
    oauth,
};

/// Everything below `/.well-known/`, and what clients take for it below the endpoint. What is not there is a 404 in JSON:
/// clients probe for many documents, and a page in their place would pass for one of them.
///
/// That holds for `openid-configuration` too: we are no OpenID provider, and a client that finds one there reads it as such.
pub(crate) fn routes(network: Arc<NetworkConfig>) -> Router {
    let path = network.mcp_path.clone();
    let resource = "/.well-known/oauth-protected-resource";
    let mut router = Router::new()
        .route(resource, get(protected_resource))
        .route(&format!("{resource}{path}"), get(protected_resource))
        .route("/.well-known/{*document}", axum::routing::any(missing))
        .route(&format!("{path}/.well-known/{{*document}}"), axum::routing::any(missing));
    if network.authorization_server == AuthorizationServer::Own {
        let server = "/.well-known/oauth-authorization-server";
        // Older clients derive the address from that of the resource.
        router = router
            .route(server, get(authorization_server))
            .route(&format!("{server}{path}"), get(authorization_server));
    }
    router.with_state(network).layer(cors::for_metadata())
}

/// Protected resource metadata (RFC 9728). Where nobody can sign in, keys are given out by hand, and it names no authorization
/// server; the member is optional, and its absence says just that.
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
        resource: oauth::resource::canonical(&network, &headers),
        authorization_servers: match &network.authorization_server {
            AuthorizationServer::None => Vec::new(),
            AuthorizationServer::Own => vec![network.origin_for(&headers)],
            AuthorizationServer::External(issuer) => vec![issuer.clone()],
        },
        resource_name: "polymnemo",
        bearer_methods_supported: ["header"],
        scopes_supported: SCOPES.split(' ').collect(),
    })
}

async fn authorization_server(State(network): State<Arc<NetworkConfig>>, headers: HeaderMap) -> Json<Value> {
    oauth::authorization_server(&network.origin_for(&headers))
}

async fn missing() -> (StatusCode, Json<Value>) {
    (
        StatusCode::NOT_FOUND,
        Json(json!({ "error": "not_found", "error_description": "There is no such document here." })),
    )
}
