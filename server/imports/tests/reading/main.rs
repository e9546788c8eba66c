//! What is read from exports, whole or broken.
#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::string_slice,
    reason = "a test that can't go on has failed"
)]

mod broken;
mod chatgpt;
mod claude;
mod claude_code;
mod common;
mod files;
mod large;
mod others;
mod samples;
