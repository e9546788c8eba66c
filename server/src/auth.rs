//! Who is asking: from the headers of a request to a [`Ctx`], or to a 401.
//!
//! The middleware here is the only place where a request gains an identity. It decides before any
//! part of the body is read, for every method, and leaves a [`Ctx`] in the request's extensions,
//! where both doors find it. A credential is looked for in the `Authorization` header and nowhere
//! else; one in the query is as good as none.

mod external;
mod local_key;
mod scope;
mod static_keys;

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use polymnemo_memory::{
    ACCESS_TOKEN_PREFIX, API_TOKEN_PREFIX, Ctx, Door, Identity, MemoryService, TokenRefusal, ports::KeyEntry,
};
use serde_json::json;

use crate::{config::NetworkConfig, oauth::resource, oidc::Issuer};

pub use crate::oidc::JwtProblem;
pub use local_key::LocalKey;
pub(crate) use scope::require_scope;
pub use static_keys::StaticKeys;

/// The permissions that a client asks for to use everything the server has.
pub const SCOPES: &str = "memory:read memory:write";
/// The permission to read only.
pub const READ_SCOPE: &str = "memory:read";
/// How much of a request that is refused is read, in bytes, and for how long.
const REFUSED_BYTES: usize = 64 << 10;
const REFUSED_TIME: Duration = Duration::from_secs(1);

/// What a request is authenticated with.
pub struct Authenticator {
    keys: StaticKeys,
    service: MemoryService,
    network: Arc<NetworkConfig>,
    /// Whose access tokens are good, beside keys and API tokens.
    issuer: Option<Arc<Issuer>>,
}

/// Why a request has no identity.
#[derive(Debug)]
pub enum Refusal {
    /// It carries no bearer credential at all.
    Missing,
    /// It carries one that is malformed or that nobody has.
    Invalid,
    /// It carries a token that lets nobody in.
    Token(TokenRefusal),
    /// It carries a token for another resource.
    OtherResource,
    /// It carries an access token that is not good.
    AccessToken(JwtProblem),
    /// It carries an access token that may do nothing here.
    Scope,
    /// It carries an access token, and whether that is good can't be told now.
    IssuerUnavailable,
    /// The credential is good, but its user can't be read from the database now.
    Unavailable(polymnemo_memory::Error),
}

impl Authenticator {
    /// Authenticates by these keys, and finds users through the service.
    #[must_use]
    pub fn new(keys: StaticKeys, service: MemoryService, network: Arc<NetworkConfig>) -> Self {
        Self { keys, service, network, issuer: None }
    }

    /// Accepts the access tokens of this issuer, too.
    #[must_use]
    pub(crate) fn with_issuer(mut self, issuer: Option<Arc<Issuer>>) -> Self {
        self.issuer = issuer;
        self
    }

    /// The context of a request with these headers.
    ///
    /// # Errors
    ///
    /// Where there is no credential, a wrong one, or no database to find its user in.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Ctx, Refusal> {
        let credential = bearer_credential(headers)?;
        if let Some(user) = self.keys.user_of(credential) {
            let entry = KeyEntry { door: Door::StaticKey, client_id: "", name: "" };
            let holder = self.service.authenticate_key(&Identity::named(user), entry).await;
            return holder.map_err(Refusal::Unavailable)?.map_err(Refusal::Token);
        }
        if credential.starts_with(ACCESS_TOKEN_PREFIX) {
            let access = self.service.authenticate_access_token(credential).await.map_err(Refusal::Unavailable)?;
            let access = access.map_err(Refusal::Token)?;
            if !resource::is_ours(&access.resource, &self.network, headers) {
                return Err(Refusal::OtherResource);
            }
            return Ok(Ctx {
                user: access.user,
                door: Door::OauthApp,
                client: Some(access.name),
                app: Some(access.app),
                grants: access.grants,
            });
        }
        if credential.starts_with(API_TOKEN_PREFIX) {
            let access = self.service.authenticate_token(credential).await.map_err(Refusal::Unavailable)?;
            return Ok(access.map_err(Refusal::Token)?.into_ctx(Door::ApiToken));
        }
        if let Some(issuer) = self.issuer.as_deref().filter(|_| Issuer::may_be_token(credential)) {
            return external::authenticate(issuer, &self.service, credential).await;
        }
        Err(Refusal::Invalid)
    }

    /// The answer to a request without an identity (RFC 6750 section 3, RFC 9728 section 5.1).
    fn challenge(&self, refusal: Refusal, headers: &HeaderMap) -> Response {
        let (error, description) = match refusal {
            Refusal::Missing => (
                None,
                "This endpoint needs a key or a token. Send it as `Authorization: Bearer KEY`; one in the URL is not read."
                    .to_owned(),
            ),
            Refusal::Invalid => (
                Some("invalid_token"),
                "The key is not known here. Check POLYMNEMO_API_KEYS, or the key that the server printed at its start, or \
                 make a token on the page Tokens of the web app."
                    .to_owned(),
            ),
            // The token is good, and a new one would be no better.
            Refusal::Token(paused @ TokenRefusal::Paused) => {
                let body = json!({ "error": "access_denied", "error_description": paused.to_string() });
                return (StatusCode::FORBIDDEN, axum::Json(body)).into_response();
            }
            Refusal::Token(refusal) => (Some("invalid_token"), refusal.to_string()),
            Refusal::OtherResource => {
                (Some("invalid_token"), "The access token was made for another resource than this one.".to_owned())
            }
            Refusal::AccessToken(problem) => (Some("invalid_token"), problem.to_string()),
            Refusal::Scope => (
                Some("insufficient_scope"),
                "The access token has none of the scopes memory:read and memory:write. Ask the authorization server for them."
                    .to_owned(),
            ),
            Refusal::IssuerUnavailable => return external::unavailable(),
            Refusal::Unavailable(error) => {
                let error = polymnemo_types::ApiError::from(error);
                return (StatusCode::SERVICE_UNAVAILABLE, axum::Json(error)).into_response();
            }
        };
        let body = json!({ "error": error.unwrap_or("unauthorized"), "error_description": description });
        let status = if error == Some("insufficient_scope") { StatusCode::FORBIDDEN } else { StatusCode::UNAUTHORIZED };
        let mut response = (status, axum::Json(body)).into_response();
        add_challenge(&mut response, &self.network, headers, error, SCOPES);
        response
    }
}

