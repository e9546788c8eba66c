//! What is found, as it is to be written.

use polymnemo_imports::{Branch, Conversation, Item, Memory, Message, MessageContent, Source};
use polymnemo_types::{MessageContent as Content, NewMessage, limits};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::ports::SourceKey;

/// One thing to be written, or a reason to leave something out.
pub(super) enum Unit {
    Session(Session),
    Memory(Text),
    Skipped(Skipped),
}

/// A conversation, or what is on another branch of one.
pub(super) struct Session {
    pub(super) key: SourceKey,
    pub(super) digest: Vec<u8>,
    pub(super) title: String,
    pub(super) tags: Vec<String>,
    /// A JSON object.
    pub(super) metadata: String,
    pub(super) messages: Vec<NewMessage>,
    /// The characters that will be searched by meaning.
    pub(super) said: u64,
}

/// A memory.
pub(super) struct Text {
    pub(super) key: SourceKey,
    pub(super) digest: Vec<u8>,
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    pub(super) occurred_at: Option<jiff::Timestamp>,
}

/// Something that is left out.
pub(super) struct Skipped {
    /// The file, and what of it.
    pub(super) place: String,
    pub(super) label: Option<String>,
    pub(super) reason: String,
}

impl Unit {
    pub(super) fn key(&self) -> Option<&SourceKey> {
        match self {
            Self::Session(session) => Some(&session.key),
            Self::Memory(text) => Some(&text.key),
            Self::Skipped(_) => None,
        }
    }

    pub(super) fn digest(&self) -> &[u8] {
        match self {
            Self::Session(session) => &session.digest,
            Self::Memory(text) => &text.digest,
            Self::Skipped(_) => &[],
        }
    }
}

/// The label of sessions with what is not on the current branch of a conversation.
const BRANCH: &str = "branch";
/// The label of sessions in which another agent spoke.
const SUBTASK: &str = "subtask";
/// The label of documents that were written in a conversation.
const ARTIFACT: &str = "artifact";

/// What is to be written of an item: a conversation with its branches and the documents that were written in it, or one
/// memory.
pub(super) fn units(item: Item) -> Vec<Unit> {
    match item {
        Item::Conversation(conversation) => of_conversation(conversation),
        Item::Memory(memory) => vec![Unit::Memory(text(memory))],
        Item::Skipped(skipped) => vec![Unit::Skipped(Skipped {
            place: skipped.file,
            label: skipped.item,
            reason: skipped.reason.to_string(),
        })],
        // It has a way of its own.
        Item::OwnExport(_) => Vec::new(),
    }
}

fn of_conversation(conversation: Conversation) -> Vec<Unit> {
    let source = conversation.source;
    let id = conversation.source_id;
    let mut metadata = conversation.metadata;
    metadata.insert("source".to_owned(), source.as_str().into());
    metadata.insert("source_id".to_owned(), id.clone().into());
    if let Some(model) = conversation.model {
        metadata.insert("model".to_owned(), model.into());
    }
    let branches = conversation.branches;
    if !branches.is_empty() {
        metadata.insert("branches".to_owned(), branches.len().into());
    }
    let title = short(&conversation.title, limits::TITLE_CHARS);
    let mut units = vec![Unit::Session(session(
        key(source, &id),
        conversation.digest.to_vec(),
        title.clone(),
        Vec::new(),
        metadata,
        conversation.messages,
    ))];
    for (number, branch) in branches.into_iter().enumerate() {
        units.push(Unit::Session(of_branch(source, &id, &title, number, branch)));
    }
    for artifact in conversation.artifacts {
        let name = artifact.title.clone().unwrap_or_else(|| artifact.id.clone());
        let content = titled(Some(&name), artifact.content);
        if content.trim().is_empty() {
            continue;
        }
        units.extend(parts(&content).into_iter().enumerate().map(|(part, content)| {
            Unit::Memory(Text {
                key: key(source, &format!("{id}/artifact/{}/{part}", artifact.id)),
                digest: Sha256::digest(content.as_bytes()).to_vec(),
                content,
                tags: vec![ARTIFACT.to_owned()],
                occurred_at: conversation.updated_at.or(conversation.created_at),
            })
        }));
    }
    units
}

