//! Conversations with Claude.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::artifacts;
use crate::{
    Conversation, Message, Reason, Source, blocks,
    conversation::{Draft, title},
    json::{id, is_true, list, object, text},
    times::time,
    tree::{self, Node},
};

/// The parent of the first message.
const NO_PARENT: &str = "00000000-0000-4000-8000-000000000000";

/// What stands in the text of a message where a tool ran.
const FILLER: &str = "block is not supported on your current device";

/// Members of a block that say nothing that is kept.
const NOISE: [&str; 3] = ["start_timestamp", "stop_timestamp", "flags"];

/// A conversation of the export or of a browser extension.
pub(crate) fn conversation(row: &Map<String, Value>) -> Result<Conversation, Reason> {
    let rows = match row.get("chat_messages") {
        Some(Value::Array(rows)) => rows.as_slice(),
        None | Some(Value::Null) => return Err(Reason::NothingInIt),
        Some(_) => return Err(Reason::Broken("chat_messages is not a list".to_owned())),
    };
    let messages: Vec<&Map<String, Value>> = rows.iter().filter_map(Value::as_object).collect();
    // Older exports name no parents, and then their order is the order.
    let is_tree = messages.iter().any(|message| id(message, "parent_message_uuid").is_some());
    let mut before = None;
    let nodes = messages
        .iter()
        .enumerate()
        .map(|(number, message)| {
            let name = id(message, "uuid").unwrap_or_else(|| format!("message {number}"));
            let given = id(message, "parent_message_uuid").filter(|parent| parent != NO_PARENT);
            let parent = if is_tree { given } else { before.clone() };
            before = Some(name.clone());
            Node { id: name, parent, at: time(message.get("created_at")), message: self::message(message) }
        })
        .collect();
    let leaf = id(row, "current_leaf_message_uuid");
    let branches = tree::branches(nodes, leaf.as_deref());

    let mut metadata = Map::new();
    let project = object(row, "project");
    let project_id = id(row, "project_uuid").or_else(|| id(project?, "uuid"));
    metadata.extend(project_id.map(|id| ("project".to_owned(), id.into())));
    metadata
        .extend(project.and_then(|project| text(project, "name")).map(|name| ("project_name".to_owned(), name.into())));
    metadata.extend(text(row, "summary").map(|summary| ("summary".to_owned(), summary.into())));
    metadata.extend(is_true(row, "is_starred").then(|| ("starred".to_owned(), true.into())));

    Draft {
        source: Source::Claude,
        source_id: id(row, "uuid"),
        title: text(row, "name").map(title),
        created_at: time(row.get("created_at")),
        updated_at: time(row.get("updated_at")),
        artifacts: artifacts::artifacts(&branches.current),
        branches,
        model: id(row, "model"),
        metadata,
    }
    .finish()
}

fn message(row: &Map<String, Value>) -> Option<Message> {
    let role = match row.get("sender").or_else(|| row.get("role")).and_then(Value::as_str) {
        Some("human" | "user") => "user",
        Some("system") => "system",
        Some("tool") => "tool",
        _ => "assistant",
    };
    let mut blocks: Vec<Value> = match row.get("content") {
        Some(Value::Array(blocks)) => blocks.iter().filter_map(block).collect(),
        Some(Value::String(text)) => vec![blocks::text(without_filler(text))],
        _ => Vec::new(),
    };
    // The blocks are what was said. The text beside them is the same again with filler and thinking in it, and all there is
    // in older exports and in some turns of people.
    let is_said = !blocks::said(&blocks).trim().is_empty();
    if !is_said
        && (blocks.is_empty() || role == "user")
        && let Some(text) = text(row, "text")
    {
        blocks.push(blocks::text(without_filler(text)));
    }
    blocks.extend(files(row));
    let content = blocks::content(blocks)?;
    Some(Message { id: id(row, "uuid"), role: role.to_owned(), at: time(row.get("created_at")), content })
}

