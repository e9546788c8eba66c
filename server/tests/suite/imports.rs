//! Stories of imports: what other products know of a person comes in once, and can be taken back.

mod again;
mod coming_in;
mod interrupted;
mod own;
mod taken_back;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use polymnemo_imports::Input;
use polymnemo_memory::{Ctx, MemoryService, Result};
use polymnemo_types::{
    Import, ImportLine, ImportOptions, ImportOutcome, ImportPlan, ImportState, ListRequest, ListSessionsRequest,
    LoadSessionRequest, Memory, Session,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The hand-made exports.
fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("imports/tests/exports").join(name)
}

/// A file of this content in a folder of its own.
fn file(name: &str, content: &Value) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content.to_string()).unwrap();
    (folder, path)
}

/// A conversation as Claude exports it, with so many messages.
fn claude(id: &str, name: &str, messages: usize) -> Value {
    let messages: Vec<Value> = (0..messages)
        .map(|number| {
            let sender = if number % 2 == 0 { "human" } else { "assistant" };
            let text = format!("Message {number} of {name}.");
            json!({
                "uuid": format!("{id}-m{number}"), "sender": sender, "text": text,
                "content": [{ "type": "text", "text": text }],
                "created_at": format!("2026-03-01T10:{:02}:{:02}Z", number / 60 % 60, number % 60),
            })
        })
        .collect();
    json!({
        "uuid": id, "name": name, "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T11:00:00Z",
        "account": { "uuid": "account" }, "chat_messages": messages,
    })
}

async fn plan(service: &MemoryService, ctx: &Ctx, paths: &[PathBuf], options: &ImportOptions) -> ImportPlan {
    let input = Arc::new(Input::open(paths).unwrap());
    service.plan_import(ctx, input, options, &mut |_, _| {}).await.unwrap()
}

async fn import_with(service: &MemoryService, ctx: &Ctx, paths: &[PathBuf], options: ImportOptions) -> Result<Import> {
    let input = Arc::new(Input::open(paths).unwrap());
    let files = paths.iter().map(|path| path.display().to_string()).collect();
    service.import_here(ctx, input, files, options, ImportPlan::default(), &mut |_, _| {}).await
}

async fn import(service: &MemoryService, ctx: &Ctx, paths: &[PathBuf]) -> Import {
    import_with(service, ctx, paths, ImportOptions::default()).await.unwrap()
}

/// Takes an import back, in this process or wherever it is worked on.
async fn undo(service: &MemoryService, ctx: &Ctx, import: &Import) -> Import {
    service.undo_import(ctx, import.id).await.unwrap();
    loop {
        service.work_on_imports().await.unwrap();
        let import = service.import(ctx, import.id).await.unwrap();
        if import.state == ImportState::Undone {
            return import;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

fn counts(import: &Import, outcomes: &[ImportOutcome]) -> Vec<u64> {
    outcomes.iter().map(|&outcome| import.count(outcome)).collect()
}

async fn lines(service: &MemoryService, ctx: &Ctx, import: &Import, outcome: ImportOutcome) -> Vec<ImportLine> {
    service.import_lines(ctx, import.id, &[outcome], None, Some(50)).await.unwrap().items
}

async fn sessions(service: &MemoryService, ctx: &Ctx) -> Vec<Session> {
    let request = ListSessionsRequest { limit: Some(50), ..ListSessionsRequest::default() };
    service.list_sessions(ctx, request).await.unwrap().items
}

async fn memories(service: &MemoryService, ctx: &Ctx) -> Vec<Memory> {
    let request = ListRequest { kind: Some(polymnemo_types::Kind::Memory), limit: Some(50), ..ListRequest::default() };
    service.list_memories(ctx, request).await.unwrap().items
}

/// What was said in a session: who, when, what.
async fn said(service: &MemoryService, ctx: &Ctx, name: &str) -> Vec<(String, String)> {
    let request = LoadSessionRequest { session_id: name.into(), page: Some(1), page_size: Some(50), message: None };
    let page = service.load_session(ctx, request).await.unwrap();
    page.parts.into_iter().map(|part| (part.role, part.content)).collect()
}
