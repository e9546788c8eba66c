//! Which names the server answers to, and which web pages may call it.

use reqwest::{Method, StatusCode, header};
use serde_json::json;

use crate::support::{TestApp, key_of};

fn ping() -> serde_json::Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })
}

#[tokio::test]
async fn a_name_that_is_not_the_servers_own_is_refused_on_every_door() {
    let app = TestApp::start().await;
    for path in ["/", "/mcp", "/api/connection", "/.well-known/oauth-protected-resource"] {
        for host in ["evil.example.com", "localhost.evil.example.com", "127.0.0.1.nip.io"] {
            let request = app.http(Method::GET, path).header(header::HOST, host).bearer_auth(key_of("alice"));
            assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{host}{path}");
        }
    }
    for host in ["localhost", "LOCALHOST:1234", "127.0.0.1:8000", "[::1]:8000"] {
        let request = app.http(Method::POST, "/mcp").header(header::HOST, host).bearer_auth(key_of("alice"));
        assert_eq!(request.json(&ping()).send().await.unwrap().status(), StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn further_names_can_be_allowed() {
    let app = TestApp::builder()
        .setting("POLYMNEMO_PUBLIC_URL", "https://memory.example.com")
        .setting("POLYMNEMO_ALLOWED_HOSTS", "polymnemo,nas.local:8000")
        .start()
        .await;
    for (host, expected) in [
        ("memory.example.com", StatusCode::OK),
        ("polymnemo:8000", StatusCode::OK),
        ("nas.local:8000", StatusCode::OK),
        ("nas.local:8001", StatusCode::FORBIDDEN),
        ("other.example.com", StatusCode::FORBIDDEN),
    ] {
        let request = app.http(Method::POST, "/mcp").header(header::HOST, host).bearer_auth(key_of("alice"));
        assert_eq!(request.json(&ping()).send().await.unwrap().status(), expected, "{host}");
    }
}

#[tokio::test]
async fn pages_of_a_foreign_origin_are_refused_even_with_a_key() {
    let app = TestApp::builder().setting("POLYMNEMO_ALLOWED_ORIGINS", "https://app.example.com").start().await;
    for (origin, expected) in [
        ("https://evil.example.com", StatusCode::FORBIDDEN),
        ("http://app.example.com", StatusCode::FORBIDDEN),
        ("https://app.example.com:8443", StatusCode::FORBIDDEN),
        ("null", StatusCode::FORBIDDEN),
        ("https://app.example.com", StatusCode::OK),
        ("http://localhost:6274", StatusCode::OK),
    ] {
        let request = app.http(Method::POST, "/mcp").header(header::ORIGIN, origin).bearer_auth(key_of("alice"));
        assert_eq!(request.json(&ping()).send().await.unwrap().status(), expected, "{origin}");
    }
    // The web app's own forms are the same to a foreign page.
    let request = app.http(Method::POST, "/api/choose_language").header(header::ORIGIN, "https://evil.example.com");
    assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_browser_may_ask_first_without_a_key() {
    let app = TestApp::start().await;
    let response = app
        .http(Method::OPTIONS, "/mcp")
        .header(header::ORIGIN, "http://localhost:6274")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
        .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "authorization,content-type,mcp-method,mcp-protocol-version")
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers();
    assert_eq!(headers[header::ACCESS_CONTROL_ALLOW_ORIGIN], "http://localhost:6274");
    let allowed = headers[header::ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
    for name in ["authorization", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"] {
        assert!(allowed.split(',').any(|allowed| allowed == name), "{name} is not in {allowed}");
    }
    assert!(headers[header::ACCESS_CONTROL_ALLOW_METHODS].to_str().unwrap().contains("POST"));
}

#[tokio::test]
async fn a_page_can_read_the_challenge() {
    let app = TestApp::start().await;
    let request = app.http(Method::POST, "/mcp").header(header::ORIGIN, "http://localhost:6274");
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "http://localhost:6274");
    let exposed = response.headers()[header::ACCESS_CONTROL_EXPOSE_HEADERS].to_str().unwrap().to_ascii_lowercase();
    assert!(exposed.contains("www-authenticate") && exposed.contains("mcp-session-id"), "{exposed}");
}
