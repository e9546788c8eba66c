use polymnemo_memory::CountedKind;
use polymnemo_types::{EraseTarget, ErasureState, RecallRequest, SaveSessionRequest, UpdateRequest};

use crate::{
    export::{
        everything::{message, text},
        world::{
            alice_with_everything, assert_added, assert_same, assert_unchanged, column, count, erase, export, import,
            person, rows_of, unpacked,
        },
    },
    support::TestApp,
};

#[tokio::test]
async fn what_was_taken_out_erased_and_taken_in_is_the_same_to_the_byte() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, archive) = alice_with_everything(&app).await;
    let before = unpacked(&archive);
    assert_same(&before, &unpacked(&export(service, &alice).await));

    erase(&app, &alice).await;
    let fresh = person(&app, "alice").await;
    let report = import(service, &fresh, &archive).await.unwrap();
    assert_added(&report);
    assert!(report.counts.values().all(|count| count.unchanged == 0), "{report:?}");
    for (kind, added) in [
        (CountedKind::Settings, 1),
        (CountedKind::Memory, 9),
        (CountedKind::Session, 3),
        (CountedKind::Media, 4),
        (CountedKind::Token, 3),
        (CountedKind::App, 2),
        (CountedKind::Call, 3),
    ] {
        assert_eq!(count(&report, kind).added, added, "{kind:?}: {report:?}");
    }
    let alice = person(&app, "alice").await;
    assert_same(&before, &unpacked(&export(service, &alice).await));

    assert_unchanged(&import(service, &alice, &archive).await.unwrap());
    assert_same(&before, &unpacked(&export(service, &alice).await));

    // What makes it searchable was made anew.
    let mut texts = Vec::new();
    for _ in 0..100 {
        let found = service
            .recall(&alice, RecallRequest { query: "Which tea do they drink? 上海".into(), ..RecallRequest::default() })
            .await
            .unwrap();
        texts = found.hits.into_iter().map(|hit| hit.passage).collect();
        if texts.iter().any(|text| text.contains("Which tea?")) && texts.iter().any(|text| text.contains("上海")) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(texts.iter().any(|text| text.contains("Which tea?")), "the session is found: {texts:?}");
    assert!(texts.iter().any(|text| text.contains("上海")), "the memory is found: {texts:?}");
    let thumbnails = "select thumbnail_key from media where thumbnail_key is not null";
    for _ in 0..100 {
        if !column(&app, thumbnails).await.is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(column(&app, thumbnails).await.len(), 1, "the picture has a small image again");
}

/// Not even the account need be left: whoever signs in again has a new one, and in it everything as it was.
#[tokio::test]
async fn an_account_that_was_erased_with_a_receipt_comes_back_to_the_byte() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, archive) = alice_with_everything(&app).await;

    let erasure = service.begin_erasure(&alice, EraseTarget::Account, Some(&alice.user.name)).await.unwrap();
    while service.account_erasure(erasure.id).await.unwrap().state != ErasureState::Done {
        service.continue_erasures().await.unwrap();
    }
    service.receipt(erasure.id).await.unwrap();
    let fresh = person(&app, "alice").await;
    assert_ne!(fresh.user.id, alice.user.id);
    assert_added(&import(service, &fresh, &archive).await.unwrap());

    let fresh = person(&app, "alice").await;
    let (mut before, mut after) = (unpacked(&archive), unpacked(&export(service, &fresh).await));
    // Only the account itself is another one.
    for files in [&mut before, &mut after] {
        files.remove("user.json").unwrap();
        let mut manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        manifest["user"]["id"].take();
        manifest["files"].as_array_mut().unwrap().retain(|file| file["path"] != "user.json");
        files.insert("manifest.json".into(), serde_json::to_vec(&manifest).unwrap());
    }
    assert_same(&before, &after);
}

