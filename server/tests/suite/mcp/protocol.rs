//! Transport and protocol, revision by revision.

use std::time::Duration;

use http::StatusCode;
use sea_orm::{ConnectionTrait as _, DbBackend, Statement};
use serde_json::{Value, json};

use crate::{
    mcp::client::{MODERN, wire},
    support::{REVISIONS, TestApp},
};

const TOOLS: [&str; 13] = [
    "recall",
    "remember",
    "list_memories",
    "get_memory",
    "update",
    "forget",
    "save_session",
    "load_session",
    "list_sessions",
    "create_upload",
    "confirm_upload",
    "get_download_url",
    "ping",
];

#[tokio::test]
async fn one_endpoint_answers_requests_as_json_and_notifications_with_202() {
    let app = TestApp::start().await;
    for revision in REVISIONS {
        let alice = wire(&app, "alice").speaking(revision);
        let reply = alice.send("tools/list", json!({})).await;
        assert_eq!(reply.headers["content-type"], "application/json", "{revision}");
        // A proxy must not hold back a stream, should a request become one.
        assert_eq!(reply.headers["x-accel-buffering"], "no", "{revision}");
        let names: Vec<&str> =
            reply.result()["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, TOOLS, "{revision}");

        let notification =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
        let reply = alice.post(alice.headers(&notification), notification.to_string()).await;
        assert_eq!((reply.status, reply.text.as_str()), (StatusCode::ACCEPTED, ""), "{revision}");
    }
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    let ping = json!({ "name": "ping", "arguments": {} });
    for header in [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", "tools/list"),
        ("mcp-name", "forget"),
        // "ping" and "pong" as the header's Base64 form.
        ("mcp-name", "=?base64?cG9uZw==?="),
    ] {
        let reply = alice.send_with("tools/call", ping.clone(), header).await;
        assert_eq!((reply.status, reply.error_code()), (StatusCode::BAD_REQUEST, Some(-32_020)), "{header:?}");
    }
    alice.send_with("tools/call", ping, ("mcp-name", "=?base64?cGluZw==?=")).await.result();
}

#[tokio::test]
async fn what_is_not_implemented_gets_its_own_error() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);

    let mut body = alice.body("tools/list", json!({}));
    body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2031-01-01");
    let mut headers = alice.headers(&body);
    headers.retain(|(name, _)| *name != "mcp-protocol-version");
    headers.push(("mcp-protocol-version", "2031-01-01".to_owned()));
    let reply = alice.post(headers, body.to_string()).await;
    assert_eq!((reply.status, reply.error_code()), (StatusCode::BAD_REQUEST, Some(-32_022)));
    let mut supported: Vec<&str> =
        reply.body["error"]["data"]["supported"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    supported.sort_unstable();
    assert_eq!(supported, REVISIONS);

    let reply = alice.send("tools/destroy", json!({})).await;
    assert_eq!((reply.status, reply.error_code()), (StatusCode::NOT_FOUND, Some(-32_601)));
    // Prompts are not offered and must not look as if they were.
    let reply = alice.send("prompts/list", json!({})).await;
    assert_eq!((reply.status, reply.error_code()), (StatusCode::NOT_FOUND, Some(-32_601)));

    for missing in ["protocolVersion", "clientCapabilities"] {
        let mut body = alice.body("tools/list", json!({}));
        body["params"]["_meta"].as_object_mut().unwrap().remove(&format!("io.modelcontextprotocol/{missing}"));
        let reply = alice.post(alice.headers(&body), body.to_string()).await;
        assert_eq!((reply.status, reply.error_code()), (StatusCode::BAD_REQUEST, Some(-32_602)), "{missing}");
    }
    let mut body = alice.body("tools/list", json!({}));
    body["params"]["_meta"].as_object_mut().unwrap().remove("io.modelcontextprotocol/clientInfo");
    alice.post(alice.headers(&body), body.to_string()).await.result();
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_invalid_and_not_a_method_that_is_unknown() {
    let app = TestApp::start().await;
    for revision in REVISIONS {
        let alice = wire(&app, "alice").speaking(revision);
        for (method, params, expected) in [
            ("tools/call", json!({}), "`name` is missing"),
            ("tools/call", json!({ "name": 7 }), "`name` must be a text, but `7` was given"),
            ("tools/call", json!({ "name": null, "arguments": {} }), "`name` must be a text"),
            ("tools/call", json!({ "name": "ping", "arguments": [1] }), "`arguments` must be an object"),
            ("tools/call", json!({ "name": "ping", "arguments": "{}" }), "`arguments` must be an object"),
            ("tools/list", json!({ "cursor": 7 }), "`cursor` must be a text"),
            ("resources/list", json!({ "cursor": {} }), "`cursor` must be a text"),
            ("resources/templates/list", json!({ "cursor": [] }), "`cursor` must be a text"),
            ("resources/read", json!({}), "`uri` is missing"),
            ("resources/read", json!({ "uri": ["memory://work"] }), "`uri` must be a text"),
            ("completion/complete", json!({}), "`ref` is missing"),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/tool", "uri": "x" }, "argument": { "name": "a", "value": "b" } }),
                "`ref.type` must be ref/resource or ref/prompt",
            ),
            (
                "completion/complete",
                json!({ "ref": { "type": "ref/resource", "uri": "memory://{namespace}" }, "argument": { "name": "namespace" } }),
                "`argument.value` is missing",
            ),
        ] {
            let reply = alice.send(method, params.clone()).await;
            let context = format!("{revision} {method} {params}: {}", reply.text);
            assert_eq!((reply.status, reply.error_code()), (StatusCode::OK, Some(-32_602)), "{context}");
            assert_eq!(reply.body["id"], 7, "{context}");
            assert!(reply.body["error"]["message"].as_str().unwrap().contains(expected), "{context}");
        }
        if !alice.is_modern() {
            let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": ["ping"] });
            let reply = alice.post(alice.headers(&body), body.to_string()).await;
            assert_eq!(reply.error_code(), Some(-32_602), "{revision}: {}", reply.text);
            assert!(reply.text.contains("must be an object"), "{revision}: {}", reply.text);
        }
    }
    let reply = wire(&app, "alice").send("initialize", json!({ "protocolVersion": "2025-11-25" })).await;
    assert_eq!(reply.error_code(), Some(-32_602), "{}", reply.text);
}

