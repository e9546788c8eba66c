//! What is wrong with the parameters of a request that the protocol library could not read, and therefore took for one of a
//! method that it does not know.

use rmcp::{ErrorData, model::CustomRequest};
use serde_json::Value;

use crate::arguments::preview;

/// A member that the parameters of a method must have, or may have in this form only.
struct Member {
    /// Its place, as a JSON Pointer.
    place: &'static str,
    kind: Kind,
    required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Object,
    OneOf(&'static [&'static str]),
}

const fn must(place: &'static str, kind: Kind) -> Member {
    Member { place, kind, required: true }
}

const fn may(place: &'static str, kind: Kind) -> Member {
    Member { place, kind, required: false }
}

/// The methods that are served, each with the members of its parameters that it reads.
const METHODS: &[(&str, &[Member])] = &[
    (
        "initialize",
        &[
            must("/protocolVersion", Kind::Text),
            must("/capabilities", Kind::Object),
            must("/clientInfo", Kind::Object),
            must("/clientInfo/name", Kind::Text),
            must("/clientInfo/version", Kind::Text),
        ],
    ),
    ("ping", &[]),
    ("server/discover", &[]),
    ("tools/list", &[may("/cursor", Kind::Text)]),
    ("tools/call", &[must("/name", Kind::Text), may("/arguments", Kind::Object)]),
    ("resources/list", &[may("/cursor", Kind::Text)]),
    ("resources/templates/list", &[may("/cursor", Kind::Text)]),
    ("resources/read", &[must("/uri", Kind::Text)]),
    (
        "completion/complete",
        &[
            must("/ref", Kind::Object),
            must("/ref/type", Kind::OneOf(&["ref/resource", "ref/prompt"])),
            must("/ref/uri", Kind::Text),
            must("/argument", Kind::Object),
            must("/argument/name", Kind::Text),
            must("/argument/value", Kind::Text),
        ],
    ),
];

/// Invalid parameters where the method is one that is served, else nothing.
pub(crate) fn problem(request: &CustomRequest) -> Option<ErrorData> {
    let (method, members) = served(&request.method)?;
    let wrong = wrong(members, request.params.as_ref());
    let text = wrong.unwrap_or_else(|| {
        "they can't be read: something in them is of another kind than the protocol says, or is given twice".to_owned()
    });
    Some(ErrorData::invalid_params(said(method, &text), None))
}

/// What is wrong with parameters that the protocol library would take for none: those that are no object, and of lists
/// also those whose cursor is no text.
pub(crate) fn overlooked(method: &str, params: Option<&Value>) -> Option<String> {
    let members = match params? {
        Value::Object(_) if method.ends_with("/list") => served(method)?.1,
        _ => &[],
    };
    wrong(members, params).map(|text| said(method, &text))
}

fn served(method: &str) -> Option<&'static (&'static str, &'static [Member])> {
    METHODS.iter().find(|(served, _)| *served == method)
}

fn wrong(members: &[Member], params: Option<&Value>) -> Option<String> {
    match params.unwrap_or(&Value::Null) {
        params @ (Value::Object(_) | Value::Null) => members.iter().find_map(|member| member.problem(params)),
        other => Some(format!("they must be an object, but {} was given", preview(other))),
    }
}

fn said(method: &str, text: &str) -> String {
    let shown: String = method.chars().take(60).collect();
    format!("the params of {shown} are wrong: {text}")
}

impl Member {
    fn problem(&self, params: &Value) -> Option<String> {
        let given = params.pointer(self.place);
        let fits = match (self.kind, given) {
            (_, None) | (_, Some(Value::Null)) => !self.required,
            (Kind::Text, Some(given)) => given.is_string(),
            (Kind::Object, Some(given)) => given.is_object(),
            (Kind::OneOf(allowed), Some(given)) => given.as_str().is_some_and(|given| allowed.contains(&given)),
        };
        if fits {
            return None;
        }
        let name = self.place.trim_start_matches('/').replace('/', ".");
        let expected = match self.kind {
            Kind::Text => "a text".to_owned(),
            Kind::Object => "an object".to_owned(),
            Kind::OneOf(allowed) => allowed.join(" or "),
        };
        Some(match given {
            None => format!("`{name}` is missing; it must be {expected}"),
            Some(given) => format!("`{name}` must be {expected}, but {} was given", preview(given)),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(method: &str, params: Value) -> Option<String> {
        problem(&CustomRequest::new(method, Some(params))).map(|error| error.message.into_owned())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (method, params, expected) in [
            ("tools/call", json!([1]), "must be an object, but `[1]` was given"),
            ("tools/call", json!({}), "`name` is missing; it must be a text"),
            ("tools/call", json!({ "name": 7 }), "`name` must be a text, but `7` was given"),
            ("tools/call", json!({ "name": "ping", "arguments": "x" }), "`arguments` must be an object"),
            ("tools/list", json!({ "cursor": 1 }), "`cursor` must be a text"),
            ("completion/complete", json!({ "ref": { "type": "x" } }), "`ref.type` must be ref/resource or ref/prompt"),
            ("server/discover", json!({ "_meta": 1 }), "something in them"),
        ] {
            let said = said(method, params.clone()).unwrap();
            assert!(said.contains(method) && said.contains(expected), "{method} {params}: {said}");
        }
        assert!(problem(&CustomRequest::new("resources/read", None)).is_some());
        assert_eq!(overlooked("tools/list", Some(&json!({ "cursor": "next" }))), None);
        assert_eq!(overlooked("tools/list", None), None);
        assert!(overlooked("tools/list", Some(&json!({ "cursor": 7 }))).is_some());
        assert!(overlooked("tools/destroy", Some(&json!("x"))).is_some());
        assert_eq!(said("tools/destroy", json!({})), None);
        assert_eq!(said("prompts/get", json!({})), None);
    }
}
