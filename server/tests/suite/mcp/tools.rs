//! The tools as a client uses them: what they accept, refuse and do.

use serde_json::json;

use crate::{
    mcp::client::{MODERN, wire},
    support::{REVISIONS, TestApp},
};

#[tokio::test]
async fn a_wrong_argument_is_answered_with_what_would_be_right() {
    let app = TestApp::start().await;
    let stored = wire(&app, "alice").speaking(MODERN).call("remember", json!({ "content": "A memory" })).await;
    let id = stored["id"].as_str().unwrap();
    for revision in REVISIONS {
        let alice = wire(&app, "alice").speaking(revision);
        for (tool, arguments, expected) in [
            ("remember", json!({}), "needs the argument `content`"),
            ("remember", json!({ "content": "" }), "`content`"),
            ("remember", json!({ "content": { "text": "x" } }), "`content` of remember must be a text"),
            ("remember", json!({ "content": "x", "user": "bob" }), "no argument `user`"),
            ("remember", json!({ "content": "x", "namespace": "a\nb" }), "`namespace`"),
            ("remember", json!({ "content": "x", "occurred_at": "yesterday" }), "`occurred_at`"),
            ("remember", json!({ "content": "x", "supersedes": "the old one" }), "is not an id"),
            ("recall", json!({ "query": "" }), "`query`"),
            ("recall", json!({ "query": "x".repeat(5_000) }), "4000"),
            ("recall", json!({ "query": "x", "limit": 0 }), "from 1 to 50"),
            ("recall", json!({ "query": "x", "limit": 51 }), "from 1 to 50"),
            ("recall", json!({ "query": "x", "kind": "dream" }), "memory, session, media"),
            ("recall", json!({ "query": "x", "after": "2026-03-02", "before": "2026-03-01" }), "`after`"),
            ("recall", json!({ "query": "x", "cursor": "nonsense" }), "`cursor`"),
            ("list_memories", json!({ "limit": -1 }), "from 1 to 50"),
            ("list_memories", json!({ "cursor": "nonsense" }), "`cursor`"),
            ("get_memory", json!({ "id": "1" }), "is not an id"),
            ("get_memory", json!({ "id": "0198c0de-7a11-7000-8000-000000000000" }), "no memory with the id"),
            ("update", json!({ "id": id, "expected_revision": 9, "content": "x" }), "revision 1"),
            ("update", json!({ "id": id, "text": "x" }), "no argument `text`"),
            ("forget", json!({}), "`id` (one memory) or `ids`"),
            ("forget", json!({ "ids": ["0198c0de-7a11-7000-8000-000000000000"] }), "no memory with the id"),
            ("ping", json!({ "loud": true }), "takes no arguments"),
        ] {
            let reply = alice.tool(tool, arguments.clone()).await;
            let result = reply.result();
            assert_eq!(result["isError"], true, "{revision} {tool} {arguments}: {}", reply.text);
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains(expected), "{revision} {tool} {arguments}: {text}");
        }
    }
    let kept = wire(&app, "alice").speaking(MODERN).call("list_memories", json!({})).await;
    assert_eq!(kept["total"], 1, "a refused call must store nothing");
}

#[tokio::test]
async fn arguments_may_be_written_as_text() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking("2025-11-25");
    let stored = alice.call("remember", json!({ "content": "Tea is at five", "tags": "[\"tea\",\"time\"]" })).await;
    alice.call("remember", json!({ "content": "Coffee is at ten", "tags": "coffee", "source": null })).await;
    let found =
        alice.call("list_memories", json!({ "tags": "tea, time", "limit": "5", "include_superseded": "false" })).await;
    assert_eq!(found["items"][0]["id"], stored["id"]);
    assert_eq!(found["items"][0]["tags"], json!(["tea", "time"]));
    assert_eq!(found["total"], 1);
    let gone = alice.call("forget", json!({ "ids": stored["id"] })).await;
    assert_eq!(gone["ids"], json!([stored["id"]]));
}

#[tokio::test]
async fn other_names_of_a_tool_work() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    let stored = alice.call("remember", json!({ "content": "Tea is at five" })).await;
    let changed = alice.call("update_memory", json!({ "id": stored["id"], "content": "Tea is at four" })).await;
    assert_eq!(changed["revision"], 2);
    alice.call("forget_memory", json!({ "id": stored["id"] })).await;
}

#[tokio::test]
async fn any_text_comes_back_as_it_went_in() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    for (content, expected) in [
        ("NUL\u{0}inside", "NUL\u{FFFD}inside"),
        (
            "Tabs\tand\r\nlines, \u{1} control, \u{202e}bidi, e\u{301} accent",
            "Tabs\tand\r\nlines, \u{1} control, \u{202e}bidi, e\u{301} accent",
        ),
        ("家族写真 👩‍👩‍👧‍👦 \u{1F600}", "家族写真 👩‍👩‍👧‍👦 \u{1F600}"),
        (
            "{\"json\": [1, 2]} <b>&amp;</b> '; drop table memories; --",
            "{\"json\": [1, 2]} <b>&amp;</b> '; drop table memories; --",
        ),
    ] {
        let stored = alice.call("remember", json!({ "content": content })).await;
        let read = alice.call("get_memory", json!({ "id": stored["id"] })).await;
        assert_eq!(read["content"], expected);
    }
}

#[tokio::test]
async fn the_client_that_stored_a_memory_is_recorded() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    let stored = alice.call("remember", json!({ "content": "Who stored this?" })).await;
    assert_eq!(alice.call("get_memory", json!({ "id": stored["id"] })).await["client"], "wire-test");
}