fn block(block: &Value) -> Option<Value> {
    let block = match block {
        Value::Object(block) => block,
        Value::String(text) => return Some(blocks::text(text.as_str())),
        _ => return None,
    };
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "text" | "" => {
            let text = block.get("text").and_then(Value::as_str)?;
            let mut said =
                Map::from_iter([("type".to_owned(), "text".into()), ("text".to_owned(), without_filler(text).into())]);
            let citations = list(block, "citations");
            if !citations.is_empty() {
                said.insert("citations".to_owned(), citations.into());
            }
            Some(Value::Object(said))
        }
        "thinking" => {
            let summaries = || {
                let summaries: Vec<&str> = list(block, "summaries")
                    .iter()
                    .filter_map(|summary| text(summary.as_object()?, "summary"))
                    .collect();
                summaries.join("\n")
            };
            Some(blocks::thinking(text(block, "thinking").map_or_else(summaries, str::to_owned)))
        }
        // How much room was left says nothing to anyone.
        "token_budget" => None,
        "injected_prompt_block" => Some(blocks::hidden(kind, kept(block, &["type"]))),
        "tool_use" => {
            Some(kept(block, &["message", "display_content", "icon_name", "approval_options", "approval_key"]))
        }
        "tool_result" => Some(kept(block, &["message", "display_content", "icon_name"])),
        // What is not known is kept as it is; but by no name under which it would pass for something said.
        "message" | "refusal" | "input_text" | "output_text" | "attachment" | "hidden" => {
            Some(blocks::hidden(kind, kept(block, &["type"])))
        }
        _ => Some(kept(block, &[])),
    }
}

/// A block without what is null, says nothing or is called so.
fn kept(block: &Map<String, Value>, without: &[&str]) -> Value {
    let is_kept = |name: &str, value: &Value| {
        !value.is_null() && value != &Value::Bool(false) && !NOISE.contains(&name) && !without.contains(&name)
    };
    block
        .iter()
        .filter(|(name, value)| is_kept(name, value))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A text without the lines that stand for blocks of tools, and the fences around them.
fn without_filler(text: &str) -> String {
    if !text.contains(FILLER) {
        return text.to_owned();
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_fence = |line: Option<&&str>| line.is_some_and(|line| line.trim() == "```");
    let mut is_left_out = vec![false; lines.len()];
    for (place, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(FILLER)) {
        let before = place.checked_sub(1);
        let is_fenced = is_fence(before.and_then(|before| lines.get(before))) && is_fence(lines.get(place + 1));
        // A sentence about it is no filler.
        let is_filler =
            is_fenced || line.trim().trim_end_matches(['.', ' ']).trim_end_matches(" yet").ends_with(FILLER);
        let left_out = if is_fenced { before.unwrap_or(place)..=place + 1 } else { place..=place };
        if let Some(marks) = is_left_out.get_mut(left_out).filter(|_| is_filler) {
            marks.fill(true);
        }
    }
    lines.iter().zip(is_left_out).filter(|(_, is_left_out)| !is_left_out).map(|(line, _)| *line).collect()
}

/// The files that were given with a message: with their words, where the export has them, else their names.
fn files(row: &Map<String, Value>) -> Vec<Value> {
    let mut names: HashSet<&str> = HashSet::new();
    let mut files = Vec::new();
    for file in list(row, "attachments").iter().filter_map(Value::as_object) {
        let name = text(file, "file_name");
        names.extend(name);
        let file_id = id(file, "id");
        files.extend(blocks::attachment(
            name,
            text(file, "file_type"),
            file_id.as_deref(),
            text(file, "extracted_content"),
        ));
    }
    for member in ["files", "files_v2"] {
        for file in list(row, member).iter().filter_map(Value::as_object) {
            let name = text(file, "file_name");
            if name.is_some_and(|name| names.contains(name)) {
                continue;
            }
            names.extend(name);
            let file_id = id(file, "file_uuid");
            files.extend(blocks::attachment(name, text(file, "file_kind"), file_id.as_deref(), None));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_is_left_out_and_sentences_about_it_are_not() {
        let fenced = "I look.\n```\nThis block is not supported on your current device yet.\n```\nDone.";
        assert_eq!(without_filler(fenced), "I look.\nDone.");
        assert_eq!(without_filler("This block is not supported on your current device yet."), "");
        let about = "It says \"block is not supported on your current device\" and I don't know why.";
        assert_eq!(without_filler(about), about);
        assert_eq!(without_filler("```\ncode\n```"), "```\ncode\n```");
    }
}
