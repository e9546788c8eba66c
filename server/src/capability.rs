//! The MCP endpoint for clients that can send no header: the secret is a part of the path,
//! `/c/TOKEN/mcp`.
//!
//! Whoever is let in meets everything that stands before the endpoint otherwise, but for the bearer
//! credential. Everything else below `/c/` is one and the same 404, so that nothing tells a token
//! that is wrong, revoked or not meant for URLs from a path that never was. There is no 401 either: it
//! would make clients look for an authorization server.

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::any,
};
use http::{Extensions, StatusCode, Uri, header, uri::PathAndQuery};
use polymnemo_memory::{API_TOKEN_PREFIX, Ctx, Door, Identity, MemoryService, ports::KeyEntry};
use tower::ServiceExt as _;

use crate::{auth::StaticKeys, config::NetworkConfig};

/// Who may come by URL, and where that leads.
struct Gate {
    tokens: StaticKeys,
    service: MemoryService,
    /// The MCP endpoint at its usual path, without identity before it.
    endpoint: Router,
    path: PathAndQuery,
}

/// Everything below `/c/`. `endpoint` is the MCP endpoint with all that stands before it, but for identity.
pub(crate) fn routes(tokens: StaticKeys, service: MemoryService, network: &NetworkConfig, endpoint: Router) -> Router {
    // A path of the settings is made of plain segments, which any URI can hold.
    let path = PathAndQuery::try_from(network.mcp_path.as_str()).unwrap_or_else(|_| PathAndQuery::from_static("/"));
    Router::new().route("/c/", any(missing)).route("/c/{*rest}", any(enter)).with_state(Arc::new(Gate {
        tokens,
        service,
        endpoint,
        path,
    }))
}

/// Whether a path is one of those that may hold a secret.
pub(crate) fn is_below(path: &str) -> bool {
    path.starts_with("/c/")
}

async fn enter(State(gate): State<Arc<Gate>>, mut request: Request) -> Response {
    let Some(token) = gate.token_in(request.uri().path()) else { return missing().await };
    let ctx = match gate.ctx_of(token).await {
        Ok(Some(ctx)) => ctx,
        Ok(None) => return missing().await,
        Err(error) => {
            let error = polymnemo_types::ApiError::from(error);
            return (StatusCode::SERVICE_UNAVAILABLE, axum::Json(error)).into_response();
        }
    };
    tracing::Span::current().record("user.id", tracing::field::display(ctx.user.id));
    gate.forget_token(&mut request);
    request.extensions_mut().insert(ctx);
    let Ok(response) = gate.endpoint.clone().oneshot(request).await;
    response
}

/// The answer to everything that isn't there, always the same.
async fn missing() -> Response {
    (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response()
}

impl Gate {
    /// What stands for the token in a path that leads to the endpoint, with and without a slash at the end. It is taken
    /// as it is written: no character of a token needs to be escaped.
    fn token_in<'a>(&self, path: &'a str) -> Option<&'a str> {
        let path = path.strip_suffix('/').unwrap_or(path);
        let token = path.strip_prefix("/c/")?.strip_suffix(self.path.path())?;
        (!token.is_empty() && !token.contains('/')).then_some(token)
    }

    /// The context of whoever has this token, be it from the settings or made for URLs in the web app.
    async fn ctx_of(&self, token: &str) -> polymnemo_memory::Result<Option<Ctx>> {
        if let Some(user) = self.tokens.user_of(token) {
            let entry = KeyEntry { door: Door::CapabilityPath, client_id: "", name: "" };
            return Ok(self.service.authenticate_key(&Identity::named(user), entry).await?.ok());
        }
        if !token.starts_with(API_TOKEN_PREFIX) {
            return Ok(None);
        }
        let access = self.service.authenticate_token(token).await?;
        let access = access.ok().filter(|access| access.in_url);
        Ok(access.map(|access| access.into_ctx(Door::CapabilityPath)))
    }

    /// Makes the request one to the endpoint itself. What the router noted of its address holds the token, and goes
    /// with it; so does every other credential.
    fn forget_token(&self, request: &mut Request) {
        let span = request.extensions_mut().remove::<tracing::Span>();
        let mut extensions = Extensions::new();
        if let Some(span) = span {
            extensions.insert(span);
        }
        *request.extensions_mut() = extensions;
        for name in [header::AUTHORIZATION, header::COOKIE, header::REFERER] {
            request.headers_mut().remove(name);
        }
        let mut parts = std::mem::take(request.uri_mut()).into_parts();
        parts.path_and_query = Some(self.path.clone());
        *request.uri_mut() = Uri::from_parts(parts).unwrap_or_default();
    }
}
