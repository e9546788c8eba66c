use serde::{Deserialize, Serialize};

/// What kind of trouble an [`ApiError`] tells of, for programs; the message is for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself is at fault; sending it again unchanged fails again.
    InvalidInput,
    /// There is no such record, or it is another user's: the two look the same.
    NotFound,
    /// The record changed since the caller read it.
    Conflict,
    /// Nobody is signed in, or no longer.
    NotSignedIn,
    /// The text is longer than a memory may be.
    TooLarge,
    /// The file is longer than one may be here.
    FileTooLarge,
    /// The caller is known but lacks the permission.
    Forbidden,
    /// The embedding model is still being loaded.
    NotReady,
    /// A part that the service needs (database, model) does not work at the moment.
    Unavailable,
    /// A fault of the service; the details are in its log.
    Internal,
}

/// The one error that every door shows. The message says what happened and what to do next, and
/// holds neither secrets nor anything of another user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// The kind of trouble.
    pub code: ErrorCode,
    /// What happened and the caller's next step, in one or two sentences.
    pub message: String,
}
