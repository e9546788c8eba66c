//! Access tokens of an authorization server of someone else's, at the MCP endpoint.

use reqwest::{Method, Response, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    sign_in::text,
    support::{AUDIENCE, Issuer, TestApp, WEB_CLIENT, key_of, now},
};

async fn app(issuer: &Issuer) -> TestApp {
    TestApp::builder().issuer(issuer).start().await
}

async fn ping(app: &TestApp, credential: &str) -> Response {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    app.http(Method::POST, "/mcp").bearer_auth(credential).json(&ping).send().await.unwrap()
}

/// What a token that is refused is told.
async fn refusal(app: &TestApp, token: &str) -> String {
    let response = ping(app, token).await;
    let status = response.status();
    let challenge = response.headers().get(header::WWW_AUTHENTICATE).cloned();
    let body: Value = response.json().await.unwrap();
    let told = body["error_description"].as_str().unwrap_or_default().to_owned();
    assert_eq!(status, StatusCode::UNAUTHORIZED, "{body}");
    assert_eq!(body["error"], "invalid_token");
    let challenge = challenge.unwrap();
    let challenge = challenge.to_str().unwrap();
    assert!(challenge.starts_with(r#"Bearer error="invalid_token", resource_metadata="http://"#), "{challenge}");
    assert!(challenge.ends_with(r#"scope="memory:read memory:write""#), "{challenge}");
    for part in token.split('.').filter(|part| part.len() > 8) {
        assert!(!told.contains(part) && !challenge.contains(part), "the token is repeated");
    }
    told
}

#[tokio::test]
async fn a_token_opens_the_store_of_whoever_it_is_about() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let ada = app.mcp_with(&issuer.token("ada").claim("name", json!("Ada")).sign());
    ada.call("remember", json!({ "content": "My bike is green." })).await;
    let grace = app.mcp_with(&issuer.token("grace").sign());
    grace.call("remember", json!({ "content": "My bike is blue." })).await;
    assert_eq!(ada.call("ping", json!({})).await["user"], "Ada");
    assert_eq!(ada.call("list_memories", json!({})).await["total"], 1);
    assert_eq!(grace.call("ping", json!({})).await["user"], "grace");

    let identities = "select string_agg(issuer || ' ' || subject, ', ' order by subject) from identities";
    assert_eq!(text(&app, identities).await, format!("{url} ada, {url} grace", url = issuer.url()));
    assert_eq!(text(&app, "select client from memories where client is not null limit 1").await, "cursor");
}

#[tokio::test]
async fn someone_is_the_same_person_by_a_token_and_in_the_web_app() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    app.mcp_with(&issuer.token("ada").sign()).call("remember", json!({ "content": "My bike is green." })).await;
    let browser = app.browser();
    assert_eq!(browser.sign_in_at_issuer("/").await, "/");
    assert_eq!(browser.viewer().await.as_deref(), Some("Ada"), "by the better name");
    let page = browser.get("/memories").await.text().await.unwrap();
    assert!(page.contains("My bike is green."), "{page}");
    app.mcp_with(&issuer.token("ada").sign()).call("ping", json!({})).await;
    assert_eq!(browser.viewer().await.as_deref(), Some("Ada"), "a token without a name takes none away");
    assert_eq!(text(&app, "select count(*)::text from users").await, "1");

    let seen = "select string_agg(door || ' ' || client, ', ') from client_sightings";
    for _ in 0..100 {
        if text(&app, "select count(*)::text from client_sightings").await != "0" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(text(&app, seen).await, "oauth_app cursor");
}

#[tokio::test]
async fn a_prefix_tells_its_people_from_others() {
    let issuer = Issuer::start().await;
    let app = TestApp::builder().issuer(&issuer).setting("POLYMNEMO_OIDC_SUBJECT_PREFIX", "work:").start().await;
    assert_eq!(app.mcp_with(&issuer.token("ada").sign()).call("ping", json!({})).await["user"], "ada");
    app.browser().sign_in_at_issuer("/").await;
    assert_eq!(text(&app, "select string_agg(subject, ', ') from identities").await, "work:ada");
}

#[tokio::test]
async fn every_kind_of_key_that_is_accepted_works() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK, "ES256");
    let other = TestApp::builder().issuer(&issuer);
    issuer.use_ed25519();
    let other = other.start().await;
    assert_eq!(ping(&other, &issuer.token("ada").sign()).await.status(), StatusCode::OK, "EdDSA");
    issuer.use_rsa();
    assert_eq!(ping(&other, &issuer.token("ada").sign()).await.status(), StatusCode::OK, "RS256");
    let token = issuer.token("ada").header("alg", json!("PS256")).sign();
    assert_eq!(ping(&other, &token).await.status(), StatusCode::OK, "PS256");
}

#[tokio::test]
async fn what_a_good_token_may_look_like() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let token = || issuer.token("ada");
    for (good, why) in [
        (token().header("typ", Value::Null), "no type"),
        (token().header("typ", json!("JWT")), "the usual type"),
        (token().header("typ", json!("application/at+jwt")), "the long form of the type"),
        (token().header("kid", Value::Null), "no key id"),
        (token().claim("aud", json!(["https://other.example.com", AUDIENCE])), "several audiences"),
        (token().claim("exp", json!(now() - 30)), "expired within the leeway"),
        (token().claim("nbf", json!(now() + 30)), "not valid yet within the leeway"),
        (token().claim("scope", Value::Null), "no scopes at all"),
        (token().claim("name", json!(7)).claim("email", Value::Null), "a name that is none"),
    ] {
        assert_eq!(ping(&app, &good.sign()).await.status(), StatusCode::OK, "{why}");
    }
}

