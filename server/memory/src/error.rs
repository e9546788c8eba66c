use polymnemo_types::{ApiError, ErrorCode, MemoryId};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, without a transport.
///
/// The text of each variant is what the caller reads, so it says what to do next; the sources of
/// [`Error::Unavailable`] and [`Error::Internal`] are for the log only and never reach the caller.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request is at fault.
    #[error("{0}")]
    Invalid(String),
    /// There is no such memory, or it is another user's.
    #[error(
        "There is no memory with the id {0}. Take the id from the answer of recall or list_memories; \
         a forgotten memory no longer has one that works."
    )]
    NotFound(MemoryId),
    /// There is no such namespace, or it is another user's and private.
    #[error(
        "There is no namespace `{0}` that you may read. Leave `namespace` out to look everywhere; the resources \
         memory://{{namespace}} are those that there are, and remember makes a new one."
    )]
    NamespaceNotFound(String),
    /// There is no such token, revision or other record of the caller's; the text says which.
    #[error("{0}")]
    Missing(String),
    /// The memory changed since the caller read it.
    #[error(
        "The memory was changed in the meantime: it is at revision {current} now, you expected {expected}. \
         Nothing was written. Read it again with get_memory, then repeat the change."
    )]
    Conflict {
        /// The revision the caller expected.
        expected: u32,
        /// The revision it has.
        current: u32,
    },
    /// The text is too long.
    #[error(
        "The text is {given} bytes long, a memory may have {most}. Nothing was stored. Split it into several memories."
    )]
    TooLarge {
        /// The length given, in bytes of UTF-8.
        given: usize,
        /// The greatest length allowed, in bytes of UTF-8.
        most: usize,
    },
    /// The file is too long.
    #[error("The file is {given} bytes long, this server keeps files of at most {most}. Nothing was stored.")]
    FileTooLarge {
        /// Its length in bytes, as far as it was read.
        given: u64,
        /// The greatest length allowed, in bytes.
        most: u64,
    },
    /// The caller lacks a permission.
    #[error("{0}")]
    Forbidden(String),
    /// The model is being loaded.
    #[error("The embedding model is still being loaded. Nothing was done; try again in a few seconds.")]
    NotReady,
    /// The model can't be used.
    #[error("The embedding model does not work: {0}")]
    Model(String),
    /// The database or another part can't be reached.
    #[error("The {part} can't be reached at the moment. Nothing was done; try again shortly.")]
    Unavailable {
        /// Which part.
        part: &'static str,
        /// What it said, for the log.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A fault of ours.
    #[error("Something went wrong inside the server; its log tells more. Nothing was changed.")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// A fault of ours, told in one sentence for the log.
    pub fn internal(what: impl Into<String>) -> Self {
        Self::Internal(what.into().into())
    }
}

impl From<&Error> for ApiError {
    fn from(error: &Error) -> Self {
        let code = match error {
            Error::Invalid(_) => ErrorCode::InvalidInput,
            Error::NotFound(_) | Error::NamespaceNotFound(_) | Error::Missing(_) => ErrorCode::NotFound,
            Error::Conflict { .. } => ErrorCode::Conflict,
            Error::TooLarge { .. } => ErrorCode::TooLarge,
            Error::FileTooLarge { .. } => ErrorCode::FileTooLarge,
            Error::Forbidden(_) => ErrorCode::Forbidden,
            Error::NotReady => ErrorCode::NotReady,
            Error::Model(_) | Error::Unavailable { .. } => ErrorCode::Unavailable,
            Error::Internal(_) => ErrorCode::Internal,
        };
        Self { code, message: error.to_string() }
    }
}

/// The one place where an error leaves the service; what the caller must not see is logged here.
impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        if let Error::Unavailable { source, .. } | Error::Internal(source) = &error {
            tracing::error!(error = %error, cause = %source, "a request failed inside the server");
        }
        Self::from(&error)
    }
}
