use axum::{
    body::Bytes,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};

use super::{
    AuthorizationServer,
    endpoint::{form, invalid_request, unavailable},
};

/// Ends a token with all that it is related to (RFC 7009). One that is none of ours is no error: it opens nothing, which is
/// all that was wanted.
pub(super) async fn revoke(State(server): State<AuthorizationServer>, headers: HeaderMap, body: Bytes) -> Response {
    let (parameters, client) = match form(&headers, &body) {
        Ok(read) => read,
        Err(refusal) => return *refusal,
    };
    let Some(token) = parameters.get("token") else { return invalid_request("`token` is missing.") };
    match server.0.service.revoke_oauth_token(token, client.as_deref()).await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(cause) => unavailable(cause),
    }
}
