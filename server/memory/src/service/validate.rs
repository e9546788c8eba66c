//! What a request must be before anything is done with it. Every message names the field and its bounds.

use jiff::tz::TimeZone;
use polymnemo_types::{Kind, MemoryId, limits};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result, ports::ContentHash};

/// A memory's text. PostgreSQL can't hold NUL characters, so they become U+FFFD, the replacement character.
pub(super) fn content(text: &str) -> Result<String> {
    if text.trim().is_empty() {
        return Err(Error::Invalid("`content` is empty. Give the text to remember.".into()));
    }
    if text.len() > limits::CONTENT_BYTES {
        return Err(Error::TooLarge { given: text.len(), most: limits::CONTENT_BYTES });
    }
    Ok(without_nul(text))
}

/// By what a repeated text is recognised.
pub(super) fn hash(content: &str) -> ContentHash {
    Sha256::digest(content.as_bytes()).into()
}

/// By what a repetition of this memory is recognised. Two files are never the same memory, whatever is said of them, and
/// neither are two sessions of one title.
pub(super) fn hash_of(kind: Kind, id: MemoryId, content: &str) -> ContentHash {
    match kind {
        Kind::Memory => hash(content),
        Kind::Session => hash(&format!("session {id}")),
        Kind::Media => Sha256::new().chain_update(id.0.as_bytes()).chain_update(content).finalize().into(),
    }
}

/// Labels: trimmed, in lower case, without repetitions, in the order given.
pub(super) fn tags(tags: &[String]) -> Result<Vec<String>> {
    let mut clean: Vec<String> = Vec::with_capacity(tags.len());
    for tag in tags {
        let tag = without_nul(tag.trim()).to_lowercase();
        if tag.is_empty() || tag.chars().count() > limits::TAG_CHARS || tag.chars().any(char::is_control) {
            return Err(Error::Invalid(format!(
                "`tags`: a tag has 1 to {} characters and no line breaks.",
                limits::TAG_CHARS
            )));
        }
        if !clean.contains(&tag) {
            clean.push(tag);
        }
    }
    if clean.len() > limits::TAGS {
        return Err(Error::Invalid(format!("`tags`: at most {} tags, you gave {}.", limits::TAGS, clean.len())));
    }
    Ok(clean)
}

/// The name of a namespace.
pub(super) fn namespace(name: &str) -> Result<String> {
    let name = name.trim();
    let allowed = |character: char| character.is_alphanumeric() || " -_.:/@+".contains(character);
    if name.is_empty() || name.chars().count() > limits::NAMESPACE_CHARS || !name.chars().all(allowed) {
        return Err(Error::Invalid(format!(
            "`namespace`: a name has 1 to {} letters, digits, spaces or the characters - _ . : / @ +.",
            limits::NAMESPACE_CHARS
        )));
    }
    Ok(name.to_owned())
}

/// The names of namespaces, without repetitions, in the order given.
pub(super) fn namespaces(names: &[String]) -> Result<Vec<String>> {
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let name = namespace(name)?;
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    Ok(unique)
}

/// Where a memory comes from; nothing when empty.
pub(super) fn source(source: Option<&str>) -> Result<Option<String>> {
    short_text("source", source, limits::SOURCE_CHARS)
}

/// The name of a client to filter by; nothing when empty.
pub(super) fn client(client: Option<&str>) -> Result<Option<String>> {
    short_text("client", client, limits::SOURCE_CHARS)
}

/// The name of a token.
pub(super) fn token_name(name: &str) -> Result<String> {
    short_text("name", Some(name), limits::TOKEN_NAME_CHARS)?.ok_or_else(|| {
        Error::Invalid("`name` is empty. Call the token after what will use it, such as `nightly backup`.".into())
    })
}

/// The ids of a request about several memories, without repetitions.
pub(super) fn ids(ids: &[MemoryId]) -> Result<Vec<MemoryId>> {
    if ids.is_empty() || ids.len() > limits::IDS {
        return Err(Error::Invalid(format!(
            "Give the ids of 1 to {} memories, you gave {}. Take them from recall or list_memories.",
            limits::IDS,
            ids.len()
        )));
    }
    Ok(without_repetitions(ids.iter().copied()))
}

/// The same ids in the same order, each once.
pub(super) fn without_repetitions(ids: impl IntoIterator<Item = MemoryId>) -> Vec<MemoryId> {
    let mut unique = Vec::new();
    for id in ids {
        if !unique.contains(&id) {
            unique.push(id);
        }
    }
    unique
}

