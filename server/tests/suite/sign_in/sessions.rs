//! Sessions: how they begin, last and end.

use reqwest::{Method, StatusCode, header};
use serde_json::Value;

use crate::{
    sign_in::{app, run, signed_in, text},
    support::{GitHub, TestApp, location, set_cookies},
};

#[tokio::test]
async fn a_session_that_someone_planted_before_is_worth_nothing_after() {
    let github = GitHub::start().await;
    let app = TestApp::builder().github(&github).start().await;
    let mallory = app.browser();
    mallory.come_back_from_github("/").await;
    let (name, planted) = (mallory.cookie_names().remove(0), mallory.session().unwrap());

    // Before anyone is signed in, and again where the victim is signed in by it already.
    let victim = app.browser();
    victim.plant_session(&name, &planted);
    for round in 0..2 {
        let before = victim.session().unwrap();
        victim.sign_in_with_github("/").await;
        assert_ne!(victim.session().unwrap(), before, "round {round}");
        mallory.plant_session(&name, &before);
        assert_eq!(mallory.viewer().await, None, "round {round}");
        assert_eq!(victim.viewer().await.as_deref(), Some("octocat"));
    }
}

#[tokio::test]
async fn an_id_that_the_browser_made_up_never_becomes_a_session() {
    let app = app().await;
    let made_up = "AAAAAAAAAAAAAAAAAAAAAA";
    let browser = app.browser();
    let port = app.base().rsplit_once(':').unwrap().1;
    browser.plant_session(&format!("polymnemo_session_{port}"), made_up);
    browser.get(&app.sign_in_link().await).await;
    assert_eq!(browser.viewer().await.as_deref(), Some("alice"));
    assert_ne!(browser.session().unwrap(), made_up);
}

#[tokio::test]
async fn signing_out_ends_this_session_and_no_other() {
    let app = app().await;
    let (here, there) = (signed_in(&app).await, signed_in(&app).await);
    let (name, session) = (here.cookie_names().remove(0), here.session().unwrap());
    assert_eq!(location(&here.post("/sign-out", &[]).await), "/");
    assert_eq!((here.session(), here.viewer().await), (None, None));
    // Not only forgotten by the browser.
    here.plant_session(&name, &session);
    assert_eq!(here.viewer().await, None);
    assert_eq!(there.viewer().await.as_deref(), Some("alice"));
}

#[tokio::test]
async fn signing_out_everywhere_ends_all_sessions_of_this_person() {
    let github = GitHub::start().await;
    let app = TestApp::builder().github(&github).start().await;
    let (here, there, other) = (app.browser(), app.browser(), app.browser());
    here.sign_in_with_github("/").await;
    there.sign_in_with_github("/").await;
    github.person(2, "someone-else");
    other.sign_in_with_github("/").await;

    assert_eq!(location(&here.post("/sign-out/everywhere", &[]).await), "/");
    assert_eq!((here.viewer().await, there.viewer().await), (None, None));
    assert_eq!(there.session(), None, "a cookie that is worth nothing is taken back");
    assert_eq!(other.viewer().await.as_deref(), Some("someone-else"));
    // It is no ban.
    github.person(583_231, "octocat");
    here.sign_in_with_github("/").await;
    assert_eq!(here.viewer().await.as_deref(), Some("octocat"));
}

#[tokio::test]
async fn signing_out_without_a_session_does_no_harm() {
    let app = app().await;
    for path in ["/sign-out", "/sign-out/everywhere"] {
        assert_eq!(location(&app.browser().post(path, &[]).await), "/");
        assert_eq!(app.browser().get(path).await.status(), StatusCode::METHOD_NOT_ALLOWED, "a link ends no session");
    }
}

#[tokio::test]
async fn someone_else_signs_in_and_goes_on_where_the_one_before_was() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let next = [("next", "/consent?request=a&b=c")];
    assert_eq!(location(&browser.post("/sign-out", &next).await), "/sign-in?next=/consent%3Frequest%3Da%26b%3Dc");
    assert_eq!(browser.viewer().await, None);
    assert_eq!(location(&browser.post("/sign-out", &[("next", "//example.org")]).await), "/sign-in");
}

