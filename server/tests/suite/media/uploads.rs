use polymnemo_types::{ListMediaRequest, MemoryId};
use reqwest::StatusCode;
use serde_json::json;

use crate::media::world::{World, announcement, bytes, hex_digest};

async fn files_come_back_as_they_were(world: &World) {
    let alice = world.app.mcp("alice");
    for length in [1, 5 * 1024 * 1024 + 1] {
        let sent = bytes(length);
        let announced = world.announce(&alice, "some.bin", &sent).await;
        assert_eq!(announced["status"], "announced");
        assert_eq!(announced["method"], "PUT");
        let early = alice.call_in_vain("confirm_upload", json!({ "id": announced["id"] })).await;
        assert!(early.contains("have not arrived yet"), "{early}");
        assert_eq!(world.send(&announced, sent.clone()).await.status(), StatusCode::OK);

        let nothing_yet = alice.try_call("get_memory", json!({ "id": announced["id"] })).await;
        assert!(nothing_yet.is_error, "only confirming makes a memory");
        let confirmed = alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
        assert_eq!(confirmed["id"], announced["id"]);
        assert_eq!(confirmed["sha256"], hex_digest(&sent));
        assert_eq!(confirmed["file"]["size"], length);
        let id = confirmed["id"].as_str().unwrap();
        assert!(world.fetch(&alice, id).await == sent, "{length}");

        let again = alice.call("confirm_upload", json!({ "id": id })).await;
        assert_eq!(again.structured, confirmed.structured, "confirming twice gives the same");
    }
    assert_eq!(world.count(&alice).await, 2);
}

#[tokio::test]
async fn files_come_back_as_they_were_from_the_directory() {
    let world = World::local().await;
    files_come_back_as_they_were(&world).await;
    assert_eq!(world.stored().len(), 2, "of each file there is one");
}

#[tokio::test]
async fn files_come_back_as_they_were_from_s3() {
    let world = World::s3().await;
    files_come_back_as_they_were(&world).await;
    assert_eq!(world.stored().len(), 2, "of each file there is one: {:?}", world.stored());
}

#[tokio::test]
async fn a_file_is_a_memory_like_any_other() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let id = world.keep(&alice, "tea house.png", &bytes(100)).await;
    let view = json!({ "filename": "tea house.png", "content_type": "application/octet-stream", "size": 100 });

    let read = alice.call("get_memory", json!({ "id": id })).await;
    assert_eq!((&read["kind"], &read["file"]), (&json!("media"), &view));
    assert_eq!(read["content"], "The file tea house.png, told of in a story.");
    let listed = alice.call("list_memories", json!({ "kind": "media" })).await;
    assert_eq!(listed["items"][0]["file"], view, "{:?}", listed.structured);
    let found = alice.call("recall", json!({ "query": "tea house" })).await;
    assert_eq!(found["hits"][0]["file"], view, "{:?}", found.structured);
    assert!(found.text.contains("tea house.png (application/octet-stream, 100 bytes)"), "{}", found.text);

    alice
        .call(
            "update",
            json!({ "id": id, "content": "My favourite tea house", "tags": ["tea"], "namespace": "places" }),
        )
        .await;
    let request = ListMediaRequest { tags: vec!["tea".into()], namespace: Some("places".into()), ..Default::default() };
    let found = world.app.service().list_media(&world.person("alice").await, request).await.unwrap();
    assert_eq!((found.total, found.items[0].memory.preview.as_str()), (1, "My favourite tea house"));
    assert_eq!(world.fetch(&alice, &id).await, bytes(100));
}

#[tokio::test]
async fn two_files_with_the_same_description_are_two_memories() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let one = world.keep(&alice, "same.bin", &bytes(10)).await;
    let other = world.keep(&alice, "same.bin", &bytes(10)).await;
    assert_ne!(one, other);
    let text = "The file same.bin, told of in a story.";
    let stored = alice.call("remember", json!({ "content": text })).await;
    assert_eq!(stored["status"], "stored", "a text is not a file");
    assert_eq!(world.count(&alice).await, 2);

    // It stays so whatever is done to them.
    alice.call("update", json!({ "id": one, "content": "a photo" })).await;
    alice.call("update", json!({ "id": other, "content": "a photo" })).await;
    alice.call("update", json!({ "id": one, "namespace": "photos" })).await;
    alice.call("update", json!({ "id": other, "namespace": "photos" })).await;
    let person = world.person("alice").await;
    let ids: Vec<MemoryId> = [&one, &other].iter().map(|id| id.parse().unwrap()).collect();
    let service = world.app.service();
    service.forget(&person, &ids).await.unwrap();
    for id in ids {
        service.restore(&person, id).await.unwrap();
        let restored = service.restore_revision(&person, id, 1, None).await.unwrap();
        assert!(restored.changed);
    }
    assert_eq!(world.count(&alice).await, 2);
}

