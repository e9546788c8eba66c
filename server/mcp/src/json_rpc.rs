//! What a client sent, looked over before the protocol library parses it: over HTTP it would answer what is not JSON-RPC
//! in plain text, over stdio not at all.

use rmcp::model::ProtocolVersion;
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};

use crate::params;

/// The body is not JSON.
pub const PARSE_ERROR: i32 = -32_700;
/// The JSON is no message of JSON-RPC, or not one that is allowed here.
pub const INVALID_REQUEST: i32 = -32_600;
/// The parameters are not what the method takes.
pub const INVALID_PARAMS: i32 = -32_602;
/// The server is at fault.
pub const INTERNAL_ERROR: i32 = -32_603;

/// The most messages in a batch.
const MOST_IN_BATCH: usize = 50;

/// Why a batch is not taken.
pub(crate) const NO_BATCH: &str = "A batch is taken only over HTTP, from clients of a revision before 2025-06-18, with which \
    the protocol gave them up. Send each message alone.";

/// What some programs put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why something is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The code that JSON-RPC has for it.
    pub code: i32,
    /// What is wrong.
    pub message: String,
    /// The id of the request, where it is one.
    pub id: Option<Value>,
}

impl Fault {
    /// A fault with this code. It has no id: what is no message has none that could be trusted.
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), id: None }
    }

    /// A fault of the sender that is more than bad JSON.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    /// The answer.
    #[must_use]
    pub fn answer(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": self.id, "error": { "code": self.code, "message": self.message } })
    }
}

/// What a client sent at once.
#[derive(Debug)]
pub enum Input {
    /// One message.
    Message(Vec<u8>),
    /// Several, each a message or not.
    Batch(Vec<Result<Vec<u8>, Fault>>),
}

/// Reads what a client of this revision sent at once, and repairs what would make a good text unreadable.
///
/// Only the first revisions know batches. A client that names none is one of theirs, since over HTTP all later ones must.
///
/// # Errors
///
/// What is neither a message nor a batch of at least one and at most 50.
pub fn read(mut bytes: Vec<u8>, revision: Option<&str>) -> Result<Input, Fault> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    repair_lone_surrogates(&mut bytes);
    if !bytes.trim_ascii_start().starts_with(b"[") {
        examine(&bytes)?;
        return Ok(Input::Message(bytes));
    }
    let messages: Vec<&RawValue> = serde_json::from_slice(&bytes).map_err(not_json)?;
    // Revisions are dates, so their order as text is their order in time.
    if revision.is_some_and(|revision| revision >= ProtocolVersion::V_2025_06_18.as_str()) {
        return Err(Fault::invalid(NO_BATCH));
    }
    if messages.is_empty() || messages.len() > MOST_IN_BATCH {
        let given = messages.len();
        return Err(Fault::invalid(format!(
            "A batch has from 1 to {MOST_IN_BATCH} messages; this one has {given}. Nothing was done."
        )));
    }
    let mut batch = Vec::with_capacity(messages.len());
    for message in messages {
        let message = message.get().as_bytes();
        let examined = examine(message);
        if examined.as_ref().is_ok_and(|method| method.as_deref() == Some("initialize")) {
            return Err(Fault::invalid("`initialize` must not be in a batch. Send it alone; nothing was done."));
        }
        batch.push(examined.map(|_| message.to_vec()));
    }
    Ok(Input::Batch(batch))
}

/// The members that make a JSON-RPC message. What a method makes of its parameters is the handler's concern, but that they
/// can be read at all is not.
#[derive(Deserialize)]
struct Message {
    jsonrpc: String,
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

/// Tells a member that is null from one that is missing.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The method of a message, if it has one.
fn examine(bytes: &[u8]) -> Result<Option<String>, Fault> {
    let message: Message = serde_json::from_slice(bytes).map_err(|error| match error.is_data() {
        true => Fault::invalid(format!("This is not a JSON-RPC message: {error}.")),
        false => not_json(error),
    })?;
    if message.jsonrpc != "2.0" {
        return Err(Fault::invalid("This is not a JSON-RPC 2.0 message: `jsonrpc` must be \"2.0\"."));
    }
    match (&message.method, &message.result, &message.error) {
        (Some(_), None, None) | (None, Some(_), None) | (None, None, Some(_)) => {}
        (None, None, None) => return Err(Fault::invalid("This is not a JSON-RPC 2.0 message: `method` is missing.")),
        _ => {
            return Err(Fault::invalid(
                "This is not a JSON-RPC 2.0 message: it has more than one of `method`, `result` and `error`.",
            ));
        }
    }
    if !message.id.as_ref().is_none_or(is_id) {
        return Err(Fault::invalid("This is not an MCP message: `id` must be a text or an integer."));
    }
    if let (Some(method), Some(id)) = (&message.method, &message.id)
        && let Some(problem) = params::overlooked(method, message.params.as_ref())
    {
        return Err(Fault { id: Some(id.clone()), ..Fault::new(INVALID_PARAMS, problem) });
    }
    Ok(message.method)
}

fn not_json(error: serde_json::Error) -> Fault {
    Fault::new(PARSE_ERROR, format!("This is not JSON in UTF-8: {error}."))
}

/// Whether a value can be an id: a text, or an integer in the range that the protocol library has, however it is written.
fn is_id(id: &Value) -> bool {
    /// From here on a float does not hold each integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match id {
        Value::String(_) => true,
        Value::Number(number) => {
            number.is_i64() || number.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() < EXACT)
        }
        _ => false,
    }
}

const ESCAPE_BYTES: usize = r"\ud800".len();
const REPLACEMENT: &[u8; ESCAPE_BYTES] = br"\ufffd";

