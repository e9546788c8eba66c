//! What the log holds, and what it never holds.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{ServerProcess, data_folder, key_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_most_talkative_log_tells_neither_keys_nor_memories_and_every_line_whose_request_it_is() {
    let folder = data_folder();
    let capability = "good-hidden-capability-0123456789";
    let capabilities = format!("alice:{capability}");
    let settings = [("POLYMNEMO_LOG", "trace"), ("POLYMNEMO_CAPABILITY_TOKENS", &capabilities)];
    let server = ServerProcess::serve(folder.path(), &settings);
    let url = format!("http://127.0.0.1:{}", server.port);
    let client = Client::new();
    let call = async |tool: &str, arguments: Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        let request = client.post(format!("{url}/mcp?token=hidden-in-query")).bearer_auth(key_of("alice")).json(&body);
        request.header("x-request-id", "story-of-the-log").send().await.unwrap().text().await.unwrap()
    };
    let stored = call("remember", json!({ "content": "The xylophone is in the cellar.", "tags": ["hautbois"] })).await;
    assert!(stored.contains("stored"), "{stored}");
    assert!(call("recall", json!({ "query": "where is my xylophone" })).await.contains("cellar"));
    call("recall", json!({ "query": "bassoon", "limit": 1000 })).await;
    for (path, key) in
        [("/mcp", "wrong-hidden-key"), ("/c/hidden-capability/mcp", ""), ("/?secret=hidden-in-query", "")]
    {
        client.request(Method::POST, format!("{url}{path}")).bearer_auth(key).send().await.unwrap();
    }

    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let with_token = format!("{url}/c/{capability}/mcp");
    assert_eq!(client.post(&with_token).json(&ping).send().await.unwrap().status(), 200);
    assert!(client.post(&with_token).body("{").send().await.unwrap().status().is_client_error());
    client.get(format!("{url}/C/{capability}/mcp")).send().await.unwrap();

    let log = server.log();
    assert!(log.contains("/c/…/mcp"));
    for secret in [&*key_of("alice"), "hidden-in-query", "wrong-hidden-key", "hidden-capability", capability] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    for word in ["xylophone", "hautbois", "bassoon"] {
        let line = log.lines().find(|line| line.contains(word));
        assert_eq!(line, None, "what a user stored or asked is in the log");
    }
    let mut of_the_request = 0;
    for line in log.lines() {
        let event: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
        let message = event["message"].as_str().unwrap_or_default();
        if matches!(message, "a tool was called" | "request answered") && line.contains("story-of-the-log") {
            assert_eq!(event["spans"][0]["request.id"], "story-of-the-log", "{line}");
            of_the_request += 1;
        }
    }
    assert_eq!(of_the_request, 6, "three calls, each with a line of the tool and one of the request");
}
