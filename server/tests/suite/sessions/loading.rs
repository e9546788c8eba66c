use polymnemo_types::{ListSessionsRequest, LoadSessionRequest, NewMessage, limits};

use crate::{
    sessions::{blocks, given, load, said, session, together},
    support::TestApp,
};

fn conversation() -> Vec<NewMessage> {
    vec![
        said("system", ""),
        said("user", "Wie heißt „Gedächtnis“ auf Chinesisch?\n\n记忆 \u{1F9E0}\u{200D}\u{1F525}\tTab\r\nCR"),
        blocks(
            "assistant",
            r#"[{"type":"thinking","thinking":"…","signature":"c2ln"},{"type":"text","text":"```rust\nfn main() {}\n```"},{"z":1.10,"a":18446744073709551615,"type":"tool_use","id":"toolu_1","name":"search","input":{"b":[],"a":"\u0000"}}]"#,
        ),
        blocks("user", r#"[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"ok"}]}]"#),
        said("assistant", &"a line of a very long answer, 记忆\n".repeat(1_000)),
        said("user", "\u{202E}evil\u{202C} <script>alert(1)</script> \\ \" ' % _"),
    ]
}

#[tokio::test]
async fn a_conversation_comes_back_word_for_word_whatever_the_size_of_the_pages() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let conversation = conversation();
    let saved = service.save_session(&alice, session("c-1", conversation.clone())).await.unwrap();
    for page_size in [1, 2, 3, 10, 50] {
        let parts = load(service, &alice, "c-1", page_size).await;
        assert!(parts.iter().all(|part| part.content.len() <= limits::MESSAGE_PART_BYTES));
        assert_eq!(together(&parts), given(&conversation), "{page_size}");
    }
    // By its id as well as by the client's name for it.
    assert_eq!(together(&load(service, &alice, &saved.id.to_string(), 50).await), given(&conversation));
    // NUL can't be stored as it is, and comes back as the JSON of the same text.
    let nul = said("user", "a\0b");
    service.save_session(&alice, session("c-2", vec![nul])).await.unwrap();
    assert_eq!(load(service, &alice, "c-2", 50).await[0].content, r#""a\u0000b""#);
}

#[tokio::test]
async fn a_page_is_opened_at_a_message() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let conversation = conversation();
    service.save_session(&alice, session("c-1", conversation)).await.unwrap();
    let open = |message, page, page_size| LoadSessionRequest { session_id: "c-1".into(), page, page_size, message };
    for number in 1..=6 {
        let page = service.load_session(&alice, open(Some(number), None, Some(3))).await.unwrap();
        assert!(page.parts.iter().any(|part| part.number == number && part.part == 1), "{number}: {page:?}");
    }
    for (request, told) in [
        (open(Some(7), None, None), "no message 7: the session has 6"),
        (open(Some(0), None, None), "no message 0"),
        (open(None, Some(0), None), "`page` must be from 1 to 2"),
        (open(None, Some(9), None), "`page` must be from 1 to 2"),
        (open(None, None, Some(0)), "`page_size` must be from 1 to 50"),
        (open(None, None, Some(51)), "`page_size` must be from 1 to 50"),
        (open(Some(1), Some(1), None), "either `page` or `message`"),
        (LoadSessionRequest { session_id: "other".into(), ..LoadSessionRequest::default() }, "no session `other`"),
    ] {
        let error = service.load_session(&alice, request).await.unwrap_err().to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[tokio::test]
async fn a_transcript_is_read_by_numbers() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let conversation = conversation();
    let id = service.save_session(&alice, session("c-1", conversation.clone())).await.unwrap().id;
    let views = service.messages(&alice, id, 2, 100).await.unwrap();
    assert_eq!(views.iter().map(|view| view.number).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    let long = views.iter().find(|view| view.number == 5).unwrap();
    assert!(long.parts > 1 && long.content.len() <= limits::MESSAGE_VIEW_BYTES && long.content.len() > 15_000);
    let whole = service.message(&alice, id, 5).await.unwrap();
    assert_eq!(whole.content, given(&conversation)[4].2);
    assert_eq!(service.messages(&alice, id, 7, 10).await.unwrap(), []);
    service.messages(&alice, id, 1, 101).await.unwrap_err();
    service.message(&alice, id, 7).await.unwrap_err();
}

#[tokio::test]
async fn sessions_are_listed_by_their_last_message_and_paged() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    for number in [3, 1, 4, 2, 5] {
        let at = Some(format!("2026-03-0{number}T10:00:00Z"));
        let message = NewMessage { at, ..said("user", &format!("Question {number}")) };
        service.save_session(&alice, session(&format!("key-{number}"), vec![message])).await.unwrap();
    }
    let list = async |request: ListSessionsRequest| {
        let page = service.list_sessions(&alice, request).await.unwrap();
        (page.items.into_iter().map(|session| session.title).collect::<Vec<_>>(), page.total, page.next_cursor)
    };
    let two = ListSessionsRequest { limit: Some(2), ..ListSessionsRequest::default() };
    let (first, total, cursor) = list(two.clone()).await;
    assert_eq!((first, total), (vec!["Question 5".to_owned(), "Question 4".to_owned()], 5));
    let (second, _, cursor) = list(ListSessionsRequest { cursor, ..two.clone() }).await;
    assert_eq!(second, ["Question 3", "Question 2"]);
    let (third, _, cursor) = list(ListSessionsRequest { cursor, ..two }).await;
    assert_eq!((third.as_slice(), cursor), (["Question 1".to_owned()].as_slice(), None));

    let matching = |query: &str| ListSessionsRequest { query: Some(query.into()), ..ListSessionsRequest::default() };
    assert_eq!(list(matching("QUESTION 3")).await.0, ["Question 3"]);
    assert_eq!(list(matching("key-1")).await.0, ["Question 1"]);
    assert_eq!(list(matching("%")).await.1, 0);
    let between = ListSessionsRequest {
        after: Some("2026-03-02".into()),
        before: Some("2026-03-04".into()),
        ..ListSessionsRequest::default()
    };
    assert_eq!(list(between).await.0, ["Question 3", "Question 2"]);
}
