use reqwest::{Method, Response, StatusCode, header};
use serde_json::json;

use crate::media::world::{World, bytes};

/// Keeps a file of this type and gives its id.
async fn keep(world: &World, filename: &str, content_type: &str, body: &[u8]) -> String {
    let alice = world.app.mcp("alice");
    let announced = alice
        .call(
            "create_upload",
            json!({ "filename": filename, "content_type": content_type, "size": body.len(), "description": filename }),
        )
        .await;
    world.send(&announced, body.to_vec()).await;
    alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
    announced["id"].as_str().unwrap().to_owned()
}

fn text<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn parts_of_a_file_are_handed_out(world: &World) {
    let id = keep(world, "film.mp4", "video/mp4", &bytes(1000)).await;
    let person = world.person("alice").await;
    let details = world.app.service().media(&person, id.parse().unwrap()).await.unwrap();
    let url = details.view_url.unwrap();
    let ask = async |range: &str| world.app.client().get(&url).header(header::RANGE, range).send().await.unwrap();
    for (range, expected, said) in [
        ("bytes=0-99", 0..100, "bytes 0-99/1000"),
        ("bytes=900-", 900..1000, "bytes 900-999/1000"),
        ("bytes=-10", 990..1000, "bytes 990-999/1000"),
        ("bytes=990-5000", 990..1000, "bytes 990-999/1000"),
    ] {
        let response = ask(range).await;
        assert_eq!(
            (response.status(), text(&response, "content-range")),
            (StatusCode::PARTIAL_CONTENT, said),
            "{range}"
        );
        assert!(response.bytes().await.unwrap() == bytes(1000)[expected], "{range}");
    }
    let response = ask("bytes=1000-").await;
    assert_eq!(response.status(), StatusCode::RANGE_NOT_SATISFIABLE);
    let whole = world.app.client().get(&url).send().await.unwrap();
    assert_eq!(whole.status(), StatusCode::OK);
    assert!(world.s3.is_some() || text(&whole, "accept-ranges") == "bytes");
    assert!(whole.bytes().await.unwrap() == bytes(1000));
}

#[tokio::test]
async fn parts_of_a_file_are_handed_out_from_the_directory() {
    parts_of_a_file_are_handed_out(&World::local().await).await;
}

#[tokio::test]
async fn parts_of_a_file_are_handed_out_from_s3() {
    parts_of_a_file_are_handed_out(&World::s3().await).await;
}

#[tokio::test]
async fn only_the_head_is_to_be_had_without_the_body() {
    let world = World::local().await;
    let id = keep(&world, "a.txt", "text/plain", b"hello").await;
    let url =
        world.app.mcp("alice").call("get_download_url", json!({ "id": id })).await["url"].as_str().unwrap().to_owned();
    let response = world.app.client().head(&url).send().await.unwrap();
    assert_eq!((response.status(), text(&response, "content-length")), (StatusCode::OK, "5"));
    assert_eq!(text(&response, "content-disposition"), "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt");
    assert_eq!(text(&response, "cache-control"), "no-store");
    assert_eq!(response.bytes().await.unwrap().len(), 0);
}

/// For each type whether a page may show it, and what a browser is told then.
const TYPES: [(&str, Option<&str>); 9] = [
    ("image/png", Some("image/png")),
    ("video/mp4", Some("video/mp4")),
    ("audio/mpeg", Some("audio/mpeg")),
    ("application/pdf", Some("application/pdf")),
    ("text/plain", Some("text/plain;charset=utf-8")),
    ("text/csv;charset=gbk", Some("text/plain;charset=gbk")),
    ("image/svg+xml", None),
    ("text/html", None),
    ("application/javascript", None),
];

async fn what_could_run_is_only_saved(world: &World) {
    let person = world.person("alice").await;
    for (content_type, shown) in TYPES {
        let id = keep(world, "x", content_type, b"<script>alert(1)</script>").await;
        let details = world.app.service().media(&person, id.parse().unwrap()).await.unwrap();
        assert_eq!(details.view_url.is_some(), shown.is_some(), "{content_type}");
        if let Some(url) = details.view_url {
            let response = world.app.client().get(&url).send().await.unwrap();
            assert_eq!(text(&response, "content-type"), shown.unwrap());
            assert!(text(&response, "content-disposition").starts_with("inline;"), "{content_type}");
        }
        let response = world.app.client().get(&details.download_url).send().await.unwrap();
        assert!(text(&response, "content-disposition").starts_with("attachment;"), "{content_type}");
        if world.s3.is_none() {
            assert_eq!(text(&response, "x-content-type-options"), "nosniff");
            let policy = text(&response, "content-security-policy");
            assert_eq!(
                policy.starts_with("sandbox; default-src 'none'"),
                content_type != "application/pdf",
                "{policy}"
            );
            assert!(policy.contains("default-src 'none'"), "{policy}");
        }
    }
}

