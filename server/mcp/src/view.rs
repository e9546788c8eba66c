//! A memory as a client sees it: the fields of [`Memory`] that help a reader, without empty ones.

use jiff::{Timestamp, tz::TimeZone};
use polymnemo_types::{Kind, MediaFile, Memory};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::one_line;

/// What is said of a memory beside its text.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct MemoryView {
    /// The memory's id, for get_memory, update, forget and supersedes.
    pub(crate) id: String,
    /// The namespace it is in.
    pub(crate) namespace: String,
    /// Who stored it.
    pub(crate) author: String,
    /// True for the user's own memories, false for what others share.
    pub(crate) own: bool,
    /// What it is.
    pub(crate) kind: Kind,
    /// Its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tags: Vec<String>,
    /// Where it comes from: a person, an app, a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// The app that stored it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<String>,
    /// The time it speaks of, in the user's time zone.
    pub(crate) occurred_at: String,
    /// When it was stored, in the user's time zone.
    pub(crate) created_at: String,
    /// When it was last changed; left out when it never was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<String>,
    /// Its current revision, from 1; for update's expected_revision.
    pub(crate) revision: u32,
    /// The length of its whole text, in bytes of UTF-8.
    pub(crate) bytes: u64,
    /// The file, where the kind is media; get_download_url tells where to get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<FileView>,
    /// The memories that this one corrects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) supersedes: Vec<String>,
    /// The memory that corrects this one, which is therefore out of date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) superseded_by: Option<String>,
}

impl MemoryView {
    /// The view of a memory for a reader in this time zone.
    pub(crate) fn new(memory: &Memory, zone: &TimeZone) -> Self {
        Self {
            id: memory.id.to_string(),
            namespace: memory.namespace.clone(),
            author: memory.author.clone(),
            own: memory.own,
            kind: memory.kind,
            tags: memory.tags.clone(),
            source: memory.source.clone(),
            client: memory.client.clone(),
            occurred_at: local_time(memory.occurred_at, zone),
            created_at: local_time(memory.created_at, zone),
            updated_at: (memory.updated_at != memory.created_at).then(|| local_time(memory.updated_at, zone)),
            revision: memory.revision,
            bytes: memory.bytes,
            file: memory.file.as_ref().map(FileView::new),
            supersedes: memory.supersedes.iter().map(ToString::to_string).collect(),
            superseded_by: memory.superseded_by.map(|id| id.to_string()),
        }
    }

    /// The day it speaks of.
    pub(crate) fn day(&self) -> &str {
        self.occurred_at.get(..10).unwrap_or(&self.occurred_at)
    }

    /// Handle, day, and whose words these are: the label that marks a text as somebody's data.
    pub(crate) fn label(&self) -> String {
        let mut label = format!("[{}] {} · {}", self.id, self.day(), self.namespace);
        if !self.own {
            label.push_str(&format!(" · shared by {}", one_line(&self.author, 60)));
        }
        if let Some(source) = &self.source {
            label.push_str(&format!(" · source {}", one_line(source, 60)));
        }
        if let Some(file) = &self.file {
            label.push_str(&format!(" · file {}", file.label()));
        }
        if self.superseded_by.is_some() {
            label.push_str(" · out of date");
        }
        label
    }

    /// The label, and the remaining facts that a reader of text alone has no other place for.
    pub(crate) fn full_label(&self) -> String {
        let mut label = self.label();
        if !self.tags.is_empty() {
            label.push_str(&format!(" · tags {}", self.tags.join(", ")));
        }
        if let Some(client) = &self.client {
            label.push_str(&format!(" · stored with {client}"));
        }
        if self.revision > 1 {
            label.push_str(&format!(" · revision {}", self.revision));
        }
        if let Some(newer) = &self.superseded_by {
            label.push_str(&format!(" · corrected by {newer}"));
        }
        label
    }

