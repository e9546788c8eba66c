use std::time::{Duration, Instant};

use polymnemo_types::{LoadSessionRequest, RecallRequest};
use serde_json::json;

use crate::{
    sessions::{counts, given, said, session, together},
    support::TestApp,
};

/// A conversation of this many messages, a kilobyte each.
fn long(messages: u32) -> Vec<polymnemo_types::NewMessage> {
    (0..messages)
        .map(|number| {
            let role = if number.is_multiple_of(2) { "user" } else { "assistant" };
            said(role, &format!("Message {number}: 记忆 \u{1F9E0} `code` {}", "and so on with words ".repeat(45)))
        })
        .collect()
}

#[tokio::test]
async fn twenty_megabytes_in_twenty_thousand_messages_are_saved_at_once_and_read_by_pages() {
    let app = TestApp::start().await;
    let (service, alice, client) = (app.service(), app.ctx("alice").await, app.mcp("alice"));
    let mut messages = long(20_000);
    messages[15_000] = said("user", "The password of the lighthouse is gyrfalcon.");
    let plain: Vec<_> =
        given(&messages).iter().map(|(role, _, said)| json!({ "role": role, "content": said })).collect();
    let saved = client.call("save_session", json!({ "session_id": "long", "messages": plain })).await;
    assert_eq!(saved["appended"], 20_000);
    let session_id = "long".to_owned();

    // Whatever page is read, only that one is: the last is there as soon as the first.
    let pages = 20_000 / 50;
    for page in [1, pages / 2, pages] {
        let request =
            LoadSessionRequest { session_id: session_id.clone(), page: Some(page), page_size: Some(50), message: None };
        let read = service.load_session(&alice, request).await.unwrap();
        assert_eq!(read.pages, pages);
        let first = (page as usize - 1) * 50;
        let expected = &given(&messages[first..first + 50]);
        let parts = read
            .parts
            .into_iter()
            .map(|part| polymnemo_types::MessagePart { number: part.number - first as u32, ..part });
        assert_eq!(&together(&parts.collect::<Vec<_>>()), expected);
    }

    // One more message is one more message.
    messages.push(said("user", "One more."));
    let again = service.save_session(&alice, session("long", messages)).await.unwrap();
    assert_eq!(counts(&again), (1, 0, 20_000));

    // By keyword it is found long before all of it is embedded.
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let request = RecallRequest { query: "gyrfalcon".into(), ..RecallRequest::default() };
        let found = service.recall(&alice, request).await.unwrap();
        if let Some(hit) = found.hits.first() {
            assert_eq!(hit.message.as_ref().unwrap().number, 15_001);
            break;
        }
        assert!(Instant::now() < deadline, "{:?}", service.session(&alice, again.id).await.unwrap().index);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
