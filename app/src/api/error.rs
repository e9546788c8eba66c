use leptos::{
    prelude::{FromServerFnError, ServerFnErrorErr},
    server_fn::codec::JsonEncoding,
};
use polymnemo_types::{ApiError, ErrorCode};
use serde::{Deserialize, Serialize};

use crate::i18n;

/// What a server function answers when it fails: the service's own error, on its way to a person.
///
/// Making one on the server also sets the status of the response, so that no server function has
/// to think of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebError(pub ApiError);

impl From<ApiError> for WebError {
    fn from(error: ApiError) -> Self {
        #[cfg(feature = "ssr")]
        if let Some(response) = leptos::prelude::use_context::<leptos_axum::ResponseOptions>() {
            response.set_status(status_of(error.code));
        }
        Self(error)
    }
}

#[cfg(feature = "ssr")]
impl From<polymnemo_memory::Error> for WebError {
    fn from(error: polymnemo_memory::Error) -> Self {
        ApiError::from(error).into()
    }
}

impl FromServerFnError for WebError {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        let code = match error {
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) | ServerFnErrorErr::Serialization(_) => {
                ErrorCode::InvalidInput
            }
            ServerFnErrorErr::Request(_) => ErrorCode::Unavailable,
            _ => ErrorCode::Internal,
        };
        let message = match error {
            ServerFnErrorErr::Request(_) => i18n::messages().errors.no_connection.to_owned(),
            // What a page of ours sends is always complete, unless an update changed the page meanwhile.
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => i18n::messages().errors.malformed.to_owned(),
            other => other.to_string(),
        };
        ApiError { code, message }.into()
    }
}

/// The HTTP status that tells of an error.
#[cfg(feature = "ssr")]
fn status_of(code: ErrorCode) -> http::StatusCode {
    use http::StatusCode;
    match code {
        ErrorCode::InvalidInput => StatusCode::BAD_REQUEST,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Conflict => StatusCode::CONFLICT,
        ErrorCode::NotSignedIn => StatusCode::UNAUTHORIZED,
        ErrorCode::TooLarge | ErrorCode::FileTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::NotReady | ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
