use polymnemo_types::MemoryId;
use serde_json::json;

use crate::{
    media::world::{World, bytes, parts},
    support::McpClient,
};

/// A small image, so that there is a thumbnail to delete, too.
fn picture() -> Vec<u8> {
    let mut png = Vec::new();
    let image = image::RgbImage::from_pixel(600, 300, image::Rgb([10, 120, 60]));
    image::DynamicImage::from(image).write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    png
}

async fn keep_picture(world: &World, client: &McpClient) -> MemoryId {
    let png = picture();
    let announced = client
        .call(
            "create_upload",
            json!({ "filename": "a.png", "content_type": "image/png", "size": png.len(), "description": "A meadow" }),
        )
        .await;
    world.send(&announced, png).await;
    client.call("confirm_upload", json!({ "id": announced["id"] })).await;
    announced["id"].as_str().unwrap().parse().unwrap()
}

async fn what_is_erased_leaves_no_bytes(world: &World) {
    let alice = world.app.mcp("alice");
    let person = world.person("alice").await;
    let service = world.app.service();
    let id = keep_picture(world, &alice).await;
    let other = world.keep(&alice, "stays.bin", &bytes(10)).await;
    world.comes_to(3).await;

    service.forget(&person, &[id]).await.unwrap();
    let told = alice.call_in_vain("get_download_url", json!({ "id": id.to_string() })).await;
    assert!(told.contains("There is no memory"), "{told}");
    world.comes_to(3).await;
    service.restore(&person, id).await.unwrap();
    assert_eq!(world.fetch(&alice, &id.to_string()).await, picture(), "the trash keeps the bytes");

    service.forget(&person, &[id]).await.unwrap();
    service.erase(&person, &[id]).await.unwrap();
    world.comes_to(1).await;
    assert_eq!(world.fetch(&alice, &other).await, bytes(10));
    assert_eq!(
        world.column("select object_key from objects_to_delete where due_at < now()").await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn what_is_erased_leaves_no_bytes_in_the_directory() {
    what_is_erased_leaves_no_bytes(&World::local().await).await;
}

#[tokio::test]
async fn what_is_erased_leaves_no_bytes_in_s3() {
    what_is_erased_leaves_no_bytes(&World::s3().await).await;
}

#[tokio::test]
async fn the_trash_is_emptied_of_bytes_too() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let id = world.keep(&alice, "old.bin", &bytes(10)).await;
    alice.call("forget", json!({ "id": id })).await;
    world.app.service().empty_trash().await.unwrap();
    world.comes_to(1).await;
    world
        .execute("update memories set forgotten_at = forgotten_at - interval '31 days' where forgotten_at is not null")
        .await;
    world.app.service().empty_trash().await.unwrap();
    world.comes_to(0).await;
    assert_eq!(world.column("select filename from media").await, Vec::<String>::new());
}

#[tokio::test]
async fn whoever_is_removed_leaves_no_bytes() {
    let world = World::local().await;
    let (alice, bob) = (world.app.mcp("alice"), world.app.mcp("bob"));
    keep_picture(&world, &alice).await;
    let announced = world.announce(&alice, "under way.bin", &bytes(5)).await;
    world.send(&announced, bytes(5)).await;
    let his = world.keep(&bob, "his.bin", &bytes(7)).await;
    world.comes_to(4).await;
    world.execute("delete from users where name = 'alice'").await;
    world.comes_to(2).await;
    // What may still be sent for an upload is waited for.
    let left = world.column("select object_key from objects_to_delete").await;
    assert!(!left.is_empty());
    world.execute("update objects_to_delete set due_at = now()").await;
    world.comes_to(1).await;
    assert_eq!(world.fetch(&bob, &his).await, bytes(7));
}

async fn what_is_never_confirmed_is_swept(world: &World) {
    let alice = world.app.mcp("alice");
    let person = world.person("alice").await;
    let service = world.app.service();
    let announced = world.announce(&alice, "never.bin", &bytes(10)).await;
    world.send(&announced, bytes(10)).await;

    // One in parts, half of which came.
    let sent = bytes(9 * 1024 * 1024);
    let new = polymnemo_types::NewUpload {
        filename: "half.bin".into(),
        content_type: "video/mp4".into(),
        size: Some(sent.len() as u64),
        in_parts: true,
        ..Default::default()
    };
    let half = service.create_upload(&person, new).await.unwrap().upload.id;
    let first = service.upload_parts(&person, half, &[1]).await.unwrap();
    assert_eq!(world.send_signed(&first.requests[0].request, parts(&sent)[0].to_vec()).await, 200);

    service.sweep_files().await.unwrap();
    assert_eq!(service.pending_uploads(&person).await.unwrap().len(), 2, "their time is not over");
    world
        .execute("update uploads set created_at = created_at - interval '26 hours', expires_at = expires_at - interval '26 hours'")
        .await;
    assert_eq!(service.pending_uploads(&person).await.unwrap().len(), 0);
    let told = alice.call_in_vain("confirm_upload", json!({ "id": announced["id"] })).await;
    assert!(told.contains("its time is over"), "{told}");
    world.comes_to(0).await;
    for table in ["uploads", "objects_to_delete"] {
        assert_eq!(world.column(&format!("select object_key from {table}")).await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_is_never_confirmed_is_swept_from_the_directory() {
    what_is_never_confirmed_is_swept(&World::local().await).await;
}

#[tokio::test]
async fn what_is_never_confirmed_is_swept_from_s3() {
    what_is_never_confirmed_is_swept(&World::s3().await).await;
}

/// What a process leaves that ends between any two steps: an object that only a row of the list knows.
#[tokio::test]
async fn an_object_that_was_never_referred_to_is_found() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    world.keep(&alice, "real.bin", &bytes(10)).await;
    world
        .execute(
            "insert into objects_to_delete (object_key, user_id, due_at)
             select 'ab34567890abcdef0123456789abcdef01234567', id, now() + interval '1 day' from users where name = 'alice'",
        )
        .await;
    let orphan = world.app.blobs().join("objects/ab/ab34567890abcdef0123456789abcdef01234567");
    std::fs::create_dir_all(orphan.parent().unwrap()).unwrap();
    std::fs::write(&orphan, "orphan").unwrap();
    world.comes_to(2).await;
    world.execute("update objects_to_delete set due_at = now() where object_key like 'ab3456%'").await;
    world.comes_to(1).await;
    assert!(!orphan.exists());
    // What is being written when the process ends has no row, only an age.
    let left = world.app.blobs().join("incoming/left");
    std::fs::write(&left, "half").unwrap();
    world.app.service().sweep_files().await.unwrap();
    assert!(left.exists(), "it may still be written");
    let file = std::fs::File::options().write(true).open(&left).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3600)).unwrap();
    world.app.service().sweep_files().await.unwrap();
    assert!(!left.exists());
}
