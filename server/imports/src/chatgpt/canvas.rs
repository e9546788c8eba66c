//! Documents that ChatGPT wrote beside a conversation: calls of a tool with JSON in their text.

use serde_json::{Map, Value};

use super::content;
use crate::{
    Artifact,
    json::{list, object, text},
};

/// The documents of a branch, as they are at its end.
pub(crate) fn documents<'a>(messages: impl Iterator<Item = &'a Map<String, Value>>) -> Vec<Artifact> {
    let mut documents: Vec<Artifact> = Vec::new();
    let mut patience = crate::change::PATIENCE;
    for message in messages {
        let Some(command) = text(message, "recipient").and_then(|recipient| recipient.strip_prefix("canmore.")) else {
            continue;
        };
        let texts = object(message, "content").map(content::texts).unwrap_or_default();
        let Ok(Value::Object(call)) = serde_json::from_str::<Value>(&texts.join("\n")) else { continue };
        match command {
            "create_textdoc" => documents.push(created(&call, documents.len())),
            // An update names no document: it is of the last one.
            "update_textdoc" => {
                if let Some(document) = documents.last_mut() {
                    update(&call, document, &mut patience);
                }
            }
            _ => {}
        }
    }
    documents
}

fn created(call: &Map<String, Value>, number: usize) -> Artifact {
    let name = text(call, "name").map(str::to_owned);
    let kind = text(call, "type");
    Artifact {
        id: name.clone().unwrap_or_else(|| format!("document-{}", number + 1)),
        title: name,
        kind: kind.map(str::to_owned),
        language: kind.and_then(|kind| kind.strip_prefix("code/")).map(str::to_owned),
        content: call.get("content").and_then(Value::as_str).unwrap_or_default().to_owned(),
        is_complete: true,
    }
}

/// Makes changes again. Each is a regular expression of Python; those that mean all of the text, or that text as it stands, can
/// be made here.
fn update(call: &Map<String, Value>, document: &mut Artifact, patience: &mut usize) {
    for change in list(call, "updates").iter().filter_map(Value::as_object) {
        let (Some(pattern), Some(replacement)) =
            (text(change, "pattern"), change.get("replacement").and_then(Value::as_str))
        else {
            document.is_complete = false;
            continue;
        };
        if matches!(pattern, ".*" | "(?s).*" | "(?s:.*)" | "[\\s\\S]*" | "^.*$") {
            replacement.clone_into(&mut document.content);
            continue;
        }
        let is_all = change.get("multiple") == Some(&Value::Bool(true));
        match literal(pattern) {
            Some(literal) => crate::change::replace(document, &literal, replacement, is_all, patience),
            None => document.is_complete = false,
        }
    }
}

/// The text that a pattern means, if it means only one.
fn literal(pattern: &str) -> Option<String> {
    let mut literal = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next()? {
                'n' => literal.push('\n'),
                't' => literal.push('\t'),
                escaped if !escaped.is_alphanumeric() => literal.push(escaped),
                _ => return None,
            },
            '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => return None,
            // A dot without an escape is meant as one, by whoever finds that very text.
            character => literal.push(character),
        }
    }
    Some(literal)
}
