//! Implementations of the ports that need the outside: the embedding model, the storages for files, and the embedded
//! database.

pub mod blobs;
pub mod embedded_postgres;
pub mod embedder;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
