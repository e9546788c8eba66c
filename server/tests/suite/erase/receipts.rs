use std::{path::Path, process::Output};

use polymnemo_memory::receipt::PublicKey;
use polymnemo_types::{EraseTarget, ErasureId, ErasureState};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    erase::world::person,
    support::{ServerProcess, TestApp, data_folder},
};

/// Erases a memory through the server; gives the erasure.
async fn erased(app: &TestApp) -> ErasureId {
    let service = app.service();
    let stored = app.mcp("alice").call("remember", json!({ "content": "The tapir sleeps." })).await;
    let alice = person(service, "alice").await;
    let target = EraseTarget::Memories(vec![stored["id"].as_str().unwrap().parse().unwrap()]);
    let id = service.begin_erasure(&alice, target, None).await.unwrap().id;
    for _ in 0..100 {
        if service.erasure(&alice, id).await.unwrap().state == ErasureState::Done {
            return id;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("it was not done in time");
}

async fn fetch(app: &TestApp, path: &str) -> (StatusCode, Vec<u8>) {
    let response = app.http(Method::GET, path).send().await.unwrap();
    (response.status(), response.bytes().await.unwrap().to_vec())
}

fn verify(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> (Option<i32>, String) {
    let output: Output = ServerProcess::run(folder, &[&["verify-receipt"], arguments].concat(), settings);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn a_receipt_is_fetched_by_its_address_and_verified_with_the_published_key() {
    let app = TestApp::start().await;
    let id = erased(&app).await;
    let (status, file) = fetch(&app, &format!("/receipts/{id}")).await;
    assert_eq!(status, StatusCode::OK);
    let (status, key) = fetch(&app, "/.well-known/polymnemo-receipt-key").await;
    assert_eq!(status, StatusCode::OK);
    let key = String::from_utf8(key).unwrap();
    let public = PublicKey::from_jwk(&key).unwrap();
    let document = public.verify(&file).unwrap();
    assert_eq!(document.id, id);
    assert!(!String::from_utf8_lossy(&file).contains("tapir"));
    // The key is the same on every replica.
    let replica = app.replica().await;
    assert_eq!(fetch(&replica, "/.well-known/polymnemo-receipt-key").await.1, key.as_bytes());
    assert_eq!(fetch(&replica, &format!("/receipts/{id}")).await.1, file);

    let folder = data_folder();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("receipt.json", &file);
    write("key.json", key.as_bytes());
    // Offline: no database, no settings, not even valid ones.
    let broken = [("POLYMNEMO_DATABASE_URL", "nonsense")];
    let (code, told) = verify(folder.path(), &["receipt.json", "--key", "key.json"], &broken);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.starts_with("VERIFIED.") && told.contains(&document.erased_by.user_id.to_string()), "{told}");
    assert!(told.contains("No backups are made by this server."), "{told}");

    let with = |name: &str| verify(folder.path(), &[name, "--key", "key.json"], &[]);
    let mut flipped = file.clone();
    let place = file.len() / 2;
    flipped[place] ^= 1;
    write("flipped.json", &flipped);
    write("cut.json", &file[..place]);
    let mut value: Value = serde_json::from_slice(&file).unwrap();
    value["document"]["finished_at"] = json!("2020-01-01T00:00:00Z");
    write("tampered.json", value.to_string().as_bytes());
    write("empty.json", b"");
    let jwk = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    write("other.json", jwk.as_bytes());
    for (name, says) in [
        ("flipped.json", ""),
        ("cut.json", "cut off"),
        ("tampered.json", "was changed"),
        ("empty.json", "cut off"),
        ("key.json", "not a receipt"),
        ("missing.json", "can't be read"),
    ] {
        let (code, told) = with(name);
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.starts_with("NOT VERIFIED.") && told.contains(says), "{name}: {told}");
    }
    let (code, told) = verify(folder.path(), &["receipt.json", "--key", "other.json"], &[]);
    assert!(code == Some(1) && told.contains("was signed with the key"), "{told}");
    let (code, told) = verify(folder.path(), &["receipt.json", "--key", "receipt.json"], &[]);
    assert!(code == Some(1) && told.contains("holds no key"), "{told}");

    // With the key of the server on this machine.
    let own = [("POLYMNEMO_DATABASE_URL", app.database_url())];
    let (code, told) = verify(folder.path(), &["receipt.json"], &own);
    assert!(code == Some(0) && told.contains("this server signed it"), "{told}");
}

#[tokio::test]
async fn what_is_no_receipt_is_not_found() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    for path in ["/receipts/x", "/receipts/0198c0de-7a11-7000-8000-000000000000", "/receipts/%00"] {
        let (status, body) = fetch(&app, path).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["error"], "not_found", "{path}");
    }
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(erased(&app).await);
    }
    ids.reverse();
    let first = service.list_erasures(&alice, None, Some(2)).await.unwrap();
    assert_eq!(first.total, 3);
    let rest = service.list_erasures(&alice, first.next_cursor.as_deref(), Some(2)).await.unwrap();
    assert_eq!(rest.next_cursor, None);
    let listed: Vec<ErasureId> = first.items.iter().chain(&rest.items).map(|erasure| erasure.id).collect();
    assert_eq!(listed, ids, "the newest first");
}