fn initialize(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "wire-test", "version": "1" },
    })
}

#[tokio::test]
async fn the_handshake_answers_with_the_revision_asked_for_or_the_newest_that_has_one() {
    let app = TestApp::start().await;
    for (asked, answered) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // This revision has no handshake any more.
        (MODERN, "2025-11-25"),
        ("2031-01-01", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        // The first request can't name a negotiated revision in its header.
        let reply = wire(&app, "alice").send("initialize", initialize(asked)).await;
        // No session is begun: any replica answers the next request.
        assert!(!reply.headers.contains_key("mcp-session-id"), "{asked}");
        let result = reply.result();
        assert_eq!(result["protocolVersion"], answered, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "polymnemo");
        assert_eq!(result["serverInfo"]["title"], "Polymnemo");
        assert!(result["instructions"].as_str().unwrap().len() < 2_000);
        let offered: Vec<&String> = result["capabilities"].as_object().unwrap().keys().collect();
        assert_eq!(offered, ["completions", "resources", "tools"]);
    }
}

#[tokio::test]
async fn discovery_tells_everything_in_one_answer() {
    let app = TestApp::start().await;
    let reply = wire(&app, "alice").speaking(MODERN).send("server/discover", json!({})).await;
    let result = reply.result();
    let mut versions: Vec<&str> =
        result["supportedVersions"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    versions.sort_unstable();
    assert_eq!(versions, REVISIONS);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].as_u64().is_some());
    assert!(result["capabilities"]["tools"].is_object() && result["capabilities"]["resources"].is_object());
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "polymnemo");
    assert!(result["instructions"].as_str().unwrap().starts_with("Recall "));
}

#[tokio::test]
async fn results_carry_what_their_revision_requires() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    alice.call("remember", json!({ "content": "A memory to list", "namespace": "work" })).await;
    for revision in ["2025-11-25", MODERN] {
        let alice = wire(&app, "alice").speaking(revision);
        for (method, params, is_cacheable) in [
            ("tools/list", json!({}), true),
            ("resources/list", json!({}), true),
            ("resources/templates/list", json!({}), true),
            ("resources/read", json!({ "uri": "memory://work" }), true),
            ("tools/call", json!({ "name": "ping", "arguments": {} }), false),
        ] {
            let reply = alice.send(method, params).await;
            let result = reply.result();
            if revision == MODERN {
                assert_eq!(result["resultType"], "complete", "{method}");
                assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "polymnemo", "{method}");
                if is_cacheable {
                    assert_eq!(result["cacheScope"], "private", "{method}");
                    assert!(result["ttlMs"].as_u64().is_some(), "{method}");
                }
            } else {
                assert!(result.get("resultType").is_none(), "{method}");
                assert!(result.get("_meta").is_none(), "{method}");
            }
        }
        let reply = alice.send("tools/list", json!({})).await;
        assert_eq!(reply.result()["ttlMs"], 300_000);
    }
}

#[tokio::test]
async fn cursors_that_no_list_gave_are_refused() {
    let app = TestApp::start().await;
    for revision in REVISIONS {
        let alice = wire(&app, "alice").speaking(revision);
        for method in ["tools/list", "resources/list", "resources/templates/list"] {
            for cursor in ["", "nonsense", "after:nowhere"] {
                let reply = alice.send(method, json!({ "cursor": cursor })).await;
                assert_eq!(reply.error_code(), Some(-32_602), "{revision} {method} {cursor:?}: {}", reply.text);
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_that_names_the_known_ones() {
    let app = TestApp::start().await;
    for revision in REVISIONS {
        let reply = wire(&app, "alice").speaking(revision).tool("remembr", json!({})).await;
        assert_eq!(reply.error_code(), Some(-32_602), "{revision}");
        let message = reply.body["error"]["message"].as_str().unwrap();
        assert!(message.contains("remembr") && message.contains("remember, "), "{message}");
    }
}

#[tokio::test]
async fn a_client_that_hangs_up_leaves_no_transaction_open() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    alice.call("remember", json!({ "content": "Tea is at five" })).await;
    // At any moment of a request: some are gone before their key was looked up, some while they are answered.
    for number in 0..200_u64 {
        let patience = Duration::from_micros(number * 71 % 9_000);
        let request = alice.tool("recall", json!({ "query": "When is tea?" }));
        let _ = tokio::time::timeout(patience, request).await;
    }
    let database = app.database().await;
    let open = "select count(*) from pg_stat_activity
                where datname = current_database() and state like 'idle in transaction%'
                  and state_change < clock_timestamp() - interval '1 second'";
    // A request that was answered just now may be about to commit.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let row = database.query_one_raw(Statement::from_string(DbBackend::Postgres, open)).await.unwrap().unwrap();
    assert_eq!(row.try_get_by_index::<i64>(0).unwrap(), 0);
    let found = alice.call("recall", json!({ "query": "When is tea?" })).await;
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
}