/// A name that someone else gave: on one line, at most this long, nothing when nothing is left of it.
pub(super) fn foreign_name(name: &str, most: usize) -> Option<String> {
    let name: String = name.chars().filter(|&character| is_visible(character)).take(most).collect();
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Whether a character shows: none that controls, joins, turns the direction of text or only takes up room.
fn is_visible(character: char) -> bool {
    let hides = matches!(
        character,
        '\u{AD}' | '\u{115F}' | '\u{1160}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{E0000}'..='\u{E007F}'
    );
    !character.is_control() && !hides
}

/// The name of a time zone, as the time zone database writes it.
pub(super) fn time_zone(name: &str) -> Result<String> {
    let zone = TimeZone::get(name.trim()).ok().filter(|zone| !zone.is_unknown());
    zone.and_then(|zone| zone.iana_name().map(str::to_owned)).ok_or_else(|| {
        Error::Invalid(
            "`time_zone` is not a time zone that is known here. Give an IANA name such as Europe/Berlin or Asia/Shanghai."
                .into(),
        )
    })
}

/// The caller's key for a request.
pub(super) fn idempotency_key(key: Option<&str>) -> Result<Option<String>> {
    short_text("idempotency_key", key, limits::IDEMPOTENCY_KEY_CHARS)
}

fn short_text(field: &str, text: Option<&str>, most: usize) -> Result<Option<String>> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    if text.chars().count() > most || text.chars().any(|character| character.is_control() && character != '\0') {
        return Err(Error::Invalid(format!("`{field}` has at most {most} characters and no line breaks.")));
    }
    Ok(Some(without_nul(text)))
}

/// What to look for.
pub(super) fn query(text: &str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::Invalid(
            "`query` is empty. Say in a few words what to look for, or use list_memories to see the newest.".into(),
        ));
    }
    if text.chars().count() > limits::QUERY_CHARS {
        return Err(Error::Invalid(format!(
            "`query` has at most {} characters. Ask for the point in a sentence or two.",
            limits::QUERY_CHARS
        )));
    }
    Ok(without_nul(text))
}

/// The number of records on a page.
pub(super) fn limit(limit: Option<u32>) -> Result<u32> {
    match limit {
        None => Ok(limits::PAGE_DEFAULT),
        Some(limit @ 1..=limits::PAGE_MAX) => Ok(limit),
        Some(limit) => Err(Error::Invalid(format!(
            "`limit` must be from 1 to {}, you gave {limit}. Use next_cursor for further pages.",
            limits::PAGE_MAX
        ))),
    }
}

fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_folded_and_not_repeated() {
        let given = ["Rust ", "rust", "工作"].map(str::to_owned);
        assert_eq!(tags(&given).expect("valid"), ["rust", "工作"]);
    }

    #[test]
    fn nul_characters_are_replaced() {
        assert_eq!(content("a\0b").expect("valid"), "a\u{FFFD}b");
    }

    #[test]
    fn the_longest_text_is_a_mebibyte() {
        assert!(content(&"x".repeat(limits::CONTENT_BYTES)).is_ok());
        let error = content(&"x".repeat(limits::CONTENT_BYTES + 1)).expect_err("too long");
        assert!(error.to_string().contains("1048576"), "{error}");
    }

    #[test]
    fn a_limit_out_of_range_names_the_range() {
        assert_eq!(limit(None).expect("the default"), 10);
        for wrong in [0, 51, u32::MAX] {
            assert!(limit(Some(wrong)).expect_err("out of range").to_string().contains("1 to 50"));
        }
    }

    #[test]
    fn files_with_the_same_description_are_two_memories() {
        let [one, other] = [1, 2].map(|number| MemoryId(uuid::Uuid::from_u128(number)));
        let hash = |kind, id| hash_of(kind, id, "a photo");
        assert_ne!(hash(Kind::Media, one), hash(Kind::Media, other));
        assert_ne!(hash(Kind::Media, one), hash(Kind::Memory, one));
        assert_eq!(hash(Kind::Memory, one), hash(Kind::Memory, other));
    }

    #[test]
    fn a_time_zone_is_known_by_its_iana_name() {
        assert_eq!(time_zone(" asia/shanghai ").expect("known"), "Asia/Shanghai");
        for wrong in ["", "Mars/Olympus", "+02:00", "../etc/passwd", "Etc/Unknown"] {
            assert!(time_zone(wrong).expect_err(wrong).to_string().contains("IANA"));
        }
    }

    #[test]
    fn a_foreign_name_is_made_harmless() {
        assert_eq!(foreign_name(" octo\u{0}\ncat ", 100).as_deref(), Some("octocat"));
        assert_eq!(foreign_name(&"x".repeat(500), 100).map(|name| name.len()), Some(100));
        assert_eq!(foreign_name("\n\t", 100), None);
        assert_eq!(foreign_name("\u{3164}\u{200B}\u{FEFF}", 100), None, "a name that shows nothing is none");
        assert_eq!(foreign_name("a\u{202E}b", 100).as_deref(), Some("ab"));
    }

    #[test]
    fn names_of_namespaces_are_bounded() {
        assert_eq!(namespace(" work/2026 ").expect("valid"), "work/2026");
        assert_eq!(namespace("工作").expect("valid"), "工作");
        for wrong in ["", "  ", "a\nb", "<b>", &"x".repeat(65)] {
            namespace(wrong).expect_err(wrong);
        }
    }
}
