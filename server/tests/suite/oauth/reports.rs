//! Faults that people met with other servers, by the numbers of our list of public reports, and the tests that have their
//! symptoms. What no other file has is here.
//!
//! | report | symptom | test |
//! |---|---|---|
//! | 1 | no metadata below the suffixed path | `metadata::the_documents_name_each_other_byte_for_byte`, `…the_endpoint_may_be_under_a_prefix` |
//! | 2 | the resource names another host | `metadata::behind_a_proxy_everything_names_the_public_address` |
//! | 3 | tokens for another audience, a bare path that is not served | `tokens::a_token_for_another_resource_is_refused`, `stories::transport::a_slash_at_the_end_makes_no_difference` |
//! | 4 | an endpoint that is not exactly `/mcp` | here |
//! | 5 | `client_secret_post` is asked for | `registration::a_client_gets_what_there_is_whatever_it_asks_for`, `tokens::a_client_may_name_itself_in_the_header` |
//! | 6 | no registration endpoint | `metadata::the_documents_name_each_other_byte_for_byte` |
//! | 7 | no refresh token without `offline_access` | `tokens::tokens_come_as_clients_read_them`, here |
//! | 8–10 | a resource with a slash, without a path, with a query | `authorize::the_resource_may_be_written_in_the_ways_that_clients_write_it`, here |
//! | 11, 12 | a refresh race ends everything | `refresh`, `replicas`, end2end/clients (two processes of the Python SDK) |
//! | 13 | a dead refresh token has another status than 400 | `refresh::a_late_second_use_ends_everything` |
//! | 14, 15 | a missing permission reads as an expired token, or hides one | `grants::a_missing_permission_is_a_403_with_all_that_is_needed` |
//! | 16 | another port on this machine | `authorize::a_loopback_address_may_have_another_port` |
//! | 17 | three addresses of Cursor | `registration::the_three_addresses_of_cursor_are_taken_and_a_bad_one_is_left_out`, end2end/clients |
//! | 18, 19 | null members, a name with parentheses | `registration::a_client_gets_what_there_is_whatever_it_asks_for` |
//! | 20 | documents without `none` | `metadata::the_documents_name_each_other_byte_for_byte` |
//! | 21 | list-shaped methods in a document | `documents::a_client_is_known_by_its_document` |
//! | 22 | a page in the place of metadata | `metadata::what_is_not_there_is_a_404_in_json` |
//! | 23 | no page can read the challenge | `grants::without_a_token_every_request_is_a_401`, `stories::callers::a_page_can_read_the_challenge` |
//! | 24 | headers of the protocol are not allowed by the preflight | `registration::pages_of_any_origin_may_register_and_ask_for_tokens`, `stories::callers::a_browser_may_ask_first_without_a_key`, here |
//! | 25 | GET on the endpoint is no 405 | `stories::transport::streams_and_sessions_of_the_past_are_not_there_and_say_what_is`, here |
//! | 26 | a panic hangs, slips of clients, revisions, a restart ends sessions, sessions of others, consent | `polymnemo-mcp` (guard), `mcp::tools`, `mcp::protocol`, `restarts`, here, `authorize::a_person_decides_every_time`, `attacks` |

use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::{
    oauth::{
        BACK, VERIFIER, app, authorize_address, brought, decide, let_in, registered, resource_as_written, signed_in,
        status_with, token_request, tokens,
    },
    support::{TestApp, key_of, location, parameter},
};

/// Report 4: some clients and servers know `/mcp` only.
#[tokio::test]
async fn an_app_is_let_in_at_any_path() {
    for path in ["/tools/memory/mcp", "/memory"] {
        let app = TestApp::builder().setting("POLYMNEMO_STDIO_USER", "alice").setting("POLYMNEMO_MCP_PATH", path);
        let app = app.start().await;
        let (client, first) = let_in(&app, &[]).await;
        assert_eq!(app.mcp_with(&first.access).call("ping", json!({})).await["user"], "alice", "{path}");
        let second = tokens(crate::oauth::refresh(&app, &client, &first.refresh).await).await;
        assert_eq!(app.mcp_with(&second.access).call("ping", json!({})).await["user"], "alice", "{path}");
    }
}

