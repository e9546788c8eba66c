//! Conversations with ChatGPT.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{canvas, content, memories};
use crate::{
    Conversation, Message, Reason, Source, blocks,
    conversation::{Draft, title},
    json::{id, is_true, list, object, text},
    memory,
    times::time,
    tree::{self, Node},
};

/// A conversation of the export, and what is remembered in it.
pub(crate) fn conversation(row: &Map<String, Value>) -> (Result<Conversation, Reason>, Vec<memory::Draft>) {
    let mapping = match row.get("mapping") {
        Some(Value::Object(mapping)) => mapping,
        None | Some(Value::Null) => return (Err(Reason::NothingInIt), Vec::new()),
        Some(_) => return (Err(Reason::Broken("mapping is not an object".to_owned())), Vec::new()),
    };
    // Mostly both sides name each other; since 2026 only the child names its parent.
    let mut parents: HashMap<&str, &str> = HashMap::new();
    for (name, node) in mapping {
        for child in node.as_object().map(|node| list(node, "children")).unwrap_or_default() {
            if let Some(child) = child.as_str() {
                parents.insert(child, name);
            }
        }
    }
    let mut remembered = memories::Found::default();
    let nodes: Vec<Node> = mapping
        .iter()
        .map(|(name, node)| {
            let node = node.as_object();
            let message = node.and_then(|node| object(node, "message"));
            let given = node.and_then(|node| id(node, "parent"));
            let is_memory = message.is_some_and(|message| remembered.take(message));
            Node {
                id: name.clone(),
                parent: given.or_else(|| parents.get(name.as_str()).map(|&parent| parent.to_owned())),
                at: message.and_then(|message| time(message.get("create_time"))),
                message: message.filter(|_| !is_memory).and_then(|message| self::message(name, message)),
            }
        })
        .collect();
    let leaf = id(row, "current_node");
    let branches = tree::branches(nodes, leaf.as_deref());

    let on_path = || {
        let node = |name: &String| object(mapping.get(name)?.as_object()?, "message");
        branches.path.iter().filter_map(node)
    };
    let used = on_path()
        .rev()
        .find_map(|message| text(object(message, "metadata")?, "model_slug"))
        .or_else(|| text(row, "default_model_slug").filter(|model| *model != "auto"));
    let draft = Draft {
        source: Source::ChatGpt,
        source_id: id(row, "conversation_id").or_else(|| id(row, "id")),
        title: text(row, "title").map(title),
        created_at: time(row.get("create_time")),
        updated_at: time(row.get("update_time")),
        model: used.map(str::to_owned),
        metadata: metadata(row, remembered.instructions.as_deref()),
        artifacts: canvas::documents(on_path()),
        branches,
    };
    (draft.finish(), remembered.memories)
}

fn metadata(row: &Map<String, Value>, instructions: Option<&str>) -> Map<String, Value> {
    let mut metadata = Map::new();
    // Only ids are given, of projects and of GPTs in the same member.
    let gizmos = [id(row, "gizmo_id"), id(row, "conversation_template_id")];
    for gizmo in gizmos.into_iter().flatten() {
        let name = if gizmo.starts_with("g-p-") { "project" } else { "gpt" };
        metadata.entry(name).or_insert_with(|| gizmo.into());
    }
    metadata.extend(is_true(row, "is_archived").then(|| ("archived".to_owned(), true.into())));
    metadata.extend(is_true(row, "is_starred").then(|| ("starred".to_owned(), true.into())));
    metadata.extend(instructions.map(|instructions| ("instructions".to_owned(), instructions.into())));
    metadata
}

fn message(name: &str, message: &Map<String, Value>) -> Option<Message> {
    let author = object(message, "author");
    let role = match author.and_then(|author| text(author, "role")) {
        Some("user") => "user",
        Some("system" | "developer") => "system",
        Some("tool" | "function") => "tool",
        _ => "assistant",
    };
    let content = blocks::content(content::blocks(role, message))?;
    // Empty ones and those that are never shown: they only hold a place.
    if role == "system" && blocks::is_only_hidden(&content) {
        return None;
    }
    let at = time(message.get("create_time"));
    Some(Message { id: id(message, "id").or_else(|| Some(name.to_owned())), role: role.to_owned(), at, content })
}
