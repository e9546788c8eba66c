//! What crosses a wire: ids, requests, answers and the one error that every door shows.
//!
//! Both doors of the service (the MCP tools and the web app's server functions) speak these
//! types, and so does the browser, so this crate does no I/O and builds for wasm. Sizes on the
//! wire are fixed (`u32`, `u64`), never `usize`, because the browser counts in 32 bits.

mod error;
mod ids;
mod memory;
mod page;
mod recall;
mod status;

pub use error::{ApiError, ErrorCode};
pub use ids::{InvalidId, MemoryId, UserId};
pub use memory::{
    Forgotten, GetRequest, IndexState, Kind, ListRequest, Memory, MemoryText, RememberRequest, RememberStatus,
    Remembered, Revision, SimilarMemory, UpdateRequest, Updated,
};
pub use page::{Page, limits};
pub use recall::{Hit, Recall, RecallRequest, Why};
pub use status::{EmbedderStatus, NamespaceSummary, Ping};
