//! What the tests have in common.

use std::{
    io::{Cursor, Write},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use polymnemo_imports::{Conversation, Input, Item, Limits, Memory, Message, OwnExport, Reason, Skipped};
use zip::{ZipWriter, write::SimpleFileOptions};

/// All that is found.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct All {
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) memories: Vec<Memory>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) own: Vec<OwnExport>,
}

impl All {
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        self.skipped.iter().map(|skipped| skipped.reason.clone()).collect()
    }

    pub(crate) fn titles(&self) -> Vec<&str> {
        self.conversations.iter().map(|conversation| conversation.title.as_str()).collect()
    }

    pub(crate) fn contents(&self) -> Vec<&str> {
        self.memories.iter().map(|memory| memory.content.as_str()).collect()
    }
}

pub(crate) fn read_within(paths: &[PathBuf], limits: Limits) -> All {
    let input = Input::open_within(paths, limits).expect("something to read");
    let mut all = All::default();
    let mut before = 0;
    let mut each = |found: polymnemo_imports::Found| {
        assert!(found.bytes_read >= before && found.bytes_read <= input.total_bytes(), "the progress goes forward");
        before = found.bytes_read;
        match found.item {
            Item::Conversation(conversation) => all.conversations.push(conversation),
            Item::Memory(memory) => all.memories.push(memory),
            Item::Skipped(skipped) => all.skipped.push(skipped),
            Item::OwnExport(own) => all.own.push(own),
        }
        ControlFlow::Continue(())
    };
    input.read(&mut each).expect("files that stay where they are");
    all
}

pub(crate) fn read(paths: &[PathBuf]) -> All {
    read_within(paths, Limits::default())
}

/// Writes files into a folder and reads it.
pub(crate) fn read_files(files: &[(&str, &[u8])]) -> All {
    let folder = folder(files);
    read(&[folder.path().to_owned()])
}

/// Reads a file of this name.
pub(crate) fn read_file(name: &str, content: impl AsRef<[u8]>) -> All {
    let folder = folder(&[(name, content.as_ref())]);
    read(&[folder.path().join(name)])
}

pub(crate) fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("imports").tempdir().expect("a folder");
    for (name, content) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, content).expect("a file");
    }
    folder
}

pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a file");
        zip.write_all(content).expect("its content");
    }
    zip.finish().expect("a zip").into_inner()
}

/// What a reader sees of a conversation: who says what, of those who speak.
pub(crate) fn seen(messages: &[Message]) -> Vec<(String, String)> {
    let speaks = |message: &&Message| {
        matches!(message.role.as_str(), "user" | "assistant")
            && (!message.said_text().is_empty() || !message.attachments().is_empty())
    };
    messages.iter().filter(speaks).map(|message| (message.role.clone(), message.said_text())).collect()
}

pub(crate) fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exports")
}

/// A conversation of Claude: its messages by id, parent, sender and text.
pub(crate) fn claude(id: &str, messages: &[(&str, &str, &str, &str)]) -> serde_json::Value {
    let message = |(number, (uuid, parent, sender, text)): (usize, &(&str, &str, &str, &str))| {
        serde_json::json!({
            "uuid": uuid, "parent_message_uuid": parent, "sender": sender, "text": text,
            "content": [{"type": "text", "text": text}], "created_at": format!("2026-02-03T08:15:{number:02}Z"),
        })
    };
    let messages: Vec<serde_json::Value> = messages.iter().enumerate().map(message).collect();
    serde_json::json!({"uuid": id, "name": format!("title of {id}"), "created_at": "2026-02-03T08:14:00Z",
        "updated_at": "2026-02-03T09:00:00Z", "chat_messages": messages})
}

/// A conversation with ChatGPT: nodes by id and parent with what the message is, without one where that is null.
pub(crate) fn chatgpt(id: &str, current: &str, nodes: &[(&str, Option<&str>, serde_json::Value)]) -> serde_json::Value {
    let node = |(name, parent, message): &(&str, Option<&str>, serde_json::Value)| {
        ((*name).to_owned(), serde_json::json!({"id": name, "parent": parent, "message": message}))
    };
    let mapping: serde_json::Map<String, serde_json::Value> = nodes.iter().map(node).collect();
    serde_json::json!({"title": format!("title of {id}"), "create_time": 1_767_583_930.5, "update_time": 1_767_583_990.5,
        "mapping": mapping, "current_node": current, "conversation_id": id})
}

/// A message of ChatGPT.
pub(crate) fn says(role: &str, text: &str) -> serde_json::Value {
    serde_json::json!({"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}})
}

/// Pairs of who says what.
pub(crate) fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
}
