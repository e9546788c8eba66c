//! How a text became another one, in a form that people read: by words, with what is far from any change left out.

use std::time::{Duration, Instant};

use polymnemo_types::{DiffPart, Difference, limits};
use similar::{Algorithm, DiffTag, capture_diff_slices_deadline};
use unicode_segmentation::UnicodeSegmentation as _;

/// How long to look for what two texts have in common. What is not found by then is shown as removed and added.
const PATIENCE: Duration = Duration::from_millis(200);

/// Passages of more words than this are compared line by line only.
const WORDS: usize = 5_000;

/// How much of what was kept is shown beside a change, in characters.
const CONTEXT: usize = 120;

/// How long one removed or added part may be, in bytes, so that what took its place is seen too.
const PART_BYTES: usize = limits::DIFFERENCE_BYTES / 4;

/// How `old` became `new`. Nothing for equal texts.
#[must_use]
pub fn difference(old: &str, new: &str) -> Difference {
    if old == new { Difference::default() } else { shorten(parts(old, new)) }
}

/// All parts of both texts: the kept and the removed ones are the old text, the kept and the added ones the new one.
fn parts(old: &str, new: &str) -> Vec<DiffPart> {
    let deadline = Instant::now() + PATIENCE;
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let mut parts = Parts::default();
    for operation in capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, Some(deadline)) {
        let (tag, old_range, new_range) = operation.as_tag_tuple();
        let old = old_lines.get(old_range).unwrap_or_default().concat();
        let new = new_lines.get(new_range).unwrap_or_default().concat();
        match tag {
            DiffTag::Equal => parts.keep(&old),
            _ => parts.compare_words(&old, &new, deadline),
        }
    }
    parts.finish()
}

/// Parts in the making: what was removed and added since the last kept one is collected first.
#[derive(Default)]
struct Parts {
    done: Vec<DiffPart>,
    kept: String,
    removed: String,
    added: String,
}

impl Parts {
    fn keep(&mut self, text: &str) {
        self.finish_change();
        self.kept.push_str(text);
    }

    fn change(&mut self, old: &str, new: &str) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        if !self.kept.is_empty() {
            self.done.push(DiffPart::Kept(std::mem::take(&mut self.kept)));
        }
        self.removed.push_str(old);
        self.added.push_str(new);
    }

    fn finish_change(&mut self) {
        if !self.removed.is_empty() {
            self.done.push(DiffPart::Removed(std::mem::take(&mut self.removed)));
        }
        if !self.added.is_empty() {
            self.done.push(DiffPart::Added(std::mem::take(&mut self.added)));
        }
    }

    fn finish(mut self) -> Vec<DiffPart> {
        self.finish_change();
        if !self.kept.is_empty() {
            self.done.push(DiffPart::Kept(self.kept));
        }
        self.done
    }

    /// Adds a passage that became another one, word by word where they have something in common.
    fn compare_words(&mut self, old: &str, new: &str, deadline: Instant) {
        let old_words: Vec<&str> = old.split_word_bounds().take(WORDS + 1).collect();
        let new_words: Vec<&str> = new.split_word_bounds().take(WORDS + 1).collect();
        if old_words.len() > WORDS || new_words.len() > WORDS {
            return self.change(old, new);
        }
        let operations = capture_diff_slices_deadline(Algorithm::Myers, &old_words, &new_words, Some(deadline));
        let same: usize = operations
            .iter()
            .filter(|operation| operation.tag() == DiffTag::Equal)
            .filter_map(|operation| old_words.get(operation.old_range()))
            .flatten()
            .map(|word| letters(word))
            .sum();
        // Two texts that share a few small words are two texts, not one with many changes.
        if same * 3 < letters(old).max(letters(new)) {
            return self.change(old, new);
        }
        let last = operations.len().saturating_sub(1);
        for (place, operation) in operations.iter().enumerate() {
            let old = old_words.get(operation.old_range()).unwrap_or_default().concat();
            let new = new_words.get(operation.new_range()).unwrap_or_default().concat();
            // A space between two changed words is read as a part of the change.
            let is_gap = 0 < place && place < last && letters(&old) == 0 && !old.contains('\n');
            if operation.tag() == DiffTag::Equal && !is_gap {
                self.keep(&old);
            } else {
                self.change(&old, &new);
            }
        }
    }
}

fn letters(text: &str) -> usize {
    text.chars().filter(|character| character.is_alphanumeric()).count()
}

/// Leaves out what is far from any change, and the end of what is too long.
fn shorten(parts: Vec<DiffPart>) -> Difference {
    let last = parts.len().saturating_sub(1);
    let mut short = Difference::default();
    let mut room = limits::DIFFERENCE_BYTES;
    for (place, part) in parts.into_iter().enumerate() {
        let pieces = match part {
            DiffPart::Kept(text) => beside_changes(&text, place > 0, place < last),
            other => vec![other],
        };
        for piece in pieces {
            let most = room.min(PART_BYTES);
            let (piece, cut) = match piece {
                DiffPart::Kept(text) => cut(text, most, DiffPart::Kept),
                DiffPart::Removed(text) => cut(text, most, DiffPart::Removed),
                DiffPart::Added(text) => cut(text, most, DiffPart::Added),
                skipped @ DiffPart::Skipped(_) => (skipped, false),
            };
            room = room.saturating_sub(length(&piece));
            short.truncated |= cut;
            short.parts.push(piece);
            if room == 0 {
                short.truncated = true;
                return short;
            }
        }
    }
    short
}

