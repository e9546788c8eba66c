//! Cutting a text into passages that the embedding model can read whole.

use std::ops::Range;

/// How many tokens two neighbouring passages may share, at most: enough for a sentence that
/// stands on the border to be whole in one of them.
const OVERLAP: usize = 32;

/// Cuts a text into passages of at most `budget` tokens, as byte ranges that cover all of it.
///
/// `tokens` are the byte ranges of the model's own tokens, ascending. A passage ends where a
/// paragraph ends if there is such a place in its second half, else where a line, a sentence, a
/// clause or a word ends, else between two tokens. The next one begins a little before, at the
/// beginning of a sentence or word.
#[must_use]
pub fn chunk(text: &str, tokens: &[Range<usize>], budget: usize) -> Vec<Range<usize>> {
    let budget = budget.max(2 * OVERLAP);
    let mut chunks = Vec::new();
    let (mut first, mut end_token) = (0, 0);
    loop {
        let begin = if first == 0 { 0 } else { token_start(text, tokens, first) };
        if tokens.len() - first <= budget {
            chunks.push(begin..text.len());
            return chunks;
        }
        // With a small budget the second half may begin before the end of the passage before.
        let quality;
        (end_token, quality) = best_border(text, tokens, (first + budget / 2).max(end_token + 1)..first + budget);
        chunks.push(begin..token_start(text, tokens, end_token));
        first = if quality == Border::Paragraph { end_token } else { overlap_start(text, tokens, first, end_token) };
    }
}

/// How good a place is to cut at; the greatest is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Border {
    Token,
    Word,
    Clause,
    Sentence,
    Line,
    Paragraph,
}

/// The best place among the beginnings of these tokens, the last of equals.
fn best_border(text: &str, tokens: &[Range<usize>], among: Range<usize>) -> (usize, Border) {
    let mut best = (among.end, border_before(text, token_start(text, tokens, among.end)));
    for token in among.rev() {
        let border = border_before(text, token_start(text, tokens, token));
        if border > best.1 {
            best = (token, border);
        }
    }
    best
}

/// Where the passage after the one that ends at `end` begins: at the first sentence within the overlap. Where none begins
/// there, at `end` if one begins there, else at the first clause or word within the overlap. Always after the beginning of
/// the one before.
fn overlap_start(text: &str, tokens: &[Range<usize>], first: usize, end: usize) -> usize {
    let earliest = end.saturating_sub(OVERLAP).max(first + 1);
    let border = |token| border_before(text, token_start(text, tokens, token));
    let mut best = (end, Border::Token);
    for token in earliest..end {
        let border = border(token);
        if border > best.1 {
            best = (token, border);
        }
    }
    if best.1 < Border::Sentence && border(end) >= Border::Sentence { end } else { best.0 }
}

/// The byte at which a token begins, moved to the start of its character.
fn token_start(text: &str, tokens: &[Range<usize>], token: usize) -> usize {
    let byte = tokens.get(token).map_or(text.len(), |range| range.start);
    text.floor_char_boundary(byte)
}

