use jiff::{SignedDuration, Timestamp};
use polymnemo_memory::ports::{Imports as _, Lease, NewImport};
use polymnemo_store::{PgOptions, PgStore};
use polymnemo_types::{ImportId, ImportOptions, ImportOutcome, ImportState, UpdateRequest};
use serde_json::json;
use uuid::Uuid;

use crate::{
    imports::{claude, counts, file, import, lines, memories, said, sample, sessions, undo},
    support::TestApp,
};

#[tokio::test]
async fn an_import_goes_as_it_came() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let done = import(service, &ctx, &[sample("claude-20-classic-batch.zip")]).await;
    let created = done.count(ImportOutcome::Created);
    let undone = undo(service, &ctx, &done).await;
    assert_eq!(counts(&undone, &[ImportOutcome::Undone, ImportOutcome::Kept, ImportOutcome::Created]), [created, 0, 0]);
    assert!(sessions(service, &ctx).await.is_empty() && memories(service, &ctx).await.is_empty());
    assert_eq!(service.undo_import(&ctx, done.id).await.unwrap().state, ImportState::Undone, "once is enough");
    // And comes again when asked.
    let again = import(service, &ctx, &[sample("claude-20-classic-batch.zip")]).await;
    assert_eq!(again.count(ImportOutcome::Created), created);
}

#[tokio::test]
async fn sessions_that_grew_are_as_long_as_before() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let (_one, path) = file("conversations.json", &json!([claude("a", "First", 4)]));
    let first = import(service, &ctx, &[path]).await;
    let mut changed = claude("a", "First", 7);
    changed["chat_messages"][1]["text"] = json!("Said otherwise.");
    changed["chat_messages"][1]["content"] = json!([{ "type": "text", "text": "Said otherwise." }]);
    let (_two, path) = file("conversations.json", &json!([changed]));
    let before = said(service, &ctx, "claude:a").await;
    while service.index_sessions().await.unwrap() > 0 {}
    let second = import(service, &ctx, &[path]).await;
    assert_eq!(second.count(ImportOutcome::Grown), 1);
    assert_eq!(said(service, &ctx, "claude:a").await.len(), 7);
    while service.index_sessions().await.unwrap() > 0 {}

    // The first one can't go while the second one builds on it.
    let kept = undo(service, &ctx, &first).await;
    assert_eq!(kept.count(ImportOutcome::Kept), 1);
    let line = lines(service, &ctx, &kept, ImportOutcome::Kept).await.pop().unwrap();
    assert!(line.reason.unwrap().contains("later import"));

    assert_eq!(undo(service, &ctx, &second).await.count(ImportOutcome::Undone), 1);
    assert_eq!(said(service, &ctx, "claude:a").await, before);
    while service.index_sessions().await.unwrap() > 0 {}
    let session = sessions(service, &ctx).await.pop().unwrap();
    assert_eq!((session.messages, session.index.messages, session.index.searchable), (4, 4, 4));
}

/// A message that the product had not finished when it was exported first.
#[tokio::test]
async fn messages_that_went_on_say_again_what_they_said() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let (_one, path) = file("conversations.json", &json!([claude("a", "First", 2)]));
    import(service, &ctx, &[path]).await;
    let before = said(service, &ctx, "claude:a").await;
    let mut longer = claude("a", "First", 3);
    let text = format!("{} And this came later.", before[1].1);
    longer["chat_messages"][1]["text"] = json!(text);
    longer["chat_messages"][1]["content"] = json!([{ "type": "text", "text": text }]);
    let (_two, path) = file("conversations.json", &json!([longer]));
    let second = import(service, &ctx, &[path]).await;
    let after = said(service, &ctx, "claude:a").await;
    assert_eq!((after.len(), &after[1].1), (3, &text));
    assert_eq!(undo(service, &ctx, &second).await.count(ImportOutcome::Undone), 1);
    assert_eq!(said(service, &ctx, "claude:a").await, before);
}

#[tokio::test]
async fn what_the_person_changed_since_stays_and_the_report_says_so() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let export = json!([{
        "conversations_memory": "Alice likes oolong.", "project_memories": { "p": "The shed is green." }, "account_uuid": "a",
    }]);
    let (_one, memory_file) = file("memories.json", &export);
    let (_two, sessions_file) = file(
        "conversations.json",
        &json!([claude("a", "First", 2), claude("b", "Second", 2), claude("c", "Third", 2)]),
    );
    let done = import(service, &ctx, &[memory_file, sessions_file]).await;
    assert_eq!(done.count(ImportOutcome::Created), 5);
    let edited = memories(service, &ctx).await.into_iter().find(|memory| memory.preview.contains("oolong")).unwrap();
    let own = UpdateRequest { content: Some("Alice likes oolong best.".into()), ..UpdateRequest::new(edited.id) };
    service.update(&ctx, own).await.unwrap();
    let by_title = sessions(service, &ctx).await;
    let find = |title: &str| by_title.iter().find(|session| session.title == title).unwrap().memory.id;
    service.rename_session(&ctx, find("First"), "My own title").await.unwrap();
    service.forget(&ctx, &[find("Second")]).await.unwrap();

    let undone = undo(service, &ctx, &done).await;
    assert_eq!(
        (undone.state, counts(&undone, &[ImportOutcome::Undone, ImportOutcome::Kept])),
        (ImportState::Undone, vec![3, 2])
    );
    let left: Vec<String> = sessions(service, &ctx).await.into_iter().map(|session| session.title).collect();
    assert_eq!(left, ["My own title"]);
    assert_eq!(memories(service, &ctx).await.into_iter().map(|memory| memory.id).collect::<Vec<_>>(), [edited.id]);
    for line in lines(service, &ctx, &undone, ImportOutcome::Kept).await {
        assert!(line.reason.unwrap().contains("stays"));
    }
}

/// Whoever is at work on an import is not disturbed; where they were killed, it goes as far as it came.
#[tokio::test]
async fn an_import_that_was_killed_is_taken_back_as_far_as_it_came() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let store = PgStore::connect(app.database_url(), PgOptions::default()).await.unwrap();
    let begin = async |until: Timestamp| {
        let new = NewImport {
            id: ImportId(Uuid::now_v7()),
            state: ImportState::Running,
            files: vec!["conversations.json".into()],
            options: ImportOptions::default(),
            plan: None,
            folder: None,
            total_bytes: 1,
            at: Timestamp::now(),
        };
        let id = new.id;
        let lease = Lease { import: id, worker: Uuid::now_v7(), until };
        store.create_import(&ctx, new, Some(lease)).await.unwrap();
        id
    };
    let alive = begin(Timestamp::now() + SignedDuration::from_secs(30)).await;
    assert!(service.undo_import(&ctx, alive).await.unwrap_err().to_string().contains("half a minute"));
    let killed = begin(Timestamp::now() - SignedDuration::from_secs(1)).await;
    assert_eq!(service.undo_import(&ctx, killed).await.unwrap().state, ImportState::Undoing);
}
