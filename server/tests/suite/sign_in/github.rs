//! Sign-in with GitHub.

use reqwest::{Method, StatusCode, header};

use crate::{
    sign_in::{problem, run, text},
    support::{Browser, GitHub, TestApp, location, parameter},
};

async fn app(github: &GitHub) -> TestApp {
    TestApp::builder().github(github).start().await
}

#[tokio::test]
async fn a_person_signs_in_and_comes_back_to_where_they_were() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    assert_eq!(browser.viewer().await, None);

    let page = browser.get("/sign-in?next=/memories%3Fq%3Dbike").await.text().await.unwrap();
    assert!(
        page.contains(r#"href="/sign-in/github?next=/memories%3Fq%3Dbike""#),
        "the button keeps the way back: {page}"
    );
    let end = browser.sign_in_with_github("/memories%3Fq%3Dbike").await;
    assert_eq!(end, "/memories?q=bike");
    assert_eq!(browser.viewer().await.as_deref(), Some("octocat"));
}

#[tokio::test]
async fn the_way_to_github_carries_a_challenge_and_nothing_that_is_secret() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let address = location(&app.browser().get("/sign-in/github").await);
    let get = |name: &str| parameter(&address, name);
    assert_eq!(get("code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(get("redirect_uri").unwrap(), format!("{}/sign-in/github/callback", app.base()));
    assert_eq!(get("scope"), None, "who someone is needs no permission");
    assert!(get("state").unwrap().len() >= 43);
    assert!(!address.contains("verifier") && !address.contains("secret"), "{address}");
}

#[tokio::test]
async fn someone_is_known_by_the_number_and_shown_by_the_name() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    github.person(7, "hubot");
    app.browser().sign_in_with_github("/").await;
    github.person(7, "hubot-the-second");
    let browser = app.browser();
    browser.sign_in_with_github("/").await;
    assert_eq!(browser.viewer().await.as_deref(), Some("hubot-the-second"));
    // Someone else takes the name that was given up.
    github.person(8, "hubot");
    app.browser().sign_in_with_github("/").await;

    let identities = "select string_agg(issuer || ' ' || subject, ', ' order by subject) from identities";
    assert_eq!(text(&app, identities).await, format!("{url} 7, {url} 8", url = github.url()));
    assert_eq!(text(&app, "select count(*)::text from users").await, "2");
}

#[tokio::test]
async fn an_answer_of_github_works_once() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    let back = browser.come_back_from_github("/").await;
    assert_eq!(location(&browser.get(&back).await), "/");
    assert_eq!(problem(&location(&browser.get(&back).await)), "expired");
    assert_eq!(browser.viewer().await.as_deref(), Some("octocat"), "the session that is there stays");

    // With a new state the code is not new.
    let code = parameter(&back, "code").unwrap();
    let other = app.browser();
    let again = other.come_back_from_github("/").await;
    let again = again.replace(&parameter(&again, "code").unwrap(), &code);
    assert_eq!(problem(&location(&other.get(&again).await)), "expired");
    assert_eq!(other.viewer().await, None);
}

#[tokio::test]
async fn of_several_that_come_back_at_once_with_one_answer_one_gets_in() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    let back = browser.come_back_from_github("/").await;
    let attempts = (0..8).map(|_| browser.request(Method::GET, &back).send());
    let answers = futures::future::join_all(attempts).await;
    let good = answers.into_iter().filter(|answer| location(answer.as_ref().unwrap()) == "/").count();
    assert_eq!(good, 1);
}

#[tokio::test]
async fn an_answer_for_another_browser_signs_nobody_in() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    // Mallory begins, and gets someone else to complete it, who would then store in his account.
    github.person(666, "mallory");
    let mallory = app.browser();
    let back = mallory.come_back_from_github("/").await;
    for victim in [app.browser(), begun(&app).await] {
        assert_eq!(problem(&location(&victim.get(&back).await)), "expired");
        assert_eq!(victim.viewer().await, None);
    }
    assert_eq!(text(&app, "select count(*)::text from users").await, "0");
}

/// A browser that has begun to sign in itself, and so has a session.
async fn begun(app: &TestApp) -> Browser {
    let browser = app.browser();
    browser.come_back_from_github("/").await;
    assert!(browser.session().is_some());
    browser
}

#[tokio::test]
async fn what_is_no_answer_to_a_question_of_ours_is_refused() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    let back = browser.come_back_from_github("/").await;
    let state = parameter(&back, "state").unwrap();
    let callback = "/sign-in/github/callback";
    for wrong in [
        String::new(),
        "?code=abc".to_owned(),
        "?code=abc&state=".to_owned(),
        format!("?code=abc&state={state}x"),
        format!("?code=abc&state={}", "x".repeat(5_000)),
        format!("?code=abc&state={state}&state={state}"),
        "?error=access_denied".to_owned(),
        "?code=%00&state=%00".to_owned(),
    ] {
        assert_eq!(problem(&location(&browser.get(&format!("{callback}{wrong}")).await)), "expired", "{wrong}");
    }
    // None of them used up the real one.
    assert_eq!(location(&browser.get(&back).await), "/");
}

#[tokio::test]
async fn an_attempt_that_takes_too_long_is_over() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    let back = browser.come_back_from_github("/").await;
    assert_eq!(run(&app, "update one_time_secrets set expires_at = now()").await, 1);
    assert_eq!(problem(&location(&browser.get(&back).await)), "expired");
}

#[tokio::test]
async fn someone_who_says_no_at_github_is_back_and_can_try_again() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    github.denies(true);
    let end = browser.sign_in_with_github("/memories").await;
    assert_eq!(end, "/sign-in?next=/memories&problem=denied");
    let page = browser.get(&end).await;
    assert_eq!(page.status(), StatusCode::OK);
    let page = page.text().await.unwrap();
    assert!(page.contains("The sign-in was cancelled") && page.contains("role=\"alert\""), "{page}");
    github.denies(false);
    assert_eq!(browser.sign_in_with_github("/memories").await, "/memories");
}

