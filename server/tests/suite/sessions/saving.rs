use polymnemo_types::{NewMessage, SaveSessionRequest};

use crate::{
    sessions::{counts, given, load, said, session, together, transcript, with_id},
    support::TestApp,
};

#[tokio::test]
async fn a_client_that_saves_every_minute_stores_each_message_once() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let all: Vec<NewMessage> = (0..20)
        .map(|number| {
            said(if number % 2 == 0 { "user" } else { "assistant" }, if number % 5 == 0 { "yes" } else { "go on" })
        })
        .collect();
    let first = service.save_session(&alice, session("chat", all[..3].to_vec())).await.unwrap();
    assert!(first.created);
    assert_eq!((counts(&first), first.namespace.as_str()), ((3, 0, 0), "personal"));
    for end in [3, 4, 9, 9, 20] {
        let saved = service.save_session(&alice, session("chat", all[..end].to_vec())).await.unwrap();
        assert_eq!((saved.id, saved.created, saved.revised), (first.id, false, 0));
    }
    // A save that was on its way for long changes nothing.
    let late = service.save_session(&alice, session("chat", all[..9].to_vec())).await.unwrap();
    assert_eq!(counts(&late), (0, 0, 9));
    assert_eq!(together(&load(service, &alice, "chat", 50).await), given(&all));
}

#[tokio::test]
async fn only_what_is_new_may_be_given_too() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let all: Vec<NewMessage> = (0..9).map(|number| said("user", &format!("message {number}"))).collect();
    for part in all.chunks(3) {
        assert_eq!(counts(&service.save_session(&alice, session("parts", part.to_vec())).await.unwrap()), (3, 0, 0));
        // A retry.
        assert_eq!(counts(&service.save_session(&alice, session("parts", part.to_vec())).await.unwrap()), (0, 0, 3));
    }
    assert_eq!(together(&load(service, &alice, "parts", 4).await), given(&all));
}

#[tokio::test]
async fn a_changed_message_keeps_what_it_said() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let mut all = vec![said("user", "Which tea?"), said("assistant", "The green one."), said("user", "Thanks.")];
    let id = service.save_session(&alice, session("tea", all.clone())).await.unwrap().id;
    all[1] = said("assistant", "The black one.");
    assert_eq!(counts(&service.save_session(&alice, session("tea", all.clone())).await.unwrap()), (0, 1, 2));
    assert_eq!(together(&load(service, &alice, "tea", 50).await), given(&all));
    let revisions = service.message_revisions(&alice, id, 2).await.unwrap();
    assert_eq!(
        revisions.iter().map(|old| (old.revision, old.content.as_str())).collect::<Vec<_>>(),
        [(1, "The green one.")]
    );
    assert_eq!(service.message(&alice, id, 2).await.unwrap().revision, 2);

    // With ids it does not matter where it stands.
    let named = vec![with_id("m-7", said("user", "How long?"))];
    service.save_session(&alice, session("tea", named)).await.unwrap();
    let longer = vec![with_id("m-7", said("user", "How long, at 80 degrees?"))];
    assert_eq!(counts(&service.save_session(&alice, session("tea", longer)).await.unwrap()), (0, 1, 0));
    assert_eq!(service.session(&alice, id).await.unwrap().messages, 4);
}

#[tokio::test]
async fn an_answer_saved_while_it_is_written_grows() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let question = said("user", "Tell me about tea.");
    let id = service
        .save_session(&alice, session("long", vec![question.clone(), said("assistant", "Tea is")]))
        .await
        .unwrap()
        .id;
    let grown = vec![question, said("assistant", "Tea is a drink."), said("user", "More.")];
    assert_eq!(counts(&service.save_session(&alice, session("long", grown.clone())).await.unwrap()), (1, 1, 1));
    assert_eq!(together(&load(service, &alice, "long", 50).await), given(&grown));
    // It only went on, so there is nothing to keep.
    assert_eq!(service.message_revisions(&alice, id, 2).await.unwrap(), []);
}

