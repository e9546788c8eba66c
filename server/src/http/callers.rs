//! Refuses requests that were meant for another host, or that a page of a foreign origin sent.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, Uri, header};

use crate::config::{AllowedOrigin, Authority, NetworkConfig};

/// Refuses a request that calls the server by a name that is not its own.
///
/// A page on the internet can have its own name resolve to 127.0.0.1 (DNS rebinding) and then talk
/// to a local server as if that were the page's own; only the name it calls gives it away.
pub(crate) async fn check_host(State(network): State<Arc<NetworkConfig>>, request: Request, next: Next) -> Response {
    let Some(host) = called_host(request.uri(), request.headers()) else {
        return (StatusCode::BAD_REQUEST, "The request names no valid host.\n").into_response();
    };
    if network.allowed_hosts.iter().any(|allowed| allowed.admits(&host)) {
        return next.run(request).await;
    }
    let reason = "The server does not answer to this host name. If it should, add the name to POLYMNEMO_ALLOWED_HOSTS \
                  or set POLYMNEMO_PUBLIC_URL.\n";
    (StatusCode::FORBIDDEN, reason).into_response()
}

/// The host that a request calls, where it names a valid one, and only one.
pub(crate) fn called_host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let first = hosts.next();
    if hosts.next().is_some() {
        return None;
    }
    match first {
        Some(host) => host.to_str().ok().and_then(Authority::parse),
        // HTTP/2 names the host in the URI.
        None => uri.authority().and_then(|authority| Authority::parse(authority.as_str())),
    }
}

/// Refuses a request that a page of a foreign origin sent. Programs send no `Origin`, and neither
/// does a browser that only follows a link.
pub(crate) async fn check_origin(State(network): State<Arc<NetworkConfig>>, request: Request, next: Next) -> Response {
    let allowed = request
        .headers()
        .get_all(header::ORIGIN)
        .iter()
        .all(|origin| origin.to_str().is_ok_and(|origin| is_allowed(&network, origin)));
    if allowed {
        return next.run(request).await;
    }
    let reason = "Pages of this origin may not call the server. If they should, add the origin to \
                  POLYMNEMO_ALLOWED_ORIGINS.\n";
    (StatusCode::FORBIDDEN, reason).into_response()
}

/// Whether pages of this origin may call the server.
#[must_use]
pub(crate) fn is_allowed(network: &NetworkConfig, origin: &str) -> bool {
    AllowedOrigin::parse(origin)
        .is_some_and(|given| network.allowed_origins.iter().any(|allowed| allowed.admits(&given)))
}
