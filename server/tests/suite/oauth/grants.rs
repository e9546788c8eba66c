//! What a person decided holds for every call, from the very next one on.

use std::time::Duration;

use polymnemo_memory::{Ctx, Door, Identity};
use polymnemo_types::{Action, App, AppGrants, NamespaceChoice};
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{
    oauth::{app, client_of, code, exchange, let_in, refresh, refusal, signed_in, status_with, tokens},
    support::TestApp,
};

async fn the_app(app: &TestApp) -> App {
    let apps = app.service().list_apps(&app.person("alice").await, None, None).await.unwrap();
    apps.items.into_iter().find(|app| app.door == Door::OauthApp).unwrap()
}

/// Memories of alice in three namespaces.
async fn three_namespaces(app: &TestApp) -> [Value; 3] {
    let alice = app.mcp("alice");
    let mut ids = Vec::new();
    for (namespace, content) in [
        ("home", "The bike is green."),
        ("work", "The bike of the firm is red."),
        ("health", "The bike test went well."),
    ] {
        ids.push(alice.call("remember", json!({ "content": content, "namespace": namespace })).await["id"].clone());
    }
    ids.try_into().unwrap()
}

#[tokio::test]
async fn an_app_sees_the_chosen_namespaces_only_by_every_way() {
    let app = app().await;
    let [home, work, health] = three_namespaces(&app).await;
    let (_, issued) = let_in(&app, &[("namespaces", "chosen"), ("names", "home"), ("names", "work")]).await;
    let client = client_of(&app, &issued);
    let found = client.call("recall", json!({ "query": "bike" })).await;
    assert!(!found.text.contains("test went"), "{}", found.text);
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(2), "{:?}", found.structured);
    assert_eq!(client.call("list_memories", json!({})).await["total"], 2);
    client.call("get_memory", json!({ "id": home })).await;
    for tool in ["get_memory", "forget"] {
        client.call_in_vain(tool, json!({ "id": health })).await;
    }
    client.call_in_vain("update", json!({ "id": health, "content": "I was here." })).await;
    client.call_in_vain("update", json!({ "id": work, "namespace": "health" })).await;
    client.call_in_vain("remember", json!({ "content": "I was here.", "namespace": "health" })).await;
    let resources = client.request("resources/list", json!({})).await.unwrap().to_string();
    assert!(resources.contains("memory://home") && !resources.contains("memory://health"), "{resources}");
    client.request("resources/read", json!({ "uri": "memory://health" })).await.unwrap_err();
    let completed = json!({
        "ref": { "type": "ref/resource", "uri": "memory://{namespace}" },
        "argument": { "name": "namespace", "value": "h" },
    });
    let completed = client.request("completion/complete", completed).await.unwrap();
    assert_eq!(completed["completion"]["values"], json!(["home"]));
    // A namespace made later is not among them.
    app.mcp("alice").call("remember", json!({ "content": "The bike is sold.", "namespace": "later" })).await;
    assert_eq!(client.call("list_memories", json!({})).await["total"], 2);
}

#[tokio::test]
async fn all_but_some_namespaces_includes_later_ones() {
    let app = app().await;
    let [_, _, health] = three_namespaces(&app).await;
    let decision = [("namespaces", "chosen"), ("names", "home"), ("names", "work"), ("later", "true")];
    let (_, issued) = let_in(&app, &decision).await;
    let client = client_of(&app, &issued);
    assert_eq!(client.call("list_memories", json!({})).await["total"], 2);
    app.mcp("alice").call("remember", json!({ "content": "The bike is sold.", "namespace": "later" })).await;
    assert_eq!(client.call("list_memories", json!({})).await["total"], 3);
    let found = client.call("recall", json!({ "query": "bike" })).await;
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(3));
    client.call_in_vain("get_memory", json!({ "id": health })).await;
    let resources = client.request("resources/list", json!({})).await.unwrap().to_string();
    assert!(resources.contains("memory://later") && !resources.contains("memory://health"), "{resources}");
}

