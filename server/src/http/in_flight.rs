use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use tokio_util::task::TaskTracker;

/// Counts the requests that are being worked on, until their answer begins.
///
/// A shutdown waits for these. Event streams stay open for as long as the client likes and are not
/// counted once they began: they are ended as soon as nothing else is left.
pub(crate) async fn track(State(requests): State<TaskTracker>, request: Request, next: Next) -> Response {
    requests.track_future(next.run(request)).await
}
