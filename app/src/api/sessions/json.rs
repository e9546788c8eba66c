//! JSON as it was written: members in their order, and a text that was cut off read as far as it goes.

use std::fmt::{self, Write as _};

use serde::{
    Deserialize,
    de::{Deserializer, MapAccess, SeqAccess, Visitor},
};

/// A JSON value whose members stand in the order in which they were written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Json {
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
    Text(String),
    /// A number, a truth value or nothing.
    Other(serde_json::Value),
}

impl Json {
    /// Reads a text. Where that is the beginning of a longer one, what is missing at its end is left out.
    pub(super) fn read(text: &str, is_cut: bool) -> Option<Self> {
        serde_json::from_str(text)
            .ok()
            .or_else(|| is_cut.then(|| serde_json::from_str(&completed(text)).ok()).flatten())
    }

    /// A member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members.iter().find(|(given, _)| given == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A member that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Self::as_text)
    }

    /// The first of these members that is text.
    pub(super) fn any_text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.text(name))
    }

    /// Whether a member is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        matches!(self.get(name), Some(Self::Other(serde_json::Value::Bool(true))))
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Whether there is nothing in it.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Object(members) => members.is_empty(),
            Self::Array(items) => items.is_empty(),
            Self::Text(text) => text.is_empty(),
            Self::Other(value) => value.is_null(),
        }
    }

    /// Its text, each member on a line of its own.
    pub(super) fn indented(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        let line = |text: &mut String, depth: usize| {
            text.push('\n');
            text.extend(std::iter::repeat_n("  ", depth));
        };
        match self {
            Self::Object(members) if !members.is_empty() => {
                text.push('{');
                for (index, (name, value)) in members.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    line(text, depth + 1);
                    text.push_str(&quoted(name));
                    text.push_str(": ");
                    value.write(text, depth + 1);
                }
                line(text, depth);
                text.push('}');
            }
            Self::Array(items) if !items.is_empty() => {
                text.push('[');
                for (index, value) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    line(text, depth + 1);
                    value.write(text, depth + 1);
                }
                line(text, depth);
                text.push(']');
            }
            Self::Object(_) => text.push_str("{}"),
            Self::Array(_) => text.push_str("[]"),
            Self::Text(content) => text.push_str(&quoted(content)),
            Self::Other(value) => {
                // Writing into a string can't fail.
                let _ = write!(text, "{value}");
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'json> Deserialize<'json> for Json {
    fn deserialize<D: Deserializer<'json>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'json> Visitor<'json> for Reader {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Other(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Other(serde_json::Value::Null))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::Text(text))
    }

    fn visit_seq<A: SeqAccess<'json>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'json>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}

/// The beginning of a JSON text, made whole: a string that is a value ends where it was cut, and what else was left
/// unfinished is left out.
fn completed(beginning: &str) -> String {
    let mut scan = Scan::default();
    for (place, character) in beginning.char_indices() {
        scan.take(place, character);
    }
    let cut_string = scan.string.filter(|_| scan.expects_value());
    let (end, open) = match cut_string {
        Some(_) => (beginning.len(), &scan.open),
        None => (scan.whole.0, &scan.whole.1),
    };
    let mut text = beginning.get(..end).unwrap_or_default().to_owned();
    if cut_string.is_some() {
        text.truncate(without_half_escape(&text, scan.escape));
        text.push('"');
    }
    text.extend(open.iter().rev().map(|open| if open.is_object { '}' } else { ']' }));
    text
}

/// What is open at a place of a JSON text.
#[derive(Debug, Clone, Copy)]
struct Open {
    is_object: bool,
    /// In an object, whether the name of a member was read and its value is to come.
    named: bool,
}

#[derive(Default)]
struct Scan {
    open: Vec<Open>,
    /// Where the string began that is being read.
    string: Option<usize>,
    /// Where in it an escape began that is not complete.
    escape: Option<usize>,
    /// The last place at which the text could end, and what was open there.
    whole: (usize, Vec<Open>),
}

