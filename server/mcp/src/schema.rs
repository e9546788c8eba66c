//! JSON Schemas that every client understands.
//!
//! Several clients hand a tool's schema straight to their model's API, and these accept only a
//! plain subset of JSON Schema: no `anyOf`, `oneOf`, `$ref` or lists of types, no boolean schemas,
//! no formats of Rust's integers. The derived schemas are therefore rewritten into that subset.

use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of a tool's arguments.
pub(crate) fn of_input<T: JsonSchema>() -> JsonObject {
    let mut schema = plain::<T>(SchemaSettings::draft2020_12());
    schema.insert("additionalProperties".into(), Value::Bool(false));
    // A tool without arguments has an empty list of them, not none.
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// The schema of a tool's structured answer. It allows further properties, so that an answer may
/// grow while a client still holds an older schema.
pub(crate) fn of_output<T: JsonSchema>() -> JsonObject {
    plain::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn plain<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema);
    match schema {
        Value::Object(schema) => schema,
        // Arguments and answers are structs, whose schema is an object.
        _ => Map::new(),
    }
}

/// Rewrites a derived schema into the plain subset, from the leaves up.
fn simplify(schema: &mut Value) {
    let Value::Object(schema) = schema else { return };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    for keyword in ["items", "additionalProperties"] {
        if let Some(inner) = schema.get_mut(keyword) {
            simplify(inner);
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(alternatives)) = schema.remove(keyword) {
            merge_alternatives(schema, alternatives);
        }
    }
    if schema.get("additionalProperties").is_some_and(|any| *any == Value::Bool(true)) {
        // What is not said is allowed.
        schema.remove("additionalProperties");
    }
    schema.remove("title");
    schema.remove("format");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    // Doc comments are wrapped for the source file.
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}

/// Two kinds of alternatives occur: "this or null" for an `Option`, and one constant for each
/// variant of an enum. A property that is left out says the same as null, and constants make an `enum`.
fn merge_alternatives(schema: &mut JsonObject, alternatives: Vec<Value>) {
    let mut constants = Vec::new();
    for mut alternative in alternatives {
        simplify(&mut alternative);
        let Value::Object(mut alternative) = alternative else { continue };
        if alternative.get("type").is_some_and(|kind| kind == "null") {
            continue;
        }
        if let Some(constant) = alternative.remove("const") {
            constants.push(constant);
            alternative.remove("description");
        } else if let Some(Value::Array(values)) = alternative.remove("enum") {
            constants.extend(values);
        }
        for (keyword, value) in alternative {
            schema.entry(keyword).or_insert(value);
        }
    }
    if !constants.is_empty() {
        schema.insert("enum".into(), Value::Array(constants));
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    /// A colour, with
    /// a description over two lines.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        /// Like blood.
        Red,
        /// Like grass.
        Green,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Inner {
        /// How many.
        count: u32,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Everything {
        /// Which one.
        colour: Option<Colour>,
        /// The pieces.
        inner: Vec<Inner>,
        /// One piece.
        one: Option<Inner>,
        /// A text.
        text: Option<String>,
    }

    #[test]
    fn options_enums_and_nested_types_become_plain() {
        assert_eq!(
            Value::Object(of_input::<Everything>()),
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "colour": { "type": "string", "enum": ["red", "green"], "description": "Which one." },
                    "inner": {
                        "type": "array",
                        "description": "The pieces.",
                        "items": {
                            "type": "object",
                            "properties": { "count": { "type": "integer", "minimum": 0, "description": "How many." } },
                            "required": ["count"],
                        },
                    },
                    "one": {
                        "type": "object",
                        "description": "One piece.",
                        "properties": { "count": { "type": "integer", "minimum": 0, "description": "How many." } },
                        "required": ["count"],
                    },
                    "text": { "type": "string", "description": "A text." },
                },
                "required": ["inner"],
            })
        );
    }
}
