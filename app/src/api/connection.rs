//! How a client reaches this server.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use serde::{Deserialize, Serialize};

use super::WebError;

/// What a person copies into a client's settings. It holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// The address of the MCP endpoint, as clients outside see it.
    pub mcp_url: String,
}

/// Tells where the MCP endpoint is.
///
/// # Errors
///
/// Only those of the way to the server.
#[server(endpoint = "connection_details", input = GetUrl)]
pub async fn connection_details() -> Result<Connection, WebError> {
    let web = expect_context::<crate::WebContext>();
    Ok(Connection { mcp_url: web.mcp_url })
}