fn of_branch(source: Source, id: &str, title: &str, number: usize, branch: Branch) -> Session {
    let first = branch.messages.iter().find_map(|message| message.id.clone());
    let own_id = format!("{id}#{}", first.unwrap_or_else(|| number.to_string()));
    let mut metadata = Map::from_iter([
        ("source".to_owned(), source.as_str().into()),
        ("source_id".to_owned(), Value::from(own_id.clone())),
        ("branch_of".to_owned(), id.into()),
    ]);
    if let Some(off) = branch.off {
        metadata.insert("branches_off_at".to_owned(), off.into());
    }
    let tag = if branch.is_sidechain { SUBTASK } else { BRANCH };
    let mut digest = Sha256::new();
    for message in &branch.messages {
        digest.update(&message.role);
        digest.update(match &message.content {
            MessageContent::Text(text) | MessageContent::Blocks(text) => text,
        });
        digest.update([0]);
    }
    let digest = digest.finalize().to_vec();
    session(key(source, &own_id), digest, title.to_owned(), vec![tag.to_owned()], metadata, branch.messages)
}

fn session(
    key: SourceKey,
    digest: Vec<u8>,
    title: String,
    tags: Vec<String>,
    mut metadata: Map<String, Value>,
    messages: Vec<Message>,
) -> Session {
    let said = messages.iter().map(|message| message.said_text().chars().count() as u64).sum();
    // What is longest is least likely to matter.
    while serde_json::to_string(&metadata).map_or(0, |json| json.len()) > limits::METADATA_BYTES {
        let longest = metadata.iter().max_by_key(|(_, value)| value.to_string().len()).map(|(name, _)| name.clone());
        let Some(longest) = longest else { break };
        metadata.remove(&longest);
    }
    let messages = messages.into_iter().map(message).collect();
    Session { key, digest, title, tags, metadata: Value::Object(metadata).to_string(), messages, said }
}

fn message(message: Message) -> NewMessage {
    let id = message.id.map(|id| short(&id, limits::SESSION_ID_CHARS)).filter(|id| !id.is_empty());
    NewMessage {
        role: short(&message.role, limits::ROLE_CHARS),
        content: match message.content {
            MessageContent::Text(text) => Content::Text(text),
            MessageContent::Blocks(json) => Content::Blocks(json),
        },
        at: message.at.map(|at| at.to_string()),
        id,
    }
}

fn text(memory: Memory) -> Text {
    let mut tags: Vec<String> = Vec::new();
    for tag in memory.tags {
        let tag = short(&tag, limits::TAG_CHARS).to_lowercase();
        if !tag.is_empty() && !tags.contains(&tag) && tags.len() < limits::TAGS {
            tags.push(tag);
        }
    }
    Text {
        key: key(memory.source, &memory.source_id),
        digest: memory.digest.to_vec(),
        content: titled(memory.title.as_deref(), memory.content),
        tags,
        occurred_at: memory.occurred_at.or(memory.updated_at).or(memory.created_at),
    }
}

/// A text below its title, unless the title is in it already.
fn titled(title: Option<&str>, content: String) -> String {
    match title.map(str::trim) {
        Some(title) if !title.is_empty() && !content.contains(title) => format!("{title}\n\n{content}"),
        _ => content,
    }
}

/// A text in parts that each fit into a memory.
fn parts(content: &str) -> Vec<String> {
    let mut rest = content;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(limits::CONTENT_BYTES - 1_000);
        let (part, after) = rest.split_at_checked(most).unwrap_or((rest, ""));
        parts.push(part.to_owned());
        rest = after;
    }
    parts
}

/// What the database knows it by. Ids of products are short; what is longer is known by its digest.
fn key(source: Source, id: &str) -> SourceKey {
    const MOST: usize = 150;
    let clean = short(id, MOST + 1);
    let source_id = if clean == id && id.chars().count() <= MOST {
        clean
    } else {
        format!("sha256-{}", hex::encode(Sha256::digest(id.as_bytes())))
    };
    SourceKey { source: source.as_str().to_owned(), source_id }
}

/// A text in one line, at most this long.
pub(super) fn short(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect();
    line.trim().chars().take(most).collect::<String>().trim().to_owned()
}
