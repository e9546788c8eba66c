use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use polymnemo_memory::{Ctx, Door, Grants, MemoryService, ports::KeyEntry};
use polymnemo_types::{ApiError, ErrorCode};

use super::Refusal;
use crate::oidc::{AccessToken, Issuer, Rejection};

/// The context of a request with an access token of the external authorization server.
pub(super) async fn authenticate(issuer: &Issuer, service: &MemoryService, token: &str) -> Result<Ctx, Refusal> {
    let AccessToken { subject, client, grants } =
        issuer.access_token(token).await.map_err(|rejection| match rejection {
            Rejection::Token(problem) => Refusal::AccessToken(problem),
            Rejection::Issuer(_) => Refusal::IssuerUnavailable,
        })?;
    let grants = grants.ok_or(Refusal::Scope)?;
    let client_name = client.as_deref().unwrap_or_default();
    let entry = KeyEntry { door: Door::OauthApp, client_id: client_name, name: client_name };
    let ctx = service.authenticate_key(&subject.identity, entry).await.map_err(Refusal::Unavailable)?;
    let Ctx { mut user, app, grants: allowed, .. } = ctx.map_err(Refusal::Token)?;
    // Someone who is known by the subject alone so far. A better name stays until they sign in to the web app:
    // access tokens often know less of a person than ID tokens.
    if user.name == subject.identity.subject && subject.name != user.name {
        let account = service.sign_in(&subject.identity, &subject.name).await.map_err(Refusal::Unavailable)?;
        user = account.user;
    }
    // The issuer says what the app may do at all, and the user which part of that.
    let grants = Grants { read: grants.read && allowed.read, write: grants.write && allowed.write, ..allowed };
    Ok(Ctx { user, door: Door::OauthApp, client, app, grants })
}

/// The answer where the issuer can't be asked for its keys. It is no fault of the token, so not a 401: the client would throw
/// it away.
pub(super) fn unavailable() -> Response {
    let error = ApiError {
        code: ErrorCode::Unavailable,
        message: "The authorization server can't be asked for its keys now. Try again in a minute.".to_owned(),
    };
    let mut response = (StatusCode::SERVICE_UNAVAILABLE, axum::Json(error)).into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
    response
}