/// Report 7: claude.ai never asks for `offline_access`, others do.
#[tokio::test]
async fn there_is_a_refresh_token_whatever_is_asked_for() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    for (scope, given) in [
        ("", "memory:read memory:write"),
        ("memory:read", "memory:read"),
        ("memory:write", "memory:read memory:write"),
        ("offline_access", "memory:read memory:write"),
        ("memory:read memory:write offline_access", "memory:read memory:write"),
        ("memory:read something:else", "memory:read"),
    ] {
        let request = brought(&browser, &authorize_address(&app, &client, &[("scope", scope)])).await;
        let back = location(&decide(&browser, &request, &[]).await);
        let response = crate::oauth::exchange(&app, &client, &parameter(&back, "code").unwrap()).await;
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["scope"], given, "{scope}");
        assert!(answer["refresh_token"].as_str().unwrap().starts_with("pmnr_"), "{scope}");
    }
}

/// Reports 8, 9, 10: the same for codes and refresh tokens, and where a client names it twice.
#[tokio::test]
async fn tokens_are_asked_for_with_the_resource_in_the_ways_that_clients_write_it() {
    let app = app().await;
    let client = registered(&app).await;
    let browser = signed_in(&app).await;
    for resource in resource_as_written(&app) {
        let code = crate::oauth::code(&app, &browser, &client, &[]).await;
        let exchange = [
            ("grant_type", "authorization_code"),
            ("client_id", &client),
            ("code", &code),
            ("redirect_uri", BACK),
            ("code_verifier", VERIFIER),
            ("resource", &resource),
            ("resource", &resource),
        ];
        let first = tokens(token_request(&app, &exchange).send().await.unwrap()).await;
        let refresh = [
            ("grant_type", "refresh_token"),
            ("client_id", &client),
            ("refresh_token", &first.refresh),
            ("resource", &resource),
        ];
        let second = tokens(token_request(&app, &refresh).send().await.unwrap()).await;
        assert_eq!(status_with(&app, &second.access).await, 200, "{resource}");
    }
}

/// Report 24: pages look the metadata up with the headers of the protocol, and ask first.
#[tokio::test]
async fn pages_may_look_the_metadata_up() {
    let app = app().await;
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
    ] {
        let preflight = app
            .http(Method::OPTIONS, path)
            .header(header::ORIGIN, "https://inspector.example")
            .header(header::ACCESS_CONTROL_REQUEST_METHOD, "GET")
            .header(header::ACCESS_CONTROL_REQUEST_HEADERS, "mcp-protocol-version, authorization")
            .send()
            .await
            .unwrap();
        assert_eq!(preflight.status(), StatusCode::OK, "{path}");
        assert_eq!(preflight.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], "*", "{path}");
        let allowed = preflight.headers()[header::ACCESS_CONTROL_ALLOW_HEADERS].to_str().unwrap();
        assert!(allowed == "*" || allowed.contains("mcp-protocol-version"), "{path}: {allowed}");
    }
}

/// Report 25: an app that is let in asks for a stream, and goes on without one; before, it is told to let itself in.
#[tokio::test]
async fn a_stream_is_refused_in_a_way_that_clients_go_on_after() {
    let app = app().await;
    let stream = || app.http(Method::GET, "/mcp").header(header::ACCEPT, "text/event-stream");
    assert_eq!(stream().send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    let (_, issued) = let_in(&app, &[]).await;
    let response = stream().bearer_auth(&issued.access).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(response.headers()[header::ALLOW], "POST");
}

/// Report 26: a session id is neither asked for nor worth anything; who is asking is read from each request.
#[tokio::test]
async fn a_session_of_another_opens_nothing() {
    let app = app().await;
    let (_, issued) = let_in(&app, &[]).await;
    let whoami =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ping", "arguments": {} } });
    for (credential, user) in [(issued.access.as_str(), "alice"), (key_of("bob").as_str(), "bob")] {
        let request = app.http(Method::POST, "/mcp").bearer_auth(credential).header("mcp-session-id", "of-alice");
        let response = request.json(&whoami).send().await.unwrap();
        assert!(!response.headers().contains_key("mcp-session-id"));
        assert_eq!(response.json::<Value>().await.unwrap()["result"]["structuredContent"]["user"], user);
    }
    let without = app.http(Method::POST, "/mcp").header("mcp-session-id", "of-alice").json(&whoami);
    assert_eq!(without.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}
