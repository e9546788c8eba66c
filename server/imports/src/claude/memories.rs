//! What Claude remembers.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    Source,
    json::{id, list, object, text},
    memory::Draft,
    paths,
    times::time,
};

/// The memories of an account: one text of all conversations, one per project, and since 2026 files.
pub(crate) fn memories(row: &Map<String, Value>) -> Vec<Draft> {
    let account = id(row, "account_uuid").unwrap_or_default();
    let name = |rest: &str| format!("{account}/{rest}");
    let mut memories = Vec::new();
    if let Some(content) = text(row, "conversations_memory") {
        let mut memory = Draft::new(Source::Claude, name("conversations_memory"), content);
        memory.title = Some("What Claude remembers".to_owned());
        memories.push(memory);
    }
    for (project, content) in object(row, "project_memories").into_iter().flatten() {
        let mut memory = Draft::new(Source::Claude, name(&format!("project_memories/{project}")), words(content));
        memory.title = Some("What Claude remembers of a project".to_owned());
        memory.namespace_hint = Some(project.clone());
        memories.push(memory);
    }
    // A path can come several times, with what was in the file at different times.
    let mut times_named: HashMap<String, usize> = HashMap::new();
    for file in list(row, "memory_files").iter().filter_map(Value::as_object) {
        let given = text(file, "path").unwrap_or_default();
        let count = times_named.entry(given.to_owned()).and_modify(|count| *count += 1).or_insert(1);
        let number = if *count == 1 { String::new() } else { format!("#version-{count}") };
        let content = file.get("content").map(words).unwrap_or_default();
        let mut memory = Draft::new(Source::Claude, name(&format!("memory_files/{given}{number}")), content);
        memory.updated_at = time(file.get("updated_at"));
        memory.created_at = time(file.get("created_at")).or(memory.updated_at);
        memory.path = Some(paths::shown(given)).filter(|path| !path.is_empty());
        memory.title = memory.path.as_deref().map(|path| paths::stem(path).to_owned());
        memories.push(memory);
    }
    memories.retain(|memory| !memory.is_blank());
    memories
}

/// The words of a value: some were objects with a text in them.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(members) => {
            ["content", "memory", "text"].iter().find_map(|name| text(members, name)).unwrap_or_default().to_owned()
        }
        Value::Array(parts) => parts.iter().map(words).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}
