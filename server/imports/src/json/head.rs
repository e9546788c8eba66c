//! What names there are at the beginning of a file of JSON.

use std::collections::{BTreeMap, BTreeSet};

/// How many names are looked at.
const NAMES: usize = 4000;

/// How deep.
const DEPTH: usize = 4;

/// How long a value may be that is kept.
const VALUE: usize = 64;

/// The names at the beginning of a file, with where they are: `[].chat_messages` is a member of the rows of an array,
/// `.results[].memory` one of the rows in a member of an object, or of the first lines of a file of lines.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// The first byte that is no space.
    pub(crate) first: u8,
    /// The names.
    pub(crate) names: BTreeSet<String>,
    /// The first short texts.
    pub(crate) values: BTreeMap<String, String>,
    /// How many values there are one after the other: more than one in a file of lines.
    pub(crate) values_at_top: usize,
    /// Whether the first value ends within what was looked at.
    pub(crate) is_empty: bool,
}

enum Frame {
    List,
    Object(String),
}

impl Head {
    /// Reads the names. Whatever is broken or cut off, those before it are found.
    pub(crate) fn read(head: &[u8]) -> Self {
        let mut found = Self { first: head.trim_ascii_start().first().copied().unwrap_or_default(), ..Self::default() };
        found.is_empty = matches!(without_spaces(head).as_slice(), b"" | b"[]" | b"{}" | b"null");
        let mut frames: Vec<Frame> = Vec::new();
        let mut rest = head;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'[' => frames.push(Frame::List),
                b'{' => frames.push(Frame::Object(String::new())),
                b']' | b'}' => {
                    frames.pop();
                    found.values_at_top += usize::from(frames.is_empty());
                }
                b'"' => {
                    let mut is_escaped = false;
                    let end = after.iter().position(|&byte| {
                        let is_end = byte == b'"' && !is_escaped;
                        is_escaped = byte == b'\\' && !is_escaped;
                        is_end
                    });
                    let Some(end) = end else { break };
                    let text = after.get(..end).unwrap_or_default();
                    rest = after.get(end + 1..).unwrap_or_default();
                    if frames.len() <= DEPTH {
                        found.add(&mut frames, text, rest.trim_ascii_start().starts_with(b":"));
                    }
                }
                _ => {}
            }
            if found.names.len() >= NAMES {
                break;
            }
        }
        found
    }

    fn add(&mut self, frames: &mut [Frame], text: &[u8], is_name: bool) {
        if is_name && let Some(Frame::Object(name)) = frames.last_mut() {
            *name = String::from_utf8_lossy(text.get(..VALUE).unwrap_or(text)).into_owned();
            self.names.insert(place(frames));
        } else if text.len() <= VALUE {
            self.values.entry(place(frames)).or_insert_with(|| String::from_utf8_lossy(text).into_owned());
        }
    }

    /// Whether there is such a name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether rows at this place have such a member.
    pub(crate) fn has_in(&self, rows: &str, name: &str) -> bool {
        self.names.contains(&format!("{rows}.{name}"))
    }
}

fn place(frames: &[Frame]) -> String {
    frames.iter().fold(String::new(), |place, frame| match frame {
        Frame::List => place + "[]",
        Frame::Object(name) => place + "." + name,
    })
}

fn without_spaces(head: &[u8]) -> Vec<u8> {
    head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_their_places() {
        let head = Head::read(br#" [null, {"a": "x", "b": {"c": [{"d": "e\"}]"}]}}, {"f": "#);
        assert_eq!(head.first, b'[');
        for name in ["[].a", "[].b", "[].b.c", "[].f"] {
            assert!(head.has(name), "{name}: {head:?}");
        }
        assert!(head.has_in("[]", "a") && !head.has_in("[]", "x"));
        assert_eq!(head.values.get("[].a").map(String::as_str), Some("x"));
        let lines = Head::read(b"{\"a\":1}\n{\"b\":2}\n");
        assert!(lines.has(".a") && lines.has(".b") && lines.values_at_top == 2);
        assert!(Head::read(b" [ \n]").is_empty && Head::read(b"").is_empty && !Head::read(b"[1]").is_empty);
    }
}
