//! Two users on one server: nothing leaks and nothing changes.
//!
//! Every tool has a row in [`ROWS`]; the first test fails for a tool that has none.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{McpClient, TestApp, ToolResult};

/// Words that only alice's private memories hold.
const SECRET: &str = "rhododendron";

/// What bob tries with an id of alice's, and how the answer must look.
struct Row {
    tool: &'static str,
    arguments: fn(id: &str) -> Value,
    expected: Expected,
}

enum Expected {
    /// The same, word for word, as with an id that never was.
    AsIfItNeverWas,
    /// Success, with nothing of alice's in it.
    NothingOfHers,
}

use Expected::{AsIfItNeverWas, NothingOfHers};

const ROWS: &[Row] = &[
    Row { tool: "get_memory", arguments: |id| json!({ "id": id }), expected: AsIfItNeverWas },
    Row { tool: "update", arguments: |id| json!({ "id": id, "content": "bob was here" }), expected: AsIfItNeverWas },
    Row { tool: "update", arguments: |id| json!({ "id": id, "tags": ["bob"] }), expected: AsIfItNeverWas },
    Row {
        tool: "update",
        arguments: |id| json!({ "id": id, "content": "bob was here", "expected_revision": 99 }),
        expected: AsIfItNeverWas,
    },
    Row { tool: "forget", arguments: |id| json!({ "id": id }), expected: AsIfItNeverWas },
    Row {
        tool: "remember",
        arguments: |id| json!({ "content": "bob corrects her", "supersedes": [id] }),
        expected: AsIfItNeverWas,
    },
    Row {
        tool: "remember",
        arguments: |_| json!({ "content": format!("The {SECRET} blooms in May.") }),
        expected: NothingOfHers,
    },
    Row {
        tool: "remember",
        arguments: |_| json!({ "content": "bob's own text", "idempotency_key": "alice-key" }),
        expected: NothingOfHers,
    },
    Row {
        tool: "recall",
        arguments: |_| json!({ "query": format!("{SECRET} blooms in May") }),
        expected: NothingOfHers,
    },
    Row {
        tool: "recall",
        arguments: |_| json!({ "query": SECRET, "namespace": "personal", "tags": ["garden"] }),
        expected: NothingOfHers,
    },
    Row { tool: "list_memories", arguments: |_| json!({}), expected: NothingOfHers },
    Row { tool: "list_memories", arguments: |_| json!({ "tags": ["garden"] }), expected: NothingOfHers },
    Row { tool: "load_session", arguments: |id| json!({ "session_id": id }), expected: AsIfItNeverWas },
    Row {
        tool: "load_session",
        arguments: |id| json!({ "session_id": id, "message": 1, "page_size": 50 }),
        expected: AsIfItNeverWas,
    },
    Row {
        tool: "save_session",
        arguments: |_| json!({ "session_id": "her-chat", "messages": [{ "role": "user", "content": "bob's own" }] }),
        expected: NothingOfHers,
    },
    Row { tool: "list_sessions", arguments: |_| json!({}), expected: NothingOfHers },
    Row { tool: "list_sessions", arguments: |_| json!({ "query": SECRET }), expected: NothingOfHers },
    Row { tool: "ping", arguments: |_| json!({}), expected: NothingOfHers },
    Row { tool: "get_download_url", arguments: |id| json!({ "id": id }), expected: AsIfItNeverWas },
    Row { tool: "confirm_upload", arguments: |id| json!({ "id": id }), expected: AsIfItNeverWas },
    Row {
        tool: "create_upload",
        arguments: |_| json!({ "filename": "b", "content_type": "a/b", "size": 1, "description": SECRET }),
        expected: NothingOfHers,
    },
];

/// Alice's private memories, one of them in the trash, and one that she shares.
struct Hers {
    private: Vec<String>,
    forgotten: String,
    shared: String,
}

async fn plant(alice: &McpClient) -> Hers {
    let id = |stored: &ToolResult| stored["id"].as_str().unwrap().to_owned();
    let first = alice
        .call("remember", json!({ "content": format!("The {SECRET} blooms in May."), "tags": ["garden"], "idempotency_key": "alice-key" }))
        .await;
    let second =
        alice.call("remember", json!({ "content": format!("My {SECRET} is ill."), "namespace": "diary" })).await;
    let messages = json!([
        { "role": "user", "content": format!("Why does my {SECRET} not bloom?") },
        { "role": "assistant", "content": "Give it time." },
    ]);
    let session = alice.call("save_session", json!({ "session_id": "her-chat", "messages": messages })).await;
    let forgotten = alice.call("remember", json!({ "content": format!("I hate my {SECRET}.") })).await;
    alice.call("forget", json!({ "id": id(&forgotten) })).await;
    let shared = alice.call("remember", json!({ "content": "The office code is 4471.", "namespace": "shared" })).await;
    Hers { private: vec![id(&first), id(&second), id(&session)], forgotten: id(&forgotten), shared: id(&shared) }
}

/// All that alice has, the trash and the histories included.
async fn everything_of_alice(app: &TestApp) -> String {
    let alice = app.ctx("alice").await;
    let service = app.service();
    let mut all = Vec::new();
    for trash in [false, true] {
        let request = polymnemo_types::ListRequest { trash, limit: Some(50), ..Default::default() };
        for memory in service.list_memories(&alice, request).await.unwrap().items {
            let history = service.revisions(&alice, memory.id, None, Some(50)).await.ok();
            all.push(format!("{memory:?} {history:?}"));
        }
    }
    all.join("\n")
}

#[tokio::test]
async fn every_tool_has_a_row() {
    let app = TestApp::start().await;
    let listed = app.mcp("bob").request("tools/list", json!({})).await.unwrap();
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(ROWS.iter().any(|row| row.tool == name), "add a row for the tool {name}");
    }
}

