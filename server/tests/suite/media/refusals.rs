use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use polymnemo_adapters::blobs::{LocalBlobs, S3Blobs, S3Options};
use polymnemo_memory::ports::{BlobStore, Delivery, Origin, Promise, SystemClock};
use reqwest::{Method, StatusCode};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};

use crate::{
    media::world::{World, announcement, bytes, hex_digest},
    support::McpClient,
};

/// A request with one thing about it changed.
struct Wrong {
    what: &'static str,
    method: Method,
    url: String,
    content_type: &'static str,
    body: Vec<u8>,
}

/// A letter of a text changed to another one.
fn changed(text: &str, place: usize) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    letters[place] = if letters[place] == 'a' { 'b' } else { 'a' };
    letters.into_iter().collect()
}

async fn only_what_was_promised_arrives(world: &World) {
    let alice = world.app.mcp("alice");
    let sent = bytes(1000);
    let mut arguments = announcement("promised.bin", &sent);
    arguments["sha256"] = json!(hex_digest(&sent));
    let announced = alice.call("create_upload", arguments).await;
    let url = announced["url"].as_str().unwrap();
    let path_end = url.find('?').unwrap();
    let mut others = bytes(1000);
    others[999] ^= 1;
    let kind = "application/octet-stream";
    let put =
        |what, url: String, content_type, body: Vec<u8>| Wrong { what, method: Method::PUT, url, content_type, body };
    let mut attempts = vec![
        put("a longer body", url.to_owned(), kind, bytes(1001)),
        put("a shorter body", url.to_owned(), kind, bytes(999)),
        put("nothing", url.to_owned(), kind, vec![]),
        put("another type", url.to_owned(), "text/html", sent.clone()),
        put("other bytes", url.to_owned(), kind, others),
        put("another key", changed(url, path_end - 1), kind, sent.clone()),
        put("a changed signature", changed(url, url.len() - 2), kind, sent.clone()),
        put("no signature", url.split('?').next().unwrap().to_owned(), kind, sent.clone()),
        Wrong { what: "another method", method: Method::GET, url: url.to_owned(), content_type: kind, body: vec![] },
        Wrong { what: "a deletion", method: Method::DELETE, url: url.to_owned(), content_type: kind, body: vec![] },
    ];
    if world.s3.is_some() {
        attempts.push(put("a longer time", url.replace("X-Amz-Expires=3", "X-Amz-Expires=9"), kind, sent.clone()));
    }
    let digest =
        announced["headers"].as_array().unwrap().iter().find(|header| header["name"] == "x-amz-checksum-sha256");
    for Wrong { what, method, url, content_type, body } in attempts {
        let mut request = world.app.client().request(method, url).header("content-type", content_type);
        if let Some(digest) = digest {
            request = request.header("x-amz-checksum-sha256", digest["value"].as_str().unwrap());
        }
        let response = request.body(body).send().await.unwrap();
        assert!(response.status().is_client_error(), "{what}: {}", response.status());
        if world.s3.is_some() && what == "other bytes" {
            // This server refuses them, but leaves them where they are.
            world.stored().into_iter().for_each(|left| std::fs::remove_file(left).unwrap());
        }
        assert_eq!(world.stored(), Vec::<std::path::PathBuf>::new(), "{what}");
        let told = alice.call_in_vain("confirm_upload", json!({ "id": announced["id"] })).await;
        assert!(told.contains("have not arrived"), "{what}: {told}");
    }
    let response = world.send(&announced, sent.clone()).await;
    assert_eq!(response.status(), StatusCode::OK, "as it was promised: {}", response.text().await.unwrap());
    alice.call("confirm_upload", json!({ "id": announced["id"] })).await;
    assert_eq!(world.count(&alice).await, 1);
}

#[tokio::test]
async fn only_what_was_promised_arrives_in_the_directory() {
    only_what_was_promised_arrives(&World::local().await).await;
}

#[tokio::test]
async fn only_what_was_promised_arrives_in_s3() {
    only_what_was_promised_arrives(&World::s3().await).await;
}

