//! What a message says, read from the content blocks that clients really have.
//!
//! | written by | blocks |
//! | --- | --- |
//! | Anthropic | `text`, `thinking`, `redacted_thinking`, `tool_use`, `tool_result`, `image`, `document`, `search_result` |
//! | OpenAI, chat | `text`, `refusal`, `image_url`, `input_audio`, `file`; `tool_calls` beside the content |
//! | OpenAI, responses | `input_text`, `output_text`, `reasoning`, `input_image`, `input_file`, `function_call`, `function_call_output` |
//! | the AI SDK | `text`, `reasoning`, `tool-call`, `tool-result` |
//! | Gemini | parts: `text`, `thought`, `inlineData`, `fileData`, `functionCall`, `functionResponse`, `executableCode` |
//!
//! What is none of these is shown as the JSON that it is.

use polymnemo_types::{MessageFormat, MessagePart, limits};

use super::json::Json;

/// A part of a message, as a person reads it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// Text, which may be Markdown.
    Text(String),
    /// What the assistant thought before it answered.
    Thinking(String),
    /// That it thought something which its maker keeps to itself.
    HiddenThinking,
    /// What the assistant would not do.
    Refusal(String),
    /// That a tool was called.
    Call {
        /// The name of the tool.
        name: String,
        /// By which the result names the call.
        id: Option<String>,
        /// What it was given.
        input: String,
    },
    /// What a tool gave.
    Result {
        /// The name of the tool, where it is said.
        name: Option<String>,
        /// The call that it answers.
        call: Option<String>,
        /// Whether the tool failed.
        failed: bool,
        /// What it gave.
        content: Vec<Block>,
    },
    /// Code that is neither text nor a call.
    Code(String),
    /// An image, a document, a sound: that it was there, and what is known about it.
    Attachment(Attachment),
    /// Anything else.
    Unknown {
        /// What it calls itself.
        kind: Option<String>,
        /// All of it.
        json: String,
    },
}

/// Something that was attached to a message. Nothing of it is loaded.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Attachment {
    pub(crate) kind: AttachmentKind,
    /// Its name or title.
    pub(crate) name: Option<String>,
    /// Its media type.
    pub(crate) media_type: Option<String>,
    /// Its length in bytes, where it was in the message itself.
    pub(crate) bytes: Option<u64>,
    /// Where it is on the web.
    pub(crate) url: Option<String>,
    /// The text in it.
    pub(crate) text: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum AttachmentKind {
    Image,
    Sound,
    Video,
    #[default]
    File,
}

/// What a message says.
pub(crate) fn of_message(message: &MessagePart) -> Vec<Block> {
    let is_cut = (message.content.len() as u64) < message.bytes;
    let is_tool = matches!(message.role.as_str(), "tool" | "function");
    let mut blocks = read(&message.content, message.format, is_cut, is_tool);
    // What a tool says is a result, however it is written.
    if is_tool {
        for block in &mut blocks {
            if let Block::Text(text) = block {
                let content = vec![Block::Code(std::mem::take(text))];
                *block = Block::Result { name: None, call: None, failed: false, content };
            }
        }
    }
    // Where it was cut within an attachment, nobody knows how long that is.
    if let Some(Block::Attachment(attachment)) = blocks.last_mut().filter(|_| is_cut) {
        attachment.bytes = None;
    }
    blocks
}

/// The most bytes of what is read at once.
const READ: usize = limits::MESSAGE_VIEW_BYTES;
/// The most bytes of what is folded.
const FOLDED: usize = 4_000;

