use std::any::Any;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use polymnemo_types::{ApiError, ErrorCode};

/// The answer to a request whose handler panicked. The panic itself was logged by the hook.
#[must_use]
pub(crate) fn answer(_panic: Box<dyn Any + Send>) -> Response {
    let error = ApiError {
        code: ErrorCode::Internal,
        message: "Something went wrong inside the server; its log tells more.".to_owned(),
    };
    (StatusCode::INTERNAL_SERVER_ERROR, axum::Json(error)).into_response()
}
