//! Long texts are tokenized piece by piece, so that memory stays flat and nobody waits long for the tokenizer.

use std::ops::Range;

/// How much is tokenized at once, in bytes: some ten milliseconds' work.
const PIECE_BYTES: usize = 32 << 10;

/// The first piece of what is left of a text, as the place where it ends: before a line break or other space where
/// there is one in its second half, so that no word is cut.
pub(super) fn piece(text: &str, start: usize) -> Range<usize> {
    let end = text.floor_char_boundary(start + PIECE_BYTES);
    if end >= text.len() {
        return start..text.len();
    }
    let second_half = text.floor_char_boundary(start + PIECE_BYTES / 2);
    let candidates = text.get(second_half..end).unwrap_or_default();
    let border = candidates.rfind('\n').or_else(|| candidates.rfind(char::is_whitespace));
    start..border.map_or(end, |border| second_half + border)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut pieces = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let range = piece(text, start);
            assert_eq!(range.start, start);
            start = range.end;
            pieces.push(text.get(range).expect("between characters"));
        }
        pieces
    }

    #[test]
    fn pieces_are_the_whole_text_and_cut_no_word() {
        let text = "some words, and then some more. ".repeat(10_000);
        let pieces = pieces(&text);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.len() > 5);
        assert!(pieces.iter().all(|piece| piece.len() <= PIECE_BYTES));
        assert!(pieces.iter().skip(1).all(|piece| piece.starts_with(' ')));
    }

    #[test]
    fn a_text_without_spaces_is_cut_between_characters() {
        let text = "记忆".repeat(20_000);
        assert_eq!(pieces(&text).concat(), text);
    }

    #[test]
    fn a_short_text_is_one_piece() {
        assert_eq!(pieces("two words"), ["two words"]);
        assert!(pieces("").is_empty());
    }
}
