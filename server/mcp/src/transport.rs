//! The two transports: Streamable HTTP and standard input and output.

use std::sync::Arc;

use polymnemo_memory::{Ctx, MemoryService};
use rmcp::{
    ServerHandler, ServiceExt as _,
    service::ServerInitializeError,
    transport::{
        io::stdio_pipes,
        streamable_http_server::{
            StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
        },
    },
};
use tokio_util::sync::CancellationToken;

use crate::{Caller, McpServer, Toolset, stdio::Lines};

/// The greatest body of a request: a session of some 20 MB. (The router in front lets only a few of that length in at once.)
const MOST_REQUEST_BYTES: usize = 32 << 20;

/// Streamable HTTP over the memory service, for the route of the MCP endpoint.
///
/// The router must authenticate each request before and put a [`Ctx`] into its extensions.
/// `allowed_hosts` are the names, with or without a port, under which the server is reached;
/// `allowed_origins` are the web origins (`https://example.com:443`, `http://localhost:*`) whose
/// pages may call it, and any other `Origin` is refused. When `shutdown` is cancelled, open streams end.
#[must_use]
pub fn streamable_http(
    service: MemoryService,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    shutdown: CancellationToken,
) -> StreamableHttpService<McpServer, LocalSessionManager> {
    let server = McpServer::new(service, Caller::FromRequest, Toolset::Default);
    streamable_http_with(server, allowed_hosts, allowed_origins, shutdown)
}

/// [`streamable_http`] for another handler, so that a conformance suite can bring its fixtures and
/// still meet this configuration.
#[must_use]
pub fn streamable_http_with<H: ServerHandler + Clone>(
    handler: H,
    allowed_hosts: Vec<String>,
    allowed_origins: Vec<String>,
    shutdown: CancellationToken,
) -> StreamableHttpService<H, LocalSessionManager> {
    // Sessions would bind a client to one process and lose it at a restart, and would have to be
    // bound to a user; without them, any replica answers any request.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MOST_REQUEST_BYTES)
        .with_allowed_hosts(allowed_hosts)
        .with_allowed_origins(allowed_origins)
        .enforce_origin_validation()
        .with_cancellation_token(shutdown);
    StreamableHttpService::new(move || Ok(handler.clone()), Arc::new(LocalSessionManager::default()), config)
}

/// Why serving over standard input and output ended with an error.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The client did not begin the conversation as the protocol wants.
    #[error("the MCP client did not complete the handshake: {0}")]
    Handshake(#[from] Box<ServerInitializeError>),
    /// The task that served the client failed.
    #[error("serving the MCP client failed: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// Serves one client over standard input and output, as this user, until the input ends.
///
/// Nothing else may write to standard output meanwhile; logs go to standard error.
///
/// # Errors
///
/// [`StdioError`] where the client does not speak the protocol. The end of the input is no error.
pub async fn serve_stdio(service: MemoryService, ctx: Ctx) -> Result<(), StdioError> {
    let server = McpServer::new(service, Caller::Fixed(ctx), Toolset::Default);
    let (input, output) = stdio_pipes();
    let running = match server.serve(Lines::new(input, output)).await {
        Ok(running) => running,
        // A client that leaves before it said anything has nothing to complain of.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(Box::new(error).into()),
    };
    running.waiting().await?;
    Ok(())
}
