//! The MCP endpoint by a URL with a secret in it.

use polymnemo_types::{CreatedApiToken, NewApiToken};
use reqwest::{Method, RequestBuilder, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    sign_in::{run, text},
    support::{TestApp, key_of},
};

const TOKEN: &str = "0123456789-abcdefghijklm_NOPQRSTU";

async fn app() -> TestApp {
    TestApp::builder().setting("POLYMNEMO_CAPABILITY_TOKENS", &format!("alice:{TOKEN},bob:{TOKEN}2")).start().await
}

async fn token(app: &TestApp, new: NewApiToken) -> CreatedApiToken {
    app.service().create_token(&app.person("alice").await, new).await.unwrap()
}

fn for_urls(name: &str) -> NewApiToken {
    NewApiToken { name: name.to_owned(), in_url: true, ..NewApiToken::default() }
}

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

/// Calls a tool; the structured answer.
async fn call(app: &TestApp, path: &str, tool: &str, arguments: Value) -> Value {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments },
    });
    let request = app.http(Method::POST, path).header("mcp-protocol-version", "2025-11-25").json(&call);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let answer: Value = response.json().await.unwrap();
    answer["result"].clone()
}

/// All that a response tells, but for what differs each time whatever it is.
async fn told(request: RequestBuilder) -> (StatusCode, Vec<(String, String)>, String) {
    let response = request.send().await.unwrap();
    // Whether the connection goes on depends on what came, not on who asks.
    let varies = [header::DATE, header::CONNECTION, header::HeaderName::from_static("x-request-id")];
    let headers = response.headers().iter().filter(|(name, _)| !varies.contains(name));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    (response.status(), headers, response.text().await.unwrap())
}

