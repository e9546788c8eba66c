//! Digests of items.

use sha2::{Digest as _, Sha256};

use crate::{Branch, Conversation, Memory, Message, MessageContent};

/// Makes a digest of parts, each with its length before it, so that no two rows of parts give the same.
#[derive(Default)]
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn add(&mut self, part: &str) -> &mut Self {
        self.0.update((part.len() as u64).to_be_bytes());
        self.0.update(part.as_bytes());
        self
    }

    pub(crate) fn add_all<'a>(&mut self, parts: impl IntoIterator<Item = &'a str>) -> &mut Self {
        parts.into_iter().for_each(|part| {
            self.add(part);
        });
        self.add("end")
    }

    fn add_time(&mut self, time: Option<jiff::Timestamp>) -> &mut Self {
        self.add(&time.map(|time| time.to_string()).unwrap_or_default())
    }

    fn add_messages(&mut self, messages: &[Message]) -> &mut Self {
        self.add(&messages.len().to_string());
        for message in messages {
            self.add_message(message);
        }
        self
    }

    pub(crate) fn add_message(&mut self, message: &Message) -> &mut Self {
        let (format, content) = match &message.content {
            MessageContent::Text(text) => ("text", text),
            MessageContent::Blocks(json) => ("blocks", json),
        };
        self.add_all([message.id.as_deref().unwrap_or_default(), &message.role, format, content]).add_time(message.at)
    }

    pub(crate) fn finish(&self) -> [u8; 32] {
        self.0.clone().finalize().into()
    }

    /// The first half of it, to be read.
    pub(crate) fn name(&self) -> String {
        let mut name = hex::encode(self.finish());
        name.truncate(32);
        name
    }
}

/// Of what matters of a conversation. When it was last changed does not: products move that time without a change.
pub(crate) fn of_conversation(conversation: &Conversation) -> [u8; 32] {
    let mut digest = Digest::default();
    digest
        .add(conversation.source.as_str())
        .add(&conversation.source_id)
        .add(&conversation.title)
        .add_time(conversation.created_at)
        .add_messages(&conversation.messages);
    for Branch { off, is_sidechain, messages } in &conversation.branches {
        let kind = if *is_sidechain { "sidechain" } else { "branch" };
        digest.add_all([kind, off.as_deref().unwrap_or_default()]).add_messages(messages);
    }
    digest.add(conversation.model.as_deref().unwrap_or_default());
    digest.add(&serde_json::Value::Object(conversation.metadata.clone()).to_string());
    for artifact in &conversation.artifacts {
        digest.add_all([
            &*artifact.id,
            artifact.title.as_deref().unwrap_or_default(),
            artifact.kind.as_deref().unwrap_or_default(),
            artifact.language.as_deref().unwrap_or_default(),
            &artifact.content,
        ]);
    }
    digest.finish()
}

/// Of what matters of a memory. When it was stored or changed does not.
pub(crate) fn of_memory(memory: &Memory) -> [u8; 32] {
    let mut digest = Digest::default();
    digest
        .add_all([memory.source.as_str(), &memory.source_id, &memory.content])
        .add_all(memory.tags.iter().map(String::as_str))
        .add_time(memory.occurred_at)
        .add_all(
            [&memory.title, &memory.path, &memory.namespace_hint].map(|member| member.as_deref().unwrap_or_default()),
        );
    digest.finish()
}