#[tokio::test]
async fn a_text_comes_back_byte_for_byte_and_is_what_was_saved_last() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let read = async || load(service, &alice, "text", 7).await.into_iter().map(|part| part.content).collect::<String>();
    let mut text = "User: Hello 你好 \u{1F9E0}\r\n\r\nAssistant: ```yaml\nUser: root\n```\n\0 done.\n".repeat(40);
    let first = service.save_session(&alice, transcript("text", &text)).await.unwrap();
    assert_eq!(read().await, text);
    text.push_str("User: one more");
    let saved = service.save_session(&alice, transcript("text", &text)).await.unwrap();
    assert_eq!((saved.id, saved.created, saved.appended, saved.revised), (first.id, false, 1, 0));
    assert_eq!(read().await, text);
    text.push_str(" thing\n");
    assert_eq!(counts(&service.save_session(&alice, transcript("text", &text)).await.unwrap()).1, 1);
    assert_eq!(read().await, text);
    // An earlier state that comes late, also one that ends within a piece, takes nothing away.
    for end in [text.len() / 2, text.len() - 3, 20] {
        let early = text.get(..text.floor_char_boundary(end)).unwrap();
        service.save_session(&alice, transcript("text", early)).await.unwrap();
        assert!(read().await == text, "after {end} bytes");
    }
    // Another course of it is the text from then on; what it was is kept.
    let (beginning, _) = text.split_once("Assistant").unwrap();
    let other = format!("{beginning}Assistant: No.\nUser: Why?\n");
    service.save_session(&alice, transcript("text", &other)).await.unwrap();
    assert_eq!(read().await, other);
    let mut kept = String::new();
    for number in 1..=3 {
        kept.extend(
            service.message_revisions(&alice, first.id, number).await.unwrap().into_iter().map(|old| old.content),
        );
    }
    assert!(kept.matches("Hello 你好").count() >= 39, "{}", kept.len());
}

#[tokio::test]
async fn bad_input_is_told_what_to_do_and_stores_nothing() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let hello = || session("bad", vec![said("user", "Hello.")]);
    let long_metadata = format!("{{\"a\":\"{}\"}}", "x".repeat(20_000));
    for (request, told) in [
        (SaveSessionRequest { session_id: " ".into(), ..hello() }, "`session_id` is empty"),
        (SaveSessionRequest { session_id: "a\nb".into(), ..hello() }, "`session_id` has at most 200"),
        (SaveSessionRequest { session_id: "x".repeat(201), ..hello() }, "`session_id` has at most 200"),
        (SaveSessionRequest { content: Some("x".into()), ..hello() }, "either `messages`"),
        (SaveSessionRequest { messages: None, ..hello() }, "either `messages`"),
        (session("bad", vec![]), "`messages` is empty"),
        (transcript("bad", ""), "`content` is empty"),
        (SaveSessionRequest { title: Some("x".repeat(201)), ..hello() }, "`title` has at most 200"),
        (SaveSessionRequest { metadata: Some("[]".into()), ..hello() }, "`metadata` is a JSON object"),
        (SaveSessionRequest { metadata: Some(long_metadata), ..hello() }, "`metadata` is a JSON object"),
        (SaveSessionRequest { namespace: Some("a\nb".into()), ..hello() }, "`namespace`"),
        (session("bad", vec![said(&"r".repeat(65), "x")]), "Message 1 of 1: `role`"),
        (session("bad", vec![NewMessage { at: Some("soon".into()), ..said("user", "x") }]), "Message 1 of 1: `at`"),
        (session("bad", vec![said("user", &"x".repeat((4 << 20) + 1))]), "a message may have 4194304"),
    ] {
        let error = service.save_session(&alice, request).await.unwrap_err().to_string();
        assert!(error.contains(told), "{told}: {error}");
    }
    assert_eq!(service.list_sessions(&alice, Default::default()).await.unwrap().total, 0);
    service.save_session(&alice, hello()).await.unwrap();
    let error = service.save_session(&alice, transcript("bad", "User: Hello.")).await.unwrap_err().to_string();
    assert!(error.contains("was saved as messages"), "{error}");
}

#[tokio::test]
async fn title_and_metadata_are_kept_until_others_are_given() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let hello = |title: Option<&str>, metadata: Option<&str>| SaveSessionRequest {
        title: title.map(str::to_owned),
        metadata: metadata.map(str::to_owned),
        ..session("titled", vec![said("system", "Be brief."), said("user", "Which kettle is quiet?")])
    };
    let id = service.save_session(&alice, hello(None, Some(r#"{"model":"m-1","z":1,"a":2.50}"#))).await.unwrap().id;
    let read = async || {
        let session = service.session(&alice, id).await.unwrap();
        (session.title, session.metadata.unwrap())
    };
    let metadata = r#"{"model":"m-1","z":1,"a":2.50}"#.to_owned();
    assert_eq!(read().await, ("Which kettle is quiet?".into(), metadata.clone()));
    service.save_session(&alice, hello(Some("Kettles"), None)).await.unwrap();
    assert_eq!(read().await, ("Kettles".into(), metadata.clone()));
    service.save_session(&alice, hello(None, Some("{}"))).await.unwrap();
    assert_eq!(read().await, ("Kettles".into(), "{}".into()));
    service.rename_session(&alice, id, " Quiet \n kettles ").await.unwrap();
    assert_eq!(read().await.0, "Quiet kettles");
    service.rename_session(&alice, id, " ").await.unwrap_err();
}