#[tokio::test]
async fn a_github_that_fails_is_told_as_such_and_its_words_are_not_repeated() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    github.is_broken(true);
    let end = browser.sign_in_with_github("/").await;
    assert_eq!(problem(&end), "provider");
    assert!(!browser.get(&end).await.text().await.unwrap().contains("Unicorn"));
    assert_eq!(browser.viewer().await, None);

    let back = browser.come_back_from_github("/").await;
    drop(github);
    assert_eq!(problem(&location(&browser.get(&back).await)), "provider");
}

#[tokio::test]
async fn only_those_on_the_list_get_in() {
    let github = GitHub::start().await;
    let list = "Alice, org:Acme";
    let app = TestApp::builder().github(&github).setting("POLYMNEMO_ALLOWED_LOGINS", list).start().await;
    let address = location(&app.browser().get("/sign-in/github").await);
    assert_eq!(parameter(&address, "scope").as_deref(), Some("read:org"));

    let attempt = async |id, login: &str, memberships: &[(&str, &'static str)]| {
        github.member(id, login, memberships);
        let browser = app.browser();
        let end = browser.sign_in_with_github("/").await;
        (end, browser.viewer().await)
    };
    assert_eq!(attempt(1, "alice", &[]).await.1.as_deref(), Some("alice"), "whatever the case");
    assert_eq!(attempt(2, "bob", &[("acme", "active")]).await.1.as_deref(), Some("bob"));
    for (login, memberships) in [
        ("carol", &[][..]),
        ("dave", &[("acme", "pending")][..]),
        ("erin", &[("acme-fans", "active")][..]),
        ("acme", &[][..]),
    ] {
        let (end, viewer) = attempt(9, login, memberships).await;
        assert_eq!((problem(&end).as_str(), viewer), ("not-allowed", None), "{login}");
    }
    assert_eq!(text(&app, "select count(*)::text from users").await, "2", "who may not in leaves nothing");
}

#[tokio::test]
async fn after_signing_in_nobody_is_led_to_another_site() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    for (next, expected) in [
        ("/memories", "/memories"),
        ("/memories%3Fq%3Da%26b%23c", "/memories?q=a&b#c"),
        ("%2F%2Fevil.example", "/"),
        ("%2F%5Cevil.example", "/"),
        ("https%3A%2F%2Fevil.example", "/"),
        ("https%3Aevil.example", "/"),
        ("javascript%3Aalert(1)", "/"),
        ("%2F%09%2Fevil.example", "/"),
        ("%2F.%2F%2Fevil.example", "/"),
        ("%2F%0D%0ALocation%3A%20https%3A%2F%2Fevil.example", "/"),
        ("%2Fsign-in", "/"),
        ("%2Fapi%2Fforget", "/"),
        ("a&next=b", "/"),
    ] {
        assert_eq!(browser.sign_in_with_github(next).await, expected, "{next}");
    }
}

#[tokio::test]
async fn another_site_can_not_begin_a_sign_in() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    for site in ["cross-site", "same-site"] {
        let request = app.http(Method::GET, "/sign-in/github?next=/memories").header("sec-fetch-site", site);
        // The person is asked first.
        assert_eq!(location(&request.send().await.unwrap()), "/sign-in?next=/memories");
    }
}

#[tokio::test]
async fn behind_a_proxy_the_public_address_is_used_and_the_cookie_is_for_https_only() {
    let github = GitHub::start().await;
    let public = "https://memory.example.com";
    let app = TestApp::builder().github(&github).setting("POLYMNEMO_PUBLIC_URL", public).start().await;
    let browser = app.browser().behind(public);
    let back = browser.come_back_from_github("/").await;
    assert!(back.starts_with("https://memory.example.com/sign-in/github/callback?"), "{back}");
    let signed_in = browser.get(&back).await;
    let cookie = signed_in.headers()[header::SET_COOKIE].to_str().unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert!(pair.starts_with("__Host-polymnemo_session="), "{cookie}");
    for attribute in ["HttpOnly", "SameSite=Lax", "Secure", "Path=/", "Max-Age=2592000"] {
        assert!(attributes.split("; ").any(|given| given == attribute), "{attribute} is not in {cookie}");
    }
    assert!(!attributes.contains("Domain"), "{cookie}");
    assert_eq!(browser.viewer().await.as_deref(), Some("octocat"));

    // `Browser` does not take the removal of such a cookie without `Secure`, as a real one.
    browser.post("/sign-out", &[]).await;
    assert_eq!(browser.session(), None);
}

#[tokio::test]
async fn too_many_attempts_have_to_wait() {
    let github = GitHub::start().await;
    let app = app(&github).await;
    let browser = app.browser();
    let mut answers = Vec::new();
    for _ in 0..40 {
        answers.push(browser.get("/sign-in/github/callback?state=guess").await);
    }
    assert!(answers.iter().take(30).all(|answer| answer.status() == StatusCode::SEE_OTHER));
    let refused = answers.pop().unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait: u64 = refused.headers()[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    assert!(refused.text().await.unwrap().contains("Too many attempts"));
    // Who comes from elsewhere, as a proxy says, has a share of their own, and pages are not limited at all.
    let other = app.http(Method::GET, "/sign-in/github/callback?state=guess").header("x-forwarded-for", "203.0.113.7");
    assert_eq!(other.send().await.unwrap().status(), StatusCode::SEE_OTHER);
    assert_eq!(browser.get("/sign-in").await.status(), StatusCode::OK);
}
