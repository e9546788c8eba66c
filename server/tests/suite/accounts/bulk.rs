use std::collections::HashSet;

use polymnemo_memory::{Ctx, Error, MemoryService};
use polymnemo_types::{
    BulkChange, BulkUndo, ErrorCode, GetRequest, ListRequest, Memory, MemoryId, RememberRequest, UpdateRequest, limits,
};
use uuid::Uuid;

use super::{found, person, remember, text};
use crate::support::TestApp;

async fn memory(service: &MemoryService, ctx: &Ctx, id: MemoryId) -> Memory {
    service.get_memory(ctx, GetRequest { id, offset: 0, max_bytes: None }).await.unwrap().memory
}

fn tagged(tags: &[&str], content: &str) -> RememberRequest {
    RememberRequest { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), ..text(content) }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

#[tokio::test]
async fn many_memories_are_labelled_and_moved_and_all_of_it_is_undone() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let tea = remember(service, &alice, tagged(&["drink", "old"], "Tea at five.")).await;
    let cake = remember(service, &alice, tagged(&["old"], "Cake at six.")).await;
    let done = RememberRequest { namespace: Some("kitchen".into()), ..tagged(&["drink", "new"], "Soup at seven.") };
    let soup = remember(service, &alice, done).await;

    let change = BulkChange {
        ids: vec![tea, cake, soup, tea],
        add_tags: words(&["New", "drink"]),
        remove_tags: words(&["old"]),
        namespace: Some("kitchen".into()),
        forget: false,
    };
    let report = service.change_memories(&alice, change.clone()).await.unwrap();
    assert_eq!((report.changed, report.unchanged, report.skipped), (vec![tea, cake], vec![soup], vec![]));
    assert_eq!(memory(service, &alice, tea).await.tags, ["drink", "new"]);
    assert_eq!(memory(service, &alice, cake).await.tags, ["new", "drink"]);
    assert_eq!(memory(service, &alice, cake).await.namespace, "kitchen");
    let by_tag = ListRequest { tags: words(&["new"]), namespace: Some("kitchen".into()), ..ListRequest::default() };
    assert_eq!(service.list_memories(&alice, by_tag).await.unwrap().total, 3);
    let again = service.change_memories(&alice, change).await.unwrap();
    assert_eq!((again.unchanged.len(), again.undo), (3, None));

    // The browser keeps the undo as text and sends it back.
    let undo = serde_json::to_string(&report.undo.unwrap()).unwrap();
    let undone = service.undo_changes(&alice, serde_json::from_str(&undo).unwrap()).await.unwrap();
    assert_eq!((undone.changed, undone.skipped), (vec![tea, cake], vec![]));
    assert_eq!(memory(service, &alice, tea).await.tags, ["drink", "old"]);
    assert_eq!(memory(service, &alice, cake).await.tags, ["old"]);
    assert_eq!(memory(service, &alice, cake).await.namespace, "personal");
    assert_eq!(memory(service, &alice, soup).await.tags, ["drink", "new"]);
    assert_eq!(found(service, &alice, "tea").await, [tea]);
}

