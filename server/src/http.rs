//! What stands between the socket and the doors: a file per concern.

pub(crate) mod accept;
mod batch;
pub(crate) mod callers;
pub(crate) mod client_address;
pub(crate) mod cors;
pub(crate) mod in_flight;
pub(crate) mod json_rpc;
pub(crate) mod panics;
pub(crate) mod request_log;
pub(crate) mod security_headers;
pub(crate) mod throttle;
pub(crate) mod time_limit;
pub(crate) mod unread_body;
