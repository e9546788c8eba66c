//! Projects of Claude: instructions and documents.

use serde_json::{Map, Value};

use crate::{
    MemoryKind, Source,
    json::{id, list, text},
    memory::Draft,
    paths,
    times::time,
};

/// What is written in a project.
pub(crate) fn project(row: &Map<String, Value>) -> Vec<Draft> {
    let name = text(row, "name").map(crate::conversation::title);
    let project = id(row, "uuid").or_else(|| name.clone()).unwrap_or_default();
    let draft = |source_id: String, kind: MemoryKind, content: &str| {
        let mut memory = Draft::new(Source::Claude, source_id, content);
        memory.kind = kind;
        memory.tags = name.iter().cloned().collect();
        memory.namespace_hint = name.clone();
        memory
    };
    let instructions: Vec<&str> =
        [text(row, "description"), text(row, "prompt_template")].into_iter().flatten().collect();
    let mut memories = Vec::new();
    if !instructions.is_empty() {
        let mut memory =
            draft(format!("project/{project}"), MemoryKind::ProjectInstructions, &instructions.join("\n\n"));
        memory.title = name.clone();
        memory.created_at = time(row.get("created_at"));
        memory.updated_at = time(row.get("updated_at"));
        memories.push(memory);
    }
    for (number, document) in list(row, "docs").iter().filter_map(Value::as_object).enumerate() {
        let file = text(document, "filename");
        let document_id =
            id(document, "uuid").or_else(|| file.map(str::to_owned)).unwrap_or_else(|| number.to_string());
        let content = document.get("content").and_then(Value::as_str).unwrap_or_default();
        let mut memory = draft(format!("project/{project}/{document_id}"), MemoryKind::ProjectDocument, content);
        memory.path = file.map(paths::shown);
        memory.title = file.map(str::to_owned);
        memory.created_at = time(document.get("created_at"));
        memory.updated_at = time(document.get("updated_at"));
        memories.push(memory);
    }
    memories.retain(|memory| !memory.is_blank());
    memories
}