/// Adds the header that tells a client where to look for what it lacks.
fn add_challenge(
    response: &mut Response,
    network: &NetworkConfig,
    headers: &HeaderMap,
    error: Option<&str>,
    scope: &str,
) {
    let metadata = format!("{}/.well-known/oauth-protected-resource{}", network.origin_for(headers), network.mcp_path);
    let error = error.map(|error| format!(r#"error="{error}", "#)).unwrap_or_default();
    let challenge = format!(r#"Bearer {error}resource_metadata="{metadata}", scope="{scope}""#);
    // Every part is visible ASCII: the origin was read from a valid header or URL.
    if let Ok(challenge) = HeaderValue::try_from(challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
}

/// The credential of an `Authorization: Bearer` header. The scheme's case doesn't matter.
fn bearer_credential(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let value = given.next().ok_or(Refusal::Missing)?;
    if given.next().is_some() {
        return Err(Refusal::Invalid);
    }
    let value = value.to_str().map_err(|_| Refusal::Invalid)?.trim();
    let (scheme, credential) = value.split_once(' ').unwrap_or((value, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(Refusal::Missing);
    }
    Some(credential.trim()).filter(|credential| !credential.is_empty()).ok_or(Refusal::Invalid)
}

/// Lets a request through with a [`Ctx`] among its extensions, or answers 401.
pub async fn require_identity(
    State(authenticator): State<Arc<Authenticator>>,
    mut request: Request,
    next: Next,
) -> Response {
    match authenticator.authenticate(request.headers()).await {
        Ok(ctx) => {
            tracing::Span::current().record("user.id", tracing::field::display(ctx.user.id));
            // From here on nothing needs the credential, so nothing can leak it.
            request.headers_mut().remove(header::AUTHORIZATION);
            request.extensions_mut().insert(ctx);
            next.run(request).await
        }
        Err(refusal) => {
            let (parts, body) = request.into_parts();
            let_arrive(body).await;
            authenticator.challenge(refusal, &parts.headers)
        }
    }
}

/// Waits for the rest of a request that is refused, as far as it is short and on its way. Without it the connection is closed
/// behind the answer, and the client, which isn't told, loses what it sends next on it: the request for the metadata.
async fn let_arrive(body: Body) {
    let _ = tokio::time::timeout(REFUSED_TIME, to_bytes(body, REFUSED_BYTES)).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(values: &[&str]) -> Result<String, String> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        bearer_credential(&headers).map(str::to_owned).map_err(|refusal| format!("{refusal:?}"))
    }

    #[test]
    fn the_scheme_is_read_in_any_case_and_the_key_as_it_is() {
        for good in ["Bearer Key-1", "bearer Key-1", "BEARER   Key-1 "] {
            assert_eq!(credential(&[good]).unwrap(), "Key-1");
        }
    }

    #[test]
    fn another_scheme_is_no_credential_and_an_empty_or_doubled_one_is_wrong() {
        assert_eq!(credential(&[]).unwrap_err(), "Missing");
        assert_eq!(credential(&["Basic a2V5"]).unwrap_err(), "Missing");
        assert_eq!(credential(&["Key-1"]).unwrap_err(), "Missing");
        assert_eq!(credential(&["Bearer"]).unwrap_err(), "Invalid");
        assert_eq!(credential(&["Bearer  "]).unwrap_err(), "Invalid");
        assert_eq!(credential(&["Bearer a", "Bearer b"]).unwrap_err(), "Invalid");
    }
}