#[tokio::test]
async fn an_id_of_another_user_is_as_good_as_none_and_nothing_of_hers_is_seen_or_changed() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.mcp("alice"), app.mcp("bob"));
    let hers = plant(&alice).await;
    let before = everything_of_alice(&app).await;
    assert!(before.contains(SECRET));

    for row in ROWS {
        for id in hers.private.iter().chain([&hers.forgotten]) {
            let arguments = (row.arguments)(id);
            let answer = bob.try_call(row.tool, arguments.clone()).await;
            let context = format!("{} with {arguments} gave {answer:?}", row.tool);
            match row.expected {
                AsIfItNeverWas => {
                    assert!(answer.is_error, "{context}");
                    let never = Uuid::now_v7().to_string();
                    let baseline = bob.try_call(row.tool, (row.arguments)(&never)).await;
                    assert_eq!(
                        answer.text.replace(id.as_str(), "ID"),
                        baseline.text.replace(&never, "ID"),
                        "{context}"
                    );
                    assert!(!answer.text.contains(SECRET), "{context}");
                }
                NothingOfHers => {
                    assert!(!answer.is_error, "{context}");
                    let seen = format!("{} {}", answer.text, answer.structured);
                    for private in hers.private.iter().chain([&hers.forgotten]) {
                        assert!(!seen.contains(private.as_str()), "{context}");
                    }
                    assert!(!seen.contains("alice") || seen.contains(&hers.shared), "{context}");
                }
            }
        }
    }
    assert_eq!(everything_of_alice(&app).await, before);
}

#[tokio::test]
async fn the_name_of_a_session_of_another_user_is_as_good_as_none() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.mcp("alice"), app.mcp("bob"));
    plant(&alice).await;
    let load = async |name: &str| bob.call_in_vain("load_session", json!({ "session_id": name })).await;
    assert_eq!(load("her-chat").await.replace("her-chat", "NAME"), load("never").await.replace("never", "NAME"));
}

#[tokio::test]
async fn what_bob_stores_is_his_own_even_when_it_says_the_same() {
    let app = TestApp::start().await;
    let hers = plant(&app.mcp("alice")).await;
    let stored = app.mcp("bob").call("remember", json!({ "content": format!("The {SECRET} blooms in May.") })).await;
    assert_eq!(stored["status"], "stored");
    assert_eq!(stored["similar_to"], json!([]));
    assert!(!hers.private.contains(&stored["id"].as_str().unwrap().to_owned()));
}

#[tokio::test]
async fn a_private_namespace_is_a_resource_for_its_owner_alone() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.mcp("alice"), app.mcp("bob"));
    plant(&alice).await;
    let read = async |client: &McpClient, namespace: &str| {
        client.request("resources/read", json!({ "uri": format!("memory://{namespace}") })).await
    };
    assert!(read(&alice, "diary").await.unwrap().to_string().contains(SECRET));
    let refused = read(&bob, "diary").await.unwrap_err().to_string();
    let never = read(&bob, "nothing").await.unwrap_err().to_string();
    assert_eq!(refused.replace("diary", "NAME"), never.replace("nothing", "NAME"));
    // The name is the same for both users, the namespace is not.
    let own = read(&bob, "personal").await.map_or_else(|error| error.to_string(), |page| page.to_string());
    assert!(!own.contains(SECRET), "{own}");

    let complete = async |client: &McpClient, value: &str| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "memory://{namespace}" },
            "argument": { "name": "namespace", "value": value },
        });
        client.request("completion/complete", params).await.unwrap()["completion"]["values"].clone()
    };
    assert_eq!(complete(&alice, "di").await, json!(["diary"]));
    assert_eq!(complete(&bob, "di").await, json!([]));
    assert_eq!(complete(&bob, "sh").await, json!(["shared"]));
    let listed = bob.request("resources/list", json!({})).await.unwrap().to_string();
    assert!(!listed.contains("diary"), "{listed}");
}

#[tokio::test]
async fn what_is_shared_is_read_by_all_and_changed_by_its_author_alone() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.mcp("alice"), app.mcp("bob"));
    let hers = plant(&alice).await;
    let found = bob.call("recall", json!({ "query": "office code" })).await;
    assert!(found.structured.to_string().contains(&hers.shared), "{:?}", found.structured);
    assert_eq!(bob.call("get_memory", json!({ "id": hers.shared })).await["author"], "alice");

    let before = everything_of_alice(&app).await;
    for (tool, arguments) in [
        ("update", json!({ "id": hers.shared, "content": "The office code is 0000." })),
        ("forget", json!({ "id": hers.shared })),
        ("remember", json!({ "content": "No code any more.", "supersedes": [hers.shared] })),
    ] {
        let told = bob.call_in_vain(tool, arguments).await;
        assert!(told.contains("only its author can change or forget it"), "{tool}: {told}");
    }
    assert_eq!(everything_of_alice(&app).await, before);
    alice.call("update", json!({ "id": hers.shared, "content": "The office code is 9152." })).await;
    assert!(bob.call("recall", json!({ "query": "office code" })).await.structured.to_string().contains("9152"));
}

#[tokio::test]
async fn a_cursor_of_another_user_leads_nowhere_of_hers() {
    let app = TestApp::start().await;
    let (alice, bob) = (app.mcp("alice"), app.mcp("bob"));
    plant(&alice).await;
    let page = alice.call("list_memories", json!({ "limit": 1 })).await;
    let borrowed = bob.try_call("list_memories", json!({ "limit": 50, "cursor": page["next_cursor"] })).await;
    assert!(!format!("{borrowed:?}").contains(SECRET), "{borrowed:?}");
}
