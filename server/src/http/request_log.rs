use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderName, HeaderValue};
use tracing::{Instrument, Level};
use uuid::Uuid;

use crate::config::NetworkConfig;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The greatest length of an id that a proxy gives, and of a path in the log.
const ID_CHARS: usize = 64;
const PATH_CHARS: usize = 200;

/// Gives each request an id, which is in every line that is logged on its behalf and in the answer,
/// and logs one line when the answer begins.
///
/// The log holds neither headers nor queries, and of a capability path or upload page only that it is one, so
/// that no credential gets into it.
pub(crate) async fn record(State(network): State<Arc<NetworkConfig>>, mut request: Request, next: Next) -> Response {
    let id = request_id(&request);
    // Of the highest level, so that the id is in the lines of every filter.
    let span = tracing::error_span!(
        "request",
        request.id = id,
        http.method = %request.method(),
        http.path = loggable_path(request.uri().path(), &network.mcp_path),
        user.id = tracing::field::Empty,
    );
    // For code that runs on behalf of the request in a task of its own.
    request.extensions_mut().insert(span.clone());
    let is_probe = matches!(request.uri().path(), "/healthz" | "/readyz");
    async move {
        let started = Instant::now();
        let mut response = next.run(request).await;
        let status = response.status();
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if status.is_server_error() {
            tracing::event!(Level::ERROR, http.status = status.as_u16(), milliseconds, "request failed");
        } else if is_probe {
            tracing::event!(Level::DEBUG, http.status = status.as_u16(), milliseconds, "probe answered");
        } else {
            tracing::event!(Level::INFO, http.status = status.as_u16(), milliseconds, "request answered");
        }
        if let Ok(id) = HeaderValue::try_from(id) {
            response.headers_mut().insert(REQUEST_ID, id);
        }
        response
    }
    .instrument(span)
    .await
}

/// The id that a proxy in front gave, so that its log and ours can be read together, or a new one.
fn request_id(request: &Request) -> String {
    let is_plain = |id: &&str| {
        (1..=ID_CHARS).contains(&id.len())
            && id.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'))
    };
    let given = request.headers().get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(is_plain);
    given.map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

/// A path without what follows a segment `c` or `upload`, where a secret is. The segment counts wherever it is, and in every way to write
/// it: a client that was given a mistyped URL sends its secret all the same.
fn loggable_path(path: &str, mcp_path: &str) -> String {
    let mut shown = 0;
    for segment in path.split('/') {
        shown += segment.len();
        if matches!(segment, "c" | "C" | "%63" | "%43" | "upload") {
            let (start, hidden) = path.split_at(shown);
            let hidden = hidden.strip_prefix('/').unwrap_or(hidden);
            let after = hidden.find('/').map_or("", |at| hidden.split_at(at).1).trim_end_matches('/');
            let end = if after == mcp_path { after } else { "" };
            return format!("{}/…{end}", shortened(start));
        }
        shown += 1;
    }
    shortened(path)
}

fn shortened(path: &str) -> String {
    path.chars().take(PATH_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_logged_without_its_query_and_a_capability_not_at_all() {
        let path = |uri: &str| loggable_path(uri.parse::<http::Uri>().unwrap().path(), "/mcp");
        assert_eq!(path("/mcp?access_token=hunter2"), "/mcp");
        for right in ["/c/hunter2/mcp", "/c/hunter2/mcp/", "/c//mcp"] {
            assert_eq!(path(right), "/c/…/mcp");
        }
        for mistyped in ["/c/hunter2", "/c/mcp/hunter2", "/c/hunter2/x/mcp", "/c/hunter2mcp", "/c/", "/c"] {
            assert_eq!(path(mistyped), "/c/…");
        }
        for odd in ["//c/hunter2/mcp", "/C/hunter2/mcp", "/%63/hunter2/mcp", "/mcp/c/hunter2", "/a/b/c/hunter2"] {
            assert!(!path(odd).contains("hunter2"), "{odd}");
        }
        assert_eq!(path("/upload/hunter2/file"), "/upload/…");
        assert_eq!(path("/blobs/ab12?grant=hunter2&signature=hunter2"), "/blobs/ab12");
        assert_eq!(path("/memories/0198c0de"), "/memories/0198c0de");
        assert_eq!(path(&format!("/{}", "a".repeat(999))).len(), PATH_CHARS);
    }
}
