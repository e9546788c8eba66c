//! The part of a passage that shows why a search found it.

use std::{collections::HashMap, ops::Range};

use polymnemo_memory::analyze::{index_terms, query_terms};

use super::Piece;

/// The most characters of an excerpt.
const LENGTH: usize = 320;
/// The most characters before the first word that was searched for.
const BEFORE: usize = 60;

/// Marks the words that were searched for. It is kept over the passages of an answer, because their
/// words repeat.
#[derive(Default)]
pub(crate) struct Marker {
    /// The terms under which each word is indexed.
    terms: HashMap<String, Vec<String>>,
}

impl Marker {
    /// The part of a passage around the first of the words that were searched for.
    pub(crate) fn excerpt(&mut self, passage: &str, words: &[String]) -> Vec<Piece> {
        let marks = self.marks(passage, words);
        let first = marks.first().map_or(0, |mark| mark.start);
        let window = window(passage, first);

        let mut pieces: Vec<Piece> = Vec::new();
        let mut push = |range: Range<usize>, matched| {
            let text = passage.get(range).unwrap_or_default();
            match pieces.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.matched == matched => last.text.push_str(text),
                _ => pieces.push(Piece { text: text.to_owned(), matched }),
            }
        };
        let mut place = window.start;
        for mark in marks {
            let mark = mark.start.clamp(place, window.end)..mark.end.clamp(place, window.end);
            push(place..mark.start, false);
            place = mark.end;
            push(mark, true);
        }
        push(place..window.end, false);

        if window.start > 0
            && let Some(first) = pieces.first_mut()
        {
            first.text.insert(0, '…');
        }
        pieces
    }

    /// Where the words are, in ascending order; the ranges may overlap.
    fn marks(&mut self, passage: &str, words: &[String]) -> Vec<Range<usize>> {
        let mut marks: Vec<Range<usize>> = Vec::new();
        let (unspaced, spaced): (Vec<String>, Vec<String>) =
            words.iter().flat_map(|word| query_terms(word)).partition(|term| term.chars().any(is_unspaced));
        // Scripts without spaces are indexed by characters and pairs of them, just as they stand there.
        for pair in unspaced {
            marks.extend(passage.match_indices(pair.as_str()).map(|(start, found)| start..start + found.len()));
        }
        if !spaced.is_empty() {
            for range in words_of(passage) {
                let word = passage.get(range.clone()).unwrap_or_default().to_lowercase();
                let terms = self
                    .terms
                    .entry(word)
                    .or_insert_with_key(|word| index_terms(word).0.into_iter().map(|(term, _)| term).collect());
                if terms.iter().any(|term| spaced.contains(term)) {
                    marks.push(range);
                }
            }
        }
        marks.sort_by_key(|mark| (mark.start, mark.end));
        marks
    }
}

/// Whether a character belongs to a script that is written without spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// The runs of letters and digits of a text.
fn words_of(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (start, character) in text.char_indices() {
        if !character.is_alphanumeric() || is_unspaced(character) {
            continue;
        }
        let end = start + character.len_utf8();
        match words.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => words.push(start..end),
        }
    }
    words
}

/// The part of a text to show, which holds the place.
fn window(text: &str, place: usize) -> Range<usize> {
    let before = text.get(..place).unwrap_or_default();
    let start = if before.chars().count() <= BEFORE {
        0
    } else {
        let cut = before.char_indices().rev().nth(BEFORE - 1).map_or(0, |(index, _)| index);
        // Rather at the beginning of a word than in the middle of one.
        let space = text.get(cut..place).and_then(|part| part.find(char::is_whitespace));
        space.map_or(cut, |space| cut + space + 1)
    };
    let shown = text.get(start..).unwrap_or_default();
    let end = shown.char_indices().nth(LENGTH).map_or(text.len(), |(index, _)| start + index);
    start..end
}

#[cfg(test)]
mod tests {
    use super::Marker;

    /// The excerpt with its marks in brackets.
    fn excerpt(passage: &str, words: &[&str]) -> String {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let pieces = Marker::default().excerpt(passage, &words);
        pieces.into_iter().map(|piece| if piece.matched { format!("[{}]", piece.text) } else { piece.text }).collect()
    }

    #[test]
    fn words_are_found_by_their_stem() {
        assert_eq!(excerpt("The databases moved.", &["database", "moving"]), "The [databases] [moved].");
        assert_eq!(excerpt("Nothing here", &["database"]), "Nothing here");
        assert_eq!(excerpt("", &["database"]), "");
    }

    #[test]
    fn pairs_of_chinese_characters_are_joined() {
        assert_eq!(excerpt("上海办公室的会议室", &["办公", "公室"]), "上海[办公室]的会议室");
    }

    #[test]
    fn a_long_passage_is_shown_from_shortly_before_the_first_word() {
        let passage = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let shown = excerpt(&passage, &["needle"]);
        assert!(shown.starts_with("…hay"), "{shown}");
        assert!(shown.contains("[needle]"), "{shown}");
        assert!(shown.chars().count() < 330, "{shown}");
    }

    #[test]
    fn any_text_can_be_cut() {
        let passage = "é😀字 ".repeat(400);
        let shown = excerpt(&format!("{passage}needle"), &["needle"]);
        assert!(shown.ends_with("[needle]"), "{shown}");
    }
}
