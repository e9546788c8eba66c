//! Batches of JSON-RPC messages, which only the first revisions have.

use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    mcp::client::{Reply, WireClient, wire},
    support::TestApp,
};

async fn send(client: &WireClient, batch: &Value) -> Reply {
    client.post(client.headers(batch), batch.to_string()).await
}

fn request(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn notification() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

#[tokio::test]
async fn each_message_of_a_batch_is_answered_in_turn() {
    let app = TestApp::start().await;
    for client in [wire(&app, "alice"), wire(&app, "alice").speaking("2025-03-26")] {
        let content = "The kettle is blue.";
        let batch = json!([
            request(1, "tools/call", json!({ "name": "remember", "arguments": { "content": content } })),
            notification(),
            request(2, "tools/call", json!({ "name": "recall", "arguments": { "query": "kettle" } })),
            { "jsonrpc": "2.0", "id": 1.5, "method": "ping" },
            request(3, "tools/destroy", json!({})),
            request(4, "tools/call", json!({ "name": 7 })),
        ]);
        let reply = send(&client, &batch).await;
        assert_eq!(
            (reply.status, &reply.headers["content-type"]),
            (StatusCode::OK, &"application/json".parse().unwrap())
        );
        let answers = reply.body.as_array().unwrap();
        let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!(2), &Value::Null, &json!(3), &json!(4)]);
        // The later one builds on the earlier one.
        assert!(answers[1]["result"].to_string().contains(content), "{}", reply.text);
        let codes: Vec<i64> = answers.iter().filter_map(|answer| answer["error"]["code"].as_i64()).collect();
        assert_eq!(codes, [-32_600, -32_601, -32_602]);

        let reply = send(&client, &json!([notification(), notification()])).await;
        assert_eq!((reply.status, reply.text.as_str()), (StatusCode::ACCEPTED, ""));
    }
}

#[tokio::test]
async fn a_batch_that_may_not_be_is_refused_whole() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice");
    let ping = request(1, "ping", json!({}));
    let stores = request(2, "tools/call", json!({ "name": "remember", "arguments": { "content": "Not this" } }));
    let hello =
        json!({ "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    for (client, batch) in [
        (alice.clone(), json!([])),
        (alice.clone(), Value::Array(vec![ping.clone(); 51])),
        (alice.clone(), json!([stores.clone(), request(1, "initialize", hello)])),
        (alice.speaking("2025-06-18"), json!([stores.clone()])),
        (alice.speaking("2025-11-25"), json!([stores.clone()])),
        (alice.speaking("2026-07-28"), json!([stores])),
    ] {
        let reply = send(&client, &batch).await;
        assert_eq!((reply.status, reply.error_code()), (StatusCode::BAD_REQUEST, Some(-32_600)), "{}", reply.text);
    }
    assert_eq!(send(&alice, &Value::Array(vec![ping; 50])).await.body.as_array().unwrap().len(), 50);
    let kept = alice.speaking("2025-11-25").call("list_memories", json!({})).await;
    assert_eq!(kept["total"], 0);
}
