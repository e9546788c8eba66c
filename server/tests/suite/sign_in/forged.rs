//! Requests that another site has a person's browser send.

use reqwest::{Method, StatusCode, header};

use crate::{
    sign_in::{app, signed_in},
    support::location,
};

#[tokio::test]
async fn only_our_own_pages_change_anything() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let own = app.base();
    let other_port = "http://127.0.0.1:1";
    let other_name = own.replace("127.0.0.1", "localhost");
    let foreign: &[&[(&str, &str)]] = &[
        // Nothing that says where it comes from: no browser does that.
        &[],
        &[("sec-fetch-site", "none")],
        &[("sec-fetch-site", "same-origin")],
        &[("origin", "null")],
        &[("origin", "https://evil.example")],
        &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")],
        // Another program on this machine: the cookie and `SameSite` don't tell ports apart.
        &[("origin", other_port)],
        &[("origin", other_port), ("sec-fetch-site", "same-site")],
        &[("origin", &other_name)],
        &[("origin", own), ("sec-fetch-site", "same-site")],
        &[("origin", own), ("sec-fetch-site", "cross-site")],
        &[("origin", own), ("origin", "https://evil.example")],
        &[("referer", own)],
    ];
    for path in ["/sign-out", "/sign-out/everywhere", "/sign-in/link", "/api/choose_language", "/"] {
        for headers in foreign {
            let mut request = browser.form(path, &[("language", "zh"), ("back", "/"), ("link", "x")]);
            for (name, value) in *headers {
                request = request.header(*name, *value);
            }
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path} {headers:?}");
        }
    }
    assert_eq!(browser.viewer().await.as_deref(), Some("alice"), "nothing has happened");

    for headers in [&[("origin", own)][..], &[("origin", own), ("sec-fetch-site", "same-origin")]] {
        let mut request = browser.form("/api/choose_language", &[("language", "zh"), ("back", "/memories")]);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        assert_eq!(location(&request.send().await.unwrap()), "/memories", "{headers:?}");
    }
}

#[tokio::test]
async fn every_method_that_changes_something_is_guarded() {
    let app = app().await;
    let browser = signed_in(&app).await;
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        let request =
            browser.request(method.clone(), "/api/choose_language").header(header::ORIGIN, "https://evil.example");
        assert_eq!(request.send().await.unwrap().status(), StatusCode::FORBIDDEN, "{method}");
    }
}

#[tokio::test]
async fn a_session_is_no_key_to_the_mcp_endpoint() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let request = browser.request(Method::POST, "/mcp").header(header::ORIGIN, app.base());
    let response = request.body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_key_is_no_session() {
    let app = app().await;
    let request = app.http(Method::GET, "/api/current_viewer").bearer_auth(crate::support::key_of("alice"));
    assert_eq!(request.send().await.unwrap().text().await.unwrap(), "null");
}
