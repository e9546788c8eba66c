//! Transcripts of Claude Code: a file of lines for each session.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use crate::{
    Branch, Conversation, Message, Reason, Source, blocks,
    conversation::{Draft, title},
    json::{id, is_true, object, text},
    times::time,
    tree::{self, Node},
};

/// Tags that the program puts around what it says in the name of the user.
const ASIDES: [&str; 6] =
    ["<command-", "<local-command-", "<system-reminder>", "<task-notification>", "<bash-stdout>", "<bash-stderr>"];

/// How long the bytes of a picture or a file may be that are kept.
const LARGE: usize = 1024;

/// How many blocks back a line of an answer is looked for.
const NEAR: usize = 16;

/// A session, as it is read line by line.
#[derive(Debug, Default)]
pub(crate) struct Session {
    entries: Vec<Entry>,
    /// Where each line ended up, by its id.
    places: HashMap<String, usize>,
    /// Lines of one answer, by the id of the answer.
    answers: HashMap<String, usize>,
    /// What tools gave back to one answer.
    results: HashMap<String, usize>,
    session: Option<String>,
    agent: Option<String>,
    summary: Option<String>,
    name: Option<String>,
    model: Option<String>,
    metadata: Map<String, Value>,
    last: Option<String>,
}

#[derive(Debug)]
struct Entry {
    id: String,
    parent: Option<String>,
    is_sidechain: bool,
    at: Option<jiff::Timestamp>,
    role: &'static str,
    blocks: Vec<Value>,
}

impl Session {
    /// Adds a line. What is not known only holds a place, so that nothing is cut off behind it.
    pub(crate) fn add(&mut self, line: &Map<String, Value>) {
        let kind = text(line, "type").unwrap_or_default();
        match kind {
            "summary" => self.summary = text(line, "summary").map(title).or(self.summary.take()),
            "custom-title" => self.name = text(line, "customTitle").map(title).or(self.name.take()),
            "ai-title" => self.summary = text(line, "aiTitle").map(title).or(self.summary.take()),
            _ => {}
        }
        let Some(uuid) = id(line, "uuid") else { return };
        if self.places.contains_key(&uuid) {
            return;
        }
        let message = object(line, "message").filter(|_| matches!(kind, "user" | "assistant"));
        let is_sidechain = is_true(line, "isSidechain");
        let parent = id(line, "parentUuid").or_else(|| id(line, "logicalParentUuid"));
        let parent = parent.map(|parent| self.first(&parent));
        let role = if kind == "assistant" { "assistant" } else { "user" };
        let blocks = message.map(|message| self.blocks(kind, line, message)).unwrap_or_default();
        if message.is_some() {
            self.describe(line);
            if !is_sidechain {
                self.last = Some(uuid.clone());
            }
        }

        let is_result = |block: &Value| block.get("type").and_then(Value::as_str) == Some("tool_result");
        let group = if kind == "assistant" {
            let answer = message.and_then(|message| id(message, "id"));
            answer.map(|answer| (true, answer))
        } else {
            let is_result = !blocks.is_empty() && blocks.iter().all(is_result);
            parent.clone().filter(|_| is_result).map(|parent| (false, parent))
        };
        let groups = |session: &mut Self, is_answer| {
            if is_answer { std::mem::take(&mut session.answers) } else { std::mem::take(&mut session.results) }
        };
        let mut place = self.entries.len();
        if let Some((is_answer, group)) = group {
            let mut known = groups(self, is_answer);
            place = *known.entry(group).or_insert(place);
            if is_answer {
                self.answers = known;
            } else {
                self.results = known;
            }
        }
        self.places.insert(uuid.clone(), place);
        match self.entries.get_mut(place) {
            Some(entry) => blocks.into_iter().for_each(|block| add(block, &mut entry.blocks)),
            None => {
                let at = time(line.get("timestamp"));
                self.entries.push(Entry { id: uuid, parent, is_sidechain, at, role, blocks });
            }
        }
    }

    /// The id of the entry that a line became part of.
    fn first(&self, uuid: &str) -> String {
        let entry = self.places.get(uuid).and_then(|&place| self.entries.get(place));
        entry.map_or_else(|| uuid.to_owned(), |entry| entry.id.clone())
    }

    fn describe(&mut self, line: &Map<String, Value>) {
        self.session = id(line, "sessionId").or(self.session.take());
        self.agent = id(line, "agentId").or(self.agent.take());
        for (given, kept) in [("cwd", "cwd"), ("gitBranch", "git_branch"), ("version", "version")] {
            if let Some(value) = text(line, given) {
                self.metadata.insert(kept.to_owned(), value.into());
            }
        }
    }

