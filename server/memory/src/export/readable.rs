//! The same once more for people to read, as Markdown: memories by namespace and month, sessions as transcripts.

use std::fmt::Write as _;

use jiff::{Timestamp, tz::TimeZone};
use polymnemo_types::MemoryId;

use super::{
    names::{Folders, safe},
    record::{MediaRecord, MemoryRecord, MessageRecord, SessionRecord},
};
use crate::transcript;

/// Where it lies.
const ROOT: &str = "readable";

/// What explains the export to whoever unpacks it.
pub(super) const README: &str = include_str!("readme.md");

/// Where the bytes of a file are.
pub(super) fn media_path(media: &MediaRecord) -> String {
    format!("files/{}/{}", media.id, safe(&media.filename))
}

/// Places and texts of what is to be read.
pub(super) struct Readable {
    zone: TimeZone,
    memories: Folders,
    sessions: Folders,
}

impl Readable {
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, memories: Folders::default(), sessions: Folders::default() }
    }

    fn time(&self, at: Timestamp, format: &str) -> String {
        at.to_zoned_datetime(self.zone.clone()).strftime(format).to_string()
    }

    /// The file that a memory is in. They come by namespace and time, so those of one file come one after the other.
    pub(super) fn file_of_memory(&mut self, memory: &MemoryRecord) -> String {
        let folder = self.memories.of(&memory.namespace);
        format!("{ROOT}/memories/{folder}/{}.md", self.time(memory.occurred_at, "%Y-%m"))
    }

    /// The heading of such a file.
    pub(super) fn heading(&self, memory: &MemoryRecord) -> String {
        format!("# {} · {}\n", one_line(&memory.namespace), self.time(memory.occurred_at, "%Y-%m"))
    }

    /// A memory, or a file with its description.
    pub(super) fn memory(&self, memory: &MemoryRecord, media: Option<&MediaRecord>) -> String {
        let mut text = format!("\n---\n\n**{}**", self.time(memory.occurred_at, "%Y-%m-%d %H:%M"));
        for tag in &memory.tags {
            let _ = write!(text, " · #{}", one_line(tag));
        }
        for part in [&memory.source, &memory.client].into_iter().flatten() {
            let _ = write!(text, " · {}", one_line(part));
        }
        if let Some(by) = memory.superseded_by {
            let _ = write!(text, " · corrected by {by}");
        }
        let _ = write!(text, " · `{}`\n\n{}\n", memory.id, memory.content);
        if let Some(media) = media {
            let name = safe(&media.filename).replace(['[', ']'], "_");
            let _ = write!(text, "\n[{name}](<../../../{}>)\n", media_path(media));
        }
        text
    }

    /// The file of a session.
    pub(super) fn file_of_session(&mut self, session: &SessionRecord, memory: &MemoryRecord) -> String {
        let folder = self.sessions.of(&memory.namespace);
        let title: String = memory.content.chars().take(40).collect();
        let (date, id) = (self.time(session.last_at, "%Y-%m-%d"), short(session.id));
        format!("{ROOT}/sessions/{folder}/{date} {} {id}.md", safe(&title))
    }

    /// How a session begins.
    pub(super) fn session(&self, session: &SessionRecord, memory: &MemoryRecord) -> String {
        let mut text =
            format!("# {}\n\n**{}**", one_line(&memory.content), self.time(session.last_at, "%Y-%m-%d %H:%M"));
        for tag in &memory.tags {
            let _ = write!(text, " · #{}", one_line(tag));
        }
        for part in [&memory.source, &memory.client].into_iter().flatten() {
            let _ = write!(text, " · {}", one_line(part));
        }
        let _ = writeln!(text, " · `{}`", session.id);
        text
    }

    /// A message.
    pub(super) fn message(&self, message: &MessageRecord) -> String {
        let role = if message.role.is_empty() { "—" } else { &message.role };
        let mut text = format!("\n## {}", one_line(role));
        if let Some(at) = message.said_at {
            let _ = write!(text, " · {}", self.time(at, "%Y-%m-%d %H:%M"));
        }
        text.push('\n');
        let words = transcript::words(&message.role, message.message_format(), &message.content);
        if !words.said.trim().is_empty() {
            let _ = write!(text, "\n{}\n", words.said.trim_end());
        }
        if !words.aside.trim().is_empty() {
            let fence = fence(&words.aside);
            let _ = write!(text, "\n{fence}\n{}\n{fence}\n", words.aside.trim_end());
        }
        text
    }
}

/// The end of an id, which is random.
fn short(id: MemoryId) -> String {
    let id = id.0.simple().to_string();
    id.get(id.len() - 8..).unwrap_or_default().to_owned()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A fence that the text can't end.
fn fence(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or_default();
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_the_text() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("````rust\n```"), "`````");
    }
}
