use axum::{Json, extract::State};
use http::HeaderMap;
use serde_json::{Value, json};

use super::AuthorizationServer;
use crate::{auth::SCOPES, connector};

/// The document of the client that a test of the connection is.
pub(super) async fn connection_test(State(server): State<AuthorizationServer>, headers: HeaderMap) -> Json<Value> {
    Json(connector::document(&server.0.network.origin_for(&headers)))
}

/// What the authorization server of this issuer has and can (RFC 8414). The issuer is, byte for byte, the one in the metadata
/// of the resource.
///
/// `none` and the flag for documents stand together, since clients want both before they use their own document; the flag
/// for `iss` is there because every answer has it (RFC 9207). `offline_access` is known, as some clients ask for it, and
/// means nothing: everyone gets refresh tokens.
pub(crate) fn authorization_server(issuer: &str) -> Json<Value> {
    let scopes: Vec<&str> = SCOPES.split(' ').chain(["offline_access"]).collect();
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "scopes_supported": scopes,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "client_id_metadata_document_supported": true,
        "authorization_response_iss_parameter_supported": true,
    }))
}
