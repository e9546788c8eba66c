use polymnemo_memory::Error;
use polymnemo_types::{GetRequest, ListRequest, RememberRequest, UpdateRequest};

use super::{found, person, remember, rows_that_hold, text};
use crate::support::TestApp;

#[tokio::test]
async fn what_is_erased_leaves_nothing_anywhere() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let request = RememberRequest {
        namespace: Some("attic".into()),
        tags: vec!["xylotag".into()],
        source: Some("xylosource".into()),
        ..text(&format!("{} The xylograph hangs in the attic.", "Nothing much happened today. ".repeat(200)))
    };
    let id = remember(service, &alice, request).await;
    let moved = UpdateRequest { namespace: Some("cellar".into()), ..UpdateRequest::new(id) };
    service.update(&alice, moved).await.unwrap();
    let rewritten = UpdateRequest { content: Some("The xylograph was sold.".into()), ..UpdateRequest::new(id) };
    service.update(&alice, rewritten).await.unwrap();
    let correction = RememberRequest { supersedes: vec![id], ..text("The print was not sold.") };
    let correction = remember(service, &alice, correction).await;
    assert!(rows_that_hold(&app, "xylo").await.len() > 5);

    let error = service.erase(&alice, &[id]).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(_)), "only what is in the trash is erased: {error}");
    service.forget(&alice, &[id]).await.unwrap();
    let error = service.erase(&alice, &[id, correction]).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(missing) if missing == correction), "all or none: {error}");
    let part = GetRequest { id, offset: 0, max_bytes: None };
    assert_eq!(service.get_forgotten(&alice, part.clone()).await.unwrap().content, "The xylograph was sold.");

    let erased = service.erase(&alice, &[id, id]).await.unwrap();
    assert_eq!((erased.ids, erased.revisions), (vec![id], 2));
    assert_eq!(rows_that_hold(&app, "xylo").await, [""; 0]);
    assert_eq!(rows_that_hold(&app, &id.to_string()).await, [""; 0]);
    assert!(matches!(service.get_forgotten(&alice, part).await, Err(Error::NotFound(_))));
    assert!(matches!(service.restore(&alice, id).await, Err(Error::NotFound(_))));
    assert!(matches!(service.erase(&alice, &[id]).await, Err(Error::NotFound(_))));
    assert_eq!(found(service, &alice, "The print was not sold.").await, [correction]);
    let trash = ListRequest { trash: true, ..ListRequest::default() };
    assert_eq!(service.list_memories(&alice, trash).await.unwrap().total, 0);
}

#[tokio::test]
async fn a_word_that_another_memory_has_is_still_found() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let gone = remember(service, &alice, text("Marzipan from Lübeck.")).await;
    let kept = remember(service, &alice, text("Marzipan from Toledo.")).await;
    service.forget(&alice, &[gone]).await.unwrap();
    assert_eq!(rows_that_hold(&app, "lubeck").await, [""; 0], "the index forgets at once");
    service.erase(&alice, &[gone]).await.unwrap();
    assert_eq!(found(service, &alice, "marzipan").await, [kept]);
    // The vocabulary grows again as if nothing had been.
    let again = remember(service, &alice, text("Marzipan from Lübeck.")).await;
    assert_eq!(found(service, &alice, "Lübeck").await, [again]);
}

#[tokio::test]
async fn of_facts_that_were_corrected_each_is_current_once_after_the_corrections_are_gone() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let correcting = |id, content: &str| RememberRequest { supersedes: vec![id], ..text(content) };
    // The same fact, corrected twice and stored anew in between.
    let first = remember(service, &alice, text("The meeting is on Monday.")).await;
    let to_friday = remember(service, &alice, correcting(first, "No, the meeting is on Friday.")).await;
    let second = remember(service, &alice, text("The meeting is on Monday.")).await;
    let to_sunday = remember(service, &alice, correcting(second, "No, the meeting is on Sunday.")).await;

    service.forget(&alice, &[to_friday, to_sunday]).await.unwrap();
    assert_eq!(found(service, &alice, "meeting on Monday").await, [second]);
    service.erase(&alice, &[to_friday, to_sunday]).await.unwrap();
    let read = service.get_memory(&alice, GetRequest { id: first, offset: 0, max_bytes: None }).await.unwrap();
    assert_eq!(read.memory.superseded_by, Some(second), "it points to what is there");
    // Without the one that is current, the other one is.
    service.forget(&alice, &[second]).await.unwrap();
    assert_eq!(found(service, &alice, "meeting on Monday").await, [first]);
}
