use reqwest::{Method, StatusCode, header};

use crate::{
    oauth::{app, authorize_address, brought, decide, exchange, let_in, registered, signed_in, tokens},
    support::location,
};

/// Someone begins a request in his own browser and has another person's browser end it.
#[tokio::test]
async fn nobody_ends_what_another_browser_began() {
    let app = app().await;
    let client = registered(&app).await;
    let attacker = app.browser();
    let request = brought(&attacker, &authorize_address(&app, &client, &[])).await;
    let victim = signed_in(&app).await;
    assert_eq!(decide(&victim, &request, &[]).await.status(), StatusCode::NOT_FOUND);
    // Also where the victim has a request of their own under way.
    let own = brought(&victim, &authorize_address(&app, &client, &[])).await;
    assert_eq!(decide(&victim, &request, &[]).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(decide(&victim, &own, &[]).await.status(), StatusCode::SEE_OTHER);
    assert_eq!(crate::oauth::text(&app, "select count(*)::text from oauth_codes").await, "1");
}

#[tokio::test]
async fn another_site_can_not_decide() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let request = brought(&browser, &authorize_address(&app, &client, &[])).await;
    let fields = [("request", request.as_str()), ("answer", "allow"), ("namespaces", "all"), ("can_write", "true")];
    for origin in [None, Some("https://evil.example"), Some("null")] {
        let mut form = browser.form("/consent/answer", &fields);
        if let Some(origin) = origin {
            form = form.header(header::ORIGIN, origin);
        }
        assert_eq!(browser.send(form).await.status(), StatusCode::FORBIDDEN, "{origin:?}");
    }
    let query = format!("/consent/answer?request={request}&answer=allow&namespaces=all");
    assert_eq!(browser.get(&query).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(crate::oauth::text(&app, "select count(*)::text from apps").await, "0");
}

#[tokio::test]
async fn who_is_not_signed_in_decides_nothing() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = app.browser();
    let request = brought(&browser, &authorize_address(&app, &client, &[])).await;
    let there = location(&decide(&browser, &request, &[]).await);
    assert!(there.starts_with("/sign-in?next="), "{there}");
    assert_eq!(crate::oauth::text(&app, "select count(*)::text from apps").await, "0");
}

/// A made-up id, and one that is over.
#[tokio::test]
async fn a_request_that_is_none_is_a_page() {
    let app = app().await;
    let browser = signed_in(&app).await;
    for id in ["a".repeat(43), String::new(), "../../x".to_owned(), "\u{0}".to_owned()] {
        assert_eq!(decide(&browser, &id, &[]).await.status(), StatusCode::NOT_FOUND, "{id:?}");
    }
}

/// Secrets stay out of the log; what the log shows of a request is its path.
#[tokio::test]
async fn no_page_or_answer_may_be_kept_by_others() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let begun = browser.get(&authorize_address(&app, &client, &[])).await;
    assert_eq!(begun.headers()[header::CACHE_CONTROL], "no-store");
    let request = crate::support::parameter(&location(&begun), "request").unwrap();
    let decided = decide(&browser, &request, &[]).await;
    assert_eq!(decided.headers()[header::CACHE_CONTROL], "no-store");
    assert_eq!(decided.headers()["referrer-policy"], "same-origin");
    assert_eq!(decided.headers()[header::X_FRAME_OPTIONS], "DENY");
}

/// What an app may do ends at the memory tools: it gets neither into the web app nor to what makes further credentials.
#[tokio::test]
async fn a_token_opens_no_page() {
    let app = app().await;
    let (_, issued) = let_in(&app, &[]).await;
    for path in ["/api/api_tokens", "/api/count_memories", "/memories"] {
        let response = app.http(Method::GET, path).bearer_auth(&issued.access).send().await.unwrap();
        assert!(matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::SEE_OTHER), "{path}");
    }
}

/// A guessed or changed token is as good as none.
#[tokio::test]
async fn no_part_of_a_token_can_be_changed() {
    let app = app().await;
    let (client, issued) = let_in(&app, &[]).await;
    for place in [5, 20, issued.access.len() - 1] {
        let mut changed = issued.access.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        assert_eq!(crate::oauth::status_with(&app, std::str::from_utf8(&changed).unwrap()).await, 401);
    }
    assert_eq!(crate::oauth::status_with(&app, &issued.access.replace("pmna_", "pmnr_")).await, 401);
    let browser = signed_in(&app).await;
    let code = crate::oauth::code(&app, &browser, &client, &[]).await;
    assert_eq!(crate::oauth::status_with(&app, &code).await, 401);
    tokens(exchange(&app, &client, &code).await).await;
}
