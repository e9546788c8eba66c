//! JSON as people have it: larger than memory, cut off, broken in one place, saved again by an editor.

pub(crate) mod head;
pub(crate) mod lines;
pub(crate) mod repair;
pub(crate) mod splitter;

use serde_json::{Map, Value};

/// A member that is text, and not only white space.
pub(crate) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    members.get(name).and_then(Value::as_str).filter(|text| !text.trim_matches(crate::blocks::is_space).is_empty())
}

/// A member that names something: text or a number.
pub(crate) fn id(members: &Map<String, Value>, name: &str) -> Option<String> {
    self::name(members.get(name)?)
}

/// What a value names: text or a number.
pub(crate) fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A member that is a list; empty where it is none.
pub(crate) fn list<'a>(members: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    members.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A member that is an object.
pub(crate) fn object<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Map<String, Value>> {
    members.get(name).and_then(Value::as_object)
}

/// Whether a member is true.
pub(crate) fn is_true(members: &Map<String, Value>, name: &str) -> bool {
    members.get(name) == Some(&Value::Bool(true))
}