/// Replaces each escaped half of a surrogate pair that stands alone by U+FFFD.
///
/// Clients that cut a text in the middle of an emoji send `\ud83d` without its other half: valid
/// JSON, but no Unicode text, and the whole message would be refused. Both escapes have the same
/// length, so that the body's length doesn't change.
fn repair_lone_surrogates(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        at += match escaped_unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(bytes, at + ESCAPE_BYTES), Some(0xDC00..=0xDFFF)) => {
                2 * ESCAPE_BYTES
            }
            Some(0xD800..=0xDFFF) => {
                if let Some(place) = bytes.get_mut(at..at + ESCAPE_BYTES) {
                    place.copy_from_slice(REPLACEMENT);
                }
                ESCAPE_BYTES
            }
            Some(_) => ESCAPE_BYTES,
            // A backslash and what it escapes, which may be a backslash itself.
            None => 2,
        };
    }
}

/// The UTF-16 unit that an escape `\uXXXX` at this place stands for.
fn escaped_unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE_BYTES)?.strip_prefix(br"\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmcp::model::ClientJsonRpcMessage;

    use super::*;

    fn repaired(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        repair_lone_surrogates(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn halves_that_stand_alone_are_replaced_and_pairs_stay() {
        for (given, expected) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""a\ud83d""#, r#""a\ufffd""#),
            (r#""\uDE00b""#, r#""\ufffdb""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            // An escaped backslash before a `u` is no escape of a unit.
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\n\ude00""#, r#""\ufffd\n\ufffd""#),
            (r#""\u00e9\n\"\/""#, r#""\u00e9\n\"\/""#),
            (r#""\ud8""#, r#""\ud8""#),
            (r#""\"#, r#""\"#),
        ] {
            assert_eq!(repaired(given), expected);
        }
    }

    proptest! {
        /// Whatever UTF-16 units a client escapes, the repaired text parses to what a lossy decoder makes of them.
        #[test]
        fn any_sequence_of_escaped_units_becomes_its_lossy_text(
            units in prop::collection::vec(prop_oneof![Just(0xD83D_u16), Just(0xDE00), any::<u16>()], 0..40)
        ) {
            let escapes: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let text: String = serde_json::from_str(&repaired(&format!("\"{escapes}\""))).unwrap();
            prop_assert_eq!(text, String::from_utf16_lossy(&units));
        }
    }

    /// The code of the fault of a single message, none where there is no fault.
    fn code(body: &[u8]) -> Option<i32> {
        read(body.to_vec(), Some("2025-11-25")).err().map(|fault| fault.code)
    }

    #[test]
    fn what_is_a_message_can_be_parsed_by_the_protocol_library() {
        for good in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":"one","method":"tools/list","params":null}"#,
            r#"{"jsonrpc":"2.0","id":2.0,"method":"tools/list","params":{"cursor":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":-9223372036854775808,"method":"tools/call","params":{"name":7}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","unknown":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert_eq!(code(good.as_bytes()), None, "{good}");
            assert!(serde_json::from_str::<ClientJsonRpcMessage>(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn what_is_no_message_gets_the_error_for_it() {
        let deep = |depth: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"deep":{}{}}}}}"#,
                "[".repeat(depth),
                "]".repeat(depth)
            )
        };
        assert_eq!(code(deep(100).as_bytes()), None);
        for broken in ["", " ", "{", "hello", r#"{"jsonrpc":"2.0","id":1,"method":"ping"} trailing"#, "[1,", &deep(200)]
        {
            assert_eq!(code(broken.as_bytes()), Some(PARSE_ERROR), "{broken}");
        }
        assert_eq!(code(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), Some(PARSE_ERROR));
        for other in [
            "1",
            "null",
            "{}",
            r#"{"jsonrpc":"1.0","method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1e300,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":[1],"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","method":"y"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}}"#,
        ] {
            assert_eq!(code(other.as_bytes()), Some(INVALID_REQUEST), "{other}");
        }
    }

    #[test]
    fn parameters_that_are_no_object_are_answered_with_the_id_of_the_request() {
        for params in ["[1]", "7", "\"x\"", "true"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":"one","method":"tools/call","params":{params}}}"#);
            let fault = read(body.into_bytes(), None).unwrap_err();
            assert_eq!((fault.code, &fault.answer()["id"]), (INVALID_PARAMS, &json!("one")), "{params}");
        }
    }

    #[test]
    fn batches_are_for_the_first_revisions_and_bounded() {
        const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let batch = |count: usize| format!(" [{}]", [PING].repeat(count).join(","));
        let read = |body: &str, revision| read(body.as_bytes().to_vec(), revision);
        for revision in [None, Some("2024-11-05"), Some("2025-03-26")] {
            assert!(matches!(read(&batch(50), revision), Ok(Input::Batch(messages)) if messages.len() == 50));
            for refused in ["[]".to_owned(), batch(51), PING.replace("ping", "initialize").replace('{', "[{") + "]"] {
                assert_eq!(read(&refused, revision).unwrap_err().code, INVALID_REQUEST, "{refused}");
            }
        }
        for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
            let fault = read(&batch(1), Some(revision)).unwrap_err();
            assert!(fault.code == INVALID_REQUEST && fault.message.contains("2025-06-18"), "{fault:?}");
        }
        let Ok(Input::Batch(messages)) = read(&format!("[1,{PING},[{PING}]]"), None) else { panic!("no batch") };
        let good: Vec<bool> = messages.iter().map(Result::is_ok).collect();
        assert_eq!(good, [false, true, false]);
    }
}
