//! The one place where an error becomes the result of a tool.
//!
//! A caller that can do something about it reads the text of a result, not that of a protocol
//! error, which most clients hide. So everything that goes wrong inside a known tool, a missing
//! permission included, is a result with `isError` whose text says the next step.

use polymnemo_types::ApiError;
use rmcp::model::{CallToolResult, ContentBlock};

/// The result that tells of an error. It has no structured content, since the tool's schema
/// describes what success looks like.
pub(crate) fn result(error: &ApiError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.message.clone())])
}