async fn confirming_at_the_same_time_makes_one_memory(world: &World) {
    let alice = world.app.mcp("alice");
    let sent = bytes(100_000);
    let announced = world.announce(&alice, "once.bin", &sent).await;
    world.send(&announced, sent.clone()).await;
    let confirming = (0..8).map(|_| alice.call("confirm_upload", json!({ "id": announced["id"] })));
    for confirmed in futures::future::join_all(confirming).await {
        assert_eq!((&confirmed["id"], &confirmed["sha256"]), (&announced["id"], &json!(hex_digest(&sent))));
    }
    assert_eq!(world.count(&alice).await, 1);
    assert!(world.fetch(&alice, announced["id"].as_str().unwrap()).await == sent);
    // The copies that lost are deleted.
    world.comes_to(1).await;
    assert!(world.fetch(&alice, announced["id"].as_str().unwrap()).await == sent);
}

#[tokio::test]
async fn confirming_at_the_same_time_makes_one_memory_in_the_directory() {
    confirming_at_the_same_time_makes_one_memory(&World::local().await).await;
}

#[tokio::test]
async fn confirming_at_the_same_time_makes_one_memory_in_s3() {
    confirming_at_the_same_time_makes_one_memory(&World::s3().await).await;
}

async fn a_request_sent_again_changes_nothing_that_is_stored(world: &World) {
    let alice = world.app.mcp("alice");
    let (first, second) = (bytes(1000), vec![7; 1000]);
    let announced = world.announce(&alice, "kept.bin", &first).await;
    world.send(&announced, first.clone()).await;
    assert_eq!(world.send(&announced, first.clone()).await.status(), StatusCode::OK, "a retry does no harm");
    let id = announced["id"].as_str().unwrap();
    alice.call("confirm_upload", json!({ "id": id })).await;
    world.send(&announced, second).await;
    assert_eq!(alice.call("confirm_upload", json!({ "id": id })).await["sha256"], hex_digest(&first));
    assert!(world.fetch(&alice, id).await == first);
}

#[tokio::test]
async fn a_request_sent_again_changes_nothing_that_is_stored_in_the_directory() {
    a_request_sent_again_changes_nothing_that_is_stored(&World::local().await).await;
}

#[tokio::test]
async fn a_request_sent_again_changes_nothing_that_is_stored_in_s3() {
    a_request_sent_again_changes_nothing_that_is_stored(&World::s3().await).await;
}

#[tokio::test]
async fn a_replica_and_a_restart_know_the_requests_of_the_others() {
    let world = World::local().await;
    let replica = world.app.replica().await;
    let alice = world.app.mcp("alice");
    let sent = bytes(50);
    let announced = world.announce(&alice, "moved.bin", &sent).await;
    let url = announced["url"].as_str().unwrap().replace(world.app.base(), replica.base());
    let put = replica.client().put(url).header("content-type", "application/octet-stream").body(sent.clone());
    assert_eq!(put.send().await.unwrap().status(), StatusCode::OK);
    replica.mcp("alice").call("confirm_upload", json!({ "id": announced["id"] })).await;
    assert_eq!(world.fetch(&alice, announced["id"].as_str().unwrap()).await, sent);
}

#[tokio::test]
async fn an_announced_file_can_be_found_cancelled_and_is_bounded_in_number() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let person = world.person("alice").await;
    let service = world.app.service();
    let announced = world.announce(&alice, "later.bin", &bytes(10)).await;
    world.send(&announced, bytes(10)).await;
    let pending = service.pending_uploads(&person).await.unwrap();
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (pending[0].id.to_string(), pending[0].file.filename.as_str()),
        (announced["id"].as_str().unwrap().to_owned(), "later.bin")
    );
    assert_eq!(world.stored().len(), 1);

    service.cancel_upload(&person, pending[0].id).await.unwrap();
    service.cancel_upload(&person, pending[0].id).await.unwrap();
    assert_eq!(world.stored().len(), 0, "its bytes go with it");
    let told = alice.call_in_vain("confirm_upload", json!({ "id": announced["id"] })).await;
    assert!(told.contains("no upload") && told.contains("create_upload"), "{told}");

    world
        .execute(
            "insert into uploads (id, user_id, namespace, filename, content_type, size, description, object_key, in_parts, page_hash, created_at, expires_at)
             select gen_random_uuid(), u.id, 'personal', 'x', 'a/b', 1, 'x', 'key' || n, false, sha256(('page' || n)::bytea), now(), now() + interval '1 day'
             from generate_series(1, 100) n, users u where u.name = 'alice'",
        )
        .await;
    let told = alice.call_in_vain("create_upload", announcement("one more", &[1])).await;
    assert!(told.contains("100 uploads under way"), "{told}");
    let bob = world.app.mcp("bob");
    world.announce(&bob, "his own", &[1]).await;
}