#[tokio::test]
async fn each_check_refuses_what_it_is_for() {
    let issuer = Issuer::start().await;
    let stranger = Issuer::start().await;
    let app = app(&issuer).await;
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK);
    let token = || issuer.token("ada");
    let good = token().sign();
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (first, others) = signature.split_at(1);
    let mut parts = good.split('.');
    let header = parts.next().unwrap();
    let other_claims = issuer.token("grace").sign();
    let other_claims = other_claims.split('.').nth(1).unwrap();
    for (bad, told) in [
        (token().unsigned(), "not signed in an accepted way"),
        (token().header("alg", json!("none")).sign(), "not signed in an accepted way"),
        (token().sign_with_public_key(), "not signed in an accepted way"),
        (token().header("alg", json!("HS512")).sign(), "not signed in an accepted way"),
        (token().header("alg", json!("RS256")).sign(), "a key that its issuer does not have"),
        (token().header("kid", json!("future")).sign(), "a key that its issuer does not have"),
        (stranger.token("ada").claim("iss", json!(issuer.url())).header("kid", json!("key-1")).sign(), "signature"),
        (format!("{message}."), "signature"),
        (format!("{message}.{}{}", if first == "A" { "B" } else { "A" }, others), "signature"),
        (format!("{header}.{other_claims}.{signature}"), "signature"),
        (token().claim("exp", json!(now() - 90)).sign(), "has expired"),
        (token().claim("exp", json!(now() - 90)).claim("scope", json!("")).sign(), "has expired"),
        (token().claim("exp", Value::Null).sign(), "lacks a claim"),
        (token().claim("exp", json!("soon")).sign(), "lacks a claim"),
        (token().claim("nbf", json!(now() + 90)).sign(), "not valid yet"),
        (token().claim("iss", json!(format!("{}/", issuer.url()))).sign(), "another issuer"),
        (token().claim("iss", json!([issuer.url()])).sign(), "another issuer"),
        (token().claim("iss", Value::Null).sign(), "lacks a claim"),
        (token().claim("aud", json!("https://other.example.com/mcp")).sign(), "another server"),
        (token().claim("aud", json!(format!("{AUDIENCE}/"))).sign(), "another server"),
        (token().claim("aud", json!([])).sign(), "another server"),
        (token().claim("aud", Value::Null).sign(), "lacks a claim"),
        (token().claim("sub", Value::Null).sign(), "whose it is"),
        (token().claim("sub", json!("")).sign(), "whose it is"),
        (token().claim("sub", json!("a\u{0}b")).sign(), "whose it is"),
        (token().claim("sub", json!("x".repeat(300))).sign(), "whose it is"),
        (token().header("crit", json!(["exp"])).sign(), "`crit`"),
        (token().header("crit", json!(["b64"])).header("b64", json!(false)).sign(), "`crit`"),
        (token().header("typ", json!("dpop+jwt")).sign(), "another type"),
        (token().header("typ", json!("id_token")).sign(), "another type"),
        (token().header("typ", json!("logout+jwt")).sign(), "another type"),
        (token().claim("typ", json!("ID")).sign(), "another type"),
        (issuer.id_token("ada").sign(), "another server"),
        ("eyJ.eyJ.eyJ".to_owned(), "can't be read"),
        ("eyJhbGciOiJFUzI1NiJ9.e30.".to_owned(), "signature"),
        (token().claim("x", json!("x".repeat(20_000))).sign(), "can't be read"),
    ] {
        let answer = refusal(&app, &bad).await;
        assert!(answer.contains(told), "{told}: {answer}");
    }
    // And a good one is still good.
    assert_eq!(ping(&app, &good).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn what_is_no_jwt_is_refused_as_ever_and_keys_and_api_tokens_still_work() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    for other in ["wrong", "pmn_wrong", "gho_0123456789", "a.b", "eyJ.eyJ"] {
        let told = refusal(&app, other).await;
        assert!(told.contains("not known here"), "{told}");
    }
    issuer.is_down(true);
    assert_eq!(ping(&app, &key_of("alice")).await.status(), StatusCode::OK);
    assert_eq!(app.mcp("alice").call("ping", json!({})).await["user"], "alice");
}

#[tokio::test]
async fn without_an_issuer_its_tokens_are_nothing() {
    let issuer = Issuer::start().await;
    let app = TestApp::start().await;
    assert!(refusal(&app, &issuer.token("ada").sign()).await.contains("not known here"));
    assert_eq!(issuer.keys_read(), 0);
}

