//! The MCP endpoint as clients of every revision meet it: the real router over real HTTP, with a real
//! database and model.

mod batches;
mod client;
mod protocol;
mod resources;
mod results;
mod stdio;
mod tools;
