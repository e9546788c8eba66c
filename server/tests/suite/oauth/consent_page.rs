//! What a person sees who is to decide about an app.

use polymnemo_types::AuthorizationRequest;
use reqwest::{StatusCode, header};

use crate::{
    oauth::{app, authorize_address, brought, challenge, register, registered, signed_in},
    support::{Browser, TestApp},
};

/// The value of the cookie by which the browser of these stories is known.
const KEY: &str = "BrowserBrowserBrowserBrowserBrowserBrowserB";

/// The page for a request with these particulars: its policy, and its text.
async fn page(app: &TestApp, browser: &Browser, redirect_uri: &str, domain: Option<&str>) -> (String, String) {
    let request = AuthorizationRequest {
        client_id: "https://app.example/client.json".into(),
        client_name: "Diary <b>&\u{202e}\"".into(),
        domain: domain.map(str::to_owned),
        redirect_uri: redirect_uri.into(),
        redirect_host: "host.example".into(),
        is_loopback: false,
        wants_write: false,
        resource: app.mcp_url(),
        state: Some("a state that is nobody's business".into()),
        code_challenge: challenge(),
        browser: String::new(),
    };
    let id = app.service().begin_authorization(request, KEY).await.unwrap();
    browser.plant_session("polymnemo_browser", KEY);
    let response = browser.get(&format!("/consent?request={id}")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap().to_owned();
    (policy, response.text().await.unwrap())
}

/// Where forms may lead, by a policy.
fn form_action(policy: &str) -> &str {
    policy.split("; ").find_map(|directive| directive.strip_prefix("form-action ")).unwrap()
}

#[tokio::test]
async fn it_tells_who_vouches_for_the_app_and_holds_nothing_of_its_own() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let (policy, text) = page(&app, &browser, "https://app.example/back", Some("app.example")).await;
    assert_eq!(form_action(&policy), "'self' https://app.example");
    assert!(text.contains("<bdi>app.example</bdi>") && !text.contains("unverified"), "{text}");
    // The name is text, and turns nothing around.
    assert!(text.contains("<bdi>Diary &lt;b&gt;&amp;\"</bdi>") && !text.contains('\u{202e}'), "{text}");
    assert!(!text.contains("nobody's business") && !text.contains("https://app.example/back"), "{text}");
    // What it does not ask for is not offered, and no answer comes before no.
    assert!(!text.contains("name=\"can_write\" value=\"true\""), "{text}");
    let [deny, allow] = ["deny", "allow"].map(|answer| text.find(&format!("value=\"{answer}\"")).unwrap());
    assert!(deny < allow && !text.split_at(deny).0.contains("type=\"submit\""));

    let (_, text) = page(&app, &browser, "https://app.example/back", None).await;
    assert!(text.contains("<bdi>unverified</bdi>"), "{text}");
}

#[tokio::test]
async fn its_forms_lead_to_the_app_and_nowhere_else() {
    let app = app().await;
    let browser = signed_in(&app).await;
    for (redirect_uri, expected) in [
        ("cursor://anysphere.cursor-retrieval/oauth/callback", "'self' cursor:"),
        ("http://127.0.0.1:7777/callback", "'self' http://127.0.0.1:7777"),
        // These are refused before; if they ever were not, they would add nothing.
        ("https://a;script-src/", "'self'"),
        ("javascript:alert(1)", "'self'"),
    ] {
        let (policy, _) = page(&app, &browser, redirect_uri, None).await;
        assert_eq!(form_action(&policy), expected, "{redirect_uri}");
    }
    let other = browser.get("/settings").await;
    assert_eq!(form_action(other.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap()), "'self'");
}

#[tokio::test]
async fn another_browser_sees_what_one_without_a_request_sees() {
    let app = app().await;
    let (mine, other) = (signed_in(&app).await, signed_in(&app).await);
    let client = registered(&app).await;
    let request = brought(&mine, &authorize_address(&app, &client, &[])).await;
    let address = format!("/consent?request={request}");
    assert_eq!(mine.get(&address).await.status(), StatusCode::OK);
    assert!(mine.get(&address).await.text().await.unwrap().contains("any program could call itself"));
    // With a cookie of its own, and without one.
    for _ in 0..2 {
        for address in [&address, "/consent", "/consent?request=nonsense"] {
            let seen = other.get(address).await;
            assert_eq!(seen.status(), StatusCode::NOT_FOUND, "{address}");
            let text = seen.text().await.unwrap();
            assert!(text.contains("This request is over") && !text.contains("Story"), "{text}");
        }
        brought(&other, &authorize_address(&app, &client, &[])).await;
    }
}

#[tokio::test]
async fn the_name_of_an_app_is_bounded() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let metadata = serde_json::json!({ "client_name": "x".repeat(5_000), "redirect_uris": [crate::oauth::BACK] });
    let client: serde_json::Value = register(&app, metadata).await.json().await.unwrap();
    let Some(client) = client["client_id"].as_str() else { return };
    let request = brought(&browser, &authorize_address(&app, client, &[])).await;
    let text = browser.get(&format!("/consent?request={request}")).await.text().await.unwrap();
    assert!(text.contains(&"x".repeat(100)) && !text.contains(&"x".repeat(101)));
}