/// Puts something else into the storage than was promised, as one that checks less would.
async fn what_the_storage_let_through_is_refused(world: &World) {
    let alice = world.app.mcp("alice");
    let promised = bytes(100);
    for (what, arrived) in [("another length", bytes(101)), ("other bytes", vec![1; 100])] {
        let mut arguments = announcement("swapped.bin", &promised);
        arguments["sha256"] = json!(hex_digest(&promised));
        let announced = alice.call("create_upload", arguments).await;
        let id = announced["id"].as_str().unwrap();
        let path = world.path_of_upload(id).await;
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, arrived).unwrap();
        let told = alice.call_in_vain("confirm_upload", json!({ "id": id })).await;
        assert!(told.contains("not the one that was announced") && told.contains("deleted"), "{what}: {told}");
        assert!(!path.exists(), "{what}");
        world.comes_to(0).await;
        let again = alice.call_in_vain("confirm_upload", json!({ "id": id })).await;
        assert!(again.contains("create_upload"), "{what}: {again}");
    }
    assert_eq!(world.count(&alice).await, 0);
}

#[tokio::test]
async fn what_the_directory_let_through_is_refused() {
    what_the_storage_let_through_is_refused(&World::local().await).await;
}

#[tokio::test]
async fn what_s3_let_through_is_refused() {
    what_the_storage_let_through_is_refused(&World::s3().await).await;
}

/// The storage of a world, to sign with what its server would never sign.
async fn storage(world: &World) -> Box<dyn BlobStore> {
    match &world.s3 {
        Some(s3) => {
            let setting = |name: &str| {
                s3.settings().into_iter().find(|(given, _)| *given == name).map(|(_, value)| value).unwrap()
            };
            let options = S3Options {
                bucket: setting("POLYMNEMO_BLOB_BUCKET"),
                region: "us-east-1".into(),
                endpoint_url: Some(s3.url()),
                public_endpoint_url: None,
                access_key_id: setting("POLYMNEMO_BLOB_ACCESS_KEY_ID"),
                secret_access_key: setting("POLYMNEMO_BLOB_SECRET_ACCESS_KEY"),
                path_style: true,
            };
            Box::new(S3Blobs::new(&options).await.unwrap())
        }
        None => {
            let database = world.app.database().await;
            let sql = "select secret from server_secrets where name = 'blob urls'";
            let row =
                database.query_one_raw(Statement::from_string(database.get_database_backend(), sql)).await.unwrap();
            let secret: Vec<u8> = row.unwrap().try_get_by_index(0).unwrap();
            let clock = std::sync::Arc::new(SystemClock);
            Box::new(LocalBlobs::new(world.app.blobs(), &secret, Origin::new(world.app.base()), clock).unwrap())
        }
    }
}

async fn a_request_ends_with_its_time(world: &World) {
    let storage = storage(world).await;
    let (start, end) = (Timestamp::now(), Timestamp::now() + SignedDuration::from_secs(2));
    let key = "0123456789abcdef0123456789abcdef01234567";
    let promise = Promise { content_type: "text/plain".into(), size: 5, sha256: None };
    let put = storage.sign_put(key, &promise, end).await.unwrap();
    assert_eq!(world.send_signed(&put, "hello").await, StatusCode::OK, "in time");
    let delivery = Delivery {
        filename: "hello.txt".into(),
        content_type: "text/plain".into(),
        inline: false,
        valid_from: start,
        expires_at: end,
    };
    let url = storage.sign_get(key, &delivery).await.unwrap();
    let get = async || world.app.client().get(&url).send().await.unwrap();
    assert_eq!(get().await.text().await.unwrap(), "hello");
    tokio::time::sleep(Duration::from_millis(3_100)).await;
    assert_eq!(world.send_signed(&put, "hello").await, StatusCode::FORBIDDEN, "too late");
    assert_eq!(get().await.status(), StatusCode::FORBIDDEN, "too late");
}

#[tokio::test]
async fn a_request_to_the_directory_ends_with_its_time() {
    a_request_ends_with_its_time(&World::local().await).await;
}

