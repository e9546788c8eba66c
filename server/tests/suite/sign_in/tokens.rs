//! The tokens that a person makes for clients, at the MCP endpoint.

use polymnemo_memory::Door;
use polymnemo_types::{CreatedApiToken, NewApiToken};
use reqwest::{Method, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    sign_in::{run, text},
    support::TestApp,
};

async fn token(app: &TestApp, new: NewApiToken) -> CreatedApiToken {
    app.service().create_token(&app.person("alice").await, new).await.unwrap()
}

fn named(name: &str) -> NewApiToken {
    NewApiToken { name: name.to_owned(), ..NewApiToken::default() }
}

async fn ping(app: &TestApp, credential: &str) -> Response {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    app.http(Method::POST, "/mcp").bearer_auth(credential).json(&ping).send().await.unwrap()
}

/// What a refused credential is told.
async fn refusal(app: &TestApp, credential: &str) -> String {
    let response = ping(app, credential).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
    assert!(challenge.starts_with(r#"Bearer error="invalid_token", resource_metadata=""#), "{challenge}");
    let body: Value = response.json().await.unwrap();
    body["error_description"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_token_opens_the_store_of_whoever_made_it() {
    let app = TestApp::start().await;
    app.mcp("alice").call("remember", json!({ "content": "My bike is green." })).await;
    app.mcp("bob").call("remember", json!({ "content": "My bike is blue." })).await;
    let made = token(&app, NewApiToken { can_write: true, ..named("cron") }).await;
    assert!(made.secret.starts_with("pmn_"), "so that scanners know it");
    let client = app.mcp_with(&made.secret);
    assert_eq!(client.call("ping", json!({})).await["user"], "alice");
    let listed = client.call("list_memories", json!({})).await;
    assert_eq!(listed["total"], 1);
    client.call("remember", json!({ "content": "My boat is red." })).await;
    assert_eq!(app.mcp("alice").call("list_memories", json!({})).await["total"], 2);
}

#[tokio::test]
async fn a_token_may_do_what_it_was_made_for() {
    let app = TestApp::start().await;
    let alice = app.mcp("alice");
    alice.call("remember", json!({ "content": "My bike is green.", "namespace": "home" })).await;
    alice.call("remember", json!({ "content": "The build is red.", "namespace": "work" })).await;

    let reader = token(&app, named("reader")).await;
    let reader = app.mcp_with(&reader.secret);
    assert_eq!(reader.call("list_memories", json!({})).await["total"], 2);
    let refused = reader.call_in_vain("remember", json!({ "content": "I was here." })).await;
    assert!(refused.contains("may only read"), "{refused}");

    let namespaces = Some(vec!["work".to_owned()]);
    let worker = token(&app, NewApiToken { can_write: true, namespaces, ..named("worker") }).await;
    let worker = app.mcp_with(&worker.secret);
    assert_eq!(worker.call("list_memories", json!({})).await["total"], 1);
    worker.call("remember", json!({ "content": "The build is green.", "namespace": "work" })).await;
    worker.call_in_vain("remember", json!({ "content": "I was here.", "namespace": "home" })).await;
}

#[tokio::test]
async fn a_revoked_token_is_refused_on_the_very_next_call() {
    let app = TestApp::start().await;
    let made = token(&app, named("cron")).await;
    for _ in 0..3 {
        assert_eq!(ping(&app, &made.secret).await.status(), StatusCode::OK);
    }
    app.service().revoke_token(&app.person("alice").await, made.token.id).await.unwrap();
    let told = refusal(&app, &made.secret).await;
    assert!(told.contains("revoked"), "{told}");
}

#[tokio::test]
async fn an_expired_or_unknown_token_and_that_of_a_removed_user_are_refused() {
    let app = TestApp::start().await;
    let made = token(&app, named("cron")).await;
    assert_eq!(ping(&app, &made.secret).await.status(), StatusCode::OK);
    assert_eq!(run(&app, "update api_tokens set expires_at = now() - interval '1 second'").await, 1);
    assert!(refusal(&app, &made.secret).await.contains("expired"));

    let unknown = format!("pmn_{}", "A".repeat(43));
    let told = refusal(&app, &unknown).await;
    for other in ["pmn_", "pmn_short", &format!("{}x", made.secret), &"pmn_x".repeat(2_000)] {
        assert_eq!(refusal(&app, other).await, told);
    }
    run(&app, "delete from users").await;
    assert_eq!(refusal(&app, &made.secret).await, told);
}

#[tokio::test]
async fn whoever_comes_with_a_token_is_seen() {
    let app = TestApp::start().await;
    let made = token(&app, named("cron")).await;
    let client = app.mcp_with(&made.secret);
    client.call("ping", json!({})).await;
    client
        .request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "night-watch", "version": "1" },
            }),
        )
        .await
        .unwrap();
    let mut seen = Vec::new();
    // A sighting is noted beside the request, not before its answer.
    for _ in 0..100 {
        seen = app.service().list_sightings(&app.person("alice").await).await.unwrap();
        if seen.len() == 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let mut names: Vec<_> = seen.iter().map(|client| (client.door, client.client.as_deref())).collect();
    names.sort_by_key(|(_, name)| name.map(str::to_owned));
    assert_eq!(names, [(Door::ApiToken, None), (Door::ApiToken, Some("night-watch"))]);
    assert_eq!(text(&app, "select (last_used_at is not null)::text from api_tokens").await, "true");
}
