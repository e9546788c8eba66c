//! What is left over is found, deleted, and looked for once more; and there is no receipt before all is gone.

use polymnemo_memory::Error;
use polymnemo_types::{EraseTarget, ErasureState, ReceiptDocument, RememberRequest};

use crate::erase::world::{World, keep_picture, remember, service, text};

/// What a fault of ours, or someone at the database, could leave.
const PLANTED: &[&str] = &[
    "insert into postings (chunk_id, term_id, namespace_id, impact)
         select e.chunk_id, (select min(id) from terms), (select min(namespace_id) from terms), 1 from erased_passages e limit 1",
    "insert into terms (namespace_id, term, document_count) select min(id), 'narwhal', 1 from namespaces where erasure_id is null",
    "update memories set supersedes = array(select memory_id from erased_memories)",
    "update memories set superseded_by = (select memory_id from erased_memories limit 1), superseded_at = now()",
    "insert into app_calls (user_id, app_id, at, action, query, memories)
         select user_id, gen_random_uuid(), now(), 'recall', 'narwhal', array(select memory_id from erased_memories) from erasures",
    "insert into memories (id, user_id, namespace_id, kind, content, content_hash, occurred_at, created_at, updated_at)
         select e.memory_id, m.user_id, m.namespace_id, 'memory', 'narwhal', sha256('x'), now(), now(), now()
         from erased_memories e, memories m limit 1",
    "insert into revisions (memory_id, revision, user_id, namespace, content, tags, occurred_at, created_at)
         select e.memory_id, 1, m.user_id, 'x', 'narwhal', '{}', now(), now() from erased_memories e join memories m on m.id = e.memory_id",
];

#[tokio::test]
async fn what_is_left_over_is_found_and_deleted() {
    let world = World::new().await;
    let service = &world.service;
    let alice = world.person("alice").await;
    remember(service, &alice, text("This one stays, as it has nothing to do with it.")).await;
    let id = remember(service, &alice, text("The narwhal sings.")).await;
    let picture = keep_picture(service, &alice, "A narwhal").await;
    let target = EraseTarget::Memories(vec![id, picture]);
    let erasure = service.begin_erasure(&alice, target, None).await.unwrap();
    let object = world.stored().into_iter().find(|file| file.extension().is_none()).unwrap();
    let bytes = std::fs::read(&object).unwrap();
    // The first step deletes the rows; what comes after it would verify.
    assert_eq!(service.continue_erasures().await.unwrap(), 1);
    assert_eq!(world.rows_that_hold("narwhal").await, [""; 0]);
    for planted in PLANTED {
        world.execute(planted).await;
    }
    std::fs::write(&object, &bytes).unwrap();
    assert!(world.rows_that_hold("narwhal").await.len() > 3);
    assert!(matches!(service.receipt(erasure.id).await, Err(Error::Missing(_))));

    world.settle().await;
    world.done(&alice, erasure.id).await;
    assert_eq!(world.rows_that_hold("narwhal").await, [""; 0]);
    assert_eq!(world.stored(), Vec::<std::path::PathBuf>::new());
    for table in ["memories", "app_calls"] {
        let rows = world.column(&format!("select r::text from {table} r")).await;
        assert!(rows.iter().all(|row| !row.contains(&id.to_string())), "{rows:?}");
    }
    let receipt: ReceiptDocument = serde_json::from_str(&service.receipt(erasure.id).await.unwrap().document).unwrap();
    assert!(receipt.rounds >= 2, "it says that it had to look twice: {}", receipt.rounds);
    assert!(receipt.checks.iter().all(|check| check.found == 0));
    // What stays is as it was.
    let counted = world
        .column(
            "select t.document_count || '/' || (select count(*) from postings p where p.term_id = t.id) from terms t
             where t.document_count <> (select count(*) from postings p where p.term_id = t.id)",
        )
        .await;
    assert_eq!(counted, [""; 0], "the words are counted right");
}

#[tokio::test]
async fn without_the_storage_it_is_not_done_and_says_so() {
    let world = World::new().await;
    let alice = world.person("alice").await;
    let picture = keep_picture(&world.service, &alice, "A narwhal").await;
    let kept = remember(&world.service, &alice, RememberRequest { ..text("Another one.") }).await;
    // The server was told to keep no files any more.
    let without = service(world.database.url(), None).await;
    let target = EraseTarget::Memories(vec![picture]);
    let erasure = without.begin_erasure(&alice, target, None).await.unwrap();
    assert_eq!(without.continue_erasures().await.unwrap(), 1);
    without.continue_erasures().await.unwrap_err();
    let told = without.erasure(&alice, erasure.id).await.unwrap();
    assert_eq!(told.state, ErasureState::Running);
    assert!(told.problem.unwrap().contains("POLYMNEMO_BLOB_BACKEND"));
    assert!(without.receipt(erasure.id).await.is_err());
    // Others are not held up by it.
    let other = without.begin_erasure(&alice, EraseTarget::Memories(vec![kept]), None).await.unwrap();
    while without.continue_erasures().await.unwrap() > 0 {}
    assert_eq!(without.erasure(&alice, other.id).await.unwrap().state, ErasureState::Done);
    assert!(!world.stored().is_empty());

    world.execute("update erasures set retry_at = now() - interval '1 second' where state = 'running'").await;
    world.settle().await;
    world.done(&alice, erasure.id).await;
    assert!(world.stored().is_empty());
}
