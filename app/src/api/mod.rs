//! The server functions: what the browser asks of the server, a file per noun.
//!
//! Each is a few lines that call one method of the memory service. The ones that read are `GET`,
//! the ones that change something are `POST` and work from a plain HTML form too.

pub mod apps;
#[cfg(feature = "ssr")]
mod caller;
pub mod changes;
pub mod clients;
pub mod connection;
#[cfg(feature = "ssr")]
pub(crate) mod consent;
pub mod erase;
mod error;
pub mod exports;
pub mod imports;
pub mod language;
pub mod media;
pub mod memories;
pub mod namespaces;
pub mod sessions;
pub mod settings;
pub mod sign_in;
pub mod status;
pub mod tokens;

#[cfg(feature = "ssr")]
pub(crate) use caller::signed_in;
#[cfg(feature = "ssr")]
pub use caller::{caller, not_signed_in};
pub use error::WebError;
