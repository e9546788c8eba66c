//! What the stories are told with: a server like the real one, its users, and clients for them.
//!
//! ```ignore
//! let app = TestApp::start().await;
//! let alice = app.mcp("alice");
//! let stored = alice.call("remember", json!({ "content": "My bike is green." })).await;
//! assert_eq!(stored["status"], "stored");
//! ```
//!
//! The server is the real router on a real TCP port over a PostgreSQL database of its own. Stories
//! that are about meaning ask for the real model ([`Builder::real_embedder`]), which takes a second or
//! two to load; all others use one that knows words only.

mod alice;
mod app;
mod browser;
mod clock;
mod database;
mod filling;
mod github;
mod issuer;
mod mcp;
mod process;
mod s3;

pub use alice::{app, signed_in, text};
pub use app::{Builder, TestApp, key_of};
pub use browser::{Browser, location, parameter, set_cookies};
pub use clock::{noon, with_clock};
pub use database::{TestDatabase, runtime_dir};
pub use filling::fill_with_copies;
pub use github::{CLIENT_ID, CLIENT_SECRET, GitHub};
pub use issuer::{AUDIENCE, Issuer, WEB_CLIENT, WEB_SECRET, now};
pub use mcp::{McpClient, REVISIONS, ToolResult};
pub use process::{ServerProcess, data_folder};
pub use s3::S3Server;
