use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;

use crate::{
    media::world::{World, announcement, bytes, hex_digest},
    support::{REVISIONS, S3Server, TestApp},
};

#[tokio::test]
async fn a_small_file_comes_inside_the_call() {
    for world in [World::local().await, World::s3().await] {
        let alice = world.app.mcp("alice");
        for length in [1, 1_000_000] {
            let sent = bytes(length);
            let stored = alice
                .call(
                    "create_upload",
                    json!({
                        "filename": "small.bin", "content_type": "a/b", "description": "small",
                        "content_base64": STANDARD.encode(&sent), "sha256": hex_digest(&sent),
                    }),
                )
                .await;
            assert_eq!((&stored["status"], &stored["url"]), (&json!("stored"), &json!(null)));
            assert!(world.fetch(&alice, stored["id"].as_str().unwrap()).await == sent);
        }
        let too_long = json!({
            "filename": "a", "content_type": "a/b", "description": "a", "content_base64": STANDARD.encode(bytes(1_000_001)),
        });
        let told = alice.call_in_vain("create_upload", too_long).await;
        assert!(told.contains("1000000 bytes"), "{told}");
        let other = json!({
            "filename": "a", "content_type": "a/b", "description": "a", "content_base64": "aGVsbG8=", "sha256": hex_digest(b"x"),
        });
        let told = alice.call_in_vain("create_upload", other).await;
        assert!(told.contains("SHA-256"), "{told}");
        assert_eq!(world.count(&alice).await, 2);
        world.comes_to(2).await;
    }
}

#[tokio::test]
async fn a_client_that_sees_only_text_can_send_a_file_too() {
    let world = World::local().await;
    let alice = world.app.mcp("alice").speaking(REVISIONS[0]);
    let announced = alice.call("create_upload", announcement("a.bin", &bytes(10))).await;
    assert!(announced.structured.is_null());
    let line = announced.text.lines().find(|line| line.starts_with("curl ")).expect("a line for the shell");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.bin"), bytes(10)).unwrap();
    let run = std::process::Command::new("sh").arg("-c").arg(line).current_dir(folder.path()).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let id = announced.text.split(['[', ']']).nth(1).unwrap();
    let confirmed = alice.call("confirm_upload", json!({ "id": id })).await;
    assert!(confirmed.text.contains("a.bin") && confirmed.text.contains(id), "{}", confirmed.text);
    let download = alice.call("get_download_url", json!({ "id": id })).await;
    let url = download.text.lines().last().unwrap();
    assert_eq!(world.app.client().get(url).send().await.unwrap().bytes().await.unwrap(), bytes(10));
}

#[tokio::test]
async fn a_server_that_keeps_no_files_says_so_and_what_to_set() {
    let app = TestApp::builder().setting("POLYMNEMO_BLOB_BACKEND", "none").start().await;
    let alice = app.mcp("alice");
    assert_eq!(alice.call("ping", json!({})).await["files"], "none");
    for (tool, arguments) in [
        ("create_upload", announcement("a.bin", &[1])),
        ("confirm_upload", json!({ "id": "0198c0de-7a11-7000-8000-000000000000" })),
    ] {
        let told = alice.call_in_vain(tool, arguments).await;
        assert!(told.contains("POLYMNEMO_BLOB_BACKEND") && told.contains("`local`"), "{tool}: {told}");
    }
    let told = alice.call_in_vain("get_download_url", json!({ "id": "0198c0de-7a11-7000-8000-000000000000" })).await;
    assert!(told.contains("There is no memory"), "{told}");
    // Exports are handed out there, to whoever has a URL that was signed for one.
    assert_eq!(app.client().get(format!("{}/blobs/ab12", app.base())).send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn ping_tells_where_files_are_kept() {
    let world = World::local().await;
    assert_eq!(world.app.mcp("alice").call("ping", json!({})).await["files"], "local");
    let world = World::s3().await;
    assert_eq!(world.app.mcp("alice").call("ping", json!({})).await["files"], "s3");
    let storage = world.app.service().file_storage();
    assert_eq!(storage.origin, Some(world.s3.as_ref().unwrap().url()));
}

#[tokio::test]
async fn clients_are_sent_to_where_they_reach_the_storage() {
    let s3 = S3Server::start().await;
    // The same server by another name, which is a part of what is signed.
    let public = s3.url().replace("127.0.0.1", "localhost");
    let app = TestApp::builder().files_at(&s3).setting("POLYMNEMO_BLOB_PUBLIC_ENDPOINT_URL", &public).start().await;
    let world = World { app, s3: Some(s3) };
    let alice = world.app.mcp("alice");
    let announced = world.announce(&alice, "a.bin", &bytes(10)).await;
    assert!(announced["url"].as_str().unwrap().starts_with(&format!("{public}/")), "{:?}", announced.structured);
    let id = world.keep(&alice, "b.bin", &bytes(10)).await;
    assert_eq!(world.fetch(&alice, &id).await, bytes(10));
    assert_eq!(world.app.service().file_storage().origin, Some(public));
}

#[tokio::test]
async fn a_text_has_no_file_to_fetch() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let stored = alice.call("remember", json!({ "content": "tea" })).await;
    let told = alice.call_in_vain("get_download_url", json!({ "id": stored["id"] })).await;
    assert!(told.contains("has no file") && told.contains("get_memory"), "{told}");
    let told = alice.call_in_vain("confirm_upload", json!({ "id": stored["id"] })).await;
    assert!(told.contains("no upload"), "{told}");
}
