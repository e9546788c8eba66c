//! Implementations of the ports that need the outside: the embedding model and the embedded database.

pub mod embedded_postgres;
pub mod embedder;

#[cfg(test)]
#[path = "../tests/support/mod.rs"]
mod support;