#[tokio::test]
async fn each_memory_is_changed_wholly_or_not_at_all_and_the_report_says_why() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let many: Vec<String> = (0..limits::TAGS).map(|number| format!("tag {number}")).collect();
    let full = remember(service, &alice, RememberRequest { tags: many.clone(), ..text("Full of tags.") }).await;
    let twin = remember(service, &alice, text("Said twice.")).await;
    let there = RememberRequest { namespace: Some("work".into()), ..text("Said twice.") };
    let in_work = remember(service, &alice, there).await;
    let fine = remember(service, &alice, text("Fine.")).await;
    let of_bob = remember(service, &bob, text("Of bob.")).await;
    let shared = RememberRequest { namespace: Some("shared".into()), ..text("Of bob for all.") };
    let shared = remember(service, &bob, shared).await;
    let never = MemoryId(Uuid::now_v7());

    let change = BulkChange {
        ids: vec![full, twin, fine, of_bob, shared, never],
        add_tags: words(&["new"]),
        namespace: Some("work".into()),
        ..BulkChange::default()
    };
    let report = service.change_memories(&alice, change).await.unwrap();
    assert_eq!(report.changed, [fine]);
    let reasons: Vec<_> = report.skipped.iter().map(|skipped| (skipped.id, skipped.reason.code)).collect();
    assert_eq!(
        reasons,
        [
            (full, ErrorCode::InvalidInput),
            (twin, ErrorCode::InvalidInput),
            (of_bob, ErrorCode::NotFound),
            (shared, ErrorCode::Forbidden),
            (never, ErrorCode::NotFound),
        ]
    );
    assert!(report.skipped[0].reason.message.contains("32 tags"), "{:?}", report.skipped[0]);
    assert!(report.skipped[1].reason.message.contains(&in_work.to_string()), "{:?}", report.skipped[1]);
    let untouched = memory(service, &alice, full).await;
    assert_eq!((untouched.tags, untouched.namespace.as_str(), untouched.revision), (many, "personal", 1));
}

#[tokio::test]
async fn forgetting_many_is_undone_for_just_those_that_it_forgot() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let mut ids = Vec::new();
    for number in 0..40 {
        ids.push(remember(service, &alice, text(&format!("Marzipan number {number}."))).await);
    }
    let before = remember(service, &alice, text("Forgotten long before.")).await;
    service.forget(&alice, &[before]).await.unwrap();
    let of_bob = remember(service, &bob, text("Marzipan of bob.")).await;

    let all: Vec<MemoryId> = ids.iter().copied().chain([before, of_bob]).collect();
    let forget = BulkChange { ids: all, forget: true, ..BulkChange::default() };
    let report = service.change_memories(&alice, forget).await.unwrap();
    assert_eq!((&report.changed, report.unchanged), (&ids, vec![before]));
    assert_eq!(report.skipped[0].id, of_bob);
    assert!(found(service, &alice, "marzipan").await.is_empty());

    let undo = report.undo.unwrap();
    let undone = service.undo_changes(&alice, undo.clone()).await.unwrap();
    assert_eq!((&undone.changed, undone.undo), (&ids, None));
    // All are found at once, though most of them are embedded later.
    let listed = ListRequest { limit: Some(50), ..ListRequest::default() };
    assert_eq!(service.list_memories(&alice, listed).await.unwrap().total, 40);
    assert_eq!(found(service, &alice, "number 39").await[0], ids[39]);
    let query = || polymnemo_types::RecallRequest { query: "marzipan".into(), limit: Some(50), ..Default::default() };
    for _ in 0..300 {
        if service.recall(&alice, query()).await.unwrap().pending == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let hits = service.recall(&alice, query()).await.unwrap().hits;
    assert!(hits.iter().all(|hit| hit.why.similarity.is_some()), "{hits:?}");
    assert_eq!(hits.iter().map(|hit| hit.memory.id).collect::<HashSet<_>>(), ids.iter().copied().collect());
    let twice = service.undo_changes(&alice, undo).await.unwrap();
    assert_eq!((twice.changed, twice.unchanged), (vec![], ids));
}

#[tokio::test]
async fn an_undo_leaves_alone_what_was_changed_since() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let tea = remember(service, &alice, tagged(&["drink"], "Tea at five.")).await;
    let cake = remember(service, &alice, tagged(&["food"], "Cake at six.")).await;
    let change = BulkChange { ids: vec![tea, cake], add_tags: words(&["daily"]), ..BulkChange::default() };
    let undo = service.change_memories(&alice, change).await.unwrap().undo.unwrap();

    // Bob got hold of it, and it does not help him.
    let tried = service.undo_changes(&bob, undo.clone()).await.unwrap();
    assert!(tried.changed.is_empty() && tried.skipped.iter().all(|skipped| skipped.reason.code == ErrorCode::NotFound));

    let edit = UpdateRequest { content: Some("Tea at half past five.".into()), ..UpdateRequest::new(tea) };
    service.update(&app.ctx("alice").await, edit).await.unwrap();
    let undone = service.undo_changes(&alice, undo).await.unwrap();
    assert_eq!(undone.changed, [cake]);
    assert_eq!((undone.skipped[0].id, undone.skipped[0].reason.code), (tea, ErrorCode::Conflict));
    assert_eq!(memory(service, &alice, tea).await.tags, ["drink", "daily"]);
    assert_eq!(memory(service, &alice, cake).await.tags, ["food"]);
}

