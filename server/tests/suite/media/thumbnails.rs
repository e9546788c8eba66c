use std::io::Cursor;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use polymnemo_types::{ListMediaRequest, Media};
use reqwest::StatusCode;
use serde_json::json;

use crate::media::world::World;

fn photo(format: ImageFormat) -> Vec<u8> {
    let image = RgbImage::from_fn(1000, 500, |x, y| Rgb([(x % 256) as u8, (y % 256) as u8, 90]));
    let mut bytes = Vec::new();
    DynamicImage::from(image).write_to(&mut Cursor::new(&mut bytes), format).unwrap();
    bytes
}

async fn keep(world: &World, content_type: &str, bytes: Vec<u8>) -> String {
    let alice = world.app.mcp("alice");
    let announced = alice
        .call(
            "create_upload",
            json!({ "filename": "a", "content_type": content_type, "size": bytes.len(), "description": content_type }),
        )
        .await;
    world.send(&announced, bytes).await;
    alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
    announced["id"].as_str().unwrap().to_owned()
}

async fn listed(world: &World) -> Vec<Media> {
    let person = world.person("alice").await;
    world.app.service().list_media(&person, ListMediaRequest::default()).await.unwrap().items
}

async fn pictures_have_a_small_image_made_once(world: &World) {
    for (content_type, format) in
        [("image/png", ImageFormat::Png), ("image/jpeg", ImageFormat::Jpeg), ("image/webp", ImageFormat::WebP)]
    {
        keep(world, content_type, photo(format)).await;
    }
    let first = listed(world).await;
    assert_eq!(first.len(), 3);
    for media in &first {
        let url = media.thumbnail_url.as_ref().expect("a small image");
        let response = world.app.client().get(url).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "image/jpeg");
        let small = image::load_from_memory(&response.bytes().await.unwrap()).unwrap();
        assert_eq!((small.width(), small.height()), (400, 200));
    }
    let made = world.column("select thumbnail_at::text from media order by memory_id").await;
    let urls = |media: &[Media]| media.iter().map(|media| media.thumbnail_url.clone()).collect::<Vec<_>>();
    assert_eq!(urls(&first), urls(&listed(world).await), "a browser can keep them");
    assert_eq!(made, world.column("select thumbnail_at::text from media order by memory_id").await);
    world.comes_to(6).await;
}

#[tokio::test]
async fn pictures_have_a_small_image_made_once_in_the_directory() {
    pictures_have_a_small_image_made_once(&World::local().await).await;
}

#[tokio::test]
async fn pictures_have_a_small_image_made_once_in_s3() {
    pictures_have_a_small_image_made_once(&World::s3().await).await;
}

#[tokio::test]
async fn what_is_no_picture_has_none_and_is_not_tried_again() {
    let world = World::local().await;
    keep(&world, "image/png", b"not a picture".to_vec()).await;
    keep(&world, "image/svg+xml", b"<svg/>".to_vec()).await;
    assert!(listed(&world).await.iter().all(|media| media.thumbnail_url.is_none()));
    let tried = "select filename from media where content_type = 'image/png' and thumbnail_at is not null";
    assert_eq!(world.column(tried).await.len(), 1);
    assert_eq!(world.stored().len(), 2);
}

#[tokio::test]
async fn one_that_was_not_made_is_made_when_it_is_asked_for() {
    let world = World::local().await;
    keep(&world, "image/png", photo(ImageFormat::Png)).await;
    world.execute("update media set thumbnail_key = null, thumbnail_at = null").await;
    assert_eq!(listed(&world).await[0].thumbnail_url, None, "nobody waits for it");
    for _ in 0..100 {
        if listed(&world).await[0].thumbnail_url.is_some() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("it was not made");
}
