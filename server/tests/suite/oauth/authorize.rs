use reqwest::{StatusCode, header};

use crate::{
    oauth::{
        BACK, app, authorize_address, brought, decide, exchange, register, registered, resource_as_written, signed_in,
    },
    support::{TestApp, location, parameter},
};

/// The whole way, for someone who is not signed in yet.
#[tokio::test]
async fn a_person_signs_in_decides_and_is_led_back() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = app.browser();
    let address = authorize_address(&app, &client, &[]);
    let page = location(&browser.get(&address).await);
    let sign_in = location(&browser.get(&page).await);
    assert!(sign_in.starts_with("/sign-in?next=/consent"), "{sign_in}");
    let link = app.sign_in_link().await;
    let next = parameter(&sign_in, "next").unwrap();
    let there = browser.post("/sign-in/link", &[("link", &link), ("next", &next)]).await;
    assert_eq!(location(&there), page);

    let request = parameter(&page, "request").unwrap();
    let response = decide(&browser, &request, &[]).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER, "a form must not be sent on");
    let back = location(&response);
    assert!(back.starts_with(&format!("{BACK}?code=")), "{back}");
    assert_eq!(parameter(&back, "state").as_deref(), Some("the state"));
    assert_eq!(parameter(&back, "iss").as_deref(), Some(app.base()));
    assert_eq!(back.matches("iss=").count(), 1);
    assert_eq!(exchange(&app, &client, &parameter(&back, "code").unwrap()).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn no_is_told_to_the_app_and_leaves_nothing() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let request = brought(&browser, &authorize_address(&app, &client, &[])).await;
    let back = location(&decide(&browser, &request, &[("answer", "deny")]).await);
    assert_eq!(parameter(&back, "error").as_deref(), Some("access_denied"));
    assert_eq!(parameter(&back, "state").as_deref(), Some("the state"));
    assert_eq!(parameter(&back, "iss").as_deref(), Some(app.base()));
    assert_eq!(parameter(&back, "code"), None);
    let again = decide(&browser, &request, &[]).await;
    assert_eq!(again.status(), StatusCode::NOT_FOUND, "a request is answered once");
    assert_eq!(crate::oauth::text(&app, "select count(*)::text from apps").await, "0");
}

/// A3: whatever leaves a doubt about the client or the address is a page here, and leads nowhere.
#[tokio::test]
async fn a_person_is_never_led_to_an_address_that_is_not_the_clients() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    for changes in [
        [("client_id", "nobody")],
        [("client_id", "")],
        [("redirect_uri", "https://evil.example/callback")],
        [("redirect_uri", "http://127.0.0.1:7777/callback/../evil")],
        [("redirect_uri", "http://127.0.0.1:7777/callback#x")],
        [("redirect_uri", "http://user@127.0.0.1:7777/callback")],
        [("redirect_uri", "http://127.0.0.1:7777\\@evil.example/callback")],
        [("redirect_uri", "http://127.0.0.1.evil.example:7777/callback")],
        [("redirect_uri", "http://localhost:7777/callback")],
        [("redirect_uri", "http://127.0.0.1:7777/callback?x=1")],
        [("redirect_uri", "javascript:alert(1)")],
    ] {
        let response = browser.get(&authorize_address(&app, &client, &changes)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{changes:?}");
        assert!(response.headers()[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"), "{changes:?}");
        assert!(!response.headers().contains_key(header::LOCATION));
    }
    let twice = format!("{}&client_id={client}", authorize_address(&app, &client, &[]));
    assert_eq!(browser.get(&twice).await.status(), StatusCode::BAD_REQUEST);
}

/// Report 16: on the person's own machine the port is whatever was free.
#[tokio::test]
async fn a_loopback_address_may_have_another_port() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let other_port = [("redirect_uri", "http://127.0.0.1:50123/callback")];
    let request = brought(&browser, &authorize_address(&app, &client, &other_port)).await;
    let back = location(&decide(&browser, &request, &[]).await);
    assert!(back.starts_with("http://127.0.0.1:50123/callback?code="), "{back}");
}

#[tokio::test]
async fn a_program_of_its_own_scheme_is_led_back_to() {
    let app = app().await;
    let uri = "cursor://anysphere.cursor-mcp/oauth/callback";
    let response = register(&app, serde_json::json!({ "client_name": "Cursor", "redirect_uris": [uri] })).await;
    let client = response.json::<serde_json::Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned();
    let browser = signed_in(&app).await;
    // The only address that it has need not be repeated.
    let request = brought(&browser, &authorize_address(&app, &client, &[("redirect_uri", "")])).await;
    let back = location(&decide(&browser, &request, &[]).await);
    assert!(back.starts_with(&format!("{uri}?code=")), "{back}");
}

/// A1, A7, A11: what is wrong otherwise is told to the client, with its state and our name.
#[tokio::test]
async fn other_faults_are_told_to_the_client() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    for (changes, error) in [
        ([("response_type", "token")], "unsupported_response_type"),
        ([("response_type", "")], "invalid_request"),
        ([("response_mode", "fragment")], "invalid_request"),
        ([("code_challenge", "")], "invalid_request"),
        ([("code_challenge", "short")], "invalid_request"),
        ([("code_challenge_method", "plain")], "invalid_request"),
        ([("code_challenge_method", "")], "invalid_request"),
        ([("resource", "https://other.example/mcp")], "invalid_target"),
        ([("scope", "admin")], "invalid_scope"),
    ] {
        let back = location(&browser.get(&authorize_address(&app, &client, &changes)).await);
        assert!(back.starts_with(BACK), "{back}");
        assert_eq!(parameter(&back, "error").as_deref(), Some(error), "{changes:?}");
        assert_eq!(parameter(&back, "state").as_deref(), Some("the state"));
        assert_eq!(parameter(&back, "iss").as_deref(), Some(app.base()));
    }
}

