use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::oauth::{
    BACK, VERIFIER, app, client_of, code, exchange, let_in, refresh, refusal, registered, run, signed_in, status_with,
    text, token_request, tokens,
};

/// A10: the answer as the specification wants it.
#[tokio::test]
async fn tokens_come_as_clients_read_them() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let code = code(&app, &browser, &client, &[]).await;
    let response = exchange(&app, &client, &code).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.headers()[header::CACHE_CONTROL], "no-store");
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    let answer: Value = response.json().await.unwrap();
    assert_eq!(answer["token_type"], "Bearer");
    assert_eq!(answer["expires_in"], 3600);
    assert_eq!(answer["scope"], "memory:read memory:write");
    // Report 7: without being asked for.
    assert!(answer["refresh_token"].as_str().unwrap().starts_with("pmnr_"));
    let access = answer["access_token"].as_str().unwrap();
    assert!(access.starts_with("pmna_"));
    // R8: nothing in the database opens anything.
    let held = text(&app, "select coalesce(string_agg(t::text || f::text || c::text, ' '), '') from oauth_tokens t, oauth_families f, oauth_codes c").await;
    for secret in [access, answer["refresh_token"].as_str().unwrap(), &code] {
        assert!(!held.contains(secret));
    }
    let pinged = app.mcp_with(access).call("ping", json!({})).await;
    assert_eq!(pinged["user"], "alice");
}

/// A5: a code works once, and a second use ends what the first one began.
#[tokio::test]
async fn a_code_that_is_used_twice_ends_what_followed() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let code = code(&app, &browser, &client, &[]).await;
    let issued = tokens(exchange(&app, &client, &code).await).await;
    assert_eq!(status_with(&app, &issued.access).await, 200);
    assert_eq!(refusal(exchange(&app, &client, &code).await).await, (400, "invalid_grant".to_owned()));
    assert_eq!(status_with(&app, &issued.access).await, 401);
    assert_eq!(refusal(refresh(&app, &client, &issued.refresh).await).await, (400, "invalid_grant".to_owned()));
}

#[tokio::test]
async fn of_many_uses_of_a_code_at_once_at_most_one_gets_tokens() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let code = code(&app, &browser, &client, &[]).await;
    let uses = futures::future::join_all((0..10).map(|_| exchange(&app, &client, &code))).await;
    assert_eq!(uses.iter().filter(|response| response.status() == StatusCode::OK).count(), 1);
}

