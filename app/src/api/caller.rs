use http::{HeaderMap, request::Parts};
use leptos::prelude::*;
use polymnemo_memory::Ctx;
use polymnemo_types::{ApiError, ErrorCode};

use super::WebError;
use crate::i18n::Language;

/// Who asks: the first argument of every method that a server function or a page calls. The server
/// puts it into the request before anything of the app runs.
///
/// # Errors
///
/// [`ErrorCode::NotSignedIn`] where nobody is signed in, or no longer.
pub fn caller() -> Result<Ctx, WebError> {
    signed_in().ok_or_else(|| not_signed_in(use_context::<Parts>().as_ref().map(|parts| &parts.headers)).into())
}

/// Who asks, on what is there for strangers too.
pub(crate) fn signed_in() -> Option<Ctx> {
    use_context::<Parts>()?.extensions.get::<Ctx>().cloned()
}

/// The error for a request that nobody who is signed in sent, in the language of its headers.
#[must_use]
pub fn not_signed_in(headers: Option<&HeaderMap>) -> ApiError {
    let language = headers.map(Language::of_request).unwrap_or_default();
    ApiError { code: ErrorCode::NotSignedIn, message: language.messages().errors.not_signed_in.to_owned() }
}
