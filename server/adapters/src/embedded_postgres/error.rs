use std::{io, path::PathBuf};

/// What can keep the embedded database from running. Each message says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Files of PostgreSQL are missing.
    #[error("PostgreSQL is missing or incomplete: there is no {0}. Run `polymnemo setup`, which fetches it.")]
    RuntimeMissing(PathBuf),
    /// The files of PostgreSQL are there, but do not run.
    #[error("PostgreSQL does not run on this machine ({0}). Run `polymnemo setup`, which fetches it again.")]
    RuntimeBroken(String),
    /// The account under which the database runs can't get to its files.
    #[error(
        "the database runs as the user {account}, who may not enter {directory}. Either allow it with \
         `chmod o+x {directory}`, or choose another place with POLYMNEMO_DATA_DIR.",
        directory = directory.display()
    )]
    NotSearchable {
        /// The name of the account.
        account: String,
        /// The first directory on the way that it may not enter.
        directory: PathBuf,
    },
    /// Started by root, and there is nobody else to be.
    #[error(
        "PostgreSQL refuses to run as root, and there is neither a user `postgres` nor a user `nobody` to run it as. \
         Start polymnemo as an ordinary user."
    )]
    NoAccount,
    /// The cluster belongs to another major version of PostgreSQL.
    #[error(
        "the database in {directory} was made by PostgreSQL {cluster}, and this is PostgreSQL {server}. \
         Start the version of polymnemo that made it, or move the directory away to begin with an empty memory.",
        directory = directory.display()
    )]
    OtherVersion {
        /// The directory of the cluster.
        directory: PathBuf,
        /// The major version that made the cluster.
        cluster: String,
        /// The major version of the files in the runtime directory.
        server: String,
    },
    /// The passwords of the cluster can't be read.
    #[error("the database's passwords in {file} can't be read ({reason}). Put the file back from a backup.", file = file.display())]
    Credentials {
        /// The file that holds them.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// A new cluster could not be made.
    #[error("a new database could not be made: {0}")]
    Initialise(String),
    /// The server did not start.
    #[error("the database did not start: {reason} Its log is {log}.", log = log.display())]
    Start {
        /// What it said.
        reason: String,
        /// Where it says more.
        log: PathBuf,
    },
    /// The server did not end.
    #[error("the database (process {0}) did not stop. It goes on running; the next start attaches to it.")]
    Stop(i32),
    /// The server runs, but does not do what it is asked.
    #[error("the database refused to be set up: {0}")]
    Sql(#[from] sqlx::Error),
    /// The operating system refused something.
    #[error("can't {doing}: {source}")]
    Io {
        /// What was attempted.
        doing: String,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

/// The result of everything in this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Says what was being done when the operating system refused.
pub(super) trait Doing<T> {
    /// Turns the refusal into an [`Error`]; `doing` completes the sentence "can't …".
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Doing<T> for std::result::Result<T, E> {
    fn doing(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::Io { doing: doing(), source: source.into() })
    }
}
