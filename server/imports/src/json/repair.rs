//! Parsing what other languages take for JSON.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Parses JSON; where that fails, parses it again after repairing what Python and JavaScript write and read without a word and
/// serde_json refuses, see [`repair`].
pub(crate) fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(json).or_else(|error| match repair(json) {
        Cow::Borrowed(_) => Err(error),
        Cow::Owned(repaired) => serde_json::from_slice(&repaired),
    })
}

/// Repairs what can be repaired without guessing:
///
/// - halves of surrogate pairs (`\ud83d` alone) and bytes that are not UTF-8 become U+FFFD,
/// - control characters within text are escaped,
/// - `NaN`, `Infinity` and `-Infinity` become null.
fn repair(json: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired = Vec::with_capacity(json.len() + 16);
    let mut is_changed = false;
    let mut rest = json;
    let mut is_text = false;
    while let Some((&byte, after)) = rest.split_first() {
        let (length, replacement): (usize, Option<Vec<u8>>) = match (is_text, byte) {
            (_, b'"') => {
                is_text = !is_text;
                (1, None)
            }
            (true, b'\\') => escape(rest),
            (true, 0..0x20) => (1, Some(format!("\\u{byte:04x}").into_bytes())),
            (false, b'N') if rest.starts_with(b"NaN") => (3, Some(b"null".to_vec())),
            (false, b'I') if rest.starts_with(b"Infinity") => (8, Some(b"null".to_vec())),
            (false, b'-') if after.starts_with(b"Infinity") => (9, Some(b"null".to_vec())),
            _ => (1, None),
        };
        let (taken, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        is_changed |= replacement.is_some();
        repaired.extend_from_slice(replacement.as_deref().unwrap_or(taken));
        rest = behind;
    }
    if let Cow::Owned(text) = String::from_utf8_lossy(&repaired) {
        return Cow::Owned(text.into_bytes());
    }
    if is_changed { Cow::Owned(repaired) } else { Cow::Borrowed(json) }
}

/// How long the escape is that this begins with, and what it is to be instead.
fn escape(rest: &[u8]) -> (usize, Option<Vec<u8>>) {
    let code = |at: usize| {
        let digits = rest.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let instead = || Some(b"\\ufffd".to_vec());
    match (code(0), code(6)) {
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, None),
        (Some(0xd800..0xe000), _) => (6, instead()),
        (Some(_), _) => (6, None),
        (None, _) => (2, None),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_other_languages_write_is_repaired() {
        let read = |text: &[u8]| parse::<Value>(text).ok();
        assert_eq!(read(br#"["\ud83d end"]"#), Some(json!(["\u{fffd} end"])));
        assert_eq!(read(br#"["\ude00"]"#), Some(json!(["\u{fffd}"])));
        assert_eq!(read(br#"["\ud83d\ud83d\ude00"]"#), Some(json!(["\u{fffd}😀"])));
        assert_eq!(read(br#"["\\ud83d"]"#), Some(json!(["\\ud83d"])));
        assert_eq!(read(br#"["\\\ud83d"]"#), Some(json!(["\\\u{fffd}"])));
        assert_eq!(read(br#"["\ud83d\n"]"#), Some(json!(["\u{fffd}\n"])));
        assert_eq!(read(br#"["\ud83d\u0041"]"#), Some(json!(["\u{fffd}A"])));
        assert_eq!(read(b"[\"a\nb\tc\x00\"]"), Some(json!(["a\nb\tc\0"])));
        assert_eq!(read(b"[\"\xff\xfe\"]"), Some(json!(["\u{fffd}\u{fffd}"])));
        assert_eq!(read(b"[NaN, Infinity, -Infinity, \"NaN\"]"), Some(json!([null, null, null, "NaN"])));
        assert_eq!(read(br#"["\u0000"]"#), Some(json!(["\0"])));
        assert_eq!(read(br#"["\ud8"]"#), None);
        assert_eq!(read(br#"["\"#), None);
    }
}
