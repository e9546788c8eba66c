//! Sign-in at an OpenID Connect provider.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::{
    sign_in::{problem, run, text},
    support::{AUDIENCE, Issuer, TestApp, WEB_CLIENT, location, now, parameter},
};

async fn app(issuer: &Issuer) -> TestApp {
    TestApp::builder().issuer(issuer).start().await
}

#[tokio::test]
async fn a_person_signs_in_and_comes_back_to_where_they_were() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let browser = app.browser();
    let page = browser.get("/sign-in?next=/memories%3Fq%3Dbike").await.text().await.unwrap();
    assert!(page.contains(r#"href="/sign-in/oidc?next=/memories%3Fq%3Dbike""#), "the way back is kept: {page}");
    let host = issuer.url().strip_prefix("http://").unwrap();
    assert!(page.contains("Sign in with") && page.contains(host), "{page}");
    assert_eq!(browser.sign_in_at_issuer("/memories%3Fq%3Dbike").await, "/memories?q=bike");
    assert_eq!(browser.viewer().await.as_deref(), Some("Ada"));

    let chinese = app.http(Method::GET, "/sign-in").header("accept-language", "zh-CN");
    let chinese = chinese.send().await.unwrap().text().await.unwrap();
    assert!(chinese.contains("使用") && chinese.contains(host) && chinese.contains("登录"), "{chinese}");
}

#[tokio::test]
async fn the_way_there_carries_a_challenge_and_a_nonce_and_nothing_that_is_secret() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let address = location(&app.browser().get("/sign-in/oidc").await);
    let get = |name: &str| parameter(&address, name);
    assert_eq!(get("response_type").as_deref(), Some("code"));
    assert_eq!(get("code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(get("redirect_uri").unwrap(), format!("{}/sign-in/oidc/callback", app.base()));
    assert_eq!(get("scope").as_deref(), Some("openid profile email"));
    assert!(get("state").unwrap().len() >= 43 && get("nonce").unwrap().len() >= 43);
    assert_ne!(get("state"), get("nonce"));
    assert!(!address.contains("verifier") && !address.contains("secret"), "{address}");
}

#[tokio::test]
async fn a_public_client_needs_no_secret() {
    let issuer = Issuer::start().await;
    let app = TestApp::builder()
        .setting("POLYMNEMO_OIDC_ISSUER", issuer.url())
        .setting("POLYMNEMO_OIDC_AUDIENCE", AUDIENCE)
        .setting("POLYMNEMO_OIDC_CLIENT_ID", WEB_CLIENT)
        .start()
        .await;
    let browser = app.browser();
    assert_eq!(browser.sign_in_at_issuer("/").await, "/");
    assert_eq!(browser.viewer().await.as_deref(), Some("Ada"));
}

#[tokio::test]
async fn a_wrong_secret_is_told_as_a_fault_of_the_provider() {
    let issuer = Issuer::start().await;
    let app = TestApp::builder().issuer(&issuer).setting("POLYMNEMO_OIDC_CLIENT_SECRET", "wrong").start().await;
    assert_eq!(problem(&app.browser().sign_in_at_issuer("/").await), "provider");
}

#[tokio::test]
async fn someone_is_known_by_the_subject_and_shown_by_the_best_name() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    for (claims, name) in [
        (json!({ "name": "Ada King", "preferred_username": "ada", "email": "ada@example.com" }), "Ada King"),
        (json!({ "name": " ", "preferred_username": "ada", "email": "ada@example.com" }), "ada"),
        (json!({ "email": "ada@example.com" }), "ada@example.com"),
        (json!({}), "subject-1"),
    ] {
        issuer.person("subject-1", claims);
        let browser = app.browser();
        browser.sign_in_at_issuer("/").await;
        assert_eq!(browser.viewer().await.as_deref(), Some(name));
    }
    issuer.person("subject-2", json!({ "name": "Ada King", "email": "ada@example.com" }));
    app.browser().sign_in_at_issuer("/").await;
    let identities = "select string_agg(issuer || ' ' || subject, ', ' order by subject) from identities";
    assert_eq!(text(&app, identities).await, format!("{url} subject-1, {url} subject-2", url = issuer.url()));
    assert_eq!(text(&app, "select count(*)::text from users").await, "2");
}

#[tokio::test]
async fn an_answer_works_once_and_for_the_browser_that_began() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let browser = app.browser();
    let back = browser.come_back_from_issuer("/").await;
    let victim = app.browser();
    victim.come_back_from_issuer("/").await;
    let stolen = victim.come_back_from_issuer("/").await;
    assert_eq!(problem(&location(&browser.get(&stolen).await)), "expired", "it was for another browser");
    assert_eq!(location(&browser.get(&back).await), "/");
    assert_eq!(problem(&location(&browser.get(&back).await)), "expired", "it was used");

    // With a new state the code is not new.
    let code = parameter(&back, "code").unwrap();
    let other = app.browser();
    let again = other.come_back_from_issuer("/").await;
    let again = again.replace(&parameter(&again, "code").unwrap(), &code);
    assert_eq!(problem(&location(&other.get(&again).await)), "expired");
    assert_eq!(other.viewer().await, None);
}

#[tokio::test]
async fn an_attempt_that_takes_too_long_is_over() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let browser = app.browser();
    let back = browser.come_back_from_issuer("/").await;
    assert_eq!(run(&app, "update one_time_secrets set expires_at = now()").await, 1);
    assert_eq!(problem(&location(&browser.get(&back).await)), "expired");
}