#[tokio::test]
async fn what_could_run_is_only_saved_from_the_directory() {
    what_could_run_is_only_saved(&World::local().await).await;
}

#[tokio::test]
async fn what_could_run_is_only_saved_from_s3() {
    what_could_run_is_only_saved(&World::s3().await).await;
}

#[tokio::test]
async fn a_page_of_the_server_may_send_files_and_one_of_elsewhere_not() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let announced = world.announce(&alice, "a.bin", b"x").await;
    let ask = async |origin: &str| {
        world
            .app
            .client()
            .request(Method::OPTIONS, announced["url"].as_str().unwrap())
            .header(header::ORIGIN, origin)
            .header("access-control-request-method", "PUT")
            .header("access-control-request-headers", "content-type")
            .send()
            .await
            .unwrap()
    };
    let own = ask("http://localhost:1234").await;
    assert_eq!(text(&own, "access-control-allow-origin"), "http://localhost:1234");
    assert!(text(&own, "access-control-allow-methods").contains("PUT"));
    assert!(text(&own, "access-control-allow-headers").contains("content-type"));
    assert_eq!(text(&ask("https://evil.example.com").await, "access-control-allow-origin"), "");
}

#[tokio::test]
async fn the_beginning_of_a_text_is_read_by_the_server() {
    for world in [World::local().await, World::s3().await] {
        let person = world.person("alice").await;
        let service = world.app.service();
        let read = async |id: &str| service.media_text(&person, id.parse().unwrap()).await.unwrap();
        let short = keep(&world, "a.txt", "text/plain", "\u{FEFF}Tee für zwei".as_bytes()).await;
        let text = read(&short).await.unwrap();
        assert_eq!((text.text.as_str(), text.truncated), ("Tee für zwei", false));
        // A character of three bytes is cut off at the bound.
        let long = keep(&world, "b.md", "text/markdown", "记".repeat(20_000).as_bytes()).await;
        let text = read(&long).await.unwrap();
        assert!(text.truncated && text.text.len() <= 32_000 && text.text.chars().all(|letter| letter == '记'));
        let image = keep(&world, "c.png", "image/png", b"no text").await;
        assert_eq!(read(&image).await, None);
    }
}

#[tokio::test]
async fn files_are_listed_page_by_page_and_filtered() {
    let world = World::local().await;
    let person = world.person("alice").await;
    for number in 0..5 {
        keep(&world, &format!("Photo {number}.PNG"), "image/gif", b"x").await;
    }
    keep(&world, "notes.txt", "text/plain;charset=utf-8", b"x").await;
    world.app.mcp("alice").call("remember", json!({ "content": "no file" })).await;
    let service = world.app.service();
    let list = async |content_type: Option<&str>, text: Option<&str>| {
        let request = polymnemo_types::ListMediaRequest {
            content_type: content_type.map(str::to_owned),
            text: text.map(str::to_owned),
            ..Default::default()
        };
        service.list_media(&person, request).await.unwrap().total
    };
    assert_eq!(list(None, None).await, 6);
    assert_eq!(list(Some("image"), None).await, 5);
    assert_eq!(list(Some("text/plain"), None).await, 1);
    assert_eq!(list(None, Some("PHOTO 3")).await, 1);
    assert_eq!(list(Some("image/*"), Some("notes")).await, 0);

    let mut cursor = None;
    let mut seen = Vec::new();
    loop {
        let request = polymnemo_types::ListMediaRequest { limit: Some(4), cursor, ..Default::default() };
        let page = service.list_media(&person, request).await.unwrap();
        assert_eq!(page.total, 6);
        seen.extend(page.items.into_iter().map(|media| media.file.filename));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["notes.txt", "Photo 4.PNG", "Photo 3.PNG", "Photo 2.PNG", "Photo 1.PNG", "Photo 0.PNG"]);
}
