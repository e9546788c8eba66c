//! Nothing of all this is kept by one process: it goes on after a restart, and on another replica.

use reqwest::{RequestBuilder, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    oauth::{BACK, VERIFIER, authorize_address, refusal, tokens},
    support::{GitHub, TestApp, location, parameter},
};

const HOST: &str = "memory.example.com";

/// As a proxy passes it on.
fn proxied(request: RequestBuilder) -> RequestBuilder {
    request.header(header::HOST, HOST)
}

async fn ask(app: &TestApp, parameters: &[(&str, &str)]) -> reqwest::Response {
    proxied(crate::oauth::token_request(app, parameters)).send().await.unwrap()
}

async fn status_with(app: &TestApp, credential: &str) -> u16 {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let request = app.http(reqwest::Method::POST, "/mcp").bearer_auth(credential).json(&ping);
    proxied(request).send().await.unwrap().status().as_u16()
}

/// Each step is taken at the other one of two servers over one database, as behind a load balancer without memory.
#[tokio::test]
async fn two_replicas_take_turns() {
    let github = GitHub::start().await;
    let first = TestApp::builder().github(&github).setting("POLYMNEMO_PUBLIC_URL", &format!("https://{HOST}"));
    let first = first.start().await;
    let second = first.replica().await;

    let metadata = json!({ "client_name": "Story", "redirect_uris": [BACK] });
    let response = proxied(first.http(reqwest::Method::POST, "/register")).json(&metadata).send().await.unwrap();
    let client = response.json::<Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned();
    let browser = second.browser().behind(&format!("https://{HOST}"));
    let resource = format!("https://{HOST}/mcp");
    let page = location(&browser.get(&authorize_address(&second, &client, &[("resource", &resource)])).await);
    let browser = browser.served_by(&first);
    let sign_in = location(&browser.get(&page).await);
    let next = parameter(&sign_in, "next").unwrap();
    let next: String = url::form_urlencoded::byte_serialize(next.as_bytes()).collect();
    let back_from_github = browser.come_back_from_github(&next).await;
    let browser = browser.served_by(&second);
    assert_eq!(location(&browser.get(&back_from_github).await), page);

    let request = parameter(&page, "request").unwrap();
    let browser = browser.served_by(&first);
    let fields = [
        ("request", request.as_str()),
        ("answer", "allow"),
        ("namespaces", "all"),
        ("can_write", "true"),
        ("days", "1"),
    ];
    let back = location(&browser.post("/consent/answer", &fields).await);
    assert_eq!(parameter(&back, "iss").unwrap(), format!("https://{HOST}"));
    let code = parameter(&back, "code").unwrap();
    let exchange = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
        ("resource", resource.as_str()),
    ];
    let issued = tokens(ask(&second, &exchange).await).await;
    assert_eq!(status_with(&first, &issued.access).await, 200);

    let refresh =
        [("grant_type", "refresh_token"), ("client_id", client.as_str()), ("refresh_token", issued.refresh.as_str())];
    let (one, other) = tokio::join!(ask(&first, &refresh), ask(&second, &refresh));
    assert_eq!(tokens(one).await, tokens(other).await);

    assert_eq!(
        refusal(ask(&first, &exchange).await).await,
        (StatusCode::BAD_REQUEST.as_u16(), "invalid_grant".to_owned())
    );
    assert_eq!(status_with(&second, &issued.access).await, 401, "what one revokes, the other does not take");
}
