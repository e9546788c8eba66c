//! Sign-in by a link, without an identity provider.

use reqwest::{Method, StatusCode, header};
use serde_json::json;

use crate::{
    sign_in::{app, problem, run, text},
    support::{GitHub, TestApp, location, parameter, set_cookies},
};

#[tokio::test]
async fn a_link_signs_in_once_and_its_token_goes_nowhere_else() {
    let app = app().await;
    let link = app.sign_in_link().await;
    let token = parameter(&link, "token").unwrap();
    assert!(token.len() >= 43, "{token}");

    let browser = app.browser();
    let opened = browser.get(&link).await;
    assert_eq!(opened.status(), StatusCode::SEE_OTHER);
    assert_eq!(location(&opened), "/");
    for (name, value) in opened.headers() {
        assert!(!value.to_str().unwrap().contains(&token), "{name} repeats the token");
    }
    assert_eq!(opened.headers()[header::CACHE_CONTROL], "no-store");
    assert_eq!(browser.viewer().await.as_deref(), Some("alice"));

    let again = app.browser();
    assert_eq!(problem(&location(&again.get(&link).await)), "link");
    assert_eq!(again.viewer().await, None);
}

#[tokio::test]
async fn who_is_signed_in_already_goes_on() {
    let app = app().await;
    let browser = app.browser();
    assert_eq!(browser.get("/sign-in?next=/memories").await.status(), StatusCode::OK);
    browser.get(&app.sign_in_link().await).await;
    for (next, end) in [("?next=/memories%3Fq%3Da", "/memories?q=a"), ("?next=//evil.example", "/"), ("", "/")] {
        assert_eq!(location(&browser.get(&format!("/sign-in{next}")).await), end);
    }
    // Unless there is something to say.
    assert_eq!(browser.get("/sign-in?problem=link").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn the_user_is_the_one_of_the_key() {
    let app = app().await;
    app.mcp("alice").call("remember", json!({ "content": "My bike is green." })).await;
    app.browser().get(&app.sign_in_link().await).await;
    assert_eq!(text(&app, "select count(*)::text from users").await, "1");
}

#[tokio::test]
async fn the_cookie_is_a_plain_one_with_the_port_in_its_name() {
    let app = app().await;
    let opened = app.browser().get(&app.sign_in_link().await).await;
    let cookies = set_cookies(&opened);
    let port = app.base().rsplit_once(':').unwrap().1;
    let cookie = cookies.first().unwrap();
    assert!(cookie.starts_with(&format!("polymnemo_session_{port}=")), "{cookie}");
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax") && !cookie.contains("Secure"), "{cookie}");
}

#[tokio::test]
async fn a_link_that_is_pasted_into_the_page_leads_back_to_where_one_was() {
    let app = app().await;
    let page = app.browser().get("/sign-in?next=/memories").await.text().await.unwrap();
    assert!(page.contains("polymnemo sign-in-link") && page.contains(r#"action="/sign-in/link""#), "{page}");
    let link = app.sign_in_link().await;
    let token = parameter(&app.sign_in_link().await, "token").unwrap();
    for (pasted, next, end) in
        [(format!("  {link} \r\n"), "/memories?q=a", "/memories?q=a"), (token, "//evil.example", "/")]
    {
        let browser = app.browser();
        let response = browser.post("/sign-in/link", &[("link", &pasted), ("next", next)]).await;
        assert_eq!(location(&response), end);
        assert_eq!(browser.viewer().await.as_deref(), Some("alice"));
    }
    for nonsense in ["", "https://evil.example", "token=", &"x".repeat(10_000)] {
        let response = app.browser().post("/sign-in/link", &[("link", nonsense), ("next", "/memories")]).await;
        assert_eq!(location(&response), "/sign-in?next=/memories&problem=link", "{nonsense}");
    }
}

#[tokio::test]
async fn whoever_only_looks_does_not_use_a_link_up() {
    let app = app().await;
    let link = app.sign_in_link().await;
    let path = link.strip_prefix(app.base()).unwrap();
    let head = app.http(Method::HEAD, path).send().await.unwrap();
    assert_eq!(head.status(), StatusCode::METHOD_NOT_ALLOWED);
    let prefetch = app.http(Method::GET, path).header("sec-purpose", "prefetch").send().await.unwrap();
    assert_eq!(prefetch.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert!(set_cookies(&head).is_empty() && set_cookies(&prefetch).is_empty());
    assert_eq!(location(&app.browser().get(&link).await), "/");
}

#[tokio::test]
async fn a_link_works_on_this_machine_only() {
    let app = TestApp::builder()
        .setting("POLYMNEMO_STDIO_USER", "alice")
        .setting("POLYMNEMO_ALLOWED_HOSTS", "nas.local")
        .start()
        .await;
    let link = app.sign_in_link().await;
    let path = link.strip_prefix(app.base()).unwrap();
    let with = async |name: &str, value: &str| app.http(Method::GET, path).header(name, value).send().await.unwrap();

    assert_eq!(with("host", "evil.example").await.status(), StatusCode::FORBIDDEN);
    for (name, value) in [
        ("host", "nas.local:8000"),
        ("x-forwarded-for", "203.0.113.7"),
        ("x-forwarded-host", "memory.example.com"),
        ("x-forwarded-proto", "https"),
        ("forwarded", "for=203.0.113.7"),
        ("via", "1.1 proxy"),
        ("x-real-ip", "203.0.113.7"),
    ] {
        let refused = with(name, value).await;
        assert_eq!(problem(&location(&refused)), "not-local", "{name}: {value}");
        assert!(set_cookies(&refused).is_empty(), "{name}: {value}");
    }
    // It was not used up.
    assert_eq!(location(&with("host", "localhost:1").await), "/");
}

#[tokio::test]
async fn of_several_that_open_a_link_at_once_one_gets_in() {
    let app = app().await;
    let link = app.sign_in_link().await;
    let attempts = (0..8).map(|_| app.client().get(&link).send());
    let answers = futures::future::join_all(attempts).await;
    let good = answers.iter().filter(|answer| location(answer.as_ref().unwrap()) == "/").count();
    assert_eq!(good, 1);
}

#[tokio::test]
async fn a_link_is_too_old_after_a_quarter_of_an_hour() {
    let app = app().await;
    let link = app.sign_in_link().await;
    let minutes = "select extract(minutes from expires_at - now() + interval '10 seconds')::text from one_time_secrets";
    assert_eq!(text(&app, minutes).await, "15");
    run(&app, "update one_time_secrets set expires_at = now()").await;
    assert_eq!(problem(&location(&app.browser().get(&link).await)), "link");
    // The next one sweeps it away.
    app.sign_in_link().await;
    assert_eq!(text(&app, "select count(*)::text from one_time_secrets").await, "1");
}

#[tokio::test]
async fn where_people_sign_in_otherwise_a_link_does_nothing() {
    let github = GitHub::start().await;
    let with_github = TestApp::builder().github(&github).setting("POLYMNEMO_STDIO_USER", "alice").start().await;
    // Three users have keys, and none of them was chosen.
    let closed = TestApp::start().await;
    for app in [with_github, closed] {
        let browser = app.browser();
        assert_eq!(location(&browser.get(&app.sign_in_link().await).await), "/sign-in");
        assert_eq!(browser.viewer().await, None);
    }
}

#[tokio::test]
async fn a_server_that_lets_nobody_in_says_what_to_set() {
    let app = TestApp::start().await;
    let page = app.browser().get("/sign-in").await.text().await.unwrap();
    assert!(page.contains("POLYMNEMO_GITHUB_CLIENT_ID") && !page.contains("<form class=\"field\""), "{page}");
    assert_eq!(location(&app.browser().get("/sign-in/github").await), "/sign-in");
}