/// Leaves of long blocks the beginning; says whether anything was left out.
pub(crate) fn shorten(blocks: &mut [Block]) -> bool {
    let mut is_cut = false;
    for block in blocks {
        let (text, most) = match block {
            Block::Text(text) | Block::Refusal(text) => (text, READ),
            Block::Thinking(text) | Block::Code(text) => (text, FOLDED),
            Block::Call { input, .. } => (input, FOLDED),
            Block::Unknown { json, .. } => (json, FOLDED),
            Block::Attachment(Attachment { text: Some(text), .. }) => (text, FOLDED),
            Block::Result { content, .. } => {
                is_cut |= shorten(content);
                continue;
            }
            Block::Attachment(_) | Block::HiddenThinking => continue,
        };
        if text.len() > most {
            text.truncate(text.floor_char_boundary(most));
            text.push('…');
            is_cut = true;
        }
    }
    is_cut
}

/// What is written there, or the beginning of it.
fn read(content: &str, format: MessageFormat, is_cut: bool, is_tool: bool) -> Vec<Block> {
    if format == MessageFormat::Text {
        return vec![Block::Text(shown(content))];
    }
    let mut blocks = Vec::new();
    match Json::read(content, is_cut) {
        Some(json @ Json::Object(_)) if block(&json).is_none() => take_message(&json, is_tool, &mut blocks),
        Some(json) => take(&json, &mut blocks),
        None => blocks.push(Block::Unknown { kind: None, json: shown(content) }),
    }
    blocks
}

/// The words of a message alone, without tools and thoughts; where there are none, those that are there.
pub(crate) fn words(blocks: &[Block]) -> String {
    let said = blocks.iter().filter_map(|block| match block {
        Block::Text(text) | Block::Refusal(text) => Some(text.as_str()),
        _ => None,
    });
    let said = said.collect::<Vec<_>>().join("\n\n");
    if !said.trim().is_empty() {
        return said;
    }
    let others = blocks.iter().filter_map(|block| match block {
        Block::Thinking(text) | Block::Code(text) => Some(text.clone()),
        Block::Call { name, input, .. } => Some(format!("{name} {input}")),
        Block::Result { content, .. } => Some(words(content)),
        Block::Attachment(attachment) => attachment.text.clone().or_else(|| attachment.name.clone()),
        Block::Unknown { json, .. } => Some(json.clone()),
        _ => None,
    });
    others.collect::<Vec<_>>().join("\n\n")
}

/// A text as it can be shown: what HTML has no way to say is told apart from a space.
fn shown(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text.to_owned() }
}

fn take(json: &Json, blocks: &mut Vec<Block>) {
    match json {
        // Beside tool calls many write an empty text.
        Json::Text(text) if text.trim().is_empty() => {}
        Json::Text(text) => blocks.push(Block::Text(shown(text))),
        Json::Array(items) => items.iter().for_each(|item| take(item, blocks)),
        Json::Object(_) => match block(json) {
            Some(block) => blocks.push(block),
            None => take_message(json, false, blocks),
        },
        Json::Other(value) if value.is_null() => {}
        Json::Other(_) => blocks.push(unknown(json)),
    }
}

/// A whole message as the content of one: its content, and the calls beside it.
fn take_message(json: &Json, is_tool: bool, blocks: &mut Vec<Block>) {
    let content = json.get("content").filter(|content| !content.is_empty());
    let inner = content.or_else(|| json.get("parts")).or_else(|| json.get("content"));
    let calls = json.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    let old_call = json.get("function_call").filter(|call| call.text("name").is_some());
    let is_message = matches!(inner, Some(Json::Text(_) | Json::Array(_))) || !calls.is_empty() || old_call.is_some();
    if !is_message {
        blocks.push(unknown(json));
        return;
    }
    if let Some(thought) = json.any_text(&["reasoning_content", "reasoning"]).filter(|thought| !thought.is_empty()) {
        blocks.push(Block::Thinking(shown(thought)));
    }
    if let Some(call) = json.text("tool_call_id") {
        blocks.push(result(json, json.text("name"), Some(call), inner));
    } else if (is_tool || matches!(json.text("role"), Some("tool" | "function")))
        && matches!(inner, Some(Json::Text(_)))
    {
        blocks.push(result(json, json.text("name"), None, inner));
    } else if let Some(inner) = inner {
        take(inner, blocks);
    }
    if let Some(refusal) = json.text("refusal") {
        blocks.push(Block::Refusal(shown(refusal)));
    }
    blocks.extend(calls.iter().chain(old_call).map(tool_call));
}

