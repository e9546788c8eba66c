//! Documents that Claude wrote: calls of a tool, of which the last text has to be made by making all changes again.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    Artifact, Message, MessageContent, blocks, change,
    json::{id, text},
};

/// The documents of a branch, as they are at its end.
pub(crate) fn artifacts(messages: &[Message]) -> Vec<Artifact> {
    let mut documents = Documents { all: Vec::new(), places: HashMap::new(), patience: change::PATIENCE };
    for message in messages {
        let MessageContent::Blocks(json) = &message.content else { continue };
        for block in blocks::parse(json) {
            let Some(block) = block.as_object() else { continue };
            let is_call = block.get("type").and_then(Value::as_str) == Some("tool_use");
            if is_call
                && block.get("name").and_then(Value::as_str) == Some("artifacts")
                && let Some(input) = block.get("input").and_then(Value::as_object)
            {
                documents.apply(input);
            }
        }
    }
    documents.all
}

/// The documents so far.
struct Documents {
    all: Vec<Artifact>,
    places: HashMap<String, usize>,
    patience: usize,
}

impl Documents {
    fn apply(&mut self, input: &Map<String, Value>) {
        let name = id(input, "id").unwrap_or_default();
        let known = self.places.get(&name).and_then(|&place| self.all.get_mut(place));
        let member = |name| input.get(name).and_then(Value::as_str);
        let is_update = member("command") == Some("update");
        match (known, is_update, member("content")) {
            (Some(document), true, _) => match (member("old_str"), member("new_str")) {
                (Some(old), Some(new)) => change::replace(document, old, new, false, &mut self.patience),
                _ => document.is_complete = false,
            },
            // It was created where the export doesn't reach.
            (None, true, _) => {
                let content = member("new_str").unwrap_or_default().to_owned();
                self.push(Artifact { id: name, content, ..described(input) });
            }
            // `create`, `rewrite`, and what may come.
            (Some(document), false, Some(content)) => {
                let new = described(input);
                content.clone_into(&mut document.content);
                document.is_complete = true;
                document.title = new.title.or(document.title.take());
                document.kind = new.kind.or(document.kind.take());
                document.language = new.language.or(document.language.take());
            }
            (None, false, Some(content)) => {
                self.push(Artifact { id: name, content: content.to_owned(), is_complete: true, ..described(input) });
            }
            (Some(document), false, None) => document.is_complete = false,
            (None, false, None) => {}
        }
    }

    fn push(&mut self, document: Artifact) {
        self.places.insert(document.id.clone(), self.all.len());
        self.all.push(document);
    }
}

fn described(input: &Map<String, Value>) -> Artifact {
    let member = |name| text(input, name).map(str::to_owned);
    Artifact { title: member("title"), kind: member("type"), language: member("language"), ..Artifact::default() }
}
