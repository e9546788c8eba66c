use std::{
    collections::BTreeMap,
    fs::File,
    io::{Cursor, Read as _, Seek as _, Write as _},
    ops::ControlFlow,
    sync::Arc,
};

use polymnemo_memory::{CountedKind, Ctx, Error, Identity, MemoryService, OnRestore, RestoreCount, RestoreReport};
use sea_orm::{ConnectionTrait as _, Statement};
use sha2::{Digest as _, Sha256};

use crate::{export::everything::fill, support::TestApp};

/// The files of an export.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// What the service is told of a request that this user sends from the web app.
pub(crate) async fn person(app: &TestApp, user: &str) -> Ctx {
    let user = app.service().sign_in(&Identity::named(user), user).await.unwrap().user;
    Ctx::of_person(user)
}

/// Tells nobody.
pub(crate) fn quietly() -> OnRestore {
    Arc::new(|_| ControlFlow::Continue(()))
}

/// All that a user has, as a zip file.
pub(crate) async fn export(service: &MemoryService, ctx: &Ctx) -> Vec<u8> {
    let mut file = tempfile::tempfile().unwrap();
    service.write_export(ctx, file.try_clone().unwrap(), &|_| {}).await.unwrap();
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// The bytes as an open file.
pub(crate) fn on_disk(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

/// Takes an export back in.
pub(crate) async fn import(service: &MemoryService, ctx: &Ctx, bytes: &[u8]) -> Result<RestoreReport, Error> {
    let checked = service.check_export(ctx, on_disk(bytes), quietly()).await?;
    service.restore_export(ctx, checked, None, quietly()).await
}

/// What is in a zip file.
pub(crate) fn unpacked(bytes: &[u8]) -> Files {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files = Files::new();
    for place in 0..zip.len() {
        let mut entry = zip.by_index(place).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        assert!(files.insert(entry.name().unwrap().into_owned(), content).is_none(), "a file is there twice");
    }
    files
}

/// A zip file of these files.
pub(crate) fn packed(files: &Files) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        zip.start_file(path.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Writes into the manifest what its files are now, as someone who makes an export by hand would.
pub(crate) fn listed_anew(files: &mut Files) {
    let mut manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    let list = files.iter().filter(|(path, _)| *path != "manifest.json").map(|(path, content)| {
        let mut entry = serde_json::json!({ "path": path, "bytes": content.len(), "sha256": hex_digest(content) });
        if path.ends_with(".jsonl") {
            entry["records"] = content.iter().filter(|&&byte| byte == b'\n').count().into();
        }
        entry
    });
    manifest["files"] = list.collect::<Vec<_>>().into();
    files.insert("manifest.json".into(), serde_json::to_vec(&manifest).unwrap());
}

pub(crate) fn hex_digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Alice with something of everything, and her export.
pub(crate) async fn alice_with_everything(app: &TestApp) -> (Ctx, Vec<u8>) {
    let alice = person(app, "alice").await;
    fill(app, &alice, "alice").await;
    // Settings are read with each request.
    let alice = person(app, "alice").await;
    let archive = export(app.service(), &alice).await;
    (alice, archive)
}

/// Asserts that two exports are the same but for when they were made.
pub(crate) fn assert_same(one: &Files, other: &Files) {
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(one), names(other));
    for (path, content) in one {
        if path != "manifest.json" {
            let text = |files: &Files| String::from_utf8_lossy(&files[path]).into_owned();
            assert!(*content == other[path], "{path} differs:\n{}\n{}", text(one), text(other));
        }
    }
    let manifest = |files: &Files| {
        let mut manifest: serde_json::Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
        manifest["created_at"].take();
        manifest
    };
    assert_eq!(manifest(one), manifest(other));
}

/// How many records of a kind had each outcome.
pub(crate) fn count(report: &RestoreReport, kind: CountedKind) -> RestoreCount {
    report.counts.get(&kind).copied().unwrap_or_default()
}

/// Asserts that nothing was added, and that all was there.
pub(crate) fn assert_unchanged(report: &RestoreReport) {
    for (kind, count) in &report.counts {
        let RestoreCount { added, conflicting, broken, .. } = *count;
        assert_eq!((added, conflicting, broken), (0, 0, 0), "{kind:?}: {report:?}");
    }
    assert!(report.problems.is_empty(), "{report:?}");
}

/// Asserts that all was added.
pub(crate) fn assert_added(report: &RestoreReport) {
    for (kind, count) in &report.counts {
        assert_eq!((count.conflicting, count.broken), (0, 0), "{kind:?}: {report:?}");
    }
    assert!(report.added() > 0 && report.problems.is_empty(), "{report:?}");
}

/// Deletes all that a user has but the user, past all rules.
pub(crate) async fn erase(app: &TestApp, ctx: &Ctx) {
    let user = ctx.user.id;
    let database = app.database().await;
    let sql = format!(
        "delete from postings where namespace_id in (select id from namespaces where user_id = '{user}');
         delete from namespaces where user_id = '{user}';
         delete from app_calls where user_id = '{user}';
         delete from client_sightings where user_id = '{user}';
         delete from api_tokens where user_id = '{user}';
         delete from apps where user_id = '{user}';
         delete from exports where user_id = '{user}';
         update users set default_namespace = 'personal', time_zone = 'Europe/Berlin', language = null, theme = 'system'
             where id = '{user}';"
    );
    database.execute_unprepared(&sql).await.unwrap();
    let left = column(app, &format!("select id::text from memories where user_id = '{user}'")).await;
    assert!(left.is_empty());
}

/// Texts of a query's only column.
pub(crate) async fn column(app: &TestApp, sql: &str) -> Vec<String> {
    let database = app.database().await;
    let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Every row of every table that belongs to a user.
pub(crate) async fn rows_of(app: &TestApp, ctx: &Ctx) -> Vec<String> {
    let tables = column(
        app,
        "select table_name::text from information_schema.columns where table_schema = 'public' and column_name = 'user_id'",
    )
    .await;
    let mut rows = column(app, &format!("select u::text from users u where id = '{}'", ctx.user.id)).await;
    for table in tables {
        let sql = format!("select r::text from {table} r where user_id = '{}' order by 1", ctx.user.id);
        rows.extend(column(app, &sql).await);
    }
    rows
}
