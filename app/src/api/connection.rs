//! How a client reaches this server.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::ConnectionReport;
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

/// Tests the connection as AI apps make it, through the public address, and gives what became of each step.
///
/// # Errors
///
/// Where too many tests run already.
#[server(endpoint = "test_connection")]
pub async fn test_connection() -> Result<Vec<ConnectionReport>, WebError> {
    use polymnemo_types::{ApiError, ErrorCode};

    let ctx = super::caller()?;
    let test = expect_context::<crate::WebContext>().connection_test;
    test.run(ctx).await.ok_or_else(|| {
        let message = "Other tests are running. Try again in a minute.".to_owned();
        ApiError { code: ErrorCode::Unavailable, message }.into()
    })
}
