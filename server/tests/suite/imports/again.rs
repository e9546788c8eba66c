use polymnemo_types::{ImportOptions, ImportOutcome, UpdateRequest};
use serde_json::json;

use crate::{
    imports::{claude, counts, file, import, import_with, memories, said, sample, sessions},
    support::TestApp,
};

#[tokio::test]
async fn the_same_file_again_adds_nothing() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    for name in ["claude-20-classic-batch.zip", "chatgpt-31-split-nested-macosx.zip", "claude-10-artifacts.json"] {
        let first = import(service, &ctx, &[sample(name)]).await;
        let created = first.count(ImportOutcome::Created);
        assert!(created > 0, "{name}");
        let stored = async || {
            // How far the index is changes in the background.
            let sessions = sessions(service, &ctx).await.into_iter().map(|session| (session.memory, session.messages));
            (sessions.collect::<Vec<_>>(), memories(service, &ctx).await)
        };
        let before = stored().await;
        let second = import(service, &ctx, &[sample(name)]).await;
        assert_eq!(
            counts(&second, &[ImportOutcome::Created, ImportOutcome::Grown, ImportOutcome::Updated]),
            [0, 0, 0],
            "{name}"
        );
        assert_eq!(second.count(ImportOutcome::Unchanged), created + first.count(ImportOutcome::Unchanged), "{name}");
        assert_eq!(stored().await, before, "{name}");
    }
}

#[tokio::test]
async fn a_newer_export_adds_what_is_new_and_what_grew() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let (_one, path) = file("conversations.json", &json!([claude("a", "First", 4), claude("b", "Second", 2)]));
    import(service, &ctx, &[path]).await;
    let newer = json!([claude("a", "First", 6), claude("b", "Second", 2), claude("c", "Third", 2)]);
    let (_two, path) = file("conversations.json", &newer);
    let second = import(service, &ctx, &[path]).await;
    let outcomes = [ImportOutcome::Created, ImportOutcome::Grown, ImportOutcome::Unchanged];
    assert_eq!(counts(&second, &outcomes), [1, 1, 1]);
    let grown = said(service, &ctx, "claude:a").await;
    assert_eq!(grown.len(), 6);
    assert_eq!(grown[5].1, "Message 5 of First.");
}

#[tokio::test]
async fn what_the_person_changed_or_deleted_stays_as_they_left_it() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let export =
        |text: &str| json!([{ "conversations_memory": text, "project_memories": {}, "account_uuid": "account" }]);
    let (_one, path) = file("memories.json", &export("Alice likes oolong."));
    import(service, &ctx, &[path]).await;
    let (_c, conversation) = file("conversations.json", &json!([claude("a", "First", 2)]));
    import(service, &ctx, std::slice::from_ref(&conversation)).await;

    // A newer export is put in the place of what an import brought.
    let (_two, path) = file("memories.json", &export("Alice likes oolong and sencha."));
    assert_eq!(import(service, &ctx, &[path]).await.count(ImportOutcome::Updated), 1);
    let memory = memories(service, &ctx).await.pop().unwrap();
    assert!(memory.preview.contains("sencha"));
    // Not of what the person wrote.
    let own =
        UpdateRequest { content: Some("Alice likes nothing but oolong.".into()), ..UpdateRequest::new(memory.id) };
    service.update(&ctx, own).await.unwrap();
    let (_three, path) = file("memories.json", &export("Alice likes coffee."));
    assert_eq!(import(service, &ctx, &[path]).await.count(ImportOutcome::Edited), 1);
    assert!(memories(service, &ctx).await.pop().unwrap().preview.contains("nothing but"));

    // What they deleted does not come back unasked.
    let session = sessions(service, &ctx).await.pop().unwrap().memory.id;
    service.forget(&ctx, &[session]).await.unwrap();
    let again = import(service, &ctx, std::slice::from_ref(&conversation)).await;
    assert_eq!(counts(&again, &[ImportOutcome::Deleted, ImportOutcome::Created]), [1, 0]);
    assert!(sessions(service, &ctx).await.is_empty());
    let options = ImportOptions { again: true, ..ImportOptions::default() };
    let asked = import_with(service, &ctx, &[conversation], options).await.unwrap();
    assert_eq!(asked.count(ImportOutcome::Created), 1);
    assert_eq!(sessions(service, &ctx).await.len(), 1);
}
