//! The MCP endpoint as clients of all kinds find it.

use std::time::Duration;

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

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

fn nested(depth: usize) -> String {
    let (open, close) = ("[".repeat(depth), "]".repeat(depth));
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"deep":{open}{close}}}}}"#)
}

#[tokio::test]
async fn what_is_refused_is_refused_in_json_rpc_whatever_is_wrong_with_it() {
    let app = TestApp::start().await;
    let post = || app.http(Method::POST, "/mcp").bearer_auth(key_of("alice"));
    let json = || post().header(header::CONTENT_TYPE, "application/json");
    let body = ping().to_string();
    for (request, expected) in [
        (post().header(header::CONTENT_TYPE, "text/plain").body(body.clone()), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (post().body(body.clone()), StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (json().header(header::ACCEPT, "text/html").body(body.clone()), StatusCode::NOT_ACCEPTABLE),
        (json().header("mcp-protocol-version", "1999-01-01").body(body), StatusCode::BAD_REQUEST),
        (json().body(&b"\"\xff\""[..]), StatusCode::BAD_REQUEST),
    ] {
        let response = request.send().await.unwrap();
        assert_eq!(
            (response.status(), &response.headers()["content-type"]),
            (expected, &"application/json".parse().unwrap())
        );
        let answer: Value = response.json().await.unwrap();
        assert!(answer["error"]["code"].as_i64().is_some_and(|code| code < -32_000), "{answer}");
        assert!(answer["error"]["message"].is_string() && answer["id"].is_null(), "{answer}");
    }
}

/// Sends the head of a request by hand, and reads the head of the answer and what came with it.
async fn by_hand(app: &TestApp, head: &str) -> String {
    let address = app.base().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("POST /mcp HTTP/1.1\r\nAuthorization: Bearer {}\r\n{head}\r\n", key_of("alice"));
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4_096];
    let length = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut answer)).await.unwrap().unwrap();
    answer.truncate(length);
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_body_that_says_it_is_too_long_is_refused_before_any_of_it_came() {
    let app = TestApp::start().await;
    let head = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000000\r\n";
    let answer = by_hand(&app, head).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("application/json") && answer.contains("-32600"), "{answer}");
}

#[tokio::test]
async fn a_request_that_names_two_hosts_is_refused() {
    let app = TestApp::start().await;
    for second in ["localhost", "evil.example.com"] {
        let answer = by_hand(&app, &format!("Host: localhost\r\nHost: {second}\r\nContent-Length: 0\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
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
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"} trailing"#, -32_700),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#, -32_600),
        (r#"{"jsonrpc":"2.0","id":1,"error":"none"}"#, -32_600),
        (&nested(200), -32_700),
    ] {
        let (status, answer) = alice.send_raw(body.to_owned()).await;
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
    let (status, answer) = app.mcp("alice").send_raw(vec![b' '; (32 << 20) + 1]).await;
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
