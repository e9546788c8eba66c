//! The memory service: what it means to remember, recall, change and forget.
//!
//! This crate holds the rules and knows no HTTP, no SQL, no Leptos and no MCP. It opens with
//! [`MemoryService`], whose methods each take a [`Ctx`] first: who asks, through what, with which
//! grants. What the service needs of the outside it names as traits in [`ports`]; the composition
//! root of the server chooses the implementations.
//!
//! To add an operation on memories: give its request and answer a type in `polymnemo-types`, write
//! the method in a file of its own under `service/`, extend the [`ports::Store`] trait where SQL is
//! needed, and only then open a door to it (an MCP tool, a server function) of a few lines.

mod account;
pub mod analyze;
pub mod chunk;
mod ctx;
pub mod diff;
mod error;
pub mod export;
pub mod noise;
mod oauth;
pub mod ports;
pub mod rank;
pub mod receipt;
mod service;
#[cfg(feature = "testing")]
pub mod testing;
pub mod transcript;
mod when;

pub use account::{API_TOKEN_PREFIX, Account, SessionSecret, TokenAccess, TokenRefusal};
pub use ctx::{Ctx, Grants, Identity, NamespaceGrant, User, UserDefaults};
pub use error::{Error, Result};
pub use oauth::{
    ACCESS_TOKEN_PREFIX, AppAccess, CODE_PREFIX, GrantRefusal, IssuedTokens, OauthClient, REFRESH_TOKEN_PREFIX,
};
pub use polymnemo_types::Door;
pub use ports::{FileBytes, TokenHash};
pub use service::{
    CountedKind, ExportPlace, MemoryService, OnRestore, RestoreCount, RestoreProblem, RestoreProgress, RestoreReport,
    RestoreStep, client_name,
};
