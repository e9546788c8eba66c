//! Looks over the JSON of an MCP request before the transport parses it.

use axum::{
    body::{Body, Bytes},
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, StatusCode, header};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::json;

/// The greatest length of a request's body, in bytes: a memory of the greatest length (1 MiB),
/// written with every character escaped (`\u0000`, six times as long), and room for the rest.
pub(crate) const BODY_BYTES: usize = 8 << 20;

const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// Reads the body of a POST, bounded; repairs what would make a good text unreadable, and answers
/// what is not JSON-RPC with the error that JSON-RPC has for it. (The transport itself would say
/// 415 in plain text.) A body that is not declared as JSON is left to the transport to refuse.
pub(crate) async fn check(request: Request, next: Next) -> Response {
    if request.method() != Method::POST || !is_json(request.headers()) {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, BODY_BYTES).await else {
        return error(
            StatusCode::PAYLOAD_TOO_LARGE,
            INVALID_REQUEST,
            &format!(
                "The request could not be read: it broke off, or it is longer than {BODY_BYTES} bytes. Send less at once."
            ),
        );
    };
    let bytes = repair_lone_surrogates(bytes);
    match examine(&bytes) {
        Ok(()) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err((code, message)) => error(StatusCode::BAD_REQUEST, code, &message),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// The members that make a JSON-RPC message; their contents are the transport's concern.
#[derive(Deserialize)]
struct Message {
    jsonrpc: String,
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

fn examine(bytes: &[u8]) -> Result<(), (i32, String)> {
    let message: Message = match serde_json::from_slice(bytes) {
        Ok(message) => message,
        Err(error) if error.is_data() => {
            let problem = if bytes.trim_ascii_start().starts_with(b"[") {
                "Batches are not supported. Send one JSON-RPC message in each request.".to_owned()
            } else {
                format!("This is not a JSON-RPC message: {error}.")
            };
            return Err((INVALID_REQUEST, problem));
        }
        Err(error) => return Err((PARSE_ERROR, format!("The body is not JSON in UTF-8: {error}."))),
    };
    if message.jsonrpc != "2.0" || (message.method.is_none() && message.result.is_none() && message.error.is_none()) {
        return Err((
            INVALID_REQUEST,
            "This is not a JSON-RPC 2.0 message: `jsonrpc` or `method` is missing.".to_owned(),
        ));
    }
    Ok(())
}

fn error(status: StatusCode, code: i32, message: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    (status, axum::Json(body)).into_response()
}

const ESCAPE_BYTES: usize = r"\ud800".len();
const REPLACEMENT: &[u8; ESCAPE_BYTES] = br"\ufffd";

/// Replaces each escaped half of a surrogate pair that stands alone by U+FFFD.
///
/// Clients that cut a text in the middle of an emoji send `\ud83d` without its other half: valid
/// JSON, but no Unicode text, and the whole message would be refused. Both escapes have the same
/// length, so that the body's length doesn't change.
fn repair_lone_surrogates(bytes: Bytes) -> Bytes {
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += found;
        let unit = escaped_unit(&bytes, at);
        at += match unit {
            Some(0xD800..=0xDBFF) if matches!(escaped_unit(&bytes, at + ESCAPE_BYTES), Some(0xDC00..=0xDFFF)) => {
                2 * ESCAPE_BYTES
            }
            Some(0xD800..=0xDFFF) => {
                let copy = repaired.get_or_insert_with(|| bytes.to_vec());
                if let Some(place) = copy.get_mut(at..at + ESCAPE_BYTES) {
                    place.copy_from_slice(REPLACEMENT);
                }
                ESCAPE_BYTES
            }
            Some(_) => ESCAPE_BYTES,
            // A backslash and what it escapes, which may be a backslash itself.
            None => 2,
        };
    }
    repaired.map_or(bytes, Bytes::from)
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

    use super::*;

    fn repaired(text: &str) -> String {
        String::from_utf8(repair_lone_surrogates(Bytes::copy_from_slice(text.as_bytes())).to_vec()).unwrap()
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

    #[test]
    fn what_is_not_json_rpc_gets_the_error_for_it() {
        let code = |body: &str| examine(body.as_bytes()).err().map(|(code, _)| code);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#), None);
        assert_eq!(code(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), None);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), None);
        for broken in ["", "{", "hello", r#"{"jsonrpc":"2.0","id":1,"method":"ping"} trailing"#] {
            assert_eq!(code(broken), Some(PARSE_ERROR), "{broken}");
        }
        assert_eq!(examine(b"\"\xff\"").err().map(|(code, _)| code), Some(PARSE_ERROR));
        for other in ["[]", "1", "null", "{}", r#"{"jsonrpc":"1.0","method":"x"}"#, r#"{"jsonrpc":"2.0","id":1}"#] {
            assert_eq!(code(other), Some(INVALID_REQUEST), "{other}");
        }
    }
}
