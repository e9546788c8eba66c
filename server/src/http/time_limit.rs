use std::time::Duration;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::StatusCode;

/// Gives up on a request whose answer has not begun in time: the last net, for bodies that trickle
/// in and handlers that hang. What a handler was doing is dropped where it waits.
pub(crate) async fn enforce(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let reason = format!("The request took longer than {} seconds and was given up.\n", limit.as_secs());
            (StatusCode::GATEWAY_TIMEOUT, reason).into_response()
        }
    }
}