/// The parts of a kept text that stand beside a change: its beginning where one stands before it, its end where one
/// stands after it.
fn beside_changes(text: &str, before: bool, after: bool) -> Vec<DiffPart> {
    let head: usize = if before { context(text.split_word_bounds()) } else { 0 };
    let tail: usize = if after { context(text.split_word_bounds().rev()) } else { 0 };
    // A gap shorter than what would be said about it is no gain.
    let Some(gap) = text.len().checked_sub(head + tail).filter(|gap| *gap > CONTEXT) else {
        return vec![DiffPart::Kept(text.to_owned())];
    };
    let part = |range| text.get(range).unwrap_or_default();
    let mut parts = Vec::with_capacity(3);
    if head > 0 {
        parts.push(DiffPart::Kept(part(0..head).to_owned()));
    }
    parts.push(DiffPart::Skipped(part(head..head + gap).chars().count() as u64));
    if tail > 0 {
        parts.push(DiffPart::Kept(part(head + gap..text.len()).to_owned()));
    }
    parts
}

/// The length in bytes of the first words, until they have [`CONTEXT`] characters.
fn context<'a>(words: impl Iterator<Item = &'a str>) -> usize {
    let (mut characters, mut bytes) = (0, 0);
    for word in words {
        if characters >= CONTEXT {
            break;
        }
        characters += word.chars().count();
        bytes += word.len();
    }
    bytes
}

fn cut(mut text: String, most: usize, part: fn(String) -> DiffPart) -> (DiffPart, bool) {
    let cut = text.len() > most;
    text.truncate(text.floor_char_boundary(most));
    (part(text), cut)
}

fn length(part: &DiffPart) -> usize {
    match part {
        DiffPart::Kept(text) | DiffPart::Removed(text) | DiffPart::Added(text) => text.len(),
        DiffPart::Skipped(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept(text: &str) -> DiffPart {
        DiffPart::Kept(text.to_owned())
    }

    fn removed(text: &str) -> DiffPart {
        DiffPart::Removed(text.to_owned())
    }

    fn added(text: &str) -> DiffPart {
        DiffPart::Added(text.to_owned())
    }

    #[test]
    fn a_changed_word_is_one_change() {
        let difference = difference("Anna lives in Hamburg now.", "Anna lives in Berlin now.");
        assert_eq!(
            difference.parts,
            [kept("Anna lives in "), removed("Hamburg"), added("Berlin"), kept(" now.")],
            "{difference:?}"
        );
        assert!(!difference.truncated);
    }

    #[test]
    fn neighbouring_words_change_together() {
        let difference =
            difference("We meet on Monday morning in the old office.", "We meet on Friday evening in the old office.");
        assert_eq!(
            difference.parts,
            [kept("We meet on "), removed("Monday morning"), added("Friday evening"), kept(" in the old office.")]
        );
    }

    #[test]
    fn a_changed_line_is_compared_by_words_and_others_are_not() {
        let old = "Tea at five.\nThe code is 4471 today.\nBye.\n";
        let new = "Tea at five.\nThe code is 9152 today.\nBye.\n";
        assert_eq!(
            difference(old, new).parts,
            [kept("Tea at five.\nThe code is "), removed("4471"), added("9152"), kept(" today.\nBye.\n")]
        );
    }

    #[test]
    fn a_script_without_spaces_is_compared_too() {
        let parts = difference("我住在北京市中心。", "我住在上海市中心。").parts;
        assert_eq!(parts, [kept("我住在"), removed("北京"), added("上海"), kept("市中心。")]);
    }

    #[test]
    fn a_text_that_became_another_one_is_not_taken_to_pieces() {
        let (old, new) = ("The cat sat on the mat in the sun.", "Invoices of 2026 are kept in the blue folder.");
        assert_eq!(difference(old, new).parts, [removed(old), added(new)]);
    }

    #[test]
    fn what_is_far_from_a_change_is_left_out() {
        let filler = "Nothing happened here. ".repeat(40);
        let difference = difference(&format!("{filler}Red. {filler}"), &format!("{filler}Blue. {filler}"));
        let DiffPart::Skipped(characters) = difference.parts[0] else { panic!("{difference:?}") };
        let shown = difference.parts.iter().map(length).sum::<usize>();
        assert!(characters > 700 && shown < 300, "{difference:?}");
        assert!(
            difference.parts.contains(&removed("Red")) && difference.parts.contains(&added("Blue")),
            "{difference:?}"
        );
    }

    #[test]
    fn equal_texts_differ_in_nothing() {
        assert_eq!(difference("same", "same"), Difference::default());
    }

    #[test]
    fn an_answer_is_bounded_and_quick_for_the_longest_texts() {
        let long = |seed: usize| (0..150_000).map(|n| format!("{} ", (n * seed) % 7919)).collect::<String>();
        let begun = Instant::now();
        let difference = difference(&long(31), &long(37));
        assert!(difference.truncated);
        assert!(difference.parts.iter().map(length).sum::<usize>() <= limits::DIFFERENCE_BYTES);
        assert!(difference.parts.iter().any(|part| matches!(part, DiffPart::Added(_))), "both sides are shown");
        let lines = |seed: usize| (0..150_000).map(|n| format!("{}\n", (n * seed) % 7919)).collect::<String>();
        assert!(super::difference(&lines(31), &lines(37)).truncated);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_the_parts(old in "[ab .\n记🙂]{0,60}", new in "[ab .\n记🙂]{0,60}") {
            let parts = parts(&old, &new);
            let join = |with_removed: bool| -> String {
                parts.iter().filter_map(|part| match part {
                    DiffPart::Kept(text) => Some(text.as_str()),
                    DiffPart::Removed(text) => with_removed.then_some(text.as_str()),
                    DiffPart::Added(text) => (!with_removed).then_some(text.as_str()),
                    DiffPart::Skipped(_) => None,
                }).collect()
            };
            prop_assert_eq!(join(true), old);
            prop_assert_eq!(join(false), new);
        }
    }
}
