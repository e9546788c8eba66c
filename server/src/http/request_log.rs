use std::time::Instant;

use axum::{extract::Request, middleware::Next, response::Response};
use http::{HeaderName, HeaderValue, Uri};
use tracing::{Instrument, Level};
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The greatest length of an id that a proxy gives, and of a path in the log.
const ID_CHARS: usize = 64;
const PATH_CHARS: usize = 200;

/// Gives each request an id, which is in every line that is logged on its behalf and in the answer,
/// and logs one line when the answer begins.
///
/// The log holds neither headers nor queries, and of a capability path only that it is one, so
/// that no credential gets into it.
pub(crate) async fn record(mut request: Request, next: Next) -> Response {
    let id = request_id(&request);
    // Of the highest level, so that the id is in the lines of every filter.
    let span = tracing::error_span!(
        "request",
        request.id = id,
        http.method = %request.method(),
        http.path = loggable_path(request.uri()),
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

fn loggable_path(uri: &Uri) -> String {
    let path = uri.path();
    if path.starts_with("/c/") {
        return "/c/[hidden]".to_owned();
    }
    path.chars().take(PATH_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_logged_without_its_query_and_a_capability_not_at_all() {
        let path = |uri: &str| loggable_path(&uri.parse().unwrap());
        assert_eq!(path("/mcp?access_token=hunter2"), "/mcp");
        assert_eq!(path("/c/hunter2/mcp"), "/c/[hidden]");
        assert_eq!(path(&format!("/{}", "a".repeat(999))).len(), PATH_CHARS);
    }
}
