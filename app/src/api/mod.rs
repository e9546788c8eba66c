//! The server functions: what the browser asks of the server, a file per noun.
//!
//! Each is a few lines that call one method of the memory service. The ones that read are `GET`,
//! the ones that change something are `POST` and work from a plain HTML form too.

pub mod connection;
mod error;
pub mod language;
pub mod status;

pub use error::WebError;