/// The block that an object is, if it is one.
fn block(json: &Json) -> Option<Block> {
    let Some(kind) = json.text("type") else { return part(json) };
    let text = |names: &[&str]| json.any_text(names).map(shown);
    Some(match kind {
        "text" | "input_text" | "output_text" | "summary_text" => Block::Text(text(&["text"])?),
        "thinking" | "reasoning_text" => Block::Thinking(text(&["thinking", "text"])?),
        "redacted_thinking" => Block::HiddenThinking,
        "reasoning" => reasoning(json),
        "refusal" => Block::Refusal(text(&["refusal"])?),
        "tool_use" | "server_tool_use" | "mcp_tool_use" => call(json.text("name")?, json.text("id"), json.get("input")),
        "function" | "function_call" | "custom_tool_call" => tool_call(json),
        "tool-call" => {
            call(json.text("toolName")?, json.text("toolCallId"), json.get("args").or_else(|| json.get("input")))
        }
        "tool-result" => {
            let given = json.get("result").or_else(|| json.get("output"));
            result(json, json.text("toolName"), json.text("toolCallId"), given)
        }
        "function_call_output" | "custom_tool_call_output" => {
            result(json, json.text("name"), json.text("call_id"), json.get("output"))
        }
        "image" | "input_image" | "image_url" => Block::Attachment(attached(json, AttachmentKind::Image)),
        "input_audio" | "audio" => Block::Attachment(attached(json, AttachmentKind::Sound)),
        "document" | "file" | "input_file" | "container_upload" | "resource" | "resource_link" => {
            Block::Attachment(attached(json, AttachmentKind::File))
        }
        "search_result" => Block::Result {
            name: json.text("title").map(shown),
            call: None,
            failed: false,
            content: json.get("content").map(inner).unwrap_or_default(),
        },
        _ if kind.ends_with("tool_result") => {
            result(json, json.text("name"), json.text("tool_use_id"), json.get("content"))
        }
        // A whole message, see `take_message`.
        "message" => return None,
        _ => unknown(json),
    })
}

/// The part that an object of Gemini's is, if it is one. Such a part says what it is by the name of its member.
fn part(json: &Json) -> Option<Block> {
    let member = |names: [&str; 2]| names.into_iter().find_map(|name| json.get(name));
    if let Some(text) = json.text("text") {
        let text = shown(text);
        return Some(if json.is_true("thought") { Block::Thinking(text) } else { Block::Text(text) });
    }
    if let Some(given) = member(["functionCall", "function_call"]).filter(|given| given.get("args").is_some()) {
        return Some(call(given.text("name")?, given.text("id"), given.get("args")));
    }
    if let Some(given) = member(["functionResponse", "function_response"]) {
        return Some(result(given, given.text("name"), given.text("id"), given.get("response")));
    }
    if let Some(data) = member(["inlineData", "inline_data"]).or_else(|| member(["fileData", "file_data"])) {
        return Some(Block::Attachment(attached(data, AttachmentKind::File)));
    }
    if let Some(code) = member(["executableCode", "executable_code"]) {
        return code.text("code").map(|code| Block::Code(shown(code)));
    }
    if let Some(outcome) = member(["codeExecutionResult", "code_execution_result"]) {
        return Some(result(outcome, None, None, outcome.get("output")));
    }
    None
}

/// A call as OpenAI writes it: within `function`, or by itself.
fn tool_call(json: &Json) -> Block {
    let given = json.get("function").or_else(|| json.get("custom")).unwrap_or(json);
    let input = given.get("arguments").or_else(|| given.get("input"));
    match given.text("name") {
        Some(name) => call(name, json.any_text(&["call_id", "id"]), input),
        None => unknown(json),
    }
}

