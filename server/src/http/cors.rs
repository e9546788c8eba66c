use std::{sync::Arc, time::Duration};

use http::{HeaderName, Method, header};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use super::callers;
use crate::config::NetworkConfig;

const MCP_SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const MCP_PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What pages of the allowed origins may do with the MCP endpoint. Preflight requests are answered
/// here, without a key: the browser sends none with them.
pub(crate) fn for_mcp(network: Arc<NetworkConfig>) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| {
            origin.to_str().is_ok_and(|origin| callers::is_allowed(&network, origin))
        }))
        .allow_methods([Method::GET, Method::POST, Method::DELETE, Method::OPTIONS])
        .allow_headers([
            header::ACCEPT,
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            LAST_EVENT_ID,
            MCP_METHOD,
            MCP_NAME,
            MCP_PROTOCOL_VERSION,
            MCP_SESSION_ID,
        ])
        .expose_headers([header::WWW_AUTHENTICATE, MCP_SESSION_ID, HeaderName::from_static("x-request-id")])
        .max_age(Duration::from_secs(3600))
}

/// What programs ask for tokens may be asked by pages of any origin: it takes no cookie.
pub(crate) fn for_tokens() -> CorsLayer {
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::POST])
        .allow_headers(Any)
        .max_age(Duration::from_secs(3600))
}

/// Metadata that is the same for everyone may be read from everywhere.
pub(crate) fn for_metadata() -> CorsLayer {
    CorsLayer::new().allow_origin(Any).allow_methods([Method::GET]).allow_headers(Any)
}
