use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    oauth::{app, authorize_address, brought, code, exchange, refusal, register, registered, run, signed_in, text},
    support::TestApp,
};

async fn answer(app: &TestApp, metadata: Value) -> Value {
    let response = register(app, metadata).await;
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    response.json().await.unwrap()
}

fn holds_nothing_empty(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty() && items.iter().all(holds_nothing_empty),
        Value::Object(members) => members.values().all(holds_nothing_empty),
        _ => true,
    }
}

/// Reports 5, 18, 19 and A13: what a client asks for beyond what we have does no harm.
#[tokio::test]
async fn a_client_gets_what_there_is_whatever_it_asks_for() {
    let app = app().await;
    let asked = json!({
        "client_name": "Claude Code (a name) ",
        "redirect_uris": ["http://localhost:3118/callback"],
        "grant_types": ["authorization_code", "refresh_token", "urn:odd"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post",
        "scope": "memory:read",
        "application_type": "web",
        "logo_uri": null,
        "client_uri": "",
        "contacts": [],
        "something": {"else": 1},
    });
    let registered = answer(&app, asked).await;
    assert!(holds_nothing_empty(&registered), "{registered}");
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    assert_eq!(registered["grant_types"], json!(["authorization_code", "refresh_token"]));
    assert_eq!(registered["response_types"], json!(["code"]));
    assert_eq!(registered["client_name"], "Claude Code (a name)");
    assert_eq!(registered["redirect_uris"], json!(["http://localhost:3118/callback"]));
    assert_eq!(registered["application_type"], "web");
    assert!(registered.get("client_secret").is_none());
    assert!(registered["client_id_issued_at"].is_i64());

    let nameless = answer(&app, json!({ "redirect_uris": ["https://app.example/cb"], "client_name": "\u{0}\n" })).await;
    assert_eq!(nameless["client_name"], "app.example");
}

/// Report 17: one address of a kind that can't be must not kill the registration.
#[tokio::test]
async fn the_three_addresses_of_cursor_are_taken_and_a_bad_one_is_left_out() {
    let app = app().await;
    let three = json!([
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://www.cursor.com/agents/mcp/oauth/callback",
        "http://localhost:8787/callback",
    ]);
    let registered = answer(&app, json!({ "client_name": "Cursor", "redirect_uris": three })).await;
    assert_eq!(registered["redirect_uris"], three);
    let mixed =
        json!({ "redirect_uris": ["javascript:alert(1)", "https://app.example/cb", "http://evil.example/", null] });
    assert_eq!(answer(&app, mixed).await["redirect_uris"], json!(["https://app.example/cb"]));
}

#[tokio::test]
async fn what_can_be_no_client_is_refused_in_words() {
    let app = app().await;
    for (metadata, code) in [
        (json!([]), "invalid_client_metadata"),
        (json!("x"), "invalid_client_metadata"),
        (json!({}), "invalid_redirect_uri"),
        (json!({ "redirect_uris": "https://app.example/cb" }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["data:text/html,x"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://app.example@evil.example/"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": vec!["https://app.example/cb"; 11] }), "invalid_redirect_uri"),
    ] {
        assert_eq!(refusal(register(&app, metadata).await).await, (400, code.to_owned()));
    }
    let huge = json!({ "redirect_uris": ["https://app.example/cb"], "client_name": "x".repeat(70_000) });
    let refused = register(&app, huge).await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    // It was not read to its end, so the connection is of no more use, and the client has to know.
    assert_eq!(refused.headers()[header::CONNECTION], "close");
    let get = app.http(Method::GET, "/register").send().await.unwrap();
    assert_eq!(
        (get.status(), get.headers()[header::ALLOW].to_str().unwrap()),
        (StatusCode::METHOD_NOT_ALLOWED, "POST, OPTIONS")
    );
}

/// Report 23, 24: clients that run in a browser call these endpoints from their own origin.
#[tokio::test]
async fn pages_of_any_origin_may_register_and_ask_for_tokens() {
    let app = app().await;
    for path in ["/register", "/token", "/revoke"] {
        let preflight = app
            .http(Method::OPTIONS, path)
            .header(header::ORIGIN, "https://inspector.example")
            .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
            .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "content-type, mcp-protocol-version")
            .send()
            .await
            .unwrap();
        assert_eq!(preflight.status(), StatusCode::OK, "{path}");
        assert_eq!(preflight.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*", "{path}");
    }
}

/// Limits that the few addresses of a great client don't trip, and that nobody's loop gets past.
#[tokio::test]
async fn registration_is_limited_for_one_network() {
    let app = app().await;
    let mut created = 0;
    for _ in 0..200 {
        match register(&app, json!({ "redirect_uris": ["https://app.example/cb"] })).await {
            response if response.status() == StatusCode::CREATED => created += 1,
            response => {
                assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
                assert!(response.headers().contains_key(header::RETRY_AFTER));
                break;
            }
        }
    }
    assert!((100..200).contains(&created), "{created}");
}

/// A registration that nobody ever let in goes after a day; one that was used stays.
#[tokio::test]
async fn a_client_that_nobody_let_in_is_forgotten() {
    let app = app().await;
    let (unused, used) = (registered(&app).await, registered(&app).await);
    let browser = signed_in(&app).await;
    let code = code(&app, &browser, &used, &[]).await;
    run(&app, "update oauth_clients set created_at = created_at - interval '25 hours'").await;
    assert_eq!(app.service().sweep_apps().await.unwrap(), 1);
    assert_eq!(text(&app, "select id from oauth_clients").await, used);
    assert_eq!(exchange(&app, &used, &code).await.status(), StatusCode::OK);

    let gone = browser.get(&authorize_address(&app, &unused, &[])).await;
    assert_eq!(gone.status(), StatusCode::BAD_REQUEST);
    assert_eq!(refusal(exchange(&app, &unused, &code).await).await, (401, "invalid_client".to_owned()));
    brought(&browser, &authorize_address(&app, &used, &[])).await;
}
