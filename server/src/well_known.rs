//! What clients look up before they connect.

use std::sync::Arc;

use axum::{Json, Router, extract::State, routing::get};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{auth::SCOPES, config::NetworkConfig, http::cors, oauth};

#[derive(Clone)]
struct Published {
    network: Arc<NetworkConfig>,
    /// Whether there is an authorization server.
    lets_apps_in: bool,
}

/// Everything below `/.well-known/`, and what clients take for it below the endpoint. What is not there is a 404 in JSON:
/// clients probe for many documents, and a page in their place would pass for one of them.
///
/// That holds for `openid-configuration` too: we are no OpenID provider, and a client that finds one there reads it as such.
pub(crate) fn routes(network: Arc<NetworkConfig>, lets_apps_in: bool) -> Router {
    let path = network.mcp_path.clone();
    let resource = "/.well-known/oauth-protected-resource";
    let mut router = Router::new()
        .route(resource, get(protected_resource))
        .route(&format!("{resource}{path}"), get(protected_resource))
        .route("/.well-known/{*document}", axum::routing::any(missing))
        .route(&format!("{path}/.well-known/{{*document}}"), axum::routing::any(missing));
    if lets_apps_in {
        let server = "/.well-known/oauth-authorization-server";
        // Older clients derive the address from that of the resource.
        router = router
            .route(server, get(authorization_server))
            .route(&format!("{server}{path}"), get(authorization_server));
    }
    router.with_state(Published { network, lets_apps_in }).layer(cors::for_metadata())
}

/// Protected resource metadata (RFC 9728). Where nobody can sign in, keys are given out by hand, and it names no authorization
/// server; the member is optional, and its absence says just that.
#[derive(Serialize)]
struct ProtectedResource {
    resource: String,
    resource_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_servers: Option<[String; 1]>,
    bearer_methods_supported: [&'static str; 1],
    scopes_supported: Vec<&'static str>,
}

async fn protected_resource(State(published): State<Published>, headers: HeaderMap) -> Json<ProtectedResource> {
    let Published { network, lets_apps_in } = published;
    Json(ProtectedResource {
        resource: oauth::resource::canonical(&network, &headers),
        resource_name: "polymnemo",
        authorization_servers: lets_apps_in.then(|| [network.origin_for(&headers)]),
        bearer_methods_supported: ["header"],
        scopes_supported: SCOPES.split(' ').collect(),
    })
}

async fn authorization_server(State(published): State<Published>, headers: HeaderMap) -> Json<Value> {
    oauth::authorization_server(&published.network.origin_for(&headers))
}

async fn missing() -> (StatusCode, Json<Value>) {
    (
        StatusCode::NOT_FOUND,
        Json(json!({ "error": "not_found", "error_description": "There is no such document here." })),
    )
}