#[tokio::test]
async fn the_session_of_a_removed_user_dies_at_once() {
    let app = app().await;
    let browser = signed_in(&app).await;
    assert_eq!(browser.viewer().await.as_deref(), Some("alice"));
    assert_eq!(run(&app, "delete from users").await, 1);
    assert_eq!(browser.viewer().await, None);
    assert_eq!(browser.get("/sign-in").await.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_session_lasts_for_thirty_days_from_the_last_visit() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let left = "select round(extract(epoch from expires_at - now()) / 86400)::text from browser_sessions";
    assert_eq!(text(&app, left).await, "30");

    run(&app, "update browser_sessions set expires_at = now() + interval '9 days'").await;
    assert!(set_cookies(&browser.get("/").await).is_empty(), "one write a day is enough");
    assert_eq!(text(&app, left).await, "9");
    // The next day.
    let yesterday = "update browser_sessions set data = jsonb_set(data, '{stay,seen}', '1')";
    assert_eq!(run(&app, yesterday).await, 1);
    let visit = browser.get("/").await;
    assert!(set_cookies(&visit)[0].contains("Max-Age=2592000"));
    assert_eq!(text(&app, left).await, "30");

    run(&app, "update browser_sessions set expires_at = now()").await;
    assert_eq!(browser.viewer().await, None);
}

#[tokio::test]
async fn a_session_ends_with_the_rules_it_began_by_and_after_three_months() {
    let app = app().await;
    for change in [
        "jsonb_set(data, '{stay,rules}', '\"those of before\"')",
        "jsonb_set(data, '{stay,began}', to_jsonb((data#>>'{stay,began}')::int - 90))",
        "data - 'stay'",
    ] {
        let browser = signed_in(&app).await;
        assert_eq!(run(&app, &format!("update browser_sessions set data = {change}")).await, 1);
        assert_eq!((browser.viewer().await, browser.session()), (None, None), "{change}");
        assert_eq!(text(&app, "select count(*)::text from browser_sessions").await, "0");
    }
    let browser = signed_in(&app).await;
    run(&app, "update browser_sessions set data = jsonb_set(data, '{stay,began}', to_jsonb((data#>>'{stay,began}')::int - 89))")
        .await;
    assert_eq!(browser.viewer().await.as_deref(), Some("alice"));
}

#[tokio::test]
async fn a_session_that_ends_meanwhile_is_not_brought_back() {
    let app = app().await;
    let browser = signed_in(&app).await;
    run(&app, "update browser_sessions set data = jsonb_set(data, '{stay,seen}', '1')").await;
    // Each of these visits wants to write the session, and one of them ends it.
    let visits = (0..6).map(|_| browser.request(Method::GET, "/").send());
    let (_, out) = tokio::join!(futures::future::join_all(visits), browser.post("/sign-out", &[]));
    assert_eq!(location(&out), "/");
    assert_eq!(text(&app, "select count(*)::text from browser_sessions").await, "0");
}

#[tokio::test]
async fn the_database_lets_nobody_in() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let cookie = browser.session().unwrap();
    let token = crate::support::parameter(&app.sign_in_link().await, "token").unwrap();
    let everything = "select (select string_agg(s::text, ' ') from browser_sessions s)
        || (select string_agg(o::text, ' ') from one_time_secrets o)";
    let everything = text(&app, everything).await;
    assert!(everything.contains("user_id"), "{everything}");
    assert!(!everything.contains(&cookie) && !everything.contains(&token), "{everything}");
}

#[tokio::test]
async fn visitors_leave_no_trace() {
    let app = app().await;
    for path in ["/", "/sign-in", "/no/such/page", "/api/server_status", "/favicon.svg"] {
        assert!(set_cookies(&app.browser().get(path).await).is_empty(), "{path}");
    }
    assert_eq!(text(&app, "select count(*)::text from browser_sessions").await, "0");
}

#[tokio::test]
async fn what_someone_sees_is_kept_by_no_proxy() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let page = browser.get("/sign-in?problem=expired").await;
    assert_eq!(page.status(), StatusCode::OK);
    let directive = page.headers()[header::CACHE_CONTROL].to_str().unwrap();
    assert!(directive.contains("private") || directive.contains("no-store"), "{directive}");
    let viewer = browser.request(Method::GET, "/api/current_viewer").send().await.unwrap();
    let directive = viewer.headers()[header::CACHE_CONTROL].to_str().unwrap().to_owned();
    assert!(directive.contains("private") || directive.contains("no-store"), "{directive}");
    assert_eq!(viewer.json::<Value>().await.unwrap()["name"], "alice");
}

#[tokio::test]
async fn without_its_database_the_server_says_so() {
    let app = app().await;
    let browser = signed_in(&app).await;
    run(&app, "alter table browser_sessions rename to gone").await;
    let page = browser.get("/").await;
    assert_eq!(page.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(page.headers().contains_key(header::RETRY_AFTER));
    assert!(page.headers()[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    let program = browser.request(Method::GET, "/").send().await.unwrap();
    assert_eq!(program.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(program.text().await.unwrap().contains("database does not answer"));
}