#[tokio::test]
async fn a_token_may_do_what_its_scopes_say() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let note = json!({ "content": "I was here." });
    for (claim, scope) in [("scope", json!("openid memory:read")), ("scp", json!(["memory:read"]))] {
        let token = issuer.token("ada").claim("scope", Value::Null).claim(claim, scope);
        let reader = app.mcp_with(&token.sign());
        reader.call("list_memories", json!({})).await;
        let refused = reader.send("tools/call", json!({ "name": "remember", "arguments": note })).await;
        assert_eq!(refused.status(), StatusCode::FORBIDDEN);
        let challenge = refused.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
        assert!(challenge.starts_with(r#"Bearer error="insufficient_scope""#), "{challenge}");
    }
    let writer = app.mcp_with(&issuer.token("ada").claim("scope", json!("memory:write")).sign());
    writer.call("remember", note.clone()).await;
    assert_eq!(writer.call("list_memories", json!({})).await["total"], 1);
    let unlimited = app.mcp_with(&issuer.token("ada").claim("scope", Value::Null).sign());
    unlimited.call("remember", json!({ "content": "And I, too." })).await;

    // With none of them it gets nowhere, and is told what to ask for (RFC 6750 section 3.1).
    let response = ping(&app, &issuer.token("ada").claim("scope", json!("openid profile")).sign()).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
    assert!(challenge.starts_with(r#"Bearer error="insufficient_scope", resource_metadata=""#), "{challenge}");
    assert!(challenge.ends_with(r#"scope="memory:read memory:write""#), "{challenge}");
}

#[tokio::test]
async fn a_new_key_is_found_and_made_up_ones_cost_the_issuer_nothing() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    let old = issuer.token("ada").sign();
    for _ in 0..3 {
        assert_eq!(ping(&app, &old).await.status(), StatusCode::OK);
    }
    assert_eq!(issuer.keys_read(), 1);
    issuer.rotate();
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK);
    assert_eq!(issuer.keys_read(), 2);
    assert!(refusal(&app, &old).await.contains("a key that its issuer does not have"));
    for number in 0..5 {
        refusal(&app, &issuer.token("ada").header("kid", json!(format!("made-up-{number}"))).sign()).await;
    }
    assert_eq!(issuer.keys_read(), 2, "once a minute at most");
}

#[tokio::test]
async fn while_the_issuer_is_down_the_last_good_keys_serve() {
    let issuer = Issuer::start().await;
    let app = app(&issuer).await;
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK);
    issuer.is_down(true);
    assert_eq!(ping(&app, &issuer.token("grace").sign()).await.status(), StatusCode::OK);
    // Whether this one is good can't be told, which is no fault of the token.
    issuer.rotate();
    let response = ping(&app, &issuer.token("ada").sign()).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(!response.headers().contains_key(header::WWW_AUTHENTICATE));
}

#[tokio::test]
async fn a_server_starts_before_its_issuer() {
    let issuer = Issuer::start().await;
    issuer.is_down(true);
    let app = app(&issuer).await;
    let response = ping(&app, &issuer.token("ada").sign()).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()[header::RETRY_AFTER], "60");
    issuer.is_down(false);
    tokio::time::sleep(std::time::Duration::from_millis(3_100)).await;
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn the_metadata_is_found_where_either_standard_puts_it() {
    for path in ["", "/", "/realms/home"] {
        for only_openid in [false, true] {
            let issuer = Issuer::start_below(path).await;
            if only_openid {
                issuer.has_only_openid();
            }
            let app = app(&issuer).await;
            assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK, "{path} {only_openid}");
        }
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_believed() {
    let issuer = Issuer::start().await;
    issuer.calls_itself(&format!("{}/", issuer.url()));
    let app = app(&issuer).await;
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(issuer.keys_read(), 0);
    let browser = app.browser();
    assert_eq!(crate::sign_in::problem(&crate::support::location(&browser.get("/sign-in/oidc").await)), "provider");
}

#[tokio::test]
async fn clients_are_led_to_the_issuer() {
    let issuer = Issuer::start().await;
    let public = "https://memory.example.com";
    let app = TestApp::builder()
        .setting("POLYMNEMO_OIDC_ISSUER", issuer.url())
        .setting("POLYMNEMO_OIDC_CLIENT_ID", WEB_CLIENT)
        .setting("POLYMNEMO_PUBLIC_URL", public)
        .start()
        .await;
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let metadata: Value = app.http(Method::GET, path).send().await.unwrap().json().await.unwrap();
        assert_eq!(metadata["authorization_servers"], json!([issuer.url()]));
        assert_eq!(metadata["resource"], AUDIENCE);
    }
    // Its URL is the audience where no other is set.
    assert_eq!(ping(&app, &issuer.token("ada").sign()).await.status(), StatusCode::OK);
    let other = issuer.token("ada").claim("aud", json!(public)).sign();
    let response = ping(&app, &other).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}