#[tokio::test]
async fn of_memories_that_say_the_same_one_goes_and_the_other_stays() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let within = |namespace: &str| RememberRequest {
        namespace: Some(namespace.to_owned()),
        idempotency_key: Some(format!("key {namespace}")),
        ..text("Said twice.")
    };
    let first = remember(service, &alice, within("a")).await;
    let second = remember(service, &alice, within("b")).await;
    let change = BulkChange { ids: vec![first, second], namespace: Some("c".into()), ..BulkChange::default() };
    let report = service.change_memories(&alice, change).await.unwrap();
    assert_eq!((report.changed, report.skipped[0].id), (vec![first], second));
    assert!(report.skipped[0].reason.message.contains(&first.to_string()), "{:?}", report.skipped);

    // The same in the trash, with the same key besides.
    let mut forgotten = Vec::new();
    for _ in 0..2 {
        let id = remember(service, &alice, within("d")).await;
        service.forget(&alice, &[id]).await.unwrap();
        forgotten.push(id);
    }
    let undo = BulkUndo { restore: forgotten.clone(), ..BulkUndo::default() };
    let report = service.undo_changes(&alice, undo).await.unwrap();
    assert_eq!((report.changed, report.skipped[0].id), (vec![forgotten[0]], forgotten[1]));
    assert_eq!(remember(service, &alice, within("d")).await, forgotten[0]);
}

#[tokio::test]
async fn an_idempotency_key_comes_back_from_the_trash_once() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let keyed = |content: &str| RememberRequest { idempotency_key: Some("request-1".into()), ..text(content) };
    let mut forgotten = Vec::new();
    for content in ["Tea at five.", "Tea at six."] {
        let id = remember(service, &alice, keyed(content)).await;
        service.forget(&alice, &[id]).await.unwrap();
        forgotten.push(id);
    }
    let undo = BulkUndo { restore: forgotten.clone(), ..BulkUndo::default() };
    assert_eq!(service.undo_changes(&alice, undo).await.unwrap().changed, forgotten);
    assert_eq!(remember(service, &alice, keyed("Tea at five.")).await, forgotten[0]);
}

#[tokio::test]
async fn a_request_that_makes_no_sense_is_refused_as_a_whole() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let id = remember(service, &alice, text("Tea at five.")).await;
    let of = |change: BulkChange| BulkChange { ids: vec![id], ..change };
    for (change, expected) in [
        (BulkChange { forget: true, ..BulkChange::default() }, "1 to 100"),
        (
            BulkChange {
                ids: (0..101).map(|_| MemoryId(Uuid::now_v7())).collect(),
                forget: true,
                ..Default::default()
            },
            "101",
        ),
        (of(BulkChange::default()), "Give tags"),
        (of(BulkChange { forget: true, add_tags: words(&["a"]), ..Default::default() }), "Give tags"),
        (of(BulkChange { add_tags: words(&["a", "b"]), remove_tags: words(&["B"]), ..Default::default() }), "`b`"),
        (of(BulkChange { add_tags: words(&["a\nb"]), ..Default::default() }), "`tags`"),
        (of(BulkChange { namespace: Some("<b>".into()), ..Default::default() }), "`namespace`"),
    ] {
        let error = service.change_memories(&alice, change).await.unwrap_err();
        assert!(matches!(error, Error::Invalid(_)) && error.to_string().contains(expected), "{error}");
    }
    let nothing = service.undo_changes(&alice, BulkUndo::default()).await.unwrap_err();
    assert!(nothing.to_string().contains("1 to 100"), "{nothing}");
    assert_eq!(memory(service, &alice, id).await.revision, 1);
}
