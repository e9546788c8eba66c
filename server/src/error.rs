use crate::config::ConfigError;

/// Why a command could not do its work. The text is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting, or something that a setting leads to, can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The database can't be reached or started.
    #[error("{0}")]
    Database(String),
    /// The embedding model or its library is not there or damaged.
    #[error("{0}")]
    Model(String),
    /// The work began and then failed.
    #[error("{0}")]
    Failed(String),
}

impl Error {
    /// The exit code of the process: 2 where the settings or what they lead to must be corrected
    /// first, 1 where the work itself failed.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Config(_) | Self::Database(_) | Self::Model(_) => 2,
            Self::Failed(_) => 1,
        }
    }
}

/// An error with its causes on one line, without repeating what a cause already said.
pub(crate) fn in_one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
