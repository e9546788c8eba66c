//! What ChatGPT remembers. The export has no file of it: it is only in what was said behind the scenes of conversations.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::content;
use crate::{
    Source,
    digest::Digest,
    json::{is_true, object, text},
    memory::Draft,
    times,
};

/// What is remembered in a conversation.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) memories: Vec<Draft>,
    /// How the person wants to be answered: for this conversation, and no memory.
    pub(crate) instructions: Option<String>,
    known: HashSet<String>,
}

impl Found {
    /// Takes what is remembered in a message; true where it is no message of the conversation.
    pub(crate) fn take(&mut self, message: &Map<String, Value>) -> bool {
        let Some(content) = object(message, "content") else { return false };
        let at = times::time(message.get("create_time"));
        match text(content, "content_type").unwrap_or_default() {
            "user_editable_context" => {
                self.profile(message, content, at);
                return true;
            }
            "model_editable_context" => {
                self.remembered(content, at);
                return true;
            }
            _ => {}
        }
        let is_answer = object(message, "author").and_then(|author| text(author, "name")) == Some("bio");
        let is_call = text(message, "recipient") == Some("bio");
        if is_call {
            let said = content::texts(content).join("\n");
            // What is to be forgotten is asked for in the same way.
            if !said.trim_start().to_lowercase().starts_with("forget") {
                self.add(&said, at, "saved memory");
            }
        }
        is_call || is_answer
    }

    fn profile(&mut self, message: &Map<String, Value>, content: &Map<String, Value>, at: Option<jiff::Timestamp>) {
        // What the person wrote stands beside it; the content itself has a preamble for the model around it.
        let metadata = object(message, "metadata");
        let written = metadata.and_then(|metadata| object(metadata, "user_context_message_data"));
        let of = |written_as, given_as| {
            written.and_then(|written| text(written, written_as)).or_else(|| text(content, given_as).map(unfenced))
        };
        if let Some(profile) = of("about_user_message", "user_profile") {
            self.add(profile, at, "profile");
        }
        let is_on = metadata.is_none_or(|metadata| !is_true(metadata, "is_disabled"));
        self.instructions = of("about_model_message", "user_instructions")
            .filter(|_| is_on)
            .map(str::to_owned)
            .or(self.instructions.take());
    }

    fn remembered(&mut self, content: &Map<String, Value>, at: Option<jiff::Timestamp>) {
        let Some(text) = text(content, "model_set_context") else { return };
        for (date, entry) in entries(text) {
            self.add(&entry, date.as_deref().and_then(times::parse).or(at), "saved memory");
        }
    }

    /// It is known by what it says, because it comes again in every conversation.
    fn add(&mut self, content: &str, at: Option<jiff::Timestamp>, title: &str) {
        let content = content.trim();
        let mut digest = Digest::default();
        digest.add(content);
        let mut memory = Draft::new(Source::ChatGpt, format!("memory-{}", digest.name()), content);
        memory.created_at = at;
        memory.tags = vec![title.to_owned()];
        if !memory.is_blank() && self.known.insert(memory.source_id.clone()) {
            self.memories.push(memory);
        }
    }
}

/// The entries of a numbered list: `1. [2026-01-04]. Has a sister.` Lines that begin otherwise go on with the one before.
fn entries(text: &str) -> Vec<(Option<String>, String)> {
    let mut entries: Vec<(Option<String>, String)> = Vec::new();
    for line in text.lines() {
        match (numbered(line), entries.last_mut()) {
            (Some((date, rest)), _) => entries.push((date, rest.to_owned())),
            (None, Some((_, entry))) => {
                entry.push('\n');
                entry.push_str(line);
            }
            (None, None) if line.trim().is_empty() => {}
            (None, None) => entries.push((None, line.to_owned())),
        }
    }
    entries
}

fn numbered(line: &str) -> Option<(Option<String>, &str)> {
    let line = line.trim_start();
    let rest = line.trim_start_matches(|character: char| character.is_ascii_digit());
    if rest.len() == line.len() {
        return None;
    }
    let rest = rest.strip_prefix('.')?.trim_start();
    match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((date, rest)) if times::parse(date).is_some() => {
            Some((Some(date.to_owned()), rest.trim_start_matches('.').trim_start()))
        }
        _ => Some((None, rest)),
    }
}

/// What stands between fences, where there are some.
fn unfenced(text: &str) -> &str {
    let inside = text.split_once("```").and_then(|(_, rest)| rest.rsplit_once("```")).map(|(inside, _)| inside.trim());
    inside.filter(|inside| !inside.is_empty()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_taken_apart() {
        let told =
            |text| entries(text).into_iter().map(|(date, entry)| (date.unwrap_or_default(), entry)).collect::<Vec<_>>();
        let pair = |date: &str, entry: &str| (date.to_owned(), entry.to_owned());
        assert_eq!(
            told("1. [2026-01-04]. Has a sister.\n\n2. [2026-01-05]. Likes\ntea.\n3. Plain."),
            [pair("2026-01-04", "Has a sister.\n"), pair("2026-01-05", "Likes\ntea."), pair("", "Plain.")]
        );
        assert_eq!(told("Lives in Porto.\nAlone."), [pair("", "Lives in Porto.\nAlone.")]);
        assert_eq!(told("1. [soon] x"), [pair("", "[soon] x")]);
        assert_eq!(told(""), []);
    }

    #[test]
    fn a_preamble_is_left_out() {
        assert_eq!(unfenced("This is shown to you.\nUser profile:\n```Lives in Porto.```"), "Lives in Porto.");
        assert_eq!(unfenced("Lives in Porto."), "Lives in Porto.");
        assert_eq!(unfenced("``````"), "``````");
    }
}
