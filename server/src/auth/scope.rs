use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use polymnemo_memory::{Ctx, Door};
use serde::Deserialize;
use serde_json::json;

use super::{READ_SCOPE, SCOPES, add_challenge};
use crate::config::NetworkConfig;

/// The part of a message that tells what it needs.
#[derive(Deserialize)]
struct Message {
    method: Option<String>,
    params: Option<Params>,
}

#[derive(Deserialize)]
struct Params {
    name: Option<String>,
}

/// Answers 403 to a message of an app that needs a permission the app does not have (RFC 6750, section 3.1), with all the
/// permissions that it needs, so that the app can ask its user for them. The service would refuse it as well, but in a
/// form that only a model reads.
///
/// It stands behind what bounds and checks the body, and takes batches apart.
pub(crate) async fn require_scope(State(network): State<Arc<NetworkConfig>>, request: Request, next: Next) -> Response {
    let lacks = |ctx: &Ctx| ctx.door == Door::OauthApp && !(ctx.grants.read && ctx.grants.write);
    let Some(grants) = request.extensions().get::<Ctx>().filter(|ctx| lacks(ctx)).map(|ctx| ctx.grants.clone()) else {
        return next.run(request).await;
    };
    let (parts, body) = request.into_parts();
    // Its length was bounded before.
    let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
        return (StatusCode::BAD_REQUEST, "The body broke off.\n").into_response();
    };
    let needed = serde_json::from_slice(&body).ok().as_ref().and_then(needed_by);
    let missing = match needed {
        Some(Need::Write) if !grants.write => SCOPES,
        Some(Need::Read) if !grants.read => READ_SCOPE,
        _ => return next.run(Request::from_parts(parts, Body::from(body))).await,
    };
    let description = format!("This needs the permissions {missing}. Ask the user for them.");
    let body = json!({ "error": "insufficient_scope", "error_description": description, "scope": missing });
    let mut response = (StatusCode::FORBIDDEN, axum::Json(body)).into_response();
    add_challenge(&mut response, &network, &parts.headers, Some("insufficient_scope"), missing);
    response
}

/// What a message needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Read,
    Write,
}

fn needed_by(message: &Message) -> Option<Need> {
    match message.method.as_deref()? {
        "tools/call" => match polymnemo_mcp::tool_writes(message.params.as_ref()?.name.as_deref()?)? {
            true => Some(Need::Write),
            false => Some(Need::Read),
        },
        "resources/list" | "resources/read" | "completion/complete" => Some(Need::Read),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(message: serde_json::Value) -> Option<Need> {
        needed_by(&serde_json::from_value(message).unwrap())
    }

    #[test]
    fn a_message_needs_what_it_does() {
        let call = |name: &str| json!({"method": "tools/call", "params": {"name": name, "arguments": {}}});
        assert_eq!(need(call("remember")), Some(Need::Write));
        assert_eq!(need(call("forget")), Some(Need::Write));
        assert_eq!(need(call("recall")), Some(Need::Read));
        assert_eq!(need(call("no_such_tool")), None);
        assert_eq!(need(json!({"method": "resources/read", "params": {"uri": "memory://work"}})), Some(Need::Read));
        assert_eq!(need(json!({"method": "tools/list"})), None);
        assert_eq!(need(json!({"id": 1})), None);
    }
}
