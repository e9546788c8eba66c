//! Opaque cursors. A caller gives one back unchanged; anything else is refused, never guessed at.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use polymnemo_types::MemoryId;
use sha2::{Digest as _, Sha256};

use crate::{Error, Result, ports::Place};

/// The cursor behind a place in a list.
pub(super) fn from_place(place: Place) -> String {
    URL_SAFE_NO_PAD.encode(format!("l1:{}:{}", place.at.as_microsecond(), place.id))
}

/// The place behind a cursor.
pub(super) fn to_place(cursor: &str) -> Result<Place> {
    let read = || {
        let text = decode(cursor)?;
        let (at, id) = text.strip_prefix("l1:")?.split_once(':')?;
        Some(Place { at: Timestamp::from_microsecond(at.parse().ok()?).ok()?, id: id.parse::<MemoryId>().ok()? })
    };
    read().ok_or_else(invalid)
}

/// The cursor behind a number of hits of a query; `query` stands for all that decides what is found.
pub(super) fn from_offset(offset: usize, query: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("r1:{offset}:{}", fingerprint(query)))
}

/// The number of hits behind a cursor, which must be one of the same query.
pub(super) fn to_offset(cursor: &str, query: &str) -> Result<usize> {
    let read = || {
        let text = decode(cursor)?;
        let (offset, given) = text.strip_prefix("r1:")?.split_once(':')?;
        (given == fingerprint(query)).then(|| offset.parse().ok())?
    };
    read().ok_or_else(invalid)
}

/// The cursor behind a key of a list that is sorted by it; `list` says which one.
fn from_key(list: char, key: impl std::fmt::Display) -> String {
    URL_SAFE_NO_PAD.encode(format!("{list}1:{key}"))
}

/// The key behind a cursor, which must be one of the same list.
pub(super) fn to_key<K: std::str::FromStr>(list: char, cursor: &str) -> Result<K> {
    let read = || decode(cursor)?.strip_prefix(&format!("{list}1:"))?.parse().ok();
    read().ok_or_else(invalid)
}

/// Cuts a list, read one further than the page is long, to the page; gives the cursor of the next one if there is one.
pub(super) fn next<T, K: std::fmt::Display>(
    list: char,
    items: &mut Vec<T>,
    limit: u32,
    key: impl Fn(&T) -> K,
) -> Option<String> {
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    items.last().filter(|_| more).map(|last| from_key(list, key(last)))
}

fn decode(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

fn fingerprint(query: &str) -> String {
    let digest = Sha256::digest(query.as_bytes());
    URL_SAFE_NO_PAD.encode(digest.get(..9).unwrap_or_default())
}

fn invalid() -> Error {
    Error::Invalid(
        "`cursor` is not one that this request gave. Leave it out to begin with the first page, \
         then pass next_cursor on unchanged with the same arguments."
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_comes_back() {
        let place = Place {
            at: "2026-03-01T09:30:00.123456Z".parse().expect("a time"),
            id: "0198c0de-7a11-7000-8000-000000000000".parse().expect("an id"),
        };
        assert_eq!(to_place(&from_place(place)).expect("its own cursor"), place);
    }

    #[test]
    fn a_cursor_of_another_query_is_refused() {
        let cursor = from_offset(10, "tea");
        assert_eq!(to_offset(&cursor, "tea").expect("its own cursor"), 10);
        to_offset(&cursor, "coffee").expect_err("another query");
    }

    #[test]
    fn a_key_comes_back_from_a_cursor_of_the_same_list() {
        let cursor = from_key('n', "work: 工作");
        assert_eq!(to_key::<String>('n', &cursor).expect("its own cursor"), "work: 工作");
        to_key::<String>('t', &cursor).expect_err("another list");
        to_key::<u32>('n', &cursor).expect_err("no number");
    }

    #[test]
    fn anything_else_is_refused() {
        for cursor in ["", "x", "bDE6MTpub3BlCg", &"A".repeat(10_000), "é"] {
            to_place(cursor).expect_err(cursor);
            to_offset(cursor, "tea").expect_err(cursor);
            to_key::<String>('n', cursor).expect_err(cursor);
        }
    }
}