fn call(name: &str, id: Option<&str>, input: Option<&Json>) -> Block {
    // Some write the input as a text that is JSON.
    let input = match input {
        Some(Json::Text(text)) => Json::read(text, false).map_or_else(|| shown(text), |json| json.indented()),
        Some(json) if json.is_empty() => String::new(),
        Some(json) => json.indented(),
        None => String::new(),
    };
    Block::Call { name: shown(name), id: id.map(str::to_owned), input }
}

fn result(json: &Json, name: Option<&str>, call: Option<&str>, content: Option<&Json>) -> Block {
    let is_error = json.is_true("is_error") || json.is_true("isError");
    let failed_outcome = json.text("outcome").is_some_and(|outcome| outcome.contains("FAILED"));
    Block::Result {
        name: name.map(shown),
        call: call.map(str::to_owned),
        failed: is_error || failed_outcome,
        content: content.map(inner).unwrap_or_default(),
    }
}

/// What is in the result of a tool: text as it stands, which is rarely meant as Markdown, or blocks.
fn inner(json: &Json) -> Vec<Block> {
    let mut blocks = Vec::new();
    match json {
        Json::Object(members) if block(json).is_none_or(|block| matches!(block, Block::Unknown { .. })) => {
            // MCP puts the blocks beside what else it has to say.
            if let Some(content @ Json::Array(_)) = json.get("content") {
                return inner(content);
            }
            // Gemini wraps what a function gave into an object.
            match members.as_slice() {
                [(name, Json::Text(text))] if matches!(name.as_str(), "result" | "output") => {
                    blocks.push(Block::Code(shown(text)));
                }
                _ => blocks.push(Block::Code(json.indented())),
            }
        }
        _ => take(json, &mut blocks),
    }
    for block in &mut blocks {
        match block {
            Block::Text(text) => *block = Block::Code(std::mem::take(text)),
            Block::Unknown { json, .. } => *block = Block::Code(std::mem::take(json)),
            _ => {}
        }
    }
    blocks
}

fn reasoning(json: &Json) -> Block {
    let texts = |name: &str| {
        json.get(name).and_then(Json::as_array).unwrap_or_default().iter().filter_map(|item| item.text("text"))
    };
    let thought = texts("content").chain(texts("summary")).collect::<Vec<_>>().join("\n\n");
    let thought = json.text("text").map_or(thought, str::to_owned);
    if thought.is_empty() { Block::HiddenThinking } else { Block::Thinking(shown(&thought)) }
}

/// What is known about something that was attached.
fn attached(json: &Json, kind: AttachmentKind) -> Attachment {
    let own = |member: Option<&Json>| member.filter(|member| matches!(member, Json::Object(_))).cloned();
    // What it is stands within one member or another, or in the block itself.
    let source =
        ["source", "image_url", "file", "input_audio", "resource"].into_iter().find_map(|name| own(json.get(name)));
    let source = source.as_ref();
    let field = |names: &[&str]| source.and_then(|source| source.any_text(names)).or_else(|| json.any_text(names));
    let data = field(&["data", "file_data", "blob"]);
    let url = field(&["url", "image_url", "fileUri", "file_uri", "file_url", "uri"]);
    let given = field(&["media_type", "mimeType", "mime_type", "mimetype"]).map(str::to_owned);
    let is_text = source.and_then(|source| source.text("type")) == Some("text");
    let (media_type, bytes, url) = match url.or(data).and_then(|url| url.strip_prefix("data:")) {
        Some(inline) => {
            let (head, data) = inline.split_once(',').unwrap_or((inline, ""));
            let media_type = head.split(';').next().filter(|kind| !kind.is_empty()).map(str::to_owned);
            (given.or(media_type), Some(length_of_base64(data)), None)
        }
        None => {
            let bytes = data.map(|data| if is_text { data.len() as u64 } else { length_of_base64(data) });
            (given, bytes, url.filter(|url| leads_to_web(url)).map(shown))
        }
    };
    let text = if is_text { data } else { source.and_then(|source| source.text("text")) };
    Attachment {
        kind: kind_of(media_type.as_deref()).unwrap_or(kind),
        name: field(&["filename", "title", "displayName", "display_name", "name", "file_id", "id"]).map(shown),
        media_type: media_type.map(|media_type| shown(&media_type)),
        bytes,
        url,
        text: text.map(shown),
    }
}

