//! Looks over the JSON of an MCP request before the transport parses it, and sees to it that whatever is refused is
//! refused in JSON-RPC.

use std::time::Duration;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures::StreamExt as _;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use polymnemo_mcp::json_rpc::{self, Fault, INTERNAL_ERROR, INVALID_REQUEST, Input};
use tokio::sync::Semaphore;

use super::batch;

/// The greatest length of a request's body, in bytes: a session of some 20 MB, saved as a whole.
pub(crate) const BODY_BYTES: usize = 32 << 20;

/// Up to this length any number of bodies may be in the process at once: a memory of the greatest length (1 MiB),
/// written with every character escaped (`\u0000`, six times as long), and room for the rest. So may those whose length is not
/// said beforehand.
const ORDINARY_BYTES: usize = 8 << 20;

/// Longer ones come in one after the other, as each takes several times its length until it is stored.
static LONG_BODIES: Semaphore = Semaphore::const_new(2);

/// How long a body may take to come in. An ordinary one does so over a line of 300 kB/s.
const BODY_TIME: Duration = Duration::from_secs(30);

/// How long the rest of a refused body is read and thrown away. Clients that are cut off while they send often don't read
/// why.
const LEFTOVER_TIME: Duration = Duration::from_secs(2);

/// The greatest length of a refusal by the transport.
const REFUSAL_BYTES: usize = 64 << 10;

/// Reads the body of a POST, bounded in length and time; repairs what would make a good text unreadable, takes a batch
/// apart, and answers what is not JSON-RPC with the error that JSON-RPC has for it.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    check_within(BODY_TIME, request, next).await
}

async fn check_within(limit: Duration, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    if !is_json(&parts.headers) {
        throw_away(body);
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &Fault::invalid("`Content-Type` must be application/json."));
    }
    if content_length(&parts.headers).is_some_and(|length| length > BODY_BYTES as u64) {
        throw_away(body);
        return too_large();
    }
    let is_long = content_length(&parts.headers).is_some_and(|length| length > ORDINARY_BYTES as u64);
    let most = if is_long { BODY_BYTES } else { ORDINARY_BYTES };
    // Kept until the answer is there; the semaphore is never closed.
    let _turn = if is_long { LONG_BODIES.acquire().await.ok() } else { None };
    let bytes = match tokio::time::timeout(limit, axum::body::to_bytes(body, most)).await {
        Ok(Ok(bytes)) => bytes,
        Ok(Err(_)) => return too_large(),
        Err(_) => {
            let limit = limit.as_secs();
            let message =
                format!("The request had not come in whole after {limit} seconds and was given up. Send it again.");
            return refuse(StatusCode::REQUEST_TIMEOUT, &Fault::invalid(message));
        }
    };
    // One that is no text is refused by the transport; until then it must not pass for an old one.
    let revision = parts.headers.get("mcp-protocol-version").map(|value| value.to_str().unwrap_or("unknown"));
    match json_rpc::read(bytes.into(), revision) {
        Ok(Input::Message(message)) => explain(next.run(Request::from_parts(parts, Body::from(message))).await).await,
        Ok(Input::Batch(messages)) => batch::answer(parts, messages, next).await,
        // An error of the method, not of the request as such.
        Err(fault) if fault.id.is_some() => refuse(StatusCode::OK, &fault),
        Err(fault) => refuse(StatusCode::BAD_REQUEST, &fault),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Response {
    let message = format!(
        "The request could not be read: it broke off, or it is longer than {BODY_BYTES} bytes. Send less at once."
    );
    refuse(StatusCode::PAYLOAD_TOO_LARGE, &Fault::invalid(message))
}

fn refuse(status: StatusCode, fault: &Fault) -> Response {
    (status, axum::Json(fault.answer())).into_response()
}

/// Reads on for a moment beside the answer.
fn throw_away(body: Body) {
    let rest =
        async move { body.into_data_stream().take_while(|piece| std::future::ready(piece.is_ok())).count().await };
    tokio::spawn(tokio::time::timeout(LEFTOVER_TIME, rest));
}

/// The answer of the transport, which refuses some requests in plain text: then the same in JSON-RPC.
pub(super) async fn explain(response: Response) -> Response {
    let status = response.status();
    if !(status.is_client_error() || status.is_server_error()) || is_json(response.headers()) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = axum::body::to_bytes(body, REFUSAL_BYTES).await.unwrap_or_else(|_| Bytes::new());
    let code = if status.is_server_error() { INTERNAL_ERROR } else { INVALID_REQUEST };
    let message = match text.is_empty() {
        true => status.to_string(),
        false => String::from_utf8_lossy(&text).into_owned(),
    };
    if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // The media type was right, but not what the transport made of the JSON.
        parts.status = StatusCode::BAD_REQUEST;
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let answer = Fault::new(code, message).answer();
    Response::from_parts(parts, Body::from(answer.to_string()))
}

#[cfg(test)]
mod tests {
    use axum::{Router, middleware, routing::post};
    use serde_json::Value;
    use tower::ServiceExt as _;

    use super::*;

    async fn answer(handler: Router, content_length: Option<usize>, body: Body) -> (StatusCode, Value) {
        let mut request = Request::post("/mcp").header(header::CONTENT_TYPE, "application/json");
        if let Some(length) = content_length {
            request = request.header(header::CONTENT_LENGTH, length);
        }
        let limit = Duration::from_millis(200);
        let router = handler.layer(middleware::from_fn(move |request, next| check_within(limit, request, next)));
        let response = router.oneshot(request.body(body).unwrap()).await.unwrap();
        assert!(is_json(response.headers()), "{response:?}");
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), BODY_BYTES).await.unwrap();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    /// A body of which there is a beginning and no end.
    fn stalling() -> Body {
        let begin = futures::stream::iter([Ok::<_, std::io::Error>("{\"jsonrpc\":")]);
        Body::from_stream(begin.chain(futures::stream::pending()))
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_given_up() {
        let handler = Router::new().route("/mcp", post(async || "reached"));
        let (status, told) = answer(handler, None, stalling()).await;
        assert_eq!((status, told["error"]["code"].as_i64()), (StatusCode::REQUEST_TIMEOUT, Some(-32_600)));
    }

    #[tokio::test]
    async fn a_body_that_says_it_is_too_long_is_not_waited_for() {
        let handler = Router::new().route("/mcp", post(async || "reached"));
        let (status, told) = answer(handler, Some(BODY_BYTES + 1), stalling()).await;
        assert_eq!((status, told["error"]["code"].as_i64()), (StatusCode::PAYLOAD_TOO_LARGE, Some(-32_600)));
    }

    #[tokio::test]
    async fn what_the_transport_refuses_in_plain_text_is_refused_in_json_rpc() {
        for (status, expected, code) in [
            (StatusCode::NOT_ACCEPTABLE, StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST),
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, StatusCode::BAD_REQUEST, INVALID_REQUEST),
            (StatusCode::INTERNAL_SERVER_ERROR, StatusCode::INTERNAL_SERVER_ERROR, INTERNAL_ERROR),
        ] {
            let handler = Router::new().route("/mcp", post(async move || (status, "plain words")));
            let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            let (status, told) = answer(handler, None, message.into()).await;
            assert_eq!((status, &told["error"]["message"]), (expected, &Value::from("plain words")));
            assert_eq!(told["error"]["code"], code);
        }
    }
}
