//! Asking for an export in the web app, and fetching it.

use polymnemo_types::{Export, ExportState};
use reqwest::StatusCode;
use sea_orm::ConnectionTrait as _;

use crate::{
    export::{
        everything::{fill, text},
        world::{assert_same, column, export, hex_digest, person, unpacked},
    },
    support::{S3Server, TestApp},
};

/// Waits until an export is no longer under way.
pub(crate) async fn finished(app: &TestApp, ctx: &polymnemo_memory::Ctx) -> Export {
    for _ in 0..300 {
        let newest = app.service().list_exports(ctx).await.unwrap().remove(0);
        if !newest.is_under_way() {
            return newest;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the export was not finished");
}

/// Deletes what is due until there is no file at the address any more: the server itself may be deleting it already.
async fn swept_away(app: &TestApp, url: &str) {
    for _ in 0..50 {
        app.service().sweep_files().await.unwrap();
        app.service().sweep_exports().await.unwrap();
        if app.client().get(url).send().await.unwrap().status() == StatusCode::NOT_FOUND {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("the file is still there");
}

async fn can_be_asked_for_and_fetched(app: TestApp) {
    let service = app.service();
    let alice = person(&app, "alice").await;
    fill(&app, &alice, "alice").await;
    let alice = person(&app, "alice").await;
    let asked = service.request_export(&alice).await.unwrap();
    assert_eq!(service.request_export(&alice).await.unwrap().id, asked.id, "one at a time");
    let ready = finished(&app, &alice).await;
    assert_eq!((ready.id, ready.state, ready.progress), (asked.id, ExportState::Ready, 1000));
    let counts = ready.counts.clone().unwrap();
    assert_eq!((counts.memories, counts.sessions, counts.media, counts.missing), (9, 3, 4, 0), "{counts:?}");

    let url = service.export_url(&alice, asked.id).await.unwrap();
    let response = app.client().get(&url).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let disposition = response.headers()["content-disposition"].to_str().unwrap().to_owned();
    assert!(disposition.starts_with("attachment") && disposition.contains(".zip"), "{disposition}");
    let bytes = response.bytes().await.unwrap();
    assert_eq!(ready.bytes, Some(bytes.len() as u64));
    assert_eq!(ready.sha256, Some(hex_digest(&bytes)));
    assert_same(&unpacked(&bytes), &unpacked(&export(service, &alice).await));

    // Its time is over.
    let database = app.database().await;
    database.execute_unprepared("update exports set expires_at = now() - interval '1 second'").await.unwrap();
    assert_eq!(service.list_exports(&alice).await.unwrap()[0].state, ExportState::Expired);
    assert!(service.export_url(&alice, asked.id).await.is_err());
    assert_eq!(service.sweep_exports().await.unwrap(), 1);
    swept_away(&app, &url).await;
    assert!(column(&app, "select object_key from objects_to_delete where object_key like 'export.%'").await.is_empty());

    // One that is deleted takes its file along.
    service.request_export(&alice).await.unwrap();
    let ready = finished(&app, &alice).await;
    let url = service.export_url(&alice, ready.id).await.unwrap();
    service.delete_export(&alice, ready.id).await.unwrap();
    service.delete_export(&alice, ready.id).await.unwrap_err();
    swept_away(&app, &url).await;
}

#[tokio::test]
async fn with_a_directory() {
    can_be_asked_for_and_fetched(TestApp::start().await).await;
}

#[tokio::test]
async fn with_a_service_that_speaks_s3() {
    let s3 = S3Server::start().await;
    can_be_asked_for_and_fetched(TestApp::builder().files_at(&s3).start().await).await;
}

#[tokio::test]
async fn where_no_files_are_kept() {
    let app = TestApp::builder().setting("POLYMNEMO_BLOB_BACKEND", "none").start().await;
    let service = app.service();
    let alice = person(&app, "alice").await;
    service.remember(&alice, text("It comes along.")).await.unwrap();
    service.request_export(&alice).await.unwrap();
    let ready = finished(&app, &alice).await;
    let url = service.export_url(&alice, ready.id).await.unwrap();
    let bytes = app.client().get(&url).send().await.unwrap().bytes().await.unwrap();
    assert!(unpacked(&bytes).contains_key("memories.jsonl"));
    service.delete_export(&alice, ready.id).await.unwrap();
    service.sweep_exports().await.unwrap();
    assert_eq!(app.client().get(&url).send().await.unwrap().status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn nobody_but_the_person_asks() {
    let app = TestApp::start().await;
    let client = app.ctx("alice").await;
    for refused in [
        app.service().request_export(&client).await.map(|_| ()),
        app.service().list_exports(&client).await.map(|_| ()),
        app.service().write_export(&client, tempfile::tempfile().unwrap(), &|_| {}).await.map(|_| ()),
    ] {
        assert!(matches!(refused, Err(polymnemo_memory::Error::Forbidden(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_gone_are_told() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(&app, "alice").await;
    let id = crate::export::everything::keep_file(&app, &alice, "lost.txt", "text/plain", b"lost".to_vec()).await;
    std::fs::remove_dir_all(app.blobs().join("objects")).unwrap();
    let files = unpacked(&export(service, &alice).await);
    let manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(manifest["missing"][0]["id"], id.to_string());
    assert_eq!(manifest["counts"]["missing"], 1);
}
