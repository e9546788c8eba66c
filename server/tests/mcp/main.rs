//! The MCP endpoint as clients of every revision meet it: the real router over real HTTP, with a real
//! database and model.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "that is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod batches;
mod client;
mod protocol;
mod resources;
mod results;
mod stdio;
mod tools;
