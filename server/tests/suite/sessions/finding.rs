use polymnemo_types::{Kind, MessagePlace, RecallRequest, RememberRequest};
use serde_json::json;

use crate::{
    sessions::{blocks, is_indexed, said, session},
    support::TestApp,
};

fn query(query: &str) -> RecallRequest {
    RecallRequest { query: query.into(), ..RecallRequest::default() }
}

#[tokio::test]
async fn a_message_is_recalled_with_its_neighbours_and_opened_where_it_is() {
    let app = TestApp::start().await;
    let client = app.mcp("alice");
    let messages = json!([
        { "role": "user", "content": "Which kettle shall I buy?" },
        { "role": "assistant", "content": "The one with the walnut handle is the quietest." },
        { "role": "user", "content": [{ "type": "text", "text": "Where is it sold?" }] },
    ]);
    let saved = client.call("save_session", json!({ "session_id": "c-1", "messages": messages })).await;
    assert_eq!((saved["created"].clone(), saved["appended"].clone()), (json!(true), json!(3)));
    let found = client.call("recall", json!({ "query": "walnut handle" })).await;
    let hit = &found["hits"][0];
    assert_eq!((&hit["id"], &hit["kind"]), (&saved["id"], &json!("session")));
    assert_eq!(hit["passage"], "The one with the walnut handle is the quietest.");
    assert_eq!((&hit["message"]["number"], &hit["message"]["role"]), (&json!(2), &json!("assistant")));
    let neighbours = json!(["1. user: Which kettle shall I buy?", "3. user: Where is it sold?"]);
    assert_eq!(hit["message"]["neighbours"], neighbours);
    let place =
        json!({ "session_id": hit["message"]["session_id"], "message": hit["message"]["number"], "page_size": 1 });
    let opened = client.call("load_session", place).await;
    assert_eq!(opened["messages"][0]["content"], hit["passage"]);
    assert_eq!((&opened["page"], &opened["next_page"]), (&json!(2), &json!(3)));
    assert_eq!(client.call("list_sessions", json!({})).await["items"][0]["title"], "Which kettle shall I buy?");
}

#[tokio::test]
async fn a_session_ranks_once_and_keeps_no_memory_out() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let chatter = (0..500).map(|number| said("user", &format!("The lighthouse again, number {number}."))).collect();
    let id = service.save_session(&alice, session("chatter", chatter)).await.unwrap().id;
    let mut memories = Vec::new();
    for number in 0..8 {
        let content = format!("Beside the lighthouse stands house {number}.");
        let request = RememberRequest { content, ..RememberRequest::default() };
        memories.push(service.remember(&alice, request).await.unwrap().id);
    }
    is_indexed(service, &alice, id).await;
    let hits = service.recall(&alice, query("lighthouse")).await.unwrap().hits;
    assert_eq!(hits.iter().filter(|hit| hit.memory.id == id).count(), 1);
    let missing = memories.iter().filter(|id| hits.iter().all(|hit| hit.memory.id != **id)).count();
    assert_eq!(missing, 0, "{hits:?}");
    let only = RecallRequest { kind: Some(Kind::Session), ..query("lighthouse") };
    assert_eq!(service.recall(&alice, only).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn what_went_to_tools_is_found_by_its_words() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let call = r#"[{"type":"tool_use","id":"t","name":"search","input":{"query":"gyrfalcon migration"}}]"#;
    let messages = vec![said("user", "Where do they fly?"), blocks("assistant", call)];
    let id = service.save_session(&alice, session("birds", messages)).await.unwrap().id;
    is_indexed(service, &alice, id).await;
    let hit = service.recall(&alice, query("gyrfalcon")).await.unwrap().hits.remove(0);
    assert_eq!(hit.message.unwrap().number, 2);
    assert_eq!(hit.why.similarity, None, "what goes to tools is not embedded");
}

#[tokio::test]
async fn a_session_is_searched_inside() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let mut messages: Vec<_> = (0..200).map(|number| said("user", &format!("Small talk, number {number}."))).collect();
    for place in [40, 120] {
        messages[place] = said("assistant", &format!("The harbour of Turku, seen from place {place}."));
    }
    let id = service.save_session(&alice, session("talk", messages)).await.unwrap().id;
    service.save_session(&alice, session("other", vec![said("user", "The harbour of Turku again.")])).await.unwrap();
    is_indexed(service, &alice, id).await;
    let found = service.search_session(&alice, id, "harbour Turku", None).await.unwrap();
    let mut numbers: Vec<u32> = found.iter().map(|found| found.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [41, 121], "{found:?}");
    assert!(found[0].passage.contains("harbour of Turku") && found[0].matched.contains(&"turku".to_owned()));
    assert_eq!(service.search_session(&alice, id, "xylophone", None).await.unwrap(), []);
}

#[tokio::test]
async fn a_memory_taken_from_a_message_leads_back_to_it() {
    let app = TestApp::start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let messages = vec![said("user", "My kettle is blue."), said("assistant", "Noted.")];
    let session_id = service.save_session(&alice, session("kettle", messages)).await.unwrap().id;
    let from = |number| RememberRequest {
        content: format!("The kettle is blue, see message {number}."),
        origin: Some(MessagePlace { session: session_id, number }),
        ..RememberRequest::default()
    };
    let memory = service.remember(&alice, from(1)).await.unwrap().id;
    let origin = service.origin(&alice, memory).await.unwrap().unwrap();
    assert_eq!(
        (origin.place, origin.title.as_str()),
        (MessagePlace { session: session_id, number: 1 }, "My kettle is blue.")
    );
    // A message that comes in before moves it on; forgetting the session leaves the memory.
    assert_eq!(service.origin(&bob, memory).await.unwrap(), None);
    let of_bob = service.remember(&bob, from(2)).await.unwrap().id;
    assert_eq!(service.origin(&bob, of_bob).await.unwrap(), None);
    service.forget(&alice, &[session_id]).await.unwrap();
    assert_eq!(service.origin(&alice, memory).await.unwrap(), None);
    assert_eq!(service.recall(&alice, query("blue kettle")).await.unwrap().hits[0].memory.id, memory);
}