#[tokio::test]
async fn tokens_come_back_as_what_they_were_but_open_nothing() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(&app, "alice").await;
    let new = polymnemo_types::NewApiToken { name: "CI".into(), ..Default::default() };
    let secret = service.create_token(&alice, new).await.unwrap().secret;
    let archive = export(service, &alice).await;
    let text = String::from_utf8(unpacked(&archive)["tokens.jsonl"].clone()).unwrap();
    assert!(!text.contains(&secret) && text.contains(secret.get(..8).unwrap()), "{text}");
    erase(&app, &alice).await;
    let alice = person(&app, "alice").await;
    import(service, &alice, &archive).await.unwrap();
    assert!(service.authenticate_token(&secret).await.unwrap().is_err());
    let listed = service.list_tokens(&alice, None, None).await.unwrap();
    assert!(listed.items[0].revoked_at.is_some(), "{listed:?}");
}

#[tokio::test]
async fn what_is_there_is_left_alone_and_told() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(&app, "alice").await;
    let same = service.remember(&alice, text("It stays.")).await.unwrap().id;
    let changed = service.remember(&alice, text("It was so.")).await.unwrap().id;
    let gone = service.remember(&alice, text("It goes.")).await.unwrap().id;
    let session = |said: &str| SaveSessionRequest {
        session_id: "chat".into(),
        messages: Some(vec![message("user", "One.", None), message("assistant", said, None)]),
        ..SaveSessionRequest::default()
    };
    service.save_session(&alice, session("Two.")).await.unwrap();
    let archive = export(service, &alice).await;

    let edit = UpdateRequest { content: Some("It is so.".into()), ..UpdateRequest::new(changed) };
    service.update(&alice, edit).await.unwrap();
    service.forget(&alice, &[gone]).await.unwrap();
    service.erase(&alice, &[gone]).await.unwrap();
    // The same text again is another memory.
    let again = service.remember(&alice, text("It goes.")).await.unwrap().id;
    let mut longer = session("Two.");
    longer.messages.as_mut().unwrap().push(message("user", "Three.", None));
    service.save_session(&alice, longer).await.unwrap();
    let before = rows_of(&app, &alice).await;

    let report = import(service, &alice, &archive).await.unwrap();
    assert_eq!(rows_of(&app, &alice).await, before);
    let memories = count(&report, CountedKind::Memory);
    assert_eq!((memories.added, memories.unchanged, memories.conflicting), (0, 1, 2), "{report:?}");
    assert_eq!(count(&report, CountedKind::Session).conflicting, 1, "{report:?}");
    let reason = |id: polymnemo_types::MemoryId| {
        let problem = report.problems.iter().find(|problem| problem.id == id.to_string());
        problem.map(|problem| problem.reason.clone()).unwrap_or_default()
    };
    assert_eq!(reason(same), "");
    assert!(reason(changed).contains("another text"), "{report:?}");
    assert!(reason(gone).contains(&again.to_string()), "{report:?}");
}

#[tokio::test]
async fn what_was_stopped_is_completed_by_doing_it_again() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, archive) = alice_with_everything(&app).await;
    let before = unpacked(&archive);
    erase(&app, &alice).await;
    // It is stopped at each of its steps in turn.
    let mut stops = 0;
    loop {
        let alice = person(&app, "alice").await;
        let checked = service
            .check_export(&alice, crate::export::world::on_disk(&archive), crate::export::world::quietly())
            .await
            .unwrap();
        let left = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(stops + 1));
        let on: polymnemo_memory::OnRestore =
            std::sync::Arc::new(move |_| match left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) {
                1 => std::ops::ControlFlow::Break(()),
                _ => std::ops::ControlFlow::Continue(()),
            });
        if !service.restore_export(&alice, checked, None, on).await.unwrap().stopped {
            break;
        }
        stops += 1;
    }
    assert!(stops > 5, "{stops}");
    let alice = person(&app, "alice").await;
    assert_same(&before, &unpacked(&export(service, &alice).await));
}
