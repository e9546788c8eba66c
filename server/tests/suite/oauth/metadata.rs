use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::TestApp;

async fn document(app: &TestApp, path: &str) -> Value {
    let response = app.http(Method::GET, path).header(header::ORIGIN, "https://any.example").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*", "{path}");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json", "{path}");
    response.json().await.unwrap()
}

/// R1, R2, A2: what clients look up, at every address where they look.
#[tokio::test]
async fn the_documents_name_each_other_byte_for_byte() {
    let app = crate::oauth::app().await;
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let resource = document(&app, path).await;
        assert_eq!(resource["resource"], app.mcp_url(), "{path}");
        assert_eq!(resource["authorization_servers"], json!([app.base()]), "{path}");
        assert_eq!(resource["scopes_supported"], json!(["memory:read", "memory:write"]), "{path}");
    }
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/oauth-authorization-server/mcp"] {
        let server = document(&app, path).await;
        assert_eq!(server["issuer"], app.base(), "{path}");
        for (name, endpoint) in [
            ("authorization_endpoint", "authorize"),
            ("token_endpoint", "token"),
            ("registration_endpoint", "register"),
            ("revocation_endpoint", "revoke"),
        ] {
            assert_eq!(server[name], format!("{}/{endpoint}", app.base()), "{path}");
        }
        assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
        assert_eq!(server["response_types_supported"], json!(["code"]));
        assert_eq!(server["grant_types_supported"], json!(["authorization_code", "refresh_token"]));
        assert_eq!(server["token_endpoint_auth_methods_supported"], json!(["none"]));
        assert_eq!(server["client_id_metadata_document_supported"], true);
        assert_eq!(server["authorization_response_iss_parameter_supported"], true);
    }
}

/// Report 22: a page in the place of a document that is not there is read as one. We are no OpenID provider.
#[tokio::test]
async fn what_is_not_there_is_a_404_in_json() {
    let app = TestApp::start().await;
    for path in [
        "/.well-known/openid-configuration",
        "/.well-known/openid-configuration/mcp",
        "/mcp/.well-known/openid-configuration",
        "/mcp/.well-known/oauth-authorization-server",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-authorization-server/other",
        "/.well-known/anything",
    ] {
        let response = app.http(Method::GET, path).header(header::ACCEPT, "text/html").send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json", "{path}");
    }
}

/// Report 2: behind a proxy that ends TLS, everything names the public address, whoever asks by which name.
#[tokio::test]
async fn behind_a_proxy_everything_names_the_public_address() {
    let app = TestApp::builder()
        .setting("POLYMNEMO_PUBLIC_URL", "https://memory.example.com")
        .setting("POLYMNEMO_GITHUB_CLIENT_ID", "a")
        .setting("POLYMNEMO_GITHUB_CLIENT_SECRET", "b")
        .start()
        .await;
    let ask = async |path: &str| {
        let request = app.http(Method::GET, path).header(header::HOST, "memory.example.com");
        request.send().await.unwrap().json::<Value>().await.unwrap()
    };
    let resource = ask("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(resource["resource"], "https://memory.example.com/mcp");
    assert_eq!(resource["authorization_servers"], json!(["https://memory.example.com"]));
    let server = ask("/.well-known/oauth-authorization-server").await;
    assert_eq!(server["issuer"], "https://memory.example.com");
    assert_eq!(server["token_endpoint"], "https://memory.example.com/token");
}

/// Report 1: the address of the endpoint is a path of any length, and its document is below the well-known path.
#[tokio::test]
async fn the_endpoint_may_be_under_a_prefix() {
    let app = TestApp::builder()
        .setting("POLYMNEMO_STDIO_USER", "alice")
        .setting("POLYMNEMO_MCP_PATH", "/tools/memory/mcp")
        .start()
        .await;
    let resource = document(&app, "/.well-known/oauth-protected-resource/tools/memory/mcp").await;
    assert_eq!(resource["resource"], format!("{}/tools/memory/mcp", app.base()));
    document(&app, "/.well-known/oauth-authorization-server/tools/memory/mcp").await;
    let refused = app.http(Method::POST, "/tools/memory/mcp").send().await.unwrap();
    let challenge = refused.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
    let metadata = format!("{}/.well-known/oauth-protected-resource/tools/memory/mcp", app.base());
    assert!(challenge.contains(&metadata), "{challenge}");
}

/// Where nobody can sign in, nobody can let an app in, and no client is sent on a way without an end.
#[tokio::test]
async fn without_a_way_to_sign_in_there_is_no_authorization_server() {
    let app = TestApp::builder().setting("POLYMNEMO_PUBLIC_URL", "https://memory.example.com").start().await;
    let resource = document(&app, "/.well-known/oauth-protected-resource/mcp").await;
    assert!(resource.get("authorization_servers").is_none(), "{resource}");
    for path in ["/.well-known/oauth-authorization-server", "/authorize"] {
        let response = app.http(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
    }
}
