//! What the database says, in the service's words.

use polymnemo_memory::Error;
use sea_orm::{DbErr, RuntimeErr, sqlx};

/// SQLSTATE classes and codes that tell of trouble with the server, not with the statement: connection exception,
/// insufficient resources, operator intervention, system error; deadlock and serialization failure pass by themselves.
const TRANSIENT: &[&str] = &["08", "53", "57", "58", "40"];

/// Trouble that may pass is [`Error::Unavailable`]; anything else is a fault of ours.
pub(crate) fn from_db(error: DbErr) -> Error {
    let transient = match &error {
        DbErr::ConnectionAcquire(_) | DbErr::Conn(_) => true,
        DbErr::Exec(RuntimeErr::SqlxError(error)) | DbErr::Query(RuntimeErr::SqlxError(error)) => is_transient(error),
        _ => false,
    };
    told(transient, Box::new(error))
}

/// The same for an error that sea-orm has not seen.
pub(crate) fn from_sqlx(error: sqlx::Error) -> Error {
    told(is_transient(&error), Box::new(error))
}

fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Protocol(_) => true,
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| TRANSIENT.iter().any(|transient| code.starts_with(transient)))
        }
        _ => false,
    }
}

fn told(transient: bool, source: Box<dyn std::error::Error + Send + Sync>) -> Error {
    if transient { Error::Unavailable { part: "database", source } } else { Error::Internal(source) }
}
