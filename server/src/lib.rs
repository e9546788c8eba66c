//! The server: what `polymnemo` does when it is started.
//!
//! The library is there so that tests drive the real router in their own process. `ARCHITECTURE.md`
//! beside it tells how the crates fit together.

pub mod auth;
mod blobs;
mod capability;
pub mod cli;
mod commands;
mod compose;
pub mod config;
mod connector;
mod error;
mod health;
mod http;
mod jobs;
mod logging;
mod oauth;
mod oidc;
mod outbound;
mod receipts;
mod router;
mod server;
mod shutdown;
mod web;
mod well_known;

pub use compose::Parts;
pub use error::Error;
pub use server::Server;
pub use web::SignInLinks;
