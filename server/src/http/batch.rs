//! Batches of JSON-RPC messages, which the first revisions of the protocol have and the transport does not know.

use axum::{
    body::Body,
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header, request::Parts};
use polymnemo_mcp::json_rpc::{Fault, INTERNAL_ERROR};
use serde_json::Value;

use super::json_rpc::explain;

/// The greatest length of the answer to one message: that of any answer, with room to spare.
const ANSWER_BYTES: usize = 1 << 20;

/// Has each message answered as if it came alone, one after the other, since a later one may build on an earlier one.
pub(super) async fn answer(parts: Parts, messages: Vec<Result<Vec<u8>, Fault>>, next: Next) -> Response {
    let mut answers = Vec::with_capacity(messages.len());
    for message in messages {
        match message {
            Ok(message) => {
                let mut parts = parts.clone();
                parts.headers.remove(header::CONTENT_LENGTH);
                let request = Request::from_parts(parts, Body::from(message));
                answers.extend(read(explain(next.clone().run(request).await).await).await);
            }
            Err(fault) => answers.push(fault.answer()),
        }
    }
    match answers.is_empty() {
        true => StatusCode::ACCEPTED.into_response(),
        false => axum::Json(answers).into_response(),
    }
}

/// The answer to one message; a notification has none.
async fn read(response: Response) -> Option<Value> {
    if response.status() == StatusCode::ACCEPTED {
        return None;
    }
    let bytes = axum::body::to_bytes(response.into_body(), ANSWER_BYTES).await.ok();
    let answer = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    Some(
        answer.unwrap_or_else(|| {
            Fault::new(INTERNAL_ERROR, "This message got no answer that fits into a batch.").answer()
        }),
    )
}
