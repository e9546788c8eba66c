//! From the moment that an erasure begins nobody sees any of it, though nothing is deleted yet.

use polymnemo_types::{
    AppId, EraseTarget, ErasureState, GetRequest, ListRequest, LoadSessionRequest, MemoryId, RememberRequest,
    RememberStatus,
};

use crate::erase::world::{World, converse, found, keep_picture, remember, text, through, within};

/// Asks for a memory in every way there is.
async fn is_hidden(world: &World, user: &str, id: MemoryId) {
    let service = &world.service;
    let ctx = world.person(user).await;
    let part = || GetRequest { id, offset: 0, max_bytes: None };
    assert!(service.get_memory(&ctx, part()).await.is_err());
    assert!(service.get_forgotten(&ctx, part()).await.is_err());
    assert!(service.forget(&ctx, &[id]).await.is_err());
    assert!(service.erase(&ctx, &[id]).await.is_err());
    assert!(service.restore(&ctx, id).await.is_err());
    assert!(service.history(&ctx, id, None, None).await.is_err());
    assert!(service.session(&ctx, id).await.is_err());
    assert!(service.messages(&ctx, id, 1, 10).await.is_err());
    assert!(service.get_download_url(&ctx, id).await.is_err());
    assert!(service.begin_erasure(&ctx, EraseTarget::Memories(vec![id]), None).await.is_err(), "not twice");
    for trash in [false, true] {
        let request = ListRequest { trash, limit: Some(50), ..ListRequest::default() };
        let listed = service.list_memories(&ctx, request.clone()).await.unwrap();
        assert!(listed.items.iter().all(|memory| memory.id != id));
        assert_eq!(listed.total, listed.items.len() as u64, "and is not counted");
        let facets = service.facets(&ctx, &request).await.unwrap();
        assert!(!format!("{facets:?}").contains("axolotl"), "{facets:?}");
    }
    assert!(!found(service, &ctx, "axolotl").await.contains(&id));
    let page = LoadSessionRequest { session_id: "axolotl chat".into(), ..LoadSessionRequest::default() };
    assert!(service.load_session(&ctx, page).await.is_err());
}

#[tokio::test]
async fn single_ones_are_hidden_at_once() {
    let world = World::new().await;
    let service = &world.service;
    let alice = world.person("alice").await;
    let request = RememberRequest {
        tags: vec!["axolotl-tag".into()],
        idempotency_key: Some("the key".into()),
        ..text("The axolotl lives in the pond.")
    };
    let live = remember(service, &alice, request.clone()).await;
    let forgotten = remember(service, &alice, text("A forgotten axolotl.")).await;
    service.forget(&alice, &[forgotten]).await.unwrap();
    let session = converse(service, &alice, "axolotl chat", "axolotls").await;
    let picture = keep_picture(service, &alice, "An axolotl").await;
    let ids = vec![live, forgotten, session, picture];
    let erasure = service.begin_erasure(&alice, EraseTarget::Memories(ids.clone()), None).await.unwrap();
    assert_eq!(erasure.state, ErasureState::Running);
    assert!(world.rows_that_hold("axolotl").await.len() > 10, "nothing is deleted yet");
    for &id in &ids {
        is_hidden(&world, "alice", id).await;
    }
    assert_eq!(world.service.own_namespaces(&alice, None, None).await.unwrap().total, 1);

    // The same said again is another memory, which stays; and so is the session saved again.
    let again = service.remember(&alice, request).await.unwrap();
    assert_eq!(again.status, RememberStatus::Stored);
    let other = converse(service, &alice, "axolotl chat", "axolotls").await;
    assert!(other != session);
    world.settle().await;
    world.done(&alice, erasure.id).await;
    let mut left = found(service, &alice, "axolotl").await;
    left.sort_unstable();
    assert_eq!(left, [again.id, other]);
}

#[tokio::test]
async fn a_namespace_is_hidden_at_once_and_what_is_stored_there_then_is_in_a_new_one() {
    let world = World::new().await;
    let service = &world.service;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let request = RememberRequest { idempotency_key: Some("the key".into()), ..within("pond", "The axolotl is well.") };
    let live = remember(service, &alice, request.clone()).await;
    service.share_namespace(&alice, "pond", true).await.unwrap();
    assert_eq!(found(service, &bob, "axolotl").await, [live]);
    let app = AppId(uuid::Uuid::now_v7());
    assert_eq!(found(service, &through(&alice, app), "axolotl").await, [live]);

    let erasure = service.begin_erasure(&alice, EraseTarget::Namespace("pond".into()), Some("pond")).await.unwrap();
    is_hidden(&world, "alice", live).await;
    is_hidden(&world, "bob", live).await;
    let names = service.namespaces(&alice, "", 50).await.unwrap();
    assert_eq!(names.iter().map(|namespace| namespace.name.as_str()).collect::<Vec<_>>(), ["personal"]);
    // A restart that shares the namespaces of the settings does not bring it back.
    let store = crate::erase::world::service(world.database.url(), None).await;
    assert!(found(&store, &bob, "axolotl").await.is_empty());

    let again = service.remember(&alice, request).await.unwrap();
    assert_eq!(again.status, RememberStatus::Stored);
    assert!(found(service, &bob, "axolotl").await.is_empty(), "the new one is private");
    world.settle().await;
    world.done(&alice, erasure.id).await;
    assert_eq!(found(service, &alice, "axolotl").await, [again.id]);
    assert_eq!(service.own_namespace(&alice, "pond").await.unwrap().memories, 1);
}
