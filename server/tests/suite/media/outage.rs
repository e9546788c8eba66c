use serde_json::json;

use crate::media::world::{World, bytes};

#[tokio::test]
async fn while_the_storage_is_down_nothing_is_half_stored_and_it_works_again_afterwards() {
    let world = World::s3().await;
    let s3 = world.s3.as_ref().unwrap();
    let alice = world.app.mcp("alice");
    let sent = bytes(1000);
    let kept = world.keep(&alice, "before.bin", &sent).await;
    let sent_before = world.announce(&alice, "sent.bin", &sent).await;
    world.send(&sent_before, sent.clone()).await;
    s3.halt().await;

    // Announcing asks nobody; what it answers with is good later.
    let announced = world.announce(&alice, "during.bin", &sent).await;
    let put = world.app.client().put(announced["url"].as_str().unwrap()).body(sent.clone()).send().await;
    assert!(put.is_err(), "the client itself sees that nobody is there");
    let told = alice.call_in_vain("confirm_upload", json!({ "id": announced["id"] })).await;
    assert!(told.contains("The file storage can't be reached"), "{told}");
    let told = alice.call_in_vain("confirm_upload", json!({ "id": sent_before["id"] })).await;
    assert!(told.contains("The file storage can't be reached"), "{told}");
    let inline = json!({
        "filename": "inline.txt", "content_type": "text/plain", "description": "inline", "content_base64": "aGVsbG8=",
    });
    let told = alice.call_in_vain("create_upload", inline.clone()).await;
    assert!(told.contains("The file storage can't be reached"), "{told}");
    assert_eq!(world.count(&alice).await, 1, "no memory without its bytes");
    // What needs no bytes goes on.
    let url = alice.call("get_download_url", json!({ "id": kept })).await["url"].as_str().unwrap().to_owned();
    assert!(world.app.client().get(&url).send().await.is_err());
    let person = world.person("alice").await;
    let service = world.app.service();
    let id = kept.parse().unwrap();
    service.forget(&person, &[id]).await.unwrap();
    service.erase(&person, &[id]).await.unwrap();

    s3.start_again().await;
    let confirmed = alice.call("confirm_upload", json!({ "id": sent_before["id"] })).await;
    assert_eq!(confirmed["id"], sent_before["id"]);
    world.send(&announced, sent.clone()).await;
    alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
    alice.call("create_upload", inline).await;
    assert_eq!(world.count(&alice).await, 3);
    assert!(world.fetch(&alice, announced["id"].as_str().unwrap()).await == sent);

    // What was erased meanwhile is deleted when the storage is back.
    world.comes_to(3).await;
}

#[tokio::test]
async fn a_directory_that_fails_is_told_and_works_again_afterwards() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let kept = world.keep(&alice, "before.bin", &bytes(10)).await;
    let announced = world.announce(&alice, "during.bin", &bytes(20)).await;
    let (blobs, aside) = (world.app.blobs(), world.app.blobs().with_extension("aside"));
    std::fs::rename(&blobs, &aside).unwrap();
    std::fs::write(&blobs, "no directory").unwrap();

    let sent = world.send(&announced, bytes(20)).await;
    assert_eq!(sent.status(), 503);
    assert!(sent.text().await.unwrap().contains("Try again shortly"));
    let told = alice.call_in_vain("confirm_upload", json!({ "id": announced["id"] })).await;
    assert!(told.contains("The file storage can't be reached"), "{told}");
    assert_eq!(world.count(&alice).await, 1);

    std::fs::remove_file(&blobs).unwrap();
    std::fs::rename(&aside, &blobs).unwrap();
    world.send(&announced, bytes(20)).await;
    alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
    assert_eq!(world.fetch(&alice, &kept).await, bytes(10));
    assert_eq!(world.fetch(&alice, announced["id"].as_str().unwrap()).await, bytes(20));
}