/// What ends just before this byte.
fn border_before(text: &str, byte: usize) -> Border {
    let Some((before, after)) = text.split_at_checked(byte) else { return Border::Token };
    let trimmed = before.trim_end();
    let gap = before.get(trimmed.len()..).unwrap_or_default();
    match gap.matches('\n').count() {
        0 => {}
        // Prose that is wrapped goes on in the next line, mostly with a small letter.
        1 if after.starts_with(char::is_lowercase) => {}
        1 => return Border::Line,
        _ => return Border::Paragraph,
    }
    match trimmed.chars().next_back() {
        Some('。' | '！' | '？' | '…' | '」' | '』') => Border::Sentence,
        Some('.' | '!' | '?' | '"' | '”') if !gap.is_empty() => Border::Sentence,
        Some('，' | '、' | '；' | '：') => Border::Clause,
        Some(',' | ';' | ':' | ')' | '—') if !gap.is_empty() => Border::Clause,
        _ if !gap.is_empty() => Border::Word,
        _ => Border::Token,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stand-in for a tokenizer: each word is a token, as is each character of other scripts.
    fn tokens(text: &str) -> Vec<Range<usize>> {
        let mut tokens: Vec<Range<usize>> = Vec::new();
        let mut in_word = false;
        for (byte, character) in text.char_indices() {
            let end = byte + character.len_utf8();
            match tokens.last_mut() {
                _ if character.is_whitespace() => in_word = false,
                Some(last) if in_word && character.is_ascii_alphanumeric() => last.end = end,
                _ => {
                    tokens.push(byte..end);
                    in_word = character.is_ascii_alphanumeric();
                }
            }
        }
        tokens
    }

    fn check(text: &str, budget: usize) -> Vec<&str> {
        let all = tokens(text);
        let ranges = chunk(text, &all, budget);
        assert_eq!(ranges.first().map(|range| range.start), Some(0));
        assert_eq!(ranges.last().map(|range| range.end), Some(text.len()));
        for pair in ranges.windows(2) {
            assert!(pair[1].start <= pair[0].end, "a gap between {:?} and {:?}", pair[0], pair[1]);
            assert!(pair[1].start > pair[0].start, "no progress from {:?} to {:?}", pair[0], pair[1]);
            assert!(pair[1].end > pair[0].end, "no progress from {:?} to {:?}", pair[0], pair[1]);
        }
        for range in &ranges {
            let held = all.iter().filter(|token| token.start >= range.start && token.end <= range.end).count();
            assert!(held <= budget, "{held} tokens in {range:?}");
        }
        ranges.into_iter().map(|range| text.get(range).expect("on character borders")).collect()
    }

    #[test]
    fn a_short_text_is_one_passage() {
        assert_eq!(check("Just this.", 100), ["Just this."]);
        assert_eq!(check("", 100), [""]);
        assert_eq!(check("   ", 100), ["   "]);
    }

    #[test]
    fn paragraphs_are_the_preferred_border() {
        let paragraph = "word ".repeat(70);
        let text = format!("{paragraph}\n\n{paragraph}\n\n{paragraph}");
        let chunks = check(&text, 100);
        assert_eq!(chunks.len(), 3);
        assert!(chunks.iter().all(|chunk| chunk.starts_with("word")));
    }

    #[test]
    fn sentences_come_next_in_chinese_too() {
        let text = "今天我们去了公园看花。".repeat(40);
        let chunks = check(&text, 100);
        assert!(chunks.len() > 3);
        assert!(chunks.iter().all(|chunk| chunk.ends_with('。') && chunk.starts_with('今')));
    }

    #[test]
    fn no_passage_of_plain_prose_begins_within_a_sentence() {
        // Sentences longer than the overlap, with commas in them to be tempted by.
        let clause = "and the wind, which had turned at noon, blew from the sea";
        let sentence = format!("The boats came home early {clause} {clause} {clause}.");
        assert!(tokens(&sentence).len() > OVERLAP);
        let prose = [sentence.as_str(); 12].join(" ");
        let wrapped = prose.replace("which ", "which\n").replace("from ", "from\n");
        for text in [prose, wrapped] {
            let chunks = check(&text, 128);
            assert!(chunks.len() > 4);
            assert!(chunks.iter().all(|chunk| chunk.starts_with("The boats")), "{chunks:#?}");
        }
    }

    #[test]
    fn a_text_without_any_border_is_cut_all_the_same() {
        assert!(check(&"语".repeat(1_000), 100).len() >= 10);
        assert!(check(&"a ".repeat(5_000), 100).len() >= 50);
    }

    #[test]
    fn each_passage_ends_behind_the_one_before() {
        let text = "a\n.👍。👍一，..。a，.a一。👍一。，👍a。..一一a，，.a.\n，.a一a。，，.一一a一a👍。一.👍.。👍，，。.a👍一，，，.";
        check(text, 64);
    }

    proptest::proptest! {
        #[test]
        fn all_of_any_text_is_covered(text in "(?s)[a-z。，\\. \n\u{4e00}-\u{4e20}👍]{0,600}", budget in 64_usize..200) {
            check(&text, budget);
        }
    }
}
