//! Finishing a conversation, whatever product it is of.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::{
    Artifact, Conversation, Message, Reason, Source, blocks,
    digest::{self, Digest},
    tree::Branches,
};

/// How long a title may be that is made here, in characters.
const TITLE: usize = 80;

/// What a product says of a conversation.
pub(crate) struct Draft {
    pub(crate) source: Source,
    pub(crate) source_id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) branches: Branches,
    pub(crate) model: Option<String>,
    pub(crate) metadata: Map<String, Value>,
    pub(crate) artifacts: Vec<Artifact>,
}

impl Draft {
    /// The conversation, with what the product doesn't say made from its messages.
    pub(crate) fn finish(self) -> Result<Conversation, Reason> {
        let Branches { current: mut messages, mut others, .. } = self.branches;
        let is_something = |message: &Message| message.role != "system" && !blocks::is_only_hidden(&message.content);
        if !messages.iter().any(is_something) {
            // The product's pointer may stand on a branch where nothing was said.
            let Some(place) = others.iter().position(|branch| branch.messages.iter().any(is_something)) else {
                return Err(Reason::NothingInIt);
            };
            messages.append(&mut others.remove(place).messages);
        }
        let times = || messages.iter().filter_map(|message| message.at);
        let created_at = self.created_at.or_else(|| times().min());
        let updated_at = self.updated_at.or_else(|| times().max()).or(created_at);
        let source_id = self.source_id.unwrap_or_else(|| made_id(created_at, &messages));
        let is_title_given = self.title.is_some();
        let mut conversation = Conversation {
            source: self.source,
            source_id,
            title: self.title.unwrap_or_else(|| made_title(&messages)),
            is_title_given,
            created_at,
            updated_at,
            messages,
            branches: others,
            model: self.model,
            metadata: self.metadata,
            artifacts: self.artifacts,
            digest: [0; 32],
        };
        conversation.digest = digest::of_conversation(&conversation);
        Ok(conversation)
    }
}

/// An id made from when and how a conversation begins: it is the same after it went on. Where it is not known when it began,
/// many begin alike, and only all of it tells them apart.
fn made_id(created_at: Option<Timestamp>, messages: &[Message]) -> String {
    let mut digest = Digest::default();
    let told_by = if created_at.is_some() { messages.get(..1).unwrap_or_default() } else { messages };
    digest.add(&created_at.map(|time| time.to_string()).unwrap_or_default());
    for message in told_by {
        digest.add_message(message);
    }
    format!("made-{}", digest.name())
}

/// The first words the user says.
fn made_title(messages: &[Message]) -> String {
    let said = messages.iter().filter(|message| message.role == "user").map(Message::said_text);
    said.map(|text| beginning(&text)).find(|title| !title.is_empty()).unwrap_or_default()
}

/// A title on one line.
pub(crate) fn title(text: &str) -> String {
    const MOST: usize = 2000;
    let text = text.get(..text.floor_char_boundary(MOST)).unwrap_or_default();
    text.split(blocks::is_space).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The first words of a text, on one line.
pub(crate) fn beginning(text: &str) -> String {
    let line = text.lines().map(title).find(|line| !line.is_empty()).unwrap_or_default();
    if line.chars().count() <= TITLE {
        return line;
    }
    let mut words: String = line.chars().take(TITLE).collect();
    // At the end of a word, unless the language has no spaces.
    if let Some((whole, rest)) = words.rsplit_once(' ')
        && rest.chars().count() < TITLE / 2
    {
        words = whole.to_owned();
    }
    words + "…"
}
