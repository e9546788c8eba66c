//! The MCP door to the memory service: tools, resources, completion, instructions.
//!
//! [`McpServer`] is the handler; [`streamable_http`] and [`serve_stdio`] put it on a transport. It
//! keeps no state between two requests: whoever asks is read from each request ([`Caller`]), so any
//! number of replicas answer the same client, before and after a restart.
//!
//! # To add a tool
//!
//! 1. Write the service method and its types first; this crate only opens the door.
//! 2. Add a file under `tools/` with a struct for the arguments, a struct for the answer and an
//!    implementation of `Tool`. The doc comments of the fields are published as their
//!    descriptions, so write them for the client's reader.
//! 3. List it in [`Toolset`]. The tests in `tools/mod.rs` then hold it to the rules of the surface,
//!    and the snapshot of `tools/list` shows the contract that changed.
//!
//! A tool once published keeps its name: rename it by adding the old name to its aliases.
//!
//! # What a client sees, and in which form
//!
//! A result can carry text (`content`) and JSON (`structuredContent`). Some clients show their model
//! only the one, some only the other, some both, so the module `answer` decides by the protocol
//! revision where the payload goes; it is sent once.

mod answer;
mod arguments;
mod caller;
mod completion;
mod error;
mod guard;
mod instructions;
pub mod json_rpc;
mod params;
mod resources;
mod schema;
mod server;
mod stdio;
mod tools;
mod transport;
mod view;

pub use caller::Caller;
pub use server::McpServer;
pub use tools::{Toolset, tool_writes};
pub use transport::{StdioError, serve_stdio, streamable_http, streamable_http_with};
