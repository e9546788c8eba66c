//! The MCP endpoint as clients of all kinds find it.

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{REVISIONS, TestApp, key_of};

fn ping() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

#[tokio::test]
async fn every_revision_of_the_protocol_stores_and_finds() {
    let app = TestApp::start().await;
    for revision in REVISIONS {
        let alice = app.mcp("alice").speaking(revision);
        let content = format!("In {revision} the bicycle was repaired by Mr Okonkwo.");
        alice.call("remember", json!({ "content": content })).await;
        let found = alice.call("recall", json!({ "query": format!("bicycle {revision}") })).await;
        assert!(found.text.contains("Okonkwo"), "{revision}: {}", found.text);
    }
}

#[tokio::test]
async fn a_client_that_accepts_one_form_or_any_is_served() {
    let app = TestApp::start().await;
    let post = || app.http(Method::POST, "/mcp").bearer_auth(key_of("alice"));
    for accept in ["*/*", "application/json", "text/event-stream", "application/json;q=0.5, text/html"] {
        let response = post().header(header::ACCEPT, accept).json(&ping()).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{accept}");
    }
    let response = post().header(header::ACCEPT, "text/html").json(&ping()).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn a_slash_at_the_end_makes_no_difference() {
    let app = TestApp::builder().setting("POLYMNEMO_MCP_PATH", "/memory/mcp").start().await;
    for path in ["/memory/mcp", "/memory/mcp/"] {
        let request = app.http(Method::POST, path).bearer_auth(key_of("alice")).json(&ping());
        assert_eq!(request.send().await.unwrap().status(), StatusCode::OK, "{path}");
    }
    let response = app.http(Method::POST, "/mcp").bearer_auth(key_of("alice")).json(&ping()).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn streams_and_sessions_of_the_past_are_not_there_and_say_what_is() {
    let app = TestApp::start().await;
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let request = app.http(method.clone(), "/mcp").bearer_auth(key_of("alice"));
        let response = request.header(header::ACCEPT, "text/event-stream").send().await.unwrap();
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(response.headers()[header::ALLOW], "POST", "{method}");
    }
}

#[tokio::test]
async fn what_is_not_json_rpc_gets_the_error_that_json_rpc_has_for_it() {
    let app = TestApp::start().await;
    let alice = app.mcp("alice");
    for (body, code) in [
        ("", -32_700),
        ("{\"jsonrpc\":", -32_700),
        ("hello", -32_700),
        ("[]", -32_600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32_600),
        (r#"{"id":1,"method":"ping"}"#, -32_600),
    ] {
        let (status, answer) = alice.send_raw(body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null), "{body}");
    }
}

#[tokio::test]
async fn half_an_emoji_and_nul_do_no_harm() {
    let app = TestApp::start().await;
    let alice = app.mcp("alice");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember",
        "arguments":{"content":"cut \ud83d off, \ude00 whole \ud83d\ude00 and nul \u0000 end"}}}"#;
    let (status, answer) = alice.send_raw(body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let id = &answer["result"]["structuredContent"]["id"];
    let read = alice.call("get_memory", json!({ "id": id })).await;
    assert_eq!(read["content"], "cut \u{FFFD} off, \u{FFFD} whole 😀 and nul \u{FFFD} end");
}

#[tokio::test]
async fn a_memory_of_a_mebibyte_is_kept_whole_in_its_longest_spelling() {
    let app = TestApp::start().await;
    let alice = app.mcp("alice");
    // Every byte escaped: six times as long on the wire.
    let escaped = "\\u0061".repeat(1 << 20);
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"remember","arguments":{{"content":"{escaped}"}}}}}}"#
    );
    let (status, answer) = alice.send_raw(body).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["result"]["structuredContent"]["status"], "stored", "{answer}");

    let longer = "a".repeat((1 << 20) + 1);
    let told = alice.call_in_vain("remember", json!({ "content": longer })).await;
    assert!(told.contains("1048576"), "{told}");
}

#[tokio::test]
async fn a_body_beyond_all_bounds_is_refused() {
    let app = TestApp::start().await;
    let (status, answer) = app.mcp("alice").send_raw(vec![b' '; (8 << 20) + 1]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.contains("Send less at once"), "{answer}");
}

#[tokio::test]
async fn a_notification_is_accepted_without_a_body() {
    let app = TestApp::start().await;
    let (status, body) = app.mcp("alice").send_raw(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    assert_eq!((status, body.as_str()), (StatusCode::ACCEPTED, ""));
}

#[tokio::test]
async fn each_answer_has_an_id_and_keeps_one_that_a_proxy_gave() {
    let app = TestApp::start().await;
    let id_for = async |given: &str| {
        let request = app.http(Method::POST, "/mcp").bearer_auth(key_of("alice")).header("x-request-id", given);
        request.json(&ping()).send().await.unwrap().headers()["x-request-id"].to_str().unwrap().to_owned()
    };
    assert_eq!(id_for("proxy-1.a_b").await, "proxy-1.a_b");
    for refused in ["", "has space", &"x".repeat(65)] {
        assert_eq!(id_for(refused).await.len(), 36, "{refused}");
    }
}