impl Scan {
    fn take(&mut self, place: usize, character: char) {
        let end = place + character.len_utf8();
        if self.string.is_some() {
            match (self.escape, character) {
                (None, '\\') => self.escape = Some(place),
                (None, '"') => {
                    self.string = None;
                    if self.expects_value() {
                        self.value_ended(end);
                    }
                }
                (None, _) => {}
                // A sign after the backslash, or `u` and four digits.
                (Some(start), 'u') if place == start + 1 => {}
                (Some(start), _) if place == start + 1 || place >= start + 5 => self.escape = None,
                _ => {}
            }
            return;
        }
        match character {
            '"' => self.string = Some(place),
            '{' | '[' => {
                self.open.push(Open { is_object: character == '{', named: false });
                self.whole = (end, self.open.clone());
            }
            '}' | ']' => {
                self.open.pop();
                self.value_ended(end);
            }
            ':' => {
                if let Some(open) = self.open.last_mut() {
                    open.named = true;
                }
            }
            // Numbers and words have no end of their own: only what comes after them tells that they are whole.
            ',' if self.expects_value() => self.value_ended(place),
            _ => {}
        }
    }

    /// Whether what is read now is a value, and no name of a member.
    fn expects_value(&self) -> bool {
        self.open.last().is_none_or(|open| !open.is_object || open.named)
    }

    fn value_ended(&mut self, end: usize) {
        if let Some(open) = self.open.last_mut() {
            open.named = false;
        }
        self.whole = (end, self.open.clone());
    }
}

/// Where a string ends that must not end within an escape, nor between the two halves of a character.
fn without_half_escape(text: &str, escape: Option<usize>) -> usize {
    let end = escape.unwrap_or(text.len());
    let first_half = || {
        let start = end.checked_sub(6)?;
        let unit = u32::from_str_radix(text.get(start..end)?.strip_prefix("\\u")?, 16).ok()?;
        // A backslash after another one begins nothing.
        let before = text.get(..start)?;
        let is_escape = (before.len() - before.trim_end_matches('\\').len()).is_multiple_of(2);
        ((0xD800..0xDC00).contains(&unit) && is_escape).then_some(start)
    };
    first_half().unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::{Json, completed};

    #[test]
    fn members_stay_in_their_order() {
        let json = Json::read(r#"{"b":[1,2.5,true,null],"a":{"c":"d\n\"e\""},"f":[],"g":{}}"#, false).expect("JSON");
        assert_eq!(
            json.indented(),
            "{\n  \"b\": [\n    1,\n    2.5,\n    true,\n    null\n  ],\n  \"a\": {\n    \"c\": \"d\\n\\\"e\\\"\"\n  },\n  \"f\": [],\n  \"g\": {}\n}"
        );
    }

    #[test]
    fn a_text_that_was_cut_is_read_as_far_as_it_goes() {
        for (cut, whole) in [
            (r#"[{"type":"text","text":"Half a sen"#, r#"[{"type":"text","text":"Half a sen"}]"#),
            (r#"[{"type":"text","te"#, r#"[{"type":"text"}]"#),
            (r#"[{"type":"text","text""#, r#"[{"type":"text"}]"#),
            (r#"[{"type":"text","text":"#, r#"[{"type":"text"}]"#),
            (r#"[{"a":1,"b":12"#, r#"[{"a":1}]"#),
            (r#"[{"a":1,"b":tru"#, r#"[{"a":1}]"#),
            (r#"[{"a":1},"#, r#"[{"a":1}]"#),
            (r#"[{"a":[1,[2,{"b":{"c":"d"#, r#"[{"a":[1,[2,{"b":{"c":"d"}}]]}]"#),
            (r#"["a\"#, r#"["a"]"#),
            (r#"["a\\"#, r#"["a\\"]"#),
            (r#"["a\u00"#, r#"["a"]"#),
            (r#"["a\u00e9"#, r#"["a\u00e9"]"#),
            (r#"["a\ud83d"#, r#"["a"]"#),
            (r#"["a\\ud83d"#, r#"["a\\ud83d"]"#),
            (r#"["a\ud83d\ude"#, r#"["a"]"#),
            (r#"["a\ud83d\ude00"#, r#"["a\ud83d\ude00"]"#),
            (r#""a"#, r#""a""#),
            ("[", "[]"),
            ("", ""),
        ] {
            assert_eq!(completed(cut), whole, "{cut}");
        }
    }

    #[test]
    fn wherever_a_text_is_cut_its_beginning_is_read() {
        let text =
            r#"[{"type":"text","text":"é \"q\" \u00e9\ud83d\ude00 \\"},{"n":-1.5e3,"t":true,"z":null,"a":[[],{}]}]"#;
        for (end, _) in text.char_indices().skip(1) {
            let cut = text.get(..end).expect("a boundary");
            assert!(Json::read(cut, true).is_some(), "{cut} became {}", completed(cut));
            assert!(Json::read(cut, false).is_none(), "{cut}");
        }
    }
}