#[tokio::test]
async fn a_code_is_of_no_use_to_anyone_else_or_too_late() {
    let app = app().await;
    let client = registered(&app).await;
    let other = registered(&app).await;
    let browser = signed_in(&app).await;
    let usual = |code: &str| -> Vec<(&'static str, String)> {
        vec![
            ("grant_type", "authorization_code".into()),
            ("client_id", client.clone()),
            ("code", code.into()),
            ("redirect_uri", BACK.into()),
            ("code_verifier", VERIFIER.into()),
        ]
    };
    let wrong = "w".repeat(43);
    for (name, value, error) in [
        ("client_id", other.as_str(), "invalid_grant"),
        ("redirect_uri", "http://127.0.0.1:1/callback", "invalid_grant"),
        ("code_verifier", wrong.as_str(), "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        ("code_verifier", "short", "invalid_request"),
        ("code", "pmnc_nothing", "invalid_grant"),
        ("code", "", "invalid_request"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("grant_type", "", "invalid_request"),
        ("client_id", "", "invalid_request"),
        ("resource", "https://other.example/mcp", "invalid_target"),
    ] {
        let code = code(&app, &browser, &client, &[]).await;
        let mut parameters = usual(&code);
        parameters.retain(|(known, _)| *known != name);
        parameters.push((name, value.to_owned()));
        let parameters: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = token_request(&app, &parameters).send().await.unwrap();
        assert_eq!(refusal(response).await, (400, error.to_owned()), "{name}={value}");
    }
    let late = code(&app, &browser, &client, &[]).await;
    run(&app, "update oauth_codes set expires_at = expires_at - interval '61 seconds'").await;
    assert_eq!(refusal(exchange(&app, &client, &late).await).await, (400, "invalid_grant".to_owned()));

    let twice = format!("grant_type=authorization_code&code=a&code=b&client_id={client}&code_verifier={VERIFIER}");
    let form = |kind: &str| app.http(Method::POST, "/token").header(header::CONTENT_TYPE, kind).body(twice.clone());
    let response = form("application/x-www-form-urlencoded").send().await.unwrap();
    assert_eq!(refusal(response).await, (400, "invalid_request".to_owned()));
    let response = form("application/json").send().await.unwrap();
    assert_eq!(refusal(response).await, (400, "invalid_request".to_owned()));
}

/// Report 5: a client that thinks it has a secret names itself in the header.
#[tokio::test]
async fn a_client_may_name_itself_in_the_header() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    let code = code(&app, &browser, &client, &[]).await;
    let parameters = [
        ("grant_type", "authorization_code"),
        ("code", code.as_str()),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    let response = token_request(&app, &parameters).basic_auth(&client, Some("")).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

/// R3, R4: a token is looked for in the header only, and anything else is a 401 with the way to go.
#[tokio::test]
async fn a_token_that_is_none_is_a_401_with_the_way_to_go() {
    let app = app().await;
    let (_, issued) = let_in(&app, &[]).await;
    run(&app, "update oauth_tokens set access_expires_at = now() - interval '1 second'").await;
    for wrong in [issued.access.as_str(), issued.refresh.as_str(), "pmna_x", "gho_16C7e42F292c6912E7710c838347Ae178B4a"]
    {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let response = app.http(Method::POST, "/mcp").bearer_auth(wrong).json(&ping).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let challenge = response.headers()[header::WWW_AUTHENTICATE].to_str().unwrap();
        assert!(challenge.starts_with(r#"Bearer error="invalid_token", resource_metadata=""#), "{challenge}");
        assert!(challenge.ends_with(r#"scope="memory:read memory:write""#), "{challenge}");
    }
    run(&app, "update oauth_tokens set access_expires_at = now() + interval '1 hour'").await;
    assert_eq!(status_with(&app, &issued.access).await, 200);
    let in_query = app.http(Method::POST, &format!("/mcp?access_token={}", issued.access)).send().await.unwrap();
    assert_eq!(in_query.status(), StatusCode::UNAUTHORIZED);
}

/// Report 3, R4: a token for another resource opens nothing here.
#[tokio::test]
async fn a_token_for_another_resource_is_refused() {
    let app = app().await;
    let (_, issued) = let_in(&app, &[]).await;
    run(&app, "update oauth_families set resource = 'https://other.example/mcp'").await;
    assert_eq!(status_with(&app, &issued.access).await, 401);
}

/// A15: a client signs itself out.
#[tokio::test]
async fn a_revoked_token_ends_at_once_with_all_that_it_is_related_to() {
    let app = app().await;
    let (client, issued) = let_in(&app, &[]).await;
    let revoke = async |token: &str, client: &str| {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .extend_pairs([("token", token), ("client_id", client)])
            .finish();
        let request =
            app.http(Method::POST, "/revoke").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        request.body(body).send().await.unwrap().status()
    };
    assert_eq!(revoke("pmnr_unknown", &client).await, StatusCode::OK);
    assert_eq!(revoke(&issued.refresh, "another").await, StatusCode::OK);
    assert_eq!(status_with(&app, &issued.access).await, 200, "nobody else's token is revoked");
    assert_eq!(revoke(&issued.refresh, &client).await, StatusCode::OK);
    assert_eq!(status_with(&app, &issued.access).await, 401);
    assert_eq!(refusal(refresh(&app, &client, &issued.refresh).await).await, (400, "invalid_grant".to_owned()));
}

/// Two apps of one person, and those of two: each has its own.
#[tokio::test]
async fn what_an_app_stores_is_its_users() {
    let app = app().await;
    let (_, issued) = let_in(&app, &[]).await;
    let stored = client_of(&app, &issued).call("remember", json!({ "content": "My bike is green." })).await;
    let found = app.mcp("alice").call("get_memory", json!({ "id": stored["id"] })).await;
    assert_eq!(found["client"], "Story");
    app.mcp("bob").call_in_vain("get_memory", json!({ "id": stored["id"] })).await;
    let others = app.mcp("bob").call("remember", json!({ "content": "My bike is blue." })).await;
    for tool in ["get_memory", "forget"] {
        client_of(&app, &issued).call_in_vain(tool, json!({ "id": others["id"] })).await;
    }
}