#[tokio::test]
async fn narrowing_and_revoking_hold_on_the_very_next_call() {
    let app = app().await;
    let [home, ..] = three_namespaces(&app).await;
    let (client_id, issued) = let_in(&app, &[]).await;
    let client = client_of(&app, &issued);
    client.call("get_memory", json!({ "id": home })).await;
    let (alice, entry) = (app.person("alice").await, the_app(&app).await);
    let narrow =
        AppGrants { can_read: true, can_write: false, namespaces: NamespaceChoice::Only(vec!["work".to_owned()]) };
    app.service().change_app(&alice, entry.id, &narrow).await.unwrap();
    client.call_in_vain("get_memory", json!({ "id": home })).await;
    assert_eq!(client.call("list_memories", json!({})).await["total"], 1);

    app.service().pause_app(&alice, entry.id, true).await.unwrap();
    assert_eq!(status_with(&app, &issued.access).await, 403);
    app.service().pause_app(&alice, entry.id, false).await.unwrap();
    assert_eq!(status_with(&app, &issued.access).await, 200);

    app.service().revoke_app(&alice, entry.id).await.unwrap();
    assert_eq!(status_with(&app, &issued.access).await, 401);
    assert_eq!(refusal(refresh(&app, &client_id, &issued.refresh).await).await, (400, "invalid_grant".to_owned()));
    assert!(the_app(&app).await.revoked_at.is_some(), "it stays in the list, as one that was turned away");

    // Let in anew, it begins anew: nothing of before works again.
    let browser = signed_in(&app).await;
    let code = code(&app, &browser, &client_id, &[]).await;
    let anew = tokens(exchange(&app, &client_id, &code).await).await;
    assert_eq!(status_with(&app, &anew.access).await, 200);
    assert_eq!(status_with(&app, &issued.access).await, 401);
    assert_eq!(refusal(refresh(&app, &client_id, &issued.refresh).await).await, (400, "invalid_grant".to_owned()));
}

