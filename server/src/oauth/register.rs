//! Registration of clients by themselves (RFC 7591). Newer clients have a document instead; many still need this.

use axum::{
    Json,
    body::Bytes,
    extract::State,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use jiff::Timestamp;
use polymnemo_memory::{OauthClient, client_name};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    AuthorizationServer,
    documents::MOST_REDIRECTS,
    endpoint::{error, unavailable},
    redirect::RedirectUri,
};

/// Members of the request that are repeated in the answer where they say something.
const REPEATED: [&str; 5] = ["application_type", "client_uri", "scope", "software_id", "software_version"];
/// The longest of them, in bytes.
const MEMBER_BYTES: usize = 1_000;

/// Registers a client.
pub(super) async fn register(State(server): State<AuthorizationServer>, body: Bytes) -> Response {
    let Ok(Value::Object(metadata)) = serde_json::from_slice(&body) else {
        return invalid("invalid_client_metadata", "Send the metadata of the client as a JSON object.");
    };
    let redirect_uris = match redirect_uris(&metadata) {
        Ok(uris) => uris,
        Err(problem) => return invalid("invalid_redirect_uri", &problem),
    };
    let given = metadata.get("client_name").and_then(Value::as_str).and_then(client_name);
    let name = given.unwrap_or_else(|| {
        let host = redirect_uris.first().and_then(|uri| RedirectUri::parse(uri).ok()).map(|uri| uri.host());
        host.unwrap_or_else(|| "app".to_owned())
    });
    let client = OauthClient { id: Uuid::new_v4().to_string(), name, redirect_uris, domain: None, fresh_until: None };
    if let Err(cause) = server.0.clients.save(&client).await {
        return unavailable(cause);
    }
    (StatusCode::CREATED, Json(answer(&client, &metadata))).into_response()
}

fn invalid(code: &str, problem: &str) -> Response {
    error(StatusCode::BAD_REQUEST, code, problem)
}

/// The addresses that people may be sent back to. Those that can't be are left out, and the answer says which are left: a
/// client that lists one for each of its kinds must not fail by the one.
fn redirect_uris(metadata: &Map<String, Value>) -> Result<Vec<String>, String> {
    let given = metadata.get("redirect_uris").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if given.is_empty() {
        return Err("Give at least one of `redirect_uris`, where people are sent back to.".to_owned());
    }
    if given.len() > MOST_REDIRECTS {
        return Err(format!("Give at most {MOST_REDIRECTS} of `redirect_uris`."));
    }
    let mut good: Vec<String> = Vec::new();
    let mut problem = "it is not a text";
    for uri in given {
        match uri.as_str().map(RedirectUri::parse) {
            Some(Ok(uri)) if good.iter().all(|known| known != uri.as_str()) => good.push(uri.as_str().to_owned()),
            Some(Ok(_)) | None => {}
            Some(Err(why)) => problem = why,
        }
    }
    if good.is_empty() {
        return Err(format!(
            "None of `redirect_uris` is an address that people may be sent back to; of the last one: {problem}."
        ));
    }
    Ok(good)
}

/// The client as it is registered. No member is null or empty, for clients that are strict about what they read; and
/// whatever way of proving itself a client asked for, it has none.
fn answer(client: &OauthClient, metadata: &Map<String, Value>) -> Value {
    let mut answer = json!({
        "client_id": client.id,
        "client_id_issued_at": Timestamp::now().as_second(),
        "client_name": client.name,
        "redirect_uris": client.redirect_uris,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    if let Some(members) = answer.as_object_mut() {
        for name in REPEATED {
            let value = metadata.get(name).and_then(Value::as_str);
            if let Some(value) = value.filter(|value| !value.is_empty() && value.len() <= MEMBER_BYTES) {
                members.insert(name.to_owned(), value.into());
            }
        }
    }
    answer
}
