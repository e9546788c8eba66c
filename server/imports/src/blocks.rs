//! Content blocks of messages: the shape of Anthropic's, whoever wrote the export.
//!
//! | type | members | what it is |
//! | --- | --- | --- |
//! | `text` | `text`, `citations` | what is said |
//! | `attachment` | `name`, `media_type`, `file_id`, `text` | a file that was given with the message, with its words as far as they are known |
//! | `thinking` | `thinking` | what was thought aloud |
//! | `tool_use` | `id`, `name`, `input` | a call of a tool |
//! | `tool_result` | `tool_use_id`, `name`, `is_error`, `content`, `structured_content` | what a tool gave back |
//! | `hidden` | `kind`, `content` | what the product said behind the scenes: prompts it put in, context, counts |
//! | any other | as it came | what is not known here |

use serde_json::{Map, Value, json};

use crate::{Attachment, MessageContent};

pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

pub(crate) fn thinking(text: impl Into<String>) -> Value {
    json!({"type": "thinking", "thinking": text.into()})
}

pub(crate) fn hidden(kind: &str, content: Value) -> Value {
    json!({"type": "hidden", "kind": kind, "content": content})
}

pub(crate) fn tool_use(id: Option<&str>, name: &str, input: Value) -> Value {
    let mut block = Map::from_iter([("type".to_owned(), "tool_use".into())]);
    if let Some(id) = id {
        block.insert("id".to_owned(), id.into());
    }
    block.insert("name".to_owned(), name.into());
    block.insert("input".to_owned(), input);
    Value::Object(block)
}

pub(crate) fn tool_result(name: Option<&str>, content: Value) -> Value {
    let mut block = Map::from_iter([("type".to_owned(), "tool_result".into())]);
    if let Some(name) = name {
        block.insert("name".to_owned(), name.into());
    }
    block.insert("content".to_owned(), content);
    Value::Object(block)
}

/// A file that was given with a message; nothing where nothing is known of it.
pub(crate) fn attachment(
    name: Option<&str>,
    media_type: Option<&str>,
    file_id: Option<&str>,
    text: Option<&str>,
) -> Option<Value> {
    let members = [("name", name), ("media_type", media_type), ("file_id", file_id), ("text", text)];
    let known = |value: Option<&str>| value.filter(|value| !value.trim().is_empty()).map(Value::from);
    known(name).or(known(file_id)).or(known(text))?;
    let mut block = Map::from_iter([("type".to_owned(), "attachment".into())]);
    block.extend(members.into_iter().filter_map(|(member, value)| Some((member.to_owned(), known(value)?))));
    Some(Value::Object(block))
}

/// The content of a message: text where it is nothing but one, nothing where there is not a word or a file in it.
pub(crate) fn content(blocks: Vec<Value>) -> Option<MessageContent> {
    let blocks: Vec<Value> = blocks.into_iter().filter(|block| !is_blank(block)).collect();
    match blocks.as_slice() {
        [] => None,
        [Value::Object(block)] if kind(block) == "text" && block.len() == 2 => {
            Some(MessageContent::Text(block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()))
        }
        _ => Some(MessageContent::Blocks(Value::Array(blocks).to_string())),
    }
}

/// Whether there is anything in it but what the product said behind the scenes.
pub(crate) fn is_only_hidden(content: &MessageContent) -> bool {
    match content {
        MessageContent::Text(_) => false,
        MessageContent::Blocks(json) => parse(json)
            .iter()
            .all(|block| matches!(block, Value::Object(block) if matches!(kind(block), "hidden" | "token_budget"))),
    }
}

pub(crate) fn parse(json: &str) -> Vec<Value> {
    serde_json::from_str(json).unwrap_or_default()
}

pub(crate) fn said(blocks: &[Value]) -> String {
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(Value::as_object)
        .filter(|block| kind(block) == "text")
        .filter_map(|block| block.get("text").and_then(Value::as_str))
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n\n")
}

pub(crate) fn attachments(blocks: &[Value]) -> Vec<Attachment> {
    let member = |block: &Map<String, Value>, name| block.get(name).and_then(Value::as_str).map(str::to_owned);
    blocks
        .iter()
        .filter_map(Value::as_object)
        .filter(|block| kind(block) == "attachment")
        .map(|block| Attachment {
            name: member(block, "name").or_else(|| member(block, "file_id")).unwrap_or_default(),
            text: member(block, "text"),
        })
        .collect()
}

fn kind(block: &Map<String, Value>) -> &str {
    block.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn is_blank(block: &Value) -> bool {
    let is_blank_text = |block: &Map<String, Value>, name| {
        block.get(name).and_then(Value::as_str).is_none_or(|text| text.trim_matches(is_space).is_empty())
    };
    match block {
        Value::Object(block) => match kind(block) {
            "text" => is_blank_text(block, "text"),
            "thinking" => is_blank_text(block, "thinking"),
            _ => false,
        },
        _ => true,
    }
}

/// White space, and what is no more to be seen than it.
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\0' | '\u{200b}' | '\u{feff}')
}