#[tokio::test]
async fn someone_who_says_no_is_back_and_can_try_again() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let browser = app.browser();
    issuer.denies(true);
    let end = browser.sign_in_at_issuer("/memories").await;
    assert_eq!(end, "/sign-in?next=/memories&problem=denied");
    let page = browser.get(&end).await.text().await.unwrap();
    assert!(page.contains("The sign-in was cancelled") && !page.contains("GitHub"), "{page}");
    issuer.denies(false);
    assert_eq!(browser.sign_in_at_issuer("/memories").await, "/memories");
}

#[tokio::test]
async fn another_server_s_answer_does_not_pass_for_this_one_s() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    for wrong in [Some("https://evil.example"), None] {
        let browser = app.browser();
        let back = browser.come_back_from_issuer("/").await;
        let mut address = url::Url::parse(&back).unwrap();
        let pairs: Vec<(String, String)> =
            address.query_pairs().into_owned().filter(|(name, _)| name != "iss").collect();
        address.query_pairs_mut().clear().extend_pairs(pairs);
        if let Some(wrong) = wrong {
            address.query_pairs_mut().append_pair("iss", wrong);
        }
        assert_eq!(problem(&location(&browser.get(address.as_str()).await)), "expired", "{wrong:?}");
        assert_eq!(browser.viewer().await, None);
    }
}

#[tokio::test]
async fn an_id_token_that_is_not_the_answer_signs_nobody_in() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    for (odd, why) in [
        (json!({ "nonce": "another" }), "the nonce of another sign-in"),
        (json!({ "nonce": null }), "no nonce"),
        (json!({ "aud": AUDIENCE }), "for another audience"),
        (json!({ "aud": [WEB_CLIENT, AUDIENCE] }), "for several, and nobody's"),
        (json!({ "aud": [WEB_CLIENT, "b"], "azp": "b" }), "given to another client"),
        (json!({ "iss": "https://evil.example" }), "of another issuer"),
        (json!({ "exp": now() - 90 }), "expired"),
        (json!({ "exp": null }), "without an end"),
        (json!({ "sub": null }), "about nobody"),
    ] {
        issuer.id_tokens_have(odd);
        let browser = app.browser();
        assert_eq!(problem(&browser.sign_in_at_issuer("/").await), "provider", "{why}");
        assert_eq!(browser.viewer().await, None, "{why}");
    }
    issuer.id_tokens_have(json!({ "aud": [WEB_CLIENT, "b"], "azp": WEB_CLIENT }));
    assert_eq!(app.browser().sign_in_at_issuer("/").await, "/");
    assert_eq!(text(&app, "select count(*)::text from users").await, "1", "who may not in leaves nothing");
}

#[tokio::test]
async fn an_issuer_that_is_down_is_told_as_such() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let browser = app.browser();
    let back = browser.come_back_from_issuer("/").await;
    issuer.is_down(true);
    let end = location(&browser.get(&back).await);
    assert_eq!(problem(&end), "provider");
    let page = browser.get(&end).await.text().await.unwrap();
    assert!(page.contains("does not answer as it should") && !page.contains("maintenance"), "{page}");
}

#[tokio::test]
async fn another_site_can_not_begin_a_sign_in_and_nobody_is_led_to_one() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    for site in ["cross-site", "same-site"] {
        let request = app.http(Method::GET, "/sign-in/oidc?next=/memories").header("sec-fetch-site", site);
        assert_eq!(location(&request.send().await.unwrap()), "/sign-in?next=/memories");
    }
    for next in ["%2F%2Fevil.example", "https%3A%2F%2Fevil.example", "%2Fapi%2Fforget"] {
        assert_eq!(app.browser().sign_in_at_issuer(next).await, "/", "{next}");
    }
}

#[tokio::test]
async fn the_ways_of_other_providers_lead_to_the_sign_in_page() {
    let issuer = Issuer::start().await;
    let with_issuer = app(&issuer).await;
    for path in ["/sign-in/github", "/sign-in/github/callback?code=a&state=b"] {
        assert_eq!(location(&with_issuer.browser().get(path).await), "/sign-in");
    }
    let without = TestApp::start().await;
    for path in ["/sign-in/oidc", "/sign-in/oidc/callback?code=a&state=b"] {
        assert_eq!(location(&without.browser().get(path).await), "/sign-in");
    }
}

#[tokio::test]
async fn behind_a_proxy_the_public_address_is_used() {
    let issuer = Issuer::start().await;
    let public = "https://memory.example.com";
    let app = TestApp::builder().issuer(&issuer).setting("POLYMNEMO_PUBLIC_URL", public).start().await;
    let browser = app.browser().behind(public);
    let back = browser.come_back_from_issuer("/").await;
    assert!(back.starts_with("https://memory.example.com/sign-in/oidc/callback?"), "{back}");
    assert_eq!(location(&browser.get(&back).await), "/");
    assert_eq!(browser.viewer().await.as_deref(), Some("Ada"));
}

#[tokio::test]
async fn too_many_attempts_have_to_wait() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let browser = app.browser();
    let mut last = StatusCode::OK;
    for _ in 0..40 {
        last = browser.get("/sign-in/oidc/callback?state=guess").await.status();
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS);
}
