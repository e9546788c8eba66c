//! What of a message is searched.

use polymnemo_types::MessageFormat;
use serde_json::Value;

/// The words of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// What is said: searched by meaning and by keyword.
    pub said: String,
    /// What goes to tools and comes from them, and what was thought aloud: found by keyword only. Its meaning would drown
    /// what was said.
    pub aside: String,
}

/// The words of a message.
#[must_use]
pub fn words(role: &str, format: MessageFormat, content: &str) -> Words {
    let mut words = Words::default();
    let is_tool = matches!(role, "tool" | "function");
    match format {
        MessageFormat::Text if is_tool => content.clone_into(&mut words.aside),
        MessageFormat::Text => content.clone_into(&mut words.said),
        MessageFormat::Blocks => {
            if let Ok(blocks) = serde_json::from_str(content) {
                collect(&blocks, is_tool, 0, &mut words);
            }
        }
    }
    words
}

/// How deep blocks may be nested; what lies deeper is kept, not searched.
const DEPTH: usize = 8;

/// Members that never hold words: what files, pictures and signatures are made of.
const DATA: [&str; 8] =
    ["data", "signature", "id", "tool_use_id", "tool_call_id", "media_type", "file_id", "encrypted_content"];

fn collect(block: &Value, is_aside: bool, depth: usize, words: &mut Words) {
    if depth > DEPTH {
        return;
    }
    match block {
        Value::String(text) => add(if is_aside { &mut words.aside } else { &mut words.said }, text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, is_aside, depth + 1, words)),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
            // What a product put in behind the scenes, and the place of bytes that were left out, are no words of anyone.
            if matches!(kind, "hidden" | "omitted") {
                return;
            }
            let is_said =
                matches!(kind, "text" | "input_text" | "output_text" | "refusal" | "" | "message" | "attachment");
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("type", _) => {}
                    (name, _) if DATA.contains(&name) => {}
                    ("text" | "refusal" | "content" | "parts", value) => {
                        collect(value, is_aside || !is_said, depth + 1, words);
                    }
                    // Everything else is about the block: arguments, names, titles, addresses.
                    (_, Value::String(text)) if text.starts_with("data:") => {}
                    (_, value) => collect(value, true, depth + 1, words),
                }
            }
        }
        Value::Number(number) if is_aside => add(&mut words.aside, &number.to_string()),
        Value::Number(_) | Value::Null | Value::Bool(_) => {}
    }
}

fn add(words: &mut String, text: &str) {
    if !words.is_empty() && !text.is_empty() {
        words.push('\n');
    }
    words.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(role: &str, blocks: &str) -> (String, String) {
        let words = words(role, MessageFormat::Blocks, blocks);
        (words.said, words.aside)
    }

    #[test]
    fn what_is_said_is_told_from_what_goes_to_tools() {
        let blocks = r#"[
            {"type": "thinking", "thinking": "Hm, tea.", "signature": "c2ln"},
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "kettle", "limit": 5}}
        ]"#;
        assert_eq!(of("assistant", blocks), ("Let me look.".into(), "Hm, tea.\nsearch\nkettle\n5".into()));
        let result =
            r#"[{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "Blue."}]}]"#;
        assert_eq!(of("user", result), (String::new(), "Blue.".into()));
        assert_eq!(words("tool", MessageFormat::Text, "Blue.").aside, "Blue.");
    }

    #[test]
    fn what_a_file_says_is_said_and_what_is_behind_the_scenes_is_not_searched() {
        let blocks = r#"[
            {"type": "attachment", "name": "list.txt", "text": "Two limes."},
            {"type": "hidden", "kind": "injected", "content": "Today is Tuesday."},
            {"type": "omitted", "media_type": "image/png", "bytes": 12}
        ]"#;
        assert_eq!(of("user", blocks), ("Two limes.".into(), "list.txt".into()));
    }

    #[test]
    fn other_shapes_are_read_too_and_data_is_not() {
        let openai = r#"[{"type":"input_text","text":"What is it?"},{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]"#;
        assert_eq!(of("user", openai), ("What is it?".into(), String::new()));
        assert_eq!(of("user", r#""just\u0000text""#).0, "just\0text");
        assert_eq!(of("model", r#"{"parts":[{"text":"Yes."}]}"#), ("Yes.".into(), String::new()));
        let image = r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]"#;
        assert_eq!(of("user", image), (String::new(), String::new()));
        assert_eq!(of("user", "no JSON"), (String::new(), String::new()));
        assert_eq!(of("user", &format!("{}{}", "[".repeat(100), "]".repeat(100))), (String::new(), String::new()));
    }
}
