//! The resources `memory://{namespace}`, and the completion of their names.

use serde_json::{Value, json};

use crate::{
    mcp::client::{MODERN, WireClient, wire},
    support::{REVISIONS, TestApp},
};

async fn complete(client: &WireClient, typed: &str) -> Value {
    let params = json!({
        "ref": { "type": "ref/resource", "uri": "memory://{namespace}" },
        "argument": { "name": "namespace", "value": typed },
    });
    client.send("completion/complete", params).await.result()["completion"].clone()
}

#[tokio::test]
async fn a_namespace_can_be_read_listed_and_completed() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    let stored = alice.call("remember", json!({ "content": "Tea is at five", "namespace": "工作/2026 plan" })).await;
    for revision in REVISIONS {
        let alice = wire(&app, "alice").speaking(revision);
        let reply = alice.send("resources/templates/list", json!({})).await;
        assert_eq!(reply.result()["resourceTemplates"][0]["uriTemplate"], "memory://{namespace}", "{revision}");

        let reply = alice.send("resources/list", json!({})).await;
        let resource = &reply.result()["resources"][0];
        assert_eq!(resource["name"], "工作/2026 plan");
        let uri = resource["uri"].as_str().unwrap();
        assert_eq!(uri, "memory://%E5%B7%A5%E4%BD%9C%2F2026%20plan");

        let reply = alice.send("resources/read", json!({ "uri": uri })).await;
        let contents = &reply.result()["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("text/markdown")), "{revision}");
        let text = contents["text"].as_str().unwrap();
        assert!(text.contains("> Tea is at five") && text.contains(stored["id"].as_str().unwrap()), "{text}");

        let completion = complete(&alice, "工").await;
        assert_eq!(completion["values"], json!(["工作/2026 plan"]), "{revision}");
        assert_eq!((&completion["total"], &completion["hasMore"]), (&json!(1), &json!(false)), "{revision}");
        assert_eq!(complete(&alice, "x").await["values"], json!([]), "{revision}");
    }
}

#[tokio::test]
async fn what_is_not_there_has_the_error_of_the_revision() {
    let app = TestApp::start().await;
    wire(&app, "bob").speaking(MODERN).call("remember", json!({ "content": "A secret", "namespace": "bobs" })).await;
    for revision in REVISIONS {
        let alice = wire(&app, "alice").speaking(revision);
        let code = if revision == MODERN { -32_602 } else { -32_002 };
        // A namespace of someone else answers like one that never was.
        for uri in ["memory://nowhere", "memory://bobs", "memory://", "memory://%ff", "file:///etc/passwd"] {
            let reply = alice.send("resources/read", json!({ "uri": uri })).await;
            assert_eq!(reply.error_code(), Some(code), "{revision} {uri}: {}", reply.text);
            assert_eq!(reply.body["error"]["data"]["uri"], uri, "{revision}");
        }
        // One's own default namespace is there before anything is in it.
        let reply = alice.send("resources/read", json!({ "uri": "memory://personal" })).await;
        assert!(reply.result()["contents"][0]["text"].as_str().unwrap().contains("none yet"), "{revision}");
    }
}

#[tokio::test]
async fn only_the_variable_of_the_template_is_completed() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    for (reference, argument) in [
        (json!({ "type": "ref/prompt", "name": "x" }), "namespace"),
        (json!({ "type": "ref/resource", "uri": "file:///{path}" }), "namespace"),
        (json!({ "type": "ref/resource", "uri": "memory://{namespace}" }), "id"),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": argument, "value": "" } });
        let reply = alice.send("completion/complete", params).await;
        assert_eq!(reply.error_code(), Some(-32_602), "{}", reply.text);
    }
}

#[tokio::test]
async fn a_hundred_names_are_completed_and_all_are_listed_in_pages() {
    let app = TestApp::start().await;
    let alice = wire(&app, "alice").speaking(MODERN);
    for number in 0..103 {
        alice
            .call(
                "remember",
                json!({ "content": format!("Memory {number}"), "namespace": format!("team-{number:03}") }),
            )
            .await;
    }
    let completion = complete(&alice, "team-").await;
    assert_eq!(completion["values"].as_array().unwrap().len(), 100);
    assert_eq!(completion["hasMore"], true);

    let mut names = Vec::new();
    let mut params = json!({});
    loop {
        let reply = alice.send("resources/list", params).await;
        let result = reply.result();
        names.extend(result["resources"].as_array().unwrap().iter().map(|resource| resource["name"].clone()));
        assert_eq!(result["cacheScope"], "private");
        let Some(cursor) = result.get("nextCursor") else { break };
        params = json!({ "cursor": cursor });
    }
    assert_eq!(names, (0..103).map(|number| json!(format!("team-{number:03}"))).collect::<Vec<_>>());
}
