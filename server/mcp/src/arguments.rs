//! Reading a call's arguments against the tool's published schema.
//!
//! Models do not always write what the schema asks for: a list arrives as the JSON text of a list,
//! a number in quotes, `null` for what is left out. What is meant beyond doubt is accepted, and
//! everything else is answered with what was expected, so that the next call can be right.

use polymnemo_types::{ApiError, ErrorCode};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

/// Reads the arguments of a call into the tool's own type.
///
/// # Errors
///
/// [`ErrorCode::InvalidInput`] with the argument at fault and what the tool takes instead.
pub(crate) fn read<T: DeserializeOwned>(tool: &str, schema: &JsonObject, given: JsonObject) -> Result<T, ApiError> {
    let nothing = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let mut arguments = JsonObject::new();
    for (name, value) in given {
        let Some(property) = properties.get(&name).and_then(Value::as_object) else {
            return Err(invalid(unknown_argument(tool, &name, schema)));
        };
        if value.is_null() {
            continue;
        }
        let preview = preview(&value);
        let value = coerce(property, value).ok_or_else(|| {
            invalid(format!("The argument `{name}` of {tool} must be {}; {preview} was given.", expected(property)))
        })?;
        arguments.insert(name, value);
    }
    for name in required(schema) {
        if !arguments.contains_key(name) {
            let description = properties.get(name).and_then(|property| property.get("description"));
            let description = description.and_then(Value::as_str).unwrap_or_default();
            return Err(invalid(format!("{tool} needs the argument `{name}`. {description}")));
        }
    }
    // Every value has the type that the schema names by now, so this fails only where the schema
    // and the type differ.
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| invalid(format!("The arguments of {tool} can't be read: {error}.")))
}

/// The error of a request that is itself at fault.
pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
    ApiError { code: ErrorCode::InvalidInput, message: message.into() }
}

fn required(schema: &JsonObject) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn unknown_argument(tool: &str, name: &str, schema: &JsonObject) -> String {
    let shown: String = name.chars().take(60).collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_required = |name: &str| required(schema).any(|known| known == name);
    let optional = properties.into_iter().flat_map(JsonObject::keys).filter(|name| !is_required(name)).cloned();
    let names: Vec<String> = required(schema).map(|name| format!("{name} (required)")).chain(optional).collect();
    match names.is_empty() {
        true => format!("{tool} has no argument `{shown}`; it takes no arguments at all."),
        false => format!("{tool} has no argument `{shown}`. Its arguments are: {}.", names.join(", ")),
    }
}

/// The value as the schema wants it, or `None` where it can't be meant so.
fn coerce(schema: &JsonObject, value: Value) -> Option<Value> {
    match schema.get("type").and_then(Value::as_str) {
        Some("array") => {
            let item = schema.get("items").and_then(Value::as_object)?;
            let items = list(value)?.into_iter().map(|value| coerce(item, value)).collect::<Option<Vec<_>>>()?;
            Some(Value::Array(items))
        }
        Some("string") => {
            let text = match value {
                Value::String(text) => text,
                Value::Number(number) => number.to_string(),
                _ => return None,
            };
            match schema.get("enum").and_then(Value::as_array) {
                Some(allowed) => allowed.iter().find(|known| known.as_str() == Some(text.trim())).cloned(),
                None => Some(Value::String(text)),
            }
        }
        Some("integer") => {
            let number = integer(&value)?;
            let bound = |keyword| schema.get(keyword).and_then(Value::as_i64);
            let within = bound("minimum").is_none_or(|least| number >= least)
                && bound("maximum").is_none_or(|most| number <= most);
            within.then(|| Value::Number(Number::from(number)))
        }
        Some("boolean") => match value {
            Value::Bool(_) => Some(value),
            Value::String(text) => text.trim().parse().ok().map(Value::Bool),
            _ => None,
        },
        Some("object") => match value {
            Value::Object(_) => Some(value),
            Value::String(text) => serde_json::from_str(&text).ok().filter(Value::is_object),
            _ => None,
        },
        _ => Some(value),
    }
}

/// A list, also one that came as text: the JSON of a list, values between commas, or a single value.
fn list(value: Value) -> Option<Vec<Value>> {
    let text = match value {
        Value::Array(items) => return Some(items),
        Value::String(text) => text,
        Value::Number(_) => return Some(vec![value]),
        _ => return None,
    };
    let text = text.trim();
    if text.starts_with('[') {
        return serde_json::from_str(text).ok();
    }
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    Some(parts.map(|part| Value::String(part.to_owned())).collect())
}

