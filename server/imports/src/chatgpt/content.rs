//! What a message of ChatGPT says: a type of content and, mostly, parts.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::marks;
use crate::{
    blocks,
    json::{id, is_true, list, object, text},
};

/// The blocks of a message.
pub(crate) fn blocks(role: &str, message: &Map<String, Value>) -> Vec<Value> {
    let Some(content) = message.get("content") else { return Vec::new() };
    // Only ever seen in files that went through other programs.
    if let Some(text) = content.as_str() {
        return vec![blocks::text(text)];
    }
    let Some(content) = content.as_object() else { return Vec::new() };
    let metadata = object(message, "metadata");
    let kind = text(content, "content_type").unwrap_or("text");
    let tool = object(message, "author").and_then(|author| text(author, "name"));
    let recipient = text(message, "recipient").filter(|recipient| *recipient != "all");

    if role == "tool"
        || matches!(
            kind,
            "execution_output" | "tether_browsing_display" | "tether_quote" | "sonic_webpage" | "system_error"
        )
    {
        let given_back = result(kind, content, metadata);
        return if given_back.is_empty() {
            Vec::new()
        } else {
            vec![blocks::tool_result(tool, Value::Array(given_back))]
        };
    }
    if metadata.is_some_and(|metadata| is_true(metadata, "is_visually_hidden_from_conversation")) {
        let said = said(kind, content, metadata);
        let is_blank = blocks::content(said.clone()).is_none();
        return if is_blank { Vec::new() } else { vec![blocks::hidden(kind, Value::Array(said))] };
    }
    match kind {
        "thoughts" => thoughts(content),
        "reasoning_recap" => vec![blocks::hidden(kind, content.get("content").cloned().unwrap_or_default())],
        "code" if role == "assistant" => call(recipient.unwrap_or("code"), content),
        _ if role == "assistant" && recipient.is_some() => call(recipient.unwrap_or_default(), content),
        _ if role == "assistant" && text(message, "channel") == Some("analysis") => {
            vec![blocks::thinking(texts(content).join("\n\n"))]
        }
        _ => said(kind, content, metadata),
    }
}

/// What is said, and the files that were given with it.
fn said(kind: &str, content: &Map<String, Value>, metadata: Option<&Map<String, Value>>) -> Vec<Value> {
    let mut said = Vec::new();
    let mut files = Files::of(metadata);
    let is_known = matches!(kind, "text" | "multimodal_text" | "code");
    match content.get("parts") {
        Some(Value::Array(parts)) => {
            for part in parts {
                match part {
                    Value::String(text) => said.push(blocks::text(marks::without(text))),
                    Value::Object(part) => said.extend(self::part(part, &mut files)),
                    _ => {}
                }
            }
        }
        Some(Value::String(text)) => said.push(blocks::text(marks::without(text))),
        _ => match text(content, "text") {
            Some(text) if is_known => said.push(blocks::text(marks::without(text))),
            _ if is_known || content.len() < 2 => {}
            // What is not known is kept, by a name under which it doesn't pass for something said.
            _ => said.push(blocks::hidden(kind, Value::Object(content.clone()))),
        },
    }
    said.extend(files.rest());
    said
}

/// A part that is not text.
fn part(part: &Map<String, Value>, files: &mut Files) -> Option<Value> {
    match text(part, "content_type").unwrap_or_default() {
        // What was spoken: there is no other text of it.
        "audio_transcription" => text(part, "text").map(|text| blocks::text(marks::without(text))),
        "" | "text" => text(part, "text").map(|text| blocks::text(marks::without(text))),
        "real_time_user_audio_video_asset_pointer" => {
            files.named(object(part, "audio_asset_pointer").and_then(pointer).or_else(|| pointer(part)))
        }
        _ if pointer(part).is_some() => files.named(pointer(part)),
        kind => Some(blocks::hidden(kind, Value::Object(part.clone()))),
    }
}

/// The id of a file: `file-service://file-AbC` and `sediment://file_00`.
fn pointer(part: &Map<String, Value>) -> Option<&str> {
    let pointer = text(part, "asset_pointer")?;
    Some(pointer.split_once("://").map_or(pointer, |(_, id)| id))
}

/// The files of a message: what is said names them by id, and beside it stands what they are called.
struct Files {
    known: Vec<Option<Value>>,
    places: HashMap<String, usize>,
}

impl Files {
    fn of(metadata: Option<&Map<String, Value>>) -> Self {
        let attachments = metadata.map(|metadata| list(metadata, "attachments")).unwrap_or_default();
        let (mut known, mut places) = (Vec::new(), HashMap::new());
        for file in attachments.iter().filter_map(Value::as_object) {
            let file_id = id(file, "id");
            places.extend(file_id.clone().map(|id| (id, known.len())));
            known.push(blocks::attachment(text(file, "name"), text(file, "mime_type"), file_id.as_deref(), None));
        }
        Self { known, places }
    }

    /// The file of this id, where it is named.
    fn named(&mut self, file_id: Option<&str>) -> Option<Value> {
        let file_id = file_id?;
        match self.places.get(file_id).and_then(|&place| self.known.get_mut(place)) {
            Some(block) => block.take(),
            None => blocks::attachment(None, None, Some(file_id), None),
        }
    }

    /// Those that were not named.
    fn rest(self) -> Vec<Value> {
        self.known.into_iter().flatten().collect()
    }
}

/// A call of a tool.
fn call(tool: &str, content: &Map<String, Value>) -> Vec<Value> {
    let text = texts(content).join("\n");
    if text.trim().is_empty() {
        return Vec::new();
    }
    let input = match serde_json::from_str::<Value>(&text) {
        Ok(input @ Value::Object(_)) => input,
        _ => match self::text(content, "language").filter(|language| *language != "unknown") {
            Some(language) => json!({"language": language, "text": text}),
            None => json!({"text": text}),
        },
    };
    vec![blocks::tool_use(None, tool, input)]
}

/// What a tool gave back: text, and what else there is.
fn result(kind: &str, content: &Map<String, Value>, metadata: Option<&Map<String, Value>>) -> Vec<Value> {
    match kind {
        "text" | "multimodal_text" => {
            blocks::content(said(kind, content, metadata)).map_or_else(Vec::new, |content| match content {
                crate::MessageContent::Text(text) => vec![blocks::text(text)],
                crate::MessageContent::Blocks(json) => blocks::parse(&json),
            })
        }
        _ => {
            let members = ["title", "url", "text", "result", "name", "summary"];
            let words: Vec<&str> = members.iter().filter_map(|name| text(content, name)).collect();
            let all = if words.is_empty() { texts(content).join("\n") } else { words.join("\n") };
            if all.trim().is_empty() { Vec::new() } else { vec![blocks::text(all)] }
        }
    }
}

fn thoughts(content: &Map<String, Value>) -> Vec<Value> {
    let thought = |thought: &Value| {
        let Some(members) = thought.as_object() else { return thought.as_str().map(blocks::thinking) };
        let parts: Vec<&str> = ["summary", "content"].iter().filter_map(|name| text(members, name)).collect();
        Some(blocks::thinking(parts.join("\n")))
    };
    list(content, "thoughts").iter().filter_map(thought).collect()
}

/// The texts of a content, of whatever type it is.
pub(crate) fn texts(content: &Map<String, Value>) -> Vec<&str> {
    let parts = list(content, "parts").iter().filter_map(|part| match part {
        Value::String(text) => Some(text.as_str()),
        Value::Object(part) => text(part, "text"),
        _ => None,
    });
    parts.chain(text(content, "text")).filter(|text| !text.is_empty()).collect()
}
