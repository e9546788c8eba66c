use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::{capability, config::NetworkConfig};

/// Sent with every answer, whatever it is.
const ALWAYS: [(HeaderName, &str); 2] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // Not `no-referrer`: browsers then send `Origin: null` with a form of our own pages, which is
    // the very thing that tells a foreign page.
    (header::REFERRER_POLICY, "same-origin"),
];

/// Parts a page from the window of another site that opened it.
const OPENER_POLICY: (HeaderName, &str) = (HeaderName::from_static("cross-origin-opener-policy"), "same-origin");

/// The way on which an app sends a person here and gets them back. Apps that run in the browser open a window for it, and wait
/// for word from it: it must not be parted from them, not even by one answer on the way.
const WAY_OF_APPS: [&str; 3] = ["/authorize", "/consent", "/sign-in"];

/// Sent unless the answer says otherwise itself: only pages need to load anything, only the files of the web app may be kept,
/// and only a document that someone stores is shown inside a page.
const BY_DEFAULT: [(HeaderName, &str); 3] = [
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Adds the headers that tell browsers to be careful.
pub(crate) async fn add(State(network): State<Arc<NetworkConfig>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let is_way_of_apps = WAY_OF_APPS
        .iter()
        .any(|way| path.strip_prefix(way).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    let holds_secret = capability::is_below(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !is_way_of_apps {
        let (name, value) = OPENER_POLICY;
        headers.insert(name, HeaderValue::from_static(value));
    }
    if holds_secret {
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    }
    for (name, value) in BY_DEFAULT {
        insert_if_absent(headers, name, value);
    }
    if network.is_https() {
        insert_if_absent(headers, header::STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
    response
}

fn insert_if_absent(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    headers.entry(name).or_insert(HeaderValue::from_static(value));
}