/// A whole number, also one that came as text or with an empty fraction.
fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            let number = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15)?;
            // Whole and far from the ends of the type, as just checked.
            #[expect(clippy::cast_possible_truncation, reason = "checked in the line above")]
            Some(number as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// What a property takes, in words.
fn expected(schema: &JsonObject) -> String {
    let bound = |keyword| schema.get(keyword).and_then(Value::as_i64);
    match schema.get("type").and_then(Value::as_str) {
        Some("array")
            if schema.get("items").and_then(|items| items.get("type")).is_some_and(|kind| kind == "object") =>
        {
            "a list of JSON objects".to_owned()
        }
        Some("array") => "a list of texts".to_owned(),
        Some("integer") => match (bound("minimum"), bound("maximum")) {
            (Some(least), Some(most)) => format!("a whole number from {least} to {most}"),
            (Some(least), None) => format!("a whole number, {least} or greater"),
            _ => "a whole number".to_owned(),
        },
        Some("boolean") => "true or false".to_owned(),
        Some("object") => "a JSON object".to_owned(),
        _ => match schema.get("enum").and_then(Value::as_array) {
            Some(allowed) => {
                let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
                format!("one of {}", allowed.join(", "))
            }
            None => "a text".to_owned(),
        },
    }
}

/// The beginning of a value, for a message.
pub(crate) fn preview(value: &Value) -> String {
    let text = value.to_string();
    let mut shown: String = text.chars().take(60).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use polymnemo_types::Kind;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::schema;

    #[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Arguments {
        /// What to say.
        content: String,
        /// Labels.
        #[serde(default)]
        tags: Vec<String>,
        /// The kind.
        #[serde(default)]
        kind: Option<Kind>,
        /// How many.
        #[serde(default)]
        #[schemars(range(min = 1, max = 50))]
        limit: Option<u32>,
        /// Also the rest.
        #[serde(default)]
        all: bool,
    }

    fn read_all(given: Value) -> Result<Arguments, String> {
        let Value::Object(given) = given else { unreachable!("the tests give objects") };
        read("say", &schema::of_input::<Arguments>(), given).map_err(|error| error.message)
    }

    #[test]
    fn reads_what_the_schema_asks_for() {
        let read = read_all(json!({ "content": "a", "tags": ["b"], "kind": "session", "limit": 3, "all": true }));
        let expected = Arguments {
            content: "a".into(),
            tags: vec!["b".into()],
            kind: Some(Kind::Session),
            limit: Some(3),
            all: true,
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn accepts_lists_numbers_and_booleans_as_text() {
        for (given, tags) in [
            (json!("[\"a\",\"b\"]"), vec!["a", "b"]),
            (json!("a"), vec!["a"]),
            (json!("a, b"), vec!["a", "b"]),
            (json!(""), vec![]),
            (json!([2026, "b"]), vec!["2026", "b"]),
            (json!(2026), vec!["2026"]),
            (json!(null), vec![]),
        ] {
            let read = read_all(json!({ "content": "x", "tags": given })).map(|read| read.tags);
            assert_eq!(read, Ok(tags.into_iter().map(str::to_owned).collect()), "{given}");
        }
        for given in [json!("7"), json!(7.0), json!(" 7 ")] {
            assert_eq!(read_all(json!({ "content": "x", "limit": given })).map(|read| read.limit), Ok(Some(7)));
        }
        assert_eq!(read_all(json!({ "content": "x", "all": "true" })).map(|read| read.all), Ok(true));
        assert_eq!(read_all(json!({ "content": "x", "kind": null, "limit": null })).map(|read| read.kind), Ok(None));
    }

    #[test]
    fn says_what_is_wrong_and_what_would_be_right() {
        for (given, expected) in [
            (
                json!({ "content": "x", "txt": 1 }),
                "say has no argument `txt`. Its arguments are: content (required), tags, kind, limit, all.",
            ),
            (json!({ "tags": [] }), "say needs the argument `content`. What to say."),
            (json!({ "content": null }), "say needs the argument `content`. What to say."),
            (json!({ "content": ["x"] }), "The argument `content` of say must be a text; `[\"x\"]` was given."),
            (
                json!({ "content": "x", "limit": 500 }),
                "The argument `limit` of say must be a whole number from 1 to 50; `500` was given.",
            ),
            (
                json!({ "content": "x", "limit": "many" }),
                "The argument `limit` of say must be a whole number from 1 to 50; `\"many\"` was given.",
            ),
            (
                json!({ "content": "x", "limit": 1.5 }),
                "The argument `limit` of say must be a whole number from 1 to 50; `1.5` was given.",
            ),
            (
                json!({ "content": "x", "kind": "note" }),
                "The argument `kind` of say must be one of memory, session, media; `\"note\"` was given.",
            ),
            (
                json!({ "content": "x", "tags": { "a": 1 } }),
                "The argument `tags` of say must be a list of texts; `{\"a\":1}` was given.",
            ),
            (
                json!({ "content": "x", "tags": "[1," }),
                "The argument `tags` of say must be a list of texts; `\"[1,\"` was given.",
            ),
            (
                json!({ "content": "x", "all": "perhaps" }),
                "The argument `all` of say must be true or false; `\"perhaps\"` was given.",
            ),
        ] {
            assert_eq!(read_all(given), Err(expected.to_owned()));
        }
    }

    #[test]
    fn a_long_wrong_value_is_shown_shortened() {
        let message = read_all(json!({ "content": "x", "limit": "9".repeat(10_000) })).unwrap_err();
        assert!(message.len() < 250, "{message}");
    }
}