/// R5, reports 14 and 15: who lacks a permission is told all that it needs; who is too late is told that first.
#[tokio::test]
async fn a_missing_permission_is_a_403_with_all_that_is_needed() {
    let app = app().await;
    let (_, issued) = let_in(&app, &[("can_write", "false")]).await;
    let client = client_of(&app, &issued);
    client.call("list_memories", json!({})).await;
    let remember = json!({ "name": "remember", "arguments": { "content": "I was here." } });
    for revision in ["2025-06-18", "2026-07-28"] {
        let response = client.clone().speaking(revision).send("tools/call", remember.clone()).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{revision}");
        let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
        let metadata = format!(r#"resource_metadata="{}/.well-known/oauth-protected-resource/mcp""#, app.base());
        assert!(challenge.starts_with(r#"Bearer error="insufficient_scope""#), "{challenge}");
        assert!(challenge.contains(&metadata), "{challenge}");
        assert!(challenge.contains(r#"scope="memory:read memory:write""#), "{challenge}");
    }
    crate::oauth::run(&app, "update oauth_tokens set access_expires_at = now()").await;
    let late = client.send("tools/call", remember).await;
    assert_eq!(late.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(app.mcp("alice").call("list_memories", json!({})).await["total"], 0);
}

/// A client that asks to read only is not let write, whatever the form says.
#[tokio::test]
async fn nobody_gets_more_than_was_asked_for() {
    let app = app().await;
    let client = crate::oauth::registered(&app).await;
    let browser = signed_in(&app).await;
    let address = crate::oauth::authorize_address(&app, &client, &[("scope", "memory:read offline_access")]);
    let request = crate::oauth::brought(&browser, &address).await;
    let back = crate::support::location(&crate::oauth::decide(&browser, &request, &[("can_write", "true")]).await);
    let response = exchange(&app, &client, &crate::support::parameter(&back, "code").unwrap()).await;
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["scope"], "memory:read");
    assert!(!the_app(&app).await.grants.can_write);
}

#[tokio::test]
async fn a_choice_of_nothing_is_asked_again() {
    let app = app().await;
    let client = crate::oauth::registered(&app).await;
    let browser = signed_in(&app).await;
    let request = crate::oauth::brought(&browser, &crate::oauth::authorize_address(&app, &client, &[])).await;
    let again = crate::support::location(&crate::oauth::decide(&browser, &request, &[("namespaces", "chosen")]).await);
    assert_eq!(again, format!("/consent?request={request}&problem=namespaces"));
    assert!(crate::oauth::decide(&browser, &request, &[]).await.status().is_redirection());
}

/// What an app saw: which memories, when, by which query; for tokens and keys as well.
#[tokio::test]
async fn everything_that_a_client_did_can_be_read() {
    let app = app().await;
    let [home, ..] = three_namespaces(&app).await;
    let (_, issued) = let_in(&app, &[]).await;
    let client = client_of(&app, &issued);
    client.call("recall", json!({ "query": "what colour is the bike" })).await;
    client.call("get_memory", json!({ "id": home })).await;
    let stored = client.call("remember", json!({ "content": "The bell is loud." })).await["id"].clone();
    client.call("forget", json!({ "id": stored })).await;
    let alice = app.person("alice").await;
    let entry = the_app(&app).await;
    let calls = loop {
        let calls = app.service().app_calls(&alice, entry.id, None, None).await.unwrap();
        if calls.items.len() >= 4 {
            break calls;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let of = |action| calls.items.iter().find(|call| call.action == action).unwrap();
    let recall = of(Action::Recall);
    assert_eq!(recall.query.as_deref(), Some("what colour is the bike"));
    assert!(recall.memories.iter().any(|seen| seen.beginning.as_deref() == Some("The bike is green.")));
    assert_eq!(of(Action::Get).memories.len(), 1);
    assert_eq!(of(Action::Forget).memories[0].beginning, None, "it is gone");
    let entry = the_app(&app).await;
    assert_eq!((entry.calls, calls.total), (4, 4));
    assert!(entry.last_used_at.is_some());

    // The key of the settings is in the same list, and can be paused.
    let apps = app.service().list_apps(&alice, None, None).await.unwrap();
    let key = apps.items.iter().find(|app| app.door == Door::StaticKey).unwrap();
    assert_eq!(key.calls, 3);
    app.service().pause_app(&alice, key.id, true).await.unwrap();
    assert_eq!(status_with(&app, &crate::support::key_of("alice")).await, 403);
    app.service().revoke_app(&alice, key.id).await.unwrap_err();
    app.service().pause_app(&alice, key.id, false).await.unwrap();
    app.mcp("alice").call("ping", json!({})).await;

    // Nobody else knows of it.
    let bob = Ctx { user: app.service().user(&Identity::named("bob")).await.unwrap(), ..alice.clone() };
    assert_eq!(app.service().list_apps(&bob, None, None).await.unwrap().items.len(), 0);
    app.service().app_calls(&bob, entry.id, None, None).await.unwrap_err();
    app.service().revoke_app(&bob, entry.id).await.unwrap_err();
    app.service().pause_app(&bob, entry.id, true).await.unwrap_err();
    assert_eq!(status_with(&app, &issued.access).await, 200);
}

/// Clients look the metadata up on the connection on which they were refused, at once. What they sent arrives in pieces.
#[tokio::test]
async fn a_refusal_leaves_the_connection_open() {
    let app = app().await;
    let address = app.base().strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let head = format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n", body.len());
    connection.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    connection.write_all(body.as_bytes()).await.unwrap();
    let mut answer = vec![0; 16 << 10];
    let length = connection.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 401 "));
    let next = format!("GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\nHost: {address}\r\n\r\n");
    connection.write_all(next.as_bytes()).await.unwrap();
    let length = connection.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer[..length]));

    // Who never sends the rest is refused none the less.
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(head.as_bytes()).await.unwrap();
    let length = connection.read(&mut answer).await.unwrap();
    assert!(answer[..length].starts_with(b"HTTP/1.1 401 "));
}

/// R7: the 401 goes out before anything else is looked at.
#[tokio::test]
async fn without_a_token_every_request_is_a_401() {
    let app = app().await;
    for method in ["initialize", "tools/list", "server/discover", "tools/call"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        let response = app.http(Method::POST, "/mcp").json(&body).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method}");
        let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
        assert!(!challenge.contains("error="), "{challenge}");
    }
    let broken = app.http(Method::POST, "/mcp").body("{").send().await.unwrap();
    assert_eq!(broken.status(), StatusCode::UNAUTHORIZED);
    // Report 23: pages of allowed origins may read where to go.
    let response = app.http(Method::POST, "/mcp").header(header::ORIGIN, "http://localhost:6274").send().await.unwrap();
    let exposed = response.headers()[header::ACCESS_CONTROL_EXPOSE_HEADERS].to_str().unwrap().to_lowercase();
    assert!(exposed.contains("www-authenticate"), "{exposed}");
}