#[tokio::test]
async fn a_token_in_the_path_opens_the_store_of_its_user() {
    let app = app().await;
    for path in [format!("/c/{TOKEN}/mcp"), format!("/c/{TOKEN}/mcp/")] {
        assert_eq!(call(&app, &path, "ping", json!({})).await["structuredContent"]["user"], "alice");
    }
    let bob = format!("/c/{TOKEN}2/mcp");
    assert_eq!(call(&app, &bob, "ping", json!({})).await["structuredContent"]["user"], "bob");
    call(&app, &bob, "remember", json!({ "content": "My bike is blue." })).await;
    assert_eq!(app.mcp("bob").call("list_memories", json!({})).await["total"], 1, "the same as by his key");

    for _ in 0..100 {
        if text(&app, "select count(*)::text from client_sightings").await != "0" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(text(&app, "select distinct door from client_sightings order by door limit 1").await, "capability_path");
}

#[tokio::test]
async fn the_path_of_the_settings_is_the_path_here_too() {
    let app = TestApp::builder()
        .setting("POLYMNEMO_CAPABILITY_TOKENS", &format!("alice:{TOKEN}"))
        .setting("POLYMNEMO_MCP_PATH", "/memory/mcp")
        .start()
        .await;
    let request = app.http(Method::POST, &format!("/c/{TOKEN}/memory/mcp")).json(&ping());
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    let request = app.http(Method::POST, &format!("/c/{TOKEN}/mcp")).json(&ping());
    assert_eq!(request.send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_stands_before_the_endpoint_stands_here_too() {
    let app = app().await;
    let path = format!("/c/{TOKEN}/mcp");
    let send = async |request: RequestBuilder| request.send().await.unwrap();
    let foreign =
        send(app.http(Method::POST, &path).header(header::ORIGIN, "https://evil.example").json(&ping())).await;
    assert_eq!(foreign.status(), StatusCode::FORBIDDEN);
    let rebound = send(app.http(Method::POST, &path).header(header::HOST, "evil.example").json(&ping())).await;
    assert_eq!(rebound.status(), StatusCode::FORBIDDEN);
    let broken = send(app.http(Method::POST, &path).header(header::CONTENT_TYPE, "application/json").body("{")).await;
    assert_eq!(broken.status(), StatusCode::BAD_REQUEST);
    let lazy = send(app.http(Method::POST, &path).header(header::ACCEPT, "*/*").json(&ping())).await;
    assert_eq!(lazy.status(), StatusCode::OK);
    assert_eq!(lazy.headers()[header::REFERRER_POLICY], "no-referrer");
    let get = send(app.http(Method::GET, &path)).await;
    assert_eq!(get.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert!(get.headers().contains_key(header::ALLOW));
    // Another credential beside it counts nothing, be it good or bad.
    for credential in [key_of("bob"), "wrong".to_owned()] {
        let request = app.http(Method::POST, &path).bearer_auth(credential).json(&ping());
        assert_eq!(send(request).await.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn everything_else_there_is_one_and_the_same_404() {
    let app = app().await;
    let off = TestApp::start().await;
    let made = token(&app, NewApiToken { in_url: false, ..for_urls("header only") }).await.secret;
    let revoked = token(&app, for_urls("revoked")).await;
    app.service().revoke_token(&app.person("alice").await, revoked.token.id).await.unwrap();
    let expected = told(app.http(Method::GET, "/c/nothing")).await;
    assert_eq!(expected.0, StatusCode::NOT_FOUND);
    assert!(expected.1.iter().any(|(name, value)| name == "referrer-policy" && value == "no-referrer"));
    let wrong = [
        format!("/c/{TOKEN}x/mcp"),
        format!("/c/{}/mcp", TOKEN.to_ascii_uppercase()),
        format!("/c/{}/mcp", key_of("alice")),
        format!("/c/{made}/mcp"),
        format!("/c/{}/mcp", revoked.secret),
        format!("/c/pmn_{}/mcp", "A".repeat(43)),
        format!("/c/{}/mcp", "x".repeat(5_000)),
        format!("/c/{TOKEN}"),
        format!("/c/{TOKEN}/"),
        format!("/c/{TOKEN}/tokens"),
        format!("/c/{TOKEN}/mcp/mcp"),
        format!("/c/x/c/{TOKEN}/mcp"),
        "/c/%FF/mcp".to_owned(),
        "/c/%00/mcp".to_owned(),
        "/c//mcp".to_owned(),
        "/c/".to_owned(),
        "/c/a/b/c?d=e".to_owned(),
    ];
    for app in [&app, &off] {
        for path in &wrong {
            for request in [
                app.http(Method::GET, path),
                app.http(Method::POST, path).json(&ping()),
                app.http(Method::DELETE, path),
                app.http(Method::GET, path).header(header::ACCEPT, "text/html"),
                app.http(Method::POST, path).header(header::ORIGIN, "https://evil.example").json(&ping()),
                app.http(Method::OPTIONS, path)
                    .header(header::ORIGIN, "http://localhost:6274")
                    .header("access-control-request-method", "POST"),
                app.http(Method::POST, path).bearer_auth(key_of("alice")).json(&ping()),
            ] {
                assert_eq!(told(request).await, expected, "{path}");
            }
        }
    }
    let off = told(off.http(Method::POST, &format!("/c/{TOKEN}/mcp")).json(&ping())).await;
    assert_eq!(off, expected, "there are no such URLs unless they are set");
}

#[tokio::test]
async fn a_token_of_the_web_app_works_there_only_where_its_owner_chose_so() {
    let app = TestApp::start().await;
    let made = token(&app, for_urls("old client")).await;
    assert!(made.token.in_url);
    let path = format!("/c/{}/mcp", made.secret);
    assert_eq!(call(&app, &path, "ping", json!({})).await["structuredContent"]["user"], "alice");
    let refused = call(&app, &path, "remember", json!({ "content": "I was here." })).await;
    assert_eq!(refused["isError"], true, "it may only read");
    assert_eq!(app.mcp_with(&made.secret).call("ping", json!({})).await["user"], "alice", "a header does as well");

    let namespaces = Some(vec!["work".to_owned()]);
    let worker = token(&app, NewApiToken { can_write: true, namespaces, ..for_urls("worker") }).await;
    let worker = format!("/c/{}/mcp", worker.secret);
    let write = async |namespace: &str| {
        let memory = json!({ "content": "The build is green.", "namespace": namespace });
        call(&app, &worker, "remember", memory).await["isError"] == true
    };
    assert!(!write("work").await);
    assert!(write("home").await);
}

#[tokio::test]
async fn an_expired_or_revoked_token_is_a_404_on_the_very_next_call() {
    let app = TestApp::start().await;
    let send = async |secret: &str| -> Response {
        app.http(Method::POST, &format!("/c/{secret}/mcp")).json(&ping()).send().await.unwrap()
    };
    let first = token(&app, for_urls("first")).await;
    assert_eq!(send(&first.secret).await.status(), StatusCode::OK);
    app.service().revoke_token(&app.person("alice").await, first.token.id).await.unwrap();
    let response = send(&first.secret).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert!(!response.headers().contains_key(header::WWW_AUTHENTICATE));

    let second = token(&app, for_urls("second")).await;
    assert_eq!(send(&second.secret).await.status(), StatusCode::OK);
    run(&app, "update api_tokens set expires_at = now() - interval '1 second'").await;
    assert_eq!(send(&second.secret).await.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_person_makes_such_a_token_on_the_page_and_is_shown_the_url() {
    let app = crate::sign_in::app().await;
    let browser = crate::sign_in::signed_in(&app).await;
    let page = browser.get("/tokens").await.text().await.unwrap();
    let field = page.split("<input").find(|input| input.contains(r#"name="in_url""#)).unwrap();
    assert!(!field.split('>').next().unwrap().contains("checked"), "it is off: {field}");

    let fields = |in_url| {
        let fields = [("call", "/api/create_api_token"), ("name", "old client"), ("can_write", "false")];
        [&fields[..], &[("all_namespaces", "true"), ("days", "30")], in_url].concat()
    };
    let without = browser.post("/tokens", &fields(&[])).await.text().await.unwrap();
    assert!(without.contains("pmn_") && !without.contains("/c/pmn_"), "{without}");
    let with = browser.post("/tokens", &fields(&[("in_url", "true")])).await.text().await.unwrap();
    let secret = with.split("/c/").nth(1).and_then(|rest| rest.split("/mcp").next()).unwrap();
    assert!(secret.starts_with("pmn_"), "{with}");
    let request = app.http(Method::POST, &format!("/c/{secret}/mcp")).json(&ping());
    assert_eq!(request.send().await.unwrap().status(), StatusCode::OK);
    let list = browser.get("/tokens").await.text().await.unwrap();
    assert_eq!(list.matches("<span>usable in a URL</span>").count(), 2, "in the form, and with the one token: {list}");
}
