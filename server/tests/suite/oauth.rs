//! How apps are let in: metadata, registration, the decision of a person, tokens, and what an app may do then.

mod attacks;
mod authorize;
mod connection_test;
mod consent_page;
mod documents;
mod grants;
mod metadata;
mod refresh;
mod registration;
mod replicas;
mod reports;
mod restarts;
mod tokens;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Browser, McpClient, TestApp, app, location, parameter, signed_in, text};

/// Where the app of the stories is sent back to.
const BACK: &str = "http://127.0.0.1:7777/callback";
/// Its PKCE verifier.
const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more";

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

/// Registers a client with these addresses; gives the answer.
async fn register(app: &TestApp, metadata: Value) -> Response {
    app.http(Method::POST, "/register").json(&metadata).send().await.unwrap()
}

/// A client registered with the usual address; gives its id.
async fn registered(app: &TestApp) -> String {
    let response = register(app, json!({ "client_name": "Story", "redirect_uris": [BACK] })).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    let answer: Value = response.json().await.unwrap();
    answer["client_id"].as_str().unwrap().to_owned()
}

/// The address to which the client sends a person, with some parameters changed; an empty one is left out.
fn authorize_address(app: &TestApp, client: &str, changes: &[(&str, &str)]) -> String {
    authorize_parameters(client, &app.mcp_url(), changes)
}

/// The same, for this resource.
fn authorize_parameters(client: &str, resource: &str, changes: &[(&str, &str)]) -> String {
    let challenge = challenge();
    let mut parameters = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", BACK),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("state", "the state"),
        ("resource", resource),
        ("scope", "memory:read memory:write"),
    ];
    for &(name, value) in changes {
        parameters.retain(|(known, _)| *known != name);
        if !value.is_empty() {
            parameters.push((name, value));
        }
    }
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    format!("/authorize?{query}")
}

/// The form of a decision, with some fields changed.
async fn decide(browser: &Browser, request: &str, changes: &[(&str, &str)]) -> Response {
    let mut fields =
        vec![("request", request), ("answer", "allow"), ("can_write", "true"), ("namespaces", "all"), ("days", "30")];
    for &(name, value) in changes {
        if name != "names" {
            fields.retain(|(known, _)| *known != name);
        }
        fields.push((name, value));
    }
    browser.post("/consent/answer", &fields).await
}

/// The ways in which clients write our resource (reports 8, 9, 10).
fn resource_as_written(app: &TestApp) -> [String; 6] {
    let base = app.base();
    [
        format!("{base}/mcp"),
        format!("{base}/mcp/"),
        base.to_owned(),
        format!("{base}/"),
        format!("{base}/mcp?session=1"),
        format!("{base}/mcp").replace("http", "HTTP"),
    ]
}

/// The id of the request that a browser brings by this address.
async fn brought(browser: &Browser, address: &str) -> String {
    let page = location(&browser.get(address).await);
    assert!(page.starts_with("/consent?request="), "{page}");
    parameter(&page, "request").unwrap()
}

/// A code for a client, after a person decided so.
async fn code(app: &TestApp, browser: &Browser, client: &str, decision: &[(&str, &str)]) -> String {
    let request = brought(browser, &authorize_address(app, client, &[])).await;
    let back = location(&decide(browser, &request, decision).await);
    assert!(back.starts_with(BACK), "{back}");
    parameter(&back, "code").unwrap()
}

/// A request for tokens, with some parameters changed; an empty one is left out.
fn token_request(app: &TestApp, parameters: &[(&str, &str)]) -> RequestBuilder {
    let given = parameters.iter().filter(|(_, value)| !value.is_empty());
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    app.http(Method::POST, "/token").header("content-type", "application/x-www-form-urlencoded").body(body)
}

/// Exchanges a code.
async fn exchange(app: &TestApp, client: &str, code: &str) -> Response {
    let parameters = [
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    token_request(app, &parameters).send().await.unwrap()
}

async fn refresh(app: &TestApp, client: &str, token: &str) -> Response {
    let parameters = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    token_request(app, &parameters).send().await.unwrap()
}

/// Tokens as a client gets them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Tokens {
    access: String,
    refresh: String,
}

async fn tokens(response: Response) -> Tokens {
    assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap());
    let answer: Value = response.json().await.unwrap();
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    Tokens { access: text("access_token"), refresh: text("refresh_token") }
}

/// An app that alice let in; gives its client id and tokens.
async fn let_in(app: &TestApp, decision: &[(&str, &str)]) -> (String, Tokens) {
    let client = registered(app).await;
    let browser = signed_in(app).await;
    let code = code(app, &browser, &client, decision).await;
    let tokens = tokens(exchange(app, &client, &code).await).await;
    (client, tokens)
}

/// The error that programs get, with its status.
async fn refusal(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    assert!(body["error_description"].as_str().is_some_and(|text| text.len() > 10), "{body}");
    (status, body["error"].as_str().unwrap().to_owned())
}

/// The status of a harmless call with this credential.
async fn status_with(app: &TestApp, credential: &str) -> u16 {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    app.http(Method::POST, "/mcp").bearer_auth(credential).json(&ping).send().await.unwrap().status().as_u16()
}

/// Runs a statement past all row-level security; gives the number of rows it affected.
async fn run(app: &TestApp, sql: &str) -> u64 {
    app.database().await.execute_unprepared(sql).await.unwrap().rows_affected()
}

/// An MCP client with an access token.
fn client_of(app: &TestApp, tokens: &Tokens) -> McpClient {
    app.mcp_with(&tokens.access)
}
