//! Who gets in, and what those are told who don't.

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{TestApp, key_of};

const ALL_METHODS: [Method; 5] = [Method::GET, Method::POST, Method::DELETE, Method::PUT, Method::HEAD];

#[tokio::test]
async fn without_a_key_every_method_is_answered_with_the_challenge() {
    let app = TestApp::start().await;
    for method in ALL_METHODS {
        for path in ["/mcp", "/mcp/"] {
            // The body is no JSON at all: whoever reads it first would say so.
            let response = app.http(method.clone(), path).body("{").send().await.unwrap();
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{method} {path}");
            assert_eq!(
                response.headers()[header::WWW_AUTHENTICATE],
                format!(
                    r#"Bearer resource_metadata="{}/.well-known/oauth-protected-resource/mcp", scope="memory:read memory:write""#,
                    app.base()
                )
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_key_is_told_to_be_wrong() {
    let app = TestApp::start().await;
    let almost = key_of("alice").replace('9', "8");
    for wrong in ["Bearer wrong", "Bearer ", &format!("Bearer {almost}"), &format!("Bearer {}x", key_of("alice"))] {
        let request = app.http(Method::POST, "/mcp").header(header::AUTHORIZATION, wrong).body("{");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{wrong}");
        let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
        assert!(challenge.starts_with(r#"Bearer error="invalid_token", resource_metadata="http://"#), "{challenge}");
        let body: Value = response.json().await.unwrap();
        assert_eq!(body["error"], "invalid_token");
    }
}

#[tokio::test]
async fn the_challenge_names_the_public_url_where_there_is_one() {
    let app = TestApp::builder().setting("POLYMNEMO_PUBLIC_URL", "https://memory.example.com").start().await;
    let response = app.http(Method::POST, "/mcp").send().await.unwrap();
    assert_eq!(
        response.headers()[header::WWW_AUTHENTICATE],
        r#"Bearer resource_metadata="https://memory.example.com/.well-known/oauth-protected-resource/mcp", scope="memory:read memory:write""#
    );
}

#[tokio::test]
async fn a_key_in_the_url_is_not_read() {
    let app = TestApp::start().await;
    let key = key_of("alice");
    for query in ["access_token", "token", "key", "api_key", "authorization"] {
        let response = app.http(Method::POST, &format!("/mcp?{query}={key}")).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{query}");
    }
}

#[tokio::test]
async fn the_scheme_is_read_in_any_case() {
    let app = TestApp::start().await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request = app.http(Method::POST, "/mcp").json(&ping);
        let response =
            request.header(header::AUTHORIZATION, format!("{scheme} {}", key_of("bob"))).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{scheme}");
    }
}

#[tokio::test]
async fn each_key_opens_the_store_of_its_own_user() {
    let app = TestApp::start().await;
    for user in ["alice", "bob"] {
        assert_eq!(app.mcp(user).call("ping", json!({})).await["user"], user);
    }
}

#[tokio::test]
async fn the_metadata_is_where_the_challenge_says_and_names_the_url_as_called() {
    let app = TestApp::start().await;
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let request = app.http(Method::GET, path).header(header::ORIGIN, "https://anywhere.example");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
        let metadata: Value = response.json().await.unwrap();
        assert_eq!(metadata["resource"], app.mcp_url());
        assert_eq!(metadata["scopes_supported"], json!(["memory:read", "memory:write"]));
    }
}

#[tokio::test]
async fn other_well_known_documents_are_missing_in_json_and_never_a_page() {
    let app = TestApp::start().await;
    for path in ["oauth-authorization-server", "oauth-authorization-server/mcp", "openid-configuration", "x/y/z"] {
        let request = app.http(Method::GET, &format!("/.well-known/{path}")).header(header::ACCEPT, "text/html");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json", "{path}");
    }
}
