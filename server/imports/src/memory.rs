//! Finishing a memory, whatever product it is of.

use jiff::Timestamp;

use crate::{Memory, MemoryKind, Source, blocks, digest};

/// How many tags a memory has at most.
const TAGS: usize = 100;

/// What a product says of something it remembers.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) source: Source,
    pub(crate) source_id: String,
    pub(crate) kind: MemoryKind,
    pub(crate) content: String,
    pub(crate) tags: Vec<String>,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
    pub(crate) occurred_at: Option<Timestamp>,
    pub(crate) title: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) namespace_hint: Option<String>,
}

impl Draft {
    /// A memory of which nothing is known but what it says.
    pub(crate) fn new(source: Source, source_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            source,
            source_id: source_id.into(),
            kind: MemoryKind::Memory,
            content: content.into(),
            tags: Vec::new(),
            created_at: None,
            updated_at: None,
            occurred_at: None,
            title: None,
            path: None,
            namespace_hint: None,
        }
    }

    /// Whether there is a word in it.
    pub(crate) fn is_blank(&self) -> bool {
        self.content.trim_matches(blocks::is_space).is_empty()
    }

    /// The memory; in parts of at most `most` bytes.
    pub(crate) fn finish(self, most: usize) -> Vec<Memory> {
        let mut tags: Vec<String> = Vec::new();
        for tag in self.tags.iter().map(|tag| tag.trim().trim_start_matches('#')) {
            if tags.len() < TAGS && !tag.is_empty() && !tags.iter().any(|known| known == tag) {
                tags.push(tag.to_owned());
            }
        }
        let parts = parts(&self.content, most);
        let count = parts.len();
        let memory = |(place, part): (usize, &str)| {
            let number = place + 1;
            let title = if count == 1 {
                self.title.clone()
            } else {
                let title = self.title.as_deref().or(self.path.as_deref()).unwrap_or_default();
                Some(format!("{title} ({number}/{count})").trim().to_owned())
            };
            let mut memory = Memory {
                source: self.source,
                source_id: if place == 0 { self.source_id.clone() } else { format!("{}#{number}", self.source_id) },
                kind: self.kind,
                content: part.to_owned(),
                tags: tags.clone(),
                created_at: self.created_at,
                updated_at: self.updated_at.or(self.created_at),
                occurred_at: self.occurred_at,
                title,
                path: self.path.clone(),
                namespace_hint: self.namespace_hint.clone(),
                digest: [0; 32],
            };
            memory.digest = digest::of_memory(&memory);
            memory
        };
        parts.iter().copied().enumerate().map(memory).collect()
    }
}

/// Cuts a text into parts that are, one after the other, the text: before a heading, else behind a paragraph, a line, a word.
fn parts(mut text: &str, most: usize) -> Vec<&str> {
    // Room for at least one character of four bytes, or it would never end.
    let most = most.max(4);
    let mut parts = Vec::new();
    while text.len() > most {
        let window = text.get(..text.floor_char_boundary(most)).unwrap_or_default();
        let behind = |mark: &str, kept: usize| {
            window.rfind(mark).map(|place| place + mark.len() - kept).filter(|&end| end > most / 2)
        };
        let end = behind("\n# ", 2)
            .or_else(|| behind("\n## ", 3))
            .or_else(|| behind("\n\n", 0))
            .or_else(|| behind("\n", 0))
            .or_else(|| behind(" ", 0))
            .unwrap_or(window.len());
        let (part, rest) = text.split_at_checked(end).unwrap_or((text, ""));
        parts.push(part);
        text = rest;
    }
    if !text.is_empty() || parts.is_empty() {
        parts.push(text);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_where_something_ends() {
        assert_eq!(parts("", 10), [""]);
        assert_eq!(parts("short", 10), ["short"]);
        assert_eq!(parts("some words\n# Next\nmore", 16), ["some words\n", "# Next\nmore"]);
        assert_eq!(parts("one two three", 10), ["one two ", "three"]);
        assert_eq!(parts("para\n\ngraph", 9), ["para\n\n", "graph"]);
        let long = "日本語".repeat(10);
        assert!(parts(&long, 10).iter().all(|part| part.len() <= 10));
        assert_eq!(parts(&long, 10).concat(), long);
    }
}
