//! A change that leaves the text as it is costs no embedding, and the index afterwards is the one that the same memory
//! would have had from the start.

use polymnemo_types::{BulkChange, IndexState, RememberRequest, UpdateRequest};

use super::{column, found, person, remember, text};
use crate::support::TestApp;

/// What the index holds of a user, without the numbers that the database gives.
async fn index_of(app: &TestApp, user: &str) -> Vec<String> {
    let sql = format!(
        "with mine as (select n.* from namespaces n join users u on u.id = n.user_id where u.name = '{user}')
         select format('term %s in %s: %s', t.term, mine.name, t.document_count) from terms t join mine on mine.id = t.namespace_id
         union all select format('posting of %s in %s at %s: %s', t.term, mine.name, c.ordinal, p.impact)
         from postings p join terms t on t.id = p.term_id join chunks c on c.id = p.chunk_id
         join mine on mine.id = p.namespace_id and mine.id = t.namespace_id and mine.id = c.namespace_id
         union all select format('chunk %s in %s: %s, %s', c.ordinal, mine.name, c.length, md5(c.text))
         from chunks c join mine on mine.id = c.namespace_id
         union all select format('vector of %s in %s: %s', c.ordinal, mine.name, md5(v.embedding::text))
         from vectors v join chunks c on c.id = v.chunk_id join mine on mine.id = v.namespace_id
         union all select format('waiting %s in %s', c.ordinal, mine.name)
         from embedding_queue q join chunks c on c.id = q.chunk_id join mine on mine.id = q.namespace_id
         union all select format('tag %s in %s', tag, mine.name) from tags join mine on mine.id = tags.namespace_id
         union all select format('passages in %s: %s', name, chunk_count) from mine where chunk_count <> 0
         order by 1"
    );
    column(&app.database().await, &sql).await
}

#[tokio::test]
async fn a_relabelled_memory_is_indexed_as_if_it_had_been_stored_so() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let content = format!("{} The marzipan is in the attic.", "Nothing much happened today. ".repeat(150));
    let first = RememberRequest {
        tags: vec!["garden".into(), "kept".into()],
        source: Some("diary".into()),
        occurred_at: Some("2026-03-01".into()),
        ..text(&content)
    };
    let second = RememberRequest {
        tags: vec!["kitchen".into(), "kept".into()],
        source: Some("letter".into()),
        occurred_at: Some("2026-04-02".into()),
        namespace: Some("house".into()),
        ..text(&content)
    };
    let id = remember(service, &alice, first).await;
    remember(service, &bob, second.clone()).await;
    let chunks = "select string_agg(id::text, ' ' order by id) from chunks where memory_id = ";
    let before = column(&app.database().await, &format!("{chunks}'{id}'")).await;

    let change = UpdateRequest {
        tags: Some(second.tags),
        source: second.source,
        occurred_at: second.occurred_at,
        namespace: second.namespace,
        ..UpdateRequest::new(id)
    };
    let updated = service.update(&alice, change).await.unwrap();
    assert_eq!((updated.revision, updated.index), (2, IndexState::Complete));
    let index = index_of(&app, "alice").await;
    assert!(index.iter().any(|row| row.starts_with("vector")) && index.len() > 50, "{index:?}");
    assert_eq!(index, index_of(&app, "bob").await);
    let after = column(&app.database().await, &format!("{chunks}'{id}'")).await;
    assert_eq!(before, after, "the passages are the same ones, and their vectors too");

    assert_eq!(found(service, &alice, "kitchen").await, [id]);
    assert!(found(service, &alice, "garden").await.is_empty());
}

#[tokio::test]
async fn many_relabelled_memories_are_indexed_as_if_they_had_been_stored_so() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let mut ids = Vec::new();
    for number in 0..45 {
        let content = format!("Marzipan number {number} of {}.", number * 7);
        let at = Some("2026-03-01".to_owned());
        let before = RememberRequest {
            tags: vec!["old".into(), format!("tag {}", number % 3)],
            namespace: Some(format!("room {}", number % 4)),
            occurred_at: at.clone(),
            ..text(&content)
        };
        let after = RememberRequest {
            tags: vec![format!("tag {}", number % 3), "new".into()],
            namespace: Some("room 1".into()),
            occurred_at: at,
            ..text(&content)
        };
        ids.push(remember(service, &alice, before).await);
        remember(service, &bob, after).await;
    }
    let change = BulkChange {
        ids: ids.clone(),
        add_tags: vec!["new".into()],
        remove_tags: vec!["old".into()],
        namespace: Some("room 1".into()),
        forget: false,
    };
    let before = index_of(&app, "alice").await;
    let report = service.change_memories(&alice, change).await.unwrap();
    assert_eq!(report.changed, ids);
    assert_eq!(index_of(&app, "alice").await, index_of(&app, "bob").await);
    let undone = service.undo_changes(&alice, report.undo.unwrap()).await.unwrap();
    assert_eq!(undone.changed, ids);
    assert_eq!(index_of(&app, "alice").await, before);

    // To the trash and back makes no difference either.
    let forget = BulkChange { ids: ids.clone(), forget: true, ..BulkChange::default() };
    let undo = service.change_memories(&alice, forget).await.unwrap().undo.unwrap();
    assert_eq!(index_of(&app, "alice").await, [""; 0]);
    service.undo_changes(&alice, undo).await.unwrap();
    for _ in 0..300 {
        if !index_of(&app, "alice").await.iter().any(|row| row.starts_with("waiting")) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(index_of(&app, "alice").await, before);
}

#[tokio::test]
async fn labels_and_text_that_change_at_the_same_time_are_both_kept() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let id = remember(service, &alice, text("Tea at five.")).await;
    let text_change = UpdateRequest { content: Some("Tea at half past five.".into()), ..UpdateRequest::new(id) };
    let tag_change = |tag: &str| UpdateRequest { tags: Some(vec![tag.to_owned()]), ..UpdateRequest::new(id) };
    let (first, second, third) = tokio::join!(
        service.update(&alice, text_change),
        service.update(&alice, tag_change("drink")),
        service.update(&alice, UpdateRequest { source: Some("diary".into()), ..UpdateRequest::new(id) }),
    );
    first.unwrap();
    second.unwrap();
    third.unwrap();
    let as_stored = RememberRequest {
        tags: vec!["drink".into()],
        source: Some("diary".into()),
        occurred_at: Some(service.revision(&alice, id, 4).await.unwrap().occurred_at.to_string()),
        ..text("Tea at half past five.")
    };
    remember(service, &bob, as_stored).await;
    assert_eq!(index_of(&app, "alice").await, index_of(&app, "bob").await);
}