/// Reports 8, 9, 10: the ways in which clients write our resource.
#[tokio::test]
async fn the_resource_may_be_written_in_the_ways_that_clients_write_it() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    for resource in resource_as_written(&app).into_iter().chain([String::new()]) {
        let address = authorize_address(&app, &client, &[("resource", &resource)]);
        let request = brought(&browser, &address).await;
        let back = location(&decide(&browser, &request, &[]).await);
        let code = parameter(&back, "code").unwrap();
        let tokens = crate::oauth::tokens(exchange(&app, &client, &code).await).await;
        assert_eq!(crate::oauth::status_with(&app, &tokens.access).await, 200, "{resource}");
    }
}

/// A9: what a person decided before answers for nothing.
#[tokio::test]
async fn a_person_decides_every_time() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    crate::oauth::code(&app, &browser, &client, &[]).await;
    for extra in ["", "&prompt=none", "&prompt=consent"] {
        let page = location(&browser.get(&format!("{}{extra}", authorize_address(&app, &client, &[]))).await);
        assert!(page.starts_with("/consent?request="), "{page}");
    }
}

/// Windows that apps open for this stay theirs, and no other page is opened that way.
#[tokio::test]
async fn the_window_of_an_app_is_not_parted_from_it() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = app.browser();
    let policy = |response: &reqwest::Response| response.headers().get("cross-origin-opener-policy").cloned();
    let begun = browser.get(&authorize_address(&app, &client, &[])).await;
    assert_eq!(policy(&begun), None);
    let page = browser.get(&location(&begun)).await;
    assert_eq!(policy(&page), None);
    assert_eq!(policy(&browser.get(&location(&page)).await), None);
    assert_eq!(policy(&browser.get("/").await).unwrap(), "same-origin");
}

/// A1: behind https the cookie is one that no neighbouring host can set.
#[tokio::test]
async fn the_cookie_of_the_browser_is_for_this_host_only() {
    let app = TestApp::builder()
        .setting("POLYMNEMO_PUBLIC_URL", "https://memory.example.com")
        .setting("POLYMNEMO_GITHUB_CLIENT_ID", "a")
        .setting("POLYMNEMO_GITHUB_CLIENT_SECRET", "b")
        .start()
        .await;
    let client = registered(&app).await;
    let browser = app.browser().behind("https://memory.example.com");
    let address = authorize_address(&app, &client, &[("resource", "https://memory.example.com/mcp")]);
    let begun = browser.get(&address).await;
    assert!(location(&begun).starts_with("/consent?request="));
    let cookies = crate::support::set_cookies(&begun);
    let cookie = cookies.iter().find(|cookie| cookie.contains("polymnemo_browser")).unwrap();
    assert!(cookie.starts_with("__Host-polymnemo_browser="), "{cookie}");
    for attribute in ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"] {
        assert!(cookie.contains(attribute), "{cookie}");
    }
}
