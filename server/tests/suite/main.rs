//! Stories about the server, told through its service, its real router or its real binary.
//!
//! They are one test binary: linking a dozen would take longer than running one, and far more room.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    unreachable_pub,
    reason = "that is how a test fails, and says why"
)]

mod accounts;
mod erase;
mod export;
mod imports;
mod mcp;
mod media;
mod memories;
mod oauth;
mod recall;
mod sessions;
mod sign_in;
mod stories;
mod support;
