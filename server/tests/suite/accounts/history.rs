use polymnemo_memory::{Ctx, Door, Error};
use polymnemo_types::{BulkChange, DiffPart, GetRequest, ListRequest, RememberRequest, UpdateRequest};

use super::{found, person, remember, text};
use crate::support::TestApp;

#[tokio::test]
async fn the_history_of_a_memory_says_what_each_change_was() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let first = RememberRequest { tags: vec!["city".into()], ..text("Anna lives in Hamburg now.") };
    let id = remember(service, &alice, first).await;
    let step = async |change: UpdateRequest| service.update(&alice, change).await.unwrap();
    step(UpdateRequest { content: Some("Anna lives in Berlin now.".into()), ..UpdateRequest::new(id) }).await;
    step(UpdateRequest { tags: Some(vec!["people".into()]), source: Some("letter".into()), ..UpdateRequest::new(id) })
        .await;
    step(UpdateRequest { namespace: Some("friends".into()), ..UpdateRequest::new(id) }).await;

    let page = service.history(&alice, id, None, None).await.unwrap();
    assert_eq!((page.total, page.next_cursor), (4, None));
    assert_eq!(
        page.items.iter().map(|state| (state.revision, state.current)).collect::<Vec<_>>(),
        [(4, true), (3, false), (2, false), (1, false),]
    );
    let changes = |place: usize| page.items[place].changes.clone().unwrap();
    assert_eq!(changes(0).previous_namespace.as_deref(), Some("personal"));
    assert!(changes(0).text.is_none() && changes(0).added_tags.is_empty() && !changes(0).source_changed);
    assert_eq!((changes(1).added_tags, changes(1).removed_tags), (vec!["people".into()], vec!["city".into()]));
    assert!(changes(1).source_changed && changes(1).previous_source.is_none());
    let part = |text: &str| text.to_owned();
    assert_eq!(
        changes(2).text.unwrap().parts,
        [
            DiffPart::Kept(part("Anna lives in ")),
            DiffPart::Removed(part("Hamburg")),
            DiffPart::Added(part("Berlin")),
            DiffPart::Kept(part(" now.")),
        ]
    );
    assert_eq!(page.items[3].changes, None);

    // In pages of two it says the same.
    let first = service.history(&alice, id, None, Some(2)).await.unwrap();
    let second = service.history(&alice, id, first.next_cursor.as_deref(), Some(2)).await.unwrap();
    assert_eq!(second.next_cursor, None);
    assert_eq!([first.items, second.items].concat(), page.items);
}

#[tokio::test]
async fn who_stored_a_memory_stays_what_it_was_whoever_changes_it() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let through = |client: &str| Ctx { client: Some(client.to_owned()), door: Door::StaticKey, ..alice.clone() };
    let id = remember(service, &through("claude-code"), text("Anna lives in Hamburg.")).await;
    let edit = UpdateRequest { content: Some("Anna lives in Berlin.".into()), ..UpdateRequest::new(id) };
    service.update(&through("cursor"), edit).await.unwrap();
    let tag = BulkChange { ids: vec![id], add_tags: vec!["city".into()], ..BulkChange::default() };
    service.change_memories(&alice, tag).await.unwrap();

    let listed = service.list_memories(&alice, ListRequest::default()).await.unwrap();
    assert_eq!(listed.items[0].client.as_deref(), Some("claude-code"));
    let history = service.history(&alice, id, None, None).await.unwrap();
    let clients: Vec<Option<&str>> = history.items.iter().map(|state| state.client.as_deref()).collect();
    assert_eq!(clients, [None, Some("cursor"), Some("claude-code")]);
}

#[tokio::test]
async fn a_memory_says_again_what_it_said_before_and_where_it_is_now() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let first = RememberRequest {
        tags: vec!["city".into()],
        occurred_at: Some("2026-03-01T08:00:00.123456Z".into()),
        namespace: Some("shared".into()),
        ..text("Anna lives in Hamburg.")
    };
    let id = remember(service, &alice, first).await;
    let change = UpdateRequest {
        content: Some("Anna lives in Berlin.".into()),
        tags: Some(vec![]),
        source: Some("letter".into()),
        namespace: Some("private".into()),
        occurred_at: Some("2026-04-01".into()),
        ..UpdateRequest::new(id)
    };
    service.update(&alice, change).await.unwrap();

    let error = service.restore_revision(&alice, id, 1, Some(1)).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { expected: 1, current: 2 }), "{error}");
    let error = service.restore_revision(&alice, id, 7, None).await.unwrap_err();
    assert!(matches!(&error, Error::Missing(message) if message.contains("from 1 to 2")), "{error}");
    let restored = service.restore_revision(&alice, id, 1, Some(2)).await.unwrap();
    assert_eq!((restored.revision, restored.namespace.as_str()), (3, "private"));
    let read = service.get_memory(&alice, GetRequest { id, offset: 0, max_bytes: None }).await.unwrap();
    assert_eq!(read.content, "Anna lives in Hamburg.");
    assert_eq!((read.memory.tags, read.memory.source), (vec!["city".to_owned()], None));
    assert_eq!(read.memory.occurred_at.to_string(), "2026-03-01T08:00:00.123456Z");
    assert_eq!(found(service, &alice, "Hamburg").await, [id]);
    assert_eq!(service.revision(&alice, id, 2).await.unwrap().content, "Anna lives in Berlin.");
    let current = service.restore_revision(&alice, id, 3, None).await.unwrap();
    assert_eq!((current.revision, current.changed), (3, false));
}
