//! Storages for the bytes of files: a directory of the server, and services that speak S3.

mod disposition;
mod grant;
mod local;
mod s3;

pub use disposition::content_disposition;
pub use grant::{Grant, Permission, Refusal};
pub use local::{LocalBlobs, NotReceived};
pub use s3::{S3Blobs, S3Options};

use polymnemo_memory::Error;

/// What the disk said, for the log; a full one is another trouble than one that can't be reached.
fn of_disk(error: std::io::Error) -> Error {
    let part = match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => "file storage, whose disk is full,",
        _ => "file storage",
    };
    Error::Unavailable { part, source: Box::new(error) }
}

/// What the storage said, for the log.
fn unavailable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Unavailable { part: "file storage", source: source.into() }
}
