//! Codes and refresh tokens for access tokens (RFC 6749, sections 4.1.3 and 6).

use axum::{
    Json,
    body::Bytes,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header};
use polymnemo_memory::{GrantRefusal, IssuedTokens};
use serde_json::json;

use super::{
    AuthorizationServer,
    endpoint::{Parameters, error, form, invalid_request, unavailable},
    resource,
};
use crate::auth::{READ_SCOPE, SCOPES};

/// Answers a client with tokens, or says why not.
pub(super) async fn token(State(server): State<AuthorizationServer>, headers: HeaderMap, body: Bytes) -> Response {
    let (parameters, client) = match form(&headers, &body) {
        Ok(read) => read,
        Err(refusal) => return *refusal,
    };
    let Some(client) = client else { return invalid_request("`client_id` is missing.") };
    match server.0.clients.known(&client).await {
        Ok(Some(_)) => {}
        // This tells clients to register anew.
        Ok(None) => {
            let problem = "There is no client of this id (any more). Register again.";
            return error(StatusCode::UNAUTHORIZED, "invalid_client", problem);
        }
        Err(cause) => return unavailable(cause),
    }
    let resource = match resource_of(&server, &headers, &parameters) {
        Ok(resource) => resource,
        Err(refusal) => return *refusal,
    };
    let issued = match parameters.get("grant_type") {
        Some("authorization_code") => {
            let Some(code) = parameters.get("code") else { return invalid_request("`code` is missing.") };
            let Some(verifier) = parameters.get("code_verifier").filter(|verifier| is_verifier(verifier)) else {
                return invalid_request(
                    "`code_verifier` is missing, or not one: it has 43 to 128 letters, digits or - . _ ~.",
                );
            };
            let redirect_uri = parameters.get("redirect_uri");
            server.0.service.redeem_code(&client, code, redirect_uri, verifier, resource.as_deref()).await
        }
        Some("refresh_token") => {
            let Some(token) = parameters.get("refresh_token") else {
                return invalid_request("`refresh_token` is missing.");
            };
            server.0.service.refresh_tokens(&client, token, resource.as_deref()).await
        }
        Some(_) => {
            let problem = "`grant_type` must be authorization_code or refresh_token.";
            return error(StatusCode::BAD_REQUEST, "unsupported_grant_type", problem);
        }
        None => return invalid_request("`grant_type` is missing."),
    };
    match issued {
        Ok(Ok(tokens)) => answer(&tokens),
        Ok(Err(refusal)) => {
            tracing::info!(%refusal, client.id = client, "a client got no tokens");
            let code = if refusal == GrantRefusal::OtherResource { "invalid_target" } else { "invalid_grant" };
            error(StatusCode::BAD_REQUEST, code, &refusal.to_string())
        }
        Err(cause) => unavailable(cause),
    }
}

fn answer(tokens: &IssuedTokens) -> Response {
    let body = json!({
        "access_token": tokens.access_token,
        "token_type": "Bearer",
        "expires_in": tokens.expires_in,
        "refresh_token": tokens.refresh_token,
        "scope": if tokens.can_write { SCOPES } else { READ_SCOPE },
    });
    ([(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")], Json(body)).into_response()
}

/// The canonical name of the resource that the client names, if it names one; all that it names must be ours.
pub(super) fn resource_of(
    server: &AuthorizationServer,
    headers: &HeaderMap,
    parameters: &Parameters,
) -> Result<Option<String>, Box<Response>> {
    let network = &server.0.network;
    let mut named = parameters.all("resource").peekable();
    if named.peek().is_none() {
        return Ok(None);
    }
    let canonical = resource::canonical(network, headers);
    if named.all(|resource| resource::names_ours(resource, network, headers)) {
        return Ok(Some(canonical));
    }
    let problem = format!("The resource of this server is {canonical}.");
    Err(Box::new(error(StatusCode::BAD_REQUEST, "invalid_target", &problem)))
}

/// Whether it can be a verifier (RFC 7636, section 4.1).
fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}