    fn blocks(&mut self, kind: &str, line: &Map<String, Value>, message: &Map<String, Value>) -> Vec<Value> {
        let given = match message.get("content") {
            Some(Value::String(text)) => vec![blocks::text(text.as_str())],
            Some(Value::Array(blocks)) => blocks.iter().filter(|block| block.is_object()).cloned().collect(),
            _ => Vec::new(),
        };
        let model = text(message, "model");
        let is_made_up = model == Some("<synthetic>") || is_true(line, "isApiErrorMessage");
        if let Some(model) = model.filter(|_| !is_made_up && !is_true(line, "isSidechain")) {
            self.model = Some(model.to_owned());
        }
        let why = if is_true(line, "isMeta") {
            Some("meta")
        } else if is_true(line, "isCompactSummary") {
            Some("summary")
        } else if is_made_up {
            Some("error")
        } else {
            None
        };
        let given: Vec<Value> = given.into_iter().map(without_bytes).collect();
        if let Some(why) = why {
            return if given.is_empty() { given } else { vec![blocks::hidden(why, Value::Array(given))] };
        }
        let block = |block: Value| match block.get("text").and_then(Value::as_str) {
            Some(text) if kind == "user" && block.get("type").and_then(Value::as_str) == Some("text") => asides(text),
            _ => vec![block],
        };
        given.into_iter().flat_map(block).collect()
    }

    /// The session.
    pub(crate) fn finish(self) -> Result<Conversation, Reason> {
        let is_agent = !self.entries.is_empty() && self.entries.iter().all(|entry| entry.is_sidechain);
        let leaf = self.last.as_deref().map(|last| self.first(last));
        let (mut main, mut side) = (Vec::new(), Vec::new());
        for entry in self.entries {
            let content = blocks::content(entry.blocks);
            let message = content.map(|content| Message {
                id: Some(entry.id.clone()),
                role: entry.role.to_owned(),
                at: entry.at,
                content,
            });
            let node = Node { id: entry.id, parent: entry.parent, at: entry.at, message };
            if entry.is_sidechain && !is_agent { side.push(node) } else { main.push(node) }
        }
        let mut branches = tree::branches(main, leaf.as_deref());
        let side = tree::branches(side, None);
        let first = Branch { off: None, is_sidechain: true, messages: side.current };
        let others = side.others.into_iter().map(|branch| Branch { is_sidechain: true, ..branch });
        branches.others.extend(std::iter::once(first).chain(others).filter(|branch| !branch.messages.is_empty()));

        let mut metadata = self.metadata;
        let mut source_id = self.session.clone();
        if is_agent {
            metadata.insert("sidechain".to_owned(), true.into());
            metadata.extend(self.session.clone().map(|session| ("session".to_owned(), session.into())));
            let agent = self.agent.or_else(|| branches.path.first().cloned()).unwrap_or_default();
            source_id = self.session.map(|session| format!("{session}/agent-{agent}"));
        }
        Draft {
            source: Source::ClaudeCode,
            source_id,
            title: self.name.or(self.summary),
            created_at: None,
            updated_at: None,
            artifacts: Vec::new(),
            branches,
            model: self.model,
            metadata,
        }
        .finish()
    }
}

/// Adds a block to an answer that comes in several lines: some repeat what was there, some go on with it.
fn add(block: Value, blocks: &mut Vec<Value>) {
    let goes_on = |known: &Value| {
        let same = |name: &str| known.get(name) == block.get(name);
        let longer = |name: &str| {
            let texts = (block.get(name).and_then(Value::as_str), known.get(name).and_then(Value::as_str));
            matches!(texts, (Some(new), Some(old)) if !old.is_empty() && new.starts_with(old))
        };
        same("type")
            && match known.get("type").and_then(Value::as_str) {
                Some("text") => longer("text"),
                Some("thinking") => longer("thinking"),
                Some("tool_use") => known.get("id").is_some() && same("id"),
                Some("tool_result") => known.get("tool_use_id").is_some() && same("tool_use_id"),
                _ => *known == block,
            }
    };
    // What is repeated is near.
    match blocks.iter_mut().rev().take(NEAR).find(|known| goes_on(known)) {
        Some(known) => *known = block,
        None => blocks.push(block),
    }
}

/// What a person typed, told from what the program put in between.
fn asides(text: &str) -> Vec<Value> {
    let mut parts = Vec::new();
    let mut said = String::new();
    let mut rest = text;
    while let Some(place) = rest.find("<system-reminder>") {
        let (before, aside) = rest.split_at_checked(place).unwrap_or((rest, ""));
        said.push_str(before);
        let (aside, behind) = aside.split_once("</system-reminder>").unwrap_or((aside, ""));
        parts.push(blocks::hidden("system-reminder", aside.trim_start_matches("<system-reminder>").trim().into()));
        rest = behind;
    }
    said.push_str(rest);
    let said = said.trim();
    if ASIDES.iter().any(|tag| said.starts_with(tag)) {
        parts.push(blocks::hidden("command", said.into()));
    } else if !said.is_empty() {
        parts.insert(0, blocks::text(if parts.is_empty() { text } else { said }));
    }
    parts
}

/// A block with a note in place of pictures and files, which can be a hundred times as long as all that was said.
fn without_bytes(mut block: Value) -> Value {
    match &mut block {
        Value::Object(members) => {
            let length = members.get("data").and_then(Value::as_str).map(str::len);
            if let (Some(length), true) = (length, text(members, "type") == Some("base64"))
                && length > LARGE
            {
                let media_type = members.get("media_type").cloned().unwrap_or_default();
                return json!({"type": "omitted", "media_type": media_type, "bytes": length / 4 * 3});
            }
            for value in members.values_mut().filter(|value| value.is_object() || value.is_array()) {
                *value = without_bytes(value.take());
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| *value = without_bytes(value.take())),
        _ => {}
    }
    block
}