#[tokio::test]
async fn a_request_to_s3_ends_with_its_time() {
    a_request_ends_with_its_time(&World::s3().await).await;
}

async fn a_download_is_of_one_file_and_by_one_name(world: &World) {
    let alice = world.app.mcp("alice");
    let (one, other) = (world.keep(&alice, "one.bin", b"one").await, world.keep(&alice, "other.bin", b"other").await);
    let url = async |client: &McpClient, id: &str| {
        client.call("get_download_url", json!({ "id": id })).await["url"].as_str().unwrap().to_owned()
    };
    let (one, other) = (url(&alice, &one).await, url(&alice, &other).await);
    let split = |url: &str| url.split_once('?').map(|(path, query)| (path.to_owned(), query.to_owned())).unwrap();
    let ((one_path, one_query), (other_path, _)) = (split(&one), split(&other));
    let mut edited = vec![format!("{other_path}?{one_query}"), one_path.clone(), changed(&one, one.len() - 2)];
    if world.s3.is_some() {
        edited.push(one.replace("one.bin", "two.exe"));
        edited.push(one.replace("application%2Foctet-stream", "text%2Fhtml"));
    }
    for url in edited {
        assert!(url != one, "nothing was edited");
        let response = world.app.client().get(&url).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{url}");
        let response = world.app.client().put(&url).body("x").send().await.unwrap();
        assert!(response.status().is_client_error(), "{url}");
    }
    assert_eq!(world.app.client().put(&one).body("x").send().await.unwrap().status(), StatusCode::FORBIDDEN);
    assert_eq!(world.app.client().get(&one).send().await.unwrap().text().await.unwrap(), "one");
}

#[tokio::test]
async fn a_download_from_the_directory_is_of_one_file_and_by_one_name() {
    a_download_is_of_one_file_and_by_one_name(&World::local().await).await;
}

#[tokio::test]
async fn a_download_from_s3_is_of_one_file_and_by_one_name() {
    a_download_is_of_one_file_and_by_one_name(&World::s3().await).await;
}

#[tokio::test]
async fn what_is_announced_wrongly_is_told_and_nothing_is_kept() {
    let world = World::local_with(
        crate::support::TestApp::builder()
            .setting("POLYMNEMO_BLOB_MAX_BYTES", "1000")
            .setting("POLYMNEMO_BLOB_QUOTA_BYTES", "1500"),
    )
    .await;
    let alice = world.app.mcp("alice");
    let with = |name: &str, value: Value| {
        let mut arguments = announcement("a.bin", &bytes(10));
        arguments[name] = value;
        arguments
    };
    for (arguments, told) in [
        (with("filename", json!(" ")), "`filename`"),
        (with("content_type", json!("not a type")), "`content_type`"),
        (with("size", json!(1001)), "at most 1000"),
        (with("size", Value::Null), "`size` is missing"),
        (with("sha256", json!("abc")), "`sha256`"),
        (with("namespace", json!("<b>")), "`namespace`"),
        (with("content_base64", json!("not base64!")), "`content_base64`"),
    ] {
        let text = alice.call_in_vain("create_upload", arguments).await;
        assert!(text.contains(told), "{told}: {text}");
    }
    // What is announced takes up room, and so does what is stored.
    world.keep(&alice, "most.bin", &bytes(900)).await;
    let announced = world.announce(&world.app.mcp("bob"), "rest.bin", &bytes(600)).await;
    let told = alice.call_in_vain("create_upload", announcement("more.bin", &[1])).await;
    assert!(told.contains("no room") && told.contains("0 are left"), "{told}");
    let told = alice.call_in_vain("create_upload", with("content_base64", json!("aGVsbG8gd29ybGQ="))).await;
    assert!(told.contains("no room") || told.contains("`size` promises"), "{told}");
    let bob = world.person("bob").await;
    world.app.service().cancel_upload(&bob, announced["id"].as_str().unwrap().parse().unwrap()).await.unwrap();
    world.announce(&alice, "more.bin", &bytes(600)).await;
}