    /// Cuts what has no small bound of its own: labels, source and links.
    pub(crate) fn shorten(&mut self, tags: usize, source_chars: usize) {
        self.tags.truncate(tags);
        self.supersedes.truncate(tags);
        if source_chars == 0 {
            self.source = None;
            self.client = None;
            // That there is one, the kind says.
            self.file = None;
        } else if let Some(source) = &mut self.source {
            *source = one_line(source, source_chars);
        }
        if let Some(file) = &mut self.file {
            file.filename = one_line(&file.filename, source_chars);
            file.content_type = one_line(&file.content_type, source_chars);
        }
        self.author = one_line(&self.author, source_chars.max(20));
    }
}

/// What is said of a file.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct FileView {
    /// Its name.
    pub(crate) filename: String,
    /// Its media type.
    pub(crate) content_type: String,
    /// Its length in bytes.
    pub(crate) size: u64,
}

impl FileView {
    pub(crate) fn new(file: &MediaFile) -> Self {
        Self { filename: file.filename.clone(), content_type: file.content_type.clone(), size: file.size }
    }

    /// Name, type and length on one line.
    pub(crate) fn label(&self) -> String {
        format!("{} ({}, {} bytes)", one_line(&self.filename, 80), self.content_type, self.size)
    }
}

/// A time as RFC 3339 with the offset of the zone, in whole seconds: the reader sees the user's own
/// day, and the moment is exact nevertheless.
pub(crate) fn local_time(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// A text of several lines as a quotation, so that nothing in it reads as part of the answer.
pub(crate) fn quoted(text: &str) -> String {
    let lines: Vec<String> = text.trim_end().lines().map(|line| format!("> {line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
pub(crate) mod tests {
    use polymnemo_types::MemoryId;

    use super::*;

    /// A memory with every field at its greatest, or with the least there can be.
    pub(crate) fn memory(number: u16, full: bool) -> Memory {
        let id: MemoryId = format!("0198c0de-7a11-7000-8000-{number:012}").parse().unwrap();
        let time: Timestamp = "2026-03-01T20:30:00.123456Z".parse().unwrap();
        let most = |chars: usize| "记".repeat(chars);
        Memory {
            id,
            namespace: if full { most(64) } else { "work".into() },
            own: !full,
            author: if full { most(64) } else { "ada".into() },
            kind: Kind::Memory,
            tags: if full { vec![most(64); 32] } else { vec![] },
            source: full.then(|| most(200)),
            client: full.then(|| most(100)),
            occurred_at: time,
            created_at: time,
            updated_at: if full { "2026-03-02T00:00:00Z".parse().unwrap() } else { time },
            revision: if full { 7 } else { 1 },
            bytes: 10_000,
            preview: if full { most(200) } else { "the beginning".into() },
            supersedes: if full { vec![id; 100] } else { vec![] },
            superseded_by: full.then_some(id),
            forgotten_at: None,
            file: full.then(|| MediaFile {
                filename: most(255),
                content_type: "a".repeat(127),
                size: 1 << 40,
                sha256: None,
                shown_as: polymnemo_types::ShownAs::Download,
            }),
        }
    }

    #[test]
    fn times_are_the_users_own() {
        let shanghai = TimeZone::get("Asia/Shanghai").unwrap();
        let view = MemoryView::new(&memory(1, false), &shanghai);
        assert_eq!(view.occurred_at, "2026-03-02T04:30:00+08:00");
        assert_eq!(view.label(), "[0198c0de-7a11-7000-8000-000000000001] 2026-03-02 · work");
        assert_eq!(MemoryView::new(&memory(1, false), &TimeZone::UTC).occurred_at, "2026-03-01T20:30:00+00:00");
    }

    #[test]
    fn a_label_says_whose_words_these_are() {
        let mut memory = memory(1, false);
        memory.own = false;
        memory.author = "Bob\n[fake] ignore".into();
        memory.source = Some("Slack".into());
        let label = MemoryView::new(&memory, &TimeZone::UTC).label();
        assert!(label.ends_with(" · work · shared by Bob [fake] ignore · source Slack"), "{label}");
    }

    #[test]
    fn a_quotation_keeps_every_line_inside() {
        assert_eq!(quoted("one\n\n2. [id] two\n"), "> one\n> \n> 2. [id] two");
    }
}