fn kind_of(media_type: Option<&str>) -> Option<AttachmentKind> {
    match media_type?.split('/').next()? {
        "image" => Some(AttachmentKind::Image),
        "audio" => Some(AttachmentKind::Sound),
        "video" => Some(AttachmentKind::Video),
        _ => None,
    }
}

fn leads_to_web(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

/// How many bytes a base64 text stands for.
fn length_of_base64(data: &str) -> u64 {
    data.trim_end_matches('=').len() as u64 * 3 / 4
}

fn unknown(json: &Json) -> Block {
    let kind = json.text("type").map(shown);
    Block::Unknown { kind, json: shown(&json.indented()) }
}

#[cfg(test)]
mod tests {
    use polymnemo_types::MessageFormat;

    use super::{Attachment, AttachmentKind, Block, READ, read, shorten, words};

    fn blocks(json: &str) -> Vec<Block> {
        read(json, MessageFormat::Blocks, false, false)
    }

    fn text(text: &str) -> Block {
        Block::Text(text.to_owned())
    }

    fn call(name: &str, id: &str, input: &str) -> Block {
        Block::Call { name: name.to_owned(), id: Some(id.to_owned()), input: input.to_owned() }
    }

    fn result(name: Option<&str>, call: Option<&str>, content: &str) -> Block {
        let content = vec![Block::Code(content.to_owned())];
        Block::Result { name: name.map(str::to_owned), call: call.map(str::to_owned), failed: false, content }
    }

    #[test]
    fn text_stays_as_it_is() {
        assert_eq!(read("[1] **b**", MessageFormat::Text, false, false), [text("[1] **b**")]);
        assert_eq!(blocks(r#""Just text.""#), [text("Just text.")]);
    }

    #[test]
    fn blocks_of_anthropic() {
        let given = r#"[
            {"type":"thinking","thinking":"Hm.","signature":"x"},
            {"type":"redacted_thinking","data":"x"},
            {"type":"text","text":"Let me look."},
            {"type":"tool_use","id":"t1","name":"search","input":{"z":1,"a":"b"}},
            {"type":"tool_result","tool_use_id":"t1","content":"**3** hits"},
            {"type":"tool_result","tool_use_id":"t2","is_error":true,"content":[{"type":"text","text":"no such file"}]},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAAAAAA"}},
            {"type":"document","title":"Terms","source":{"type":"text","media_type":"text/plain","data":"Clause 1"}}
        ]"#;
        let failed = Block::Result {
            name: None,
            call: Some("t2".to_owned()),
            failed: true,
            content: vec![Block::Code("no such file".to_owned())],
        };
        let image = Attachment {
            kind: AttachmentKind::Image,
            media_type: Some("image/png".to_owned()),
            bytes: Some(6),
            ..Attachment::default()
        };
        let document = Attachment {
            name: Some("Terms".to_owned()),
            media_type: Some("text/plain".to_owned()),
            bytes: Some(8),
            text: Some("Clause 1".to_owned()),
            ..Attachment::default()
        };
        assert_eq!(
            blocks(given),
            [
                Block::Thinking("Hm.".to_owned()),
                Block::HiddenThinking,
                text("Let me look."),
                call("search", "t1", "{\n  \"z\": 1,\n  \"a\": \"b\"\n}"),
                result(None, Some("t1"), "**3** hits"),
                failed,
                Block::Attachment(image),
                Block::Attachment(document),
            ]
        );
    }

    #[test]
    fn blocks_of_openai() {
        let given = r#"[
            {"type":"input_text","text":"What is this?"},
            {"type":"image_url","image_url":{"url":"https://example.org/cat.png"}},
            {"type":"input_image","image_url":"data:image/jpeg;base64,AAAA"},
            {"type":"refusal","refusal":"I can't."},
            {"type":"reasoning","summary":[{"type":"summary_text","text":"Looked."}]},
            {"type":"reasoning","encrypted_content":"x","summary":[]},
            {"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},
            {"type":"function_call_output","call_id":"c1","output":"done"},
            {"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}
        ]"#;
        let image = |media_type: Option<&str>, bytes, url: Option<&str>| {
            Block::Attachment(Attachment {
                kind: AttachmentKind::Image,
                media_type: media_type.map(str::to_owned),
                bytes,
                url: url.map(str::to_owned),
                ..Attachment::default()
            })
        };
        let sound = Attachment { kind: AttachmentKind::Sound, bytes: Some(3), ..Attachment::default() };
        assert_eq!(
            blocks(given),
            [
                text("What is this?"),
                image(None, None, Some("https://example.org/cat.png")),
                image(Some("image/jpeg"), Some(3), None),
                Block::Refusal("I can't.".to_owned()),
                Block::Thinking("Looked.".to_owned()),
                Block::HiddenThinking,
                call("f", "c1", "{\n  \"a\": 1\n}"),
                result(None, Some("c1"), "done"),
                Block::Attachment(sound),
            ]
        );
    }

    #[test]
    fn a_whole_message_of_openai() {
        let given = r#"{"role":"assistant","content":null,"tool_calls":[
            {"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bonn\"}"}}]}"#;
        assert_eq!(blocks(given), [call("weather", "c1", "{\n  \"city\": \"Bonn\"\n}")]);
        let given = r#"{"role":"tool","tool_call_id":"c1","content":"Rain"}"#;
        assert_eq!(blocks(given), [result(None, Some("c1"), "Rain")]);
        let given = r#"{"role":"function","name":"weather","content":"{\"t\":3}"}"#;
        assert_eq!(blocks(given), [result(Some("weather"), None, "{\"t\":3}")]);
        let given = r#"{"role":"assistant","content":"Hello","function_call":{"name":"f","arguments":"not JSON"}}"#;
        assert_eq!(
            blocks(given),
            [text("Hello"), Block::Call { name: "f".to_owned(), id: None, input: "not JSON".to_owned() }]
        );
    }

    #[test]
    fn what_a_client_has_beside_the_content() {
        let tool = |json| read(json, MessageFormat::Blocks, false, true);
        assert_eq!(tool(r#"{"content":"Rain","name":"weather"}"#), [result(Some("weather"), None, "Rain")]);
        assert_eq!(blocks(r#"{"content":"Hello","name":"Bob"}"#), [text("Hello")]);
        assert_eq!(blocks(r#"{"content":"","tool_calls":[{"function":{"name":"f"}}]}"#).len(), 1);
        assert_eq!(blocks(r#"{"content":"","parts":[{"type":"text","text":"Hello"}]}"#), [text("Hello")]);
        let given = r#"[{"type":"tool-call","toolCallId":"c1","toolName":"f","args":{}},
            {"type":"tool-result","toolCallId":"c1","toolName":"f","result":"ok"}]"#;
        assert_eq!(blocks(given), [call("f", "c1", ""), result(Some("f"), Some("c1"), "ok")]);
    }

    #[test]
    fn parts_of_gemini() {
        let given = r#"{"role":"model","parts":[
            {"text":"Thinking of it","thought":true},
            {"text":"Here."},
            {"functionCall":{"name":"f","args":{"a":1}}},
            {"functionResponse":{"name":"f","response":{"result":"ok"}}},
            {"inlineData":{"mimeType":"video/mp4","data":"AAAA"}},
            {"executableCode":{"language":"PYTHON","code":"print(1)"}},
            {"codeExecutionResult":{"outcome":"OUTCOME_FAILED","output":"1"}}
        ]}"#;
        let video = Attachment {
            kind: AttachmentKind::Video,
            media_type: Some("video/mp4".to_owned()),
            bytes: Some(3),
            ..Attachment::default()
        };
        let failed = Block::Result { name: None, call: None, failed: true, content: vec![Block::Code("1".to_owned())] };
        assert_eq!(
            blocks(given),
            [
                Block::Thinking("Thinking of it".to_owned()),
                text("Here."),
                Block::Call { name: "f".to_owned(), id: None, input: "{\n  \"a\": 1\n}".to_owned() },
                result(Some("f"), None, "ok"),
                Block::Attachment(video),
                Block::Code("print(1)".to_owned()),
                failed,
            ]
        );
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        for (given, kind) in [
            (r#"[{"type":"hologram","data":[1]}]"#, Some("hologram")),
            (r#"[{"type":"text","text":7}]"#, None),
            (r#"{"a":1}"#, None),
            ("[7]", None),
        ] {
            let blocks = blocks(given);
            let [Block::Unknown { kind: found, json }] = blocks.as_slice() else { panic!("{given}: {blocks:?}") };
            assert!(kind.is_none() || found.as_deref() == kind, "{given}");
            assert!(!json.is_empty());
        }
        assert_eq!(blocks("{not JSON"), [Block::Unknown { kind: None, json: "{not JSON".to_owned() }]);
        assert!(blocks("[]").is_empty() && blocks("null").is_empty());
    }

    #[test]
    fn hostile_content_breaks_nothing() {
        assert_eq!(blocks(r#"[{"type":"text","text":"a\u0000b"}]"#), [text("a\u{FFFD}b")]);
        // Deeper than anything means to be.
        let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(matches!(blocks(&deep).as_slice(), [Block::Unknown { .. }]));
        let deep = format!("{}{}", r#"[{"type":"tool_result","content":"#.repeat(60), "1");
        assert_eq!(read(&deep, MessageFormat::Blocks, true, false).len(), 1);
        // A lone half of a character.
        assert!(matches!(blocks(r#"["\ud83d"]"#).as_slice(), [Block::Unknown { .. }]));
        let huge = format!(r#"[{{"type":"tool_result","content":"{}"#, "x".repeat(1 << 20));
        let blocks = read(&huge, MessageFormat::Blocks, true, false);
        assert!(matches!(blocks.as_slice(), [Block::Result { content, .. }] if content.len() == 1));
    }

    #[test]
    fn an_attachment_leads_to_the_web_or_nowhere() {
        for url in ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,<b>", "//example.org/a", "/sign-out"] {
            let given = format!(r#"[{{"type":"image_url","image_url":{{"url":"{url}"}}}}]"#);
            let blocks = blocks(&given);
            let [Block::Attachment(attachment)] = blocks.as_slice() else { panic!("{given}") };
            assert_eq!(attachment.url, None, "{url}");
        }
    }

    #[test]
    fn of_long_blocks_the_beginning_is_left() {
        let long = "é".repeat(READ);
        let given = format!(
            r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}},
            {{"type":"text","text":"Short."}},{{"type":"tool_result","content":"{long}"}}]"#,
            "A".repeat(400_000)
        );
        let mut short = blocks(&given);
        assert!(shorten(&mut short));
        assert!(matches!(&short[0], Block::Attachment(image) if image.bytes == Some(300_000)));
        assert_eq!(short[1], text("Short."));
        let Block::Result { content, .. } = &short[2] else { panic!("{short:?}") };
        assert!(matches!(content.as_slice(), [Block::Code(code)] if code.len() < 4_100 && code.ends_with("é…")));
        assert!(!shorten(&mut [text("Short.")]));
    }

    #[test]
    fn the_words_of_a_message_are_what_was_said() {
        let given = r#"[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"One."},
            {"type":"tool_use","name":"f","input":{}},{"type":"text","text":"Two."}]"#;
        assert_eq!(words(&blocks(given)), "One.\n\nTwo.");
        assert_eq!(words(&blocks(r#"[{"type":"tool_result","content":"Rain"}]"#)), "Rain");
    }
}
