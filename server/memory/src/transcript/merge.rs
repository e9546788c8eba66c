//! Finding what is new in a conversation that is saved again.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use polymnemo_types::SessionForm;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::ports::ContentHash;

/// How long to look for what two conversations have in common. Beyond, less of it is found, which costs room and loses
/// nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is compared of a message: of one that is stored or of one that is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// SHA-256 of role, format and content.
    pub hash: ContentHash,
    /// What the client calls it.
    pub client_id: Option<String>,
    /// When it was said.
    pub at: Option<Timestamp>,
}

/// What becomes of a message that is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// It is the stored one of this place, counted from 0.
    Kept(usize),
    /// The stored one of this place says this now.
    Changed(usize),
    /// It is new, and comes before the stored one of this place; at the end where there is none.
    New(usize),
}

/// What becomes of a conversation that is saved again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merge {
    /// For each given message, in order.
    pub placements: Vec<Placement>,
    /// Stored pieces that the text no longer has, each with the one whose revision keeps them. Only in sessions that were
    /// saved as text: of messages it can't be told whether they are gone or were only not sent again.
    pub gone: Vec<(usize, usize)>,
}

/// What has to be known of the texts themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Peek {
    /// How many of the stored and of the given messages are the same from the beginning on.
    pub common: usize,
    /// Whether the first given message that differs goes on where the stored one of its place ends.
    pub goes_on: bool,
    /// Whether it ends before the stored one does, saying the same as far as it goes.
    pub falls_short: bool,
}

/// Finds what is new in `given`, where `stored` is there already. Nothing that is stored is ever dropped for messages; each
/// given one is stored exactly once, however often and by however many clients it is given:
///
/// - A message with an id is that message of the session, wherever it stands. So is one that says the same at the same time.
/// - Without ids and times, what is given is laid over what is stored where both have the same messages in the same order: from the
///   beginning, else where the longest row of equal ones is. A single message is not taken for an earlier one that says
///   the same, unless that is the first or the last one: people say "yes" more than once.
/// - One that stands between equal ones in place of another is that one, changed. So is the last one where it only goes on, as
///   an answer does that was saved while it was being written.
/// - What is new goes where it stands between those that are known, else to the end, before later ones where the times of
///   both are known.
#[must_use]
pub fn merge(form: SessionForm, stored: &[Known], given: &[Known], peek: Peek) -> Merge {
    let placed = if given.iter().any(|message| name(message).is_some()) {
        by_name(stored, given, peek)
    } else {
        by_content(form, stored, given, peek)
    };
    Merge { placements: order(stored, given, &placed.placements), gone: placed.gone }
}

/// The number of messages that are the same from the beginning on.
pub(super) fn common(stored: &[Known], given: &[Known]) -> usize {
    stored.iter().zip(given).take_while(|(one, other)| one.hash == other.hash).count()
}

impl Peek {
    /// What there is to know but for the texts: where to look at them.
    #[must_use]
    pub fn at(stored: &[Known], given: &[Known]) -> Self {
        Self { common: common(stored, given), ..Self::default() }
    }
}

/// What makes a message that message, wherever it stands: the client's id, else what was said at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Name<'a> {
    Id(&'a str),
    Said(ContentHash, Timestamp),
}

fn name(message: &Known) -> Option<Name<'_>> {
    let said = || message.at.map(|at| Name::Said(message.hash, at));
    message.client_id.as_deref().map(Name::Id).or_else(said)
}

/// The names that name one message each. Some clients give one id to all parts of an answer: those name nothing.
fn names(messages: &[Known]) -> HashMap<Name<'_>, usize> {
    let mut names: HashMap<Name<'_>, Option<usize>> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        if let Some(name) = name(message) {
            names.entry(name).and_modify(|place| *place = None).or_insert(Some(place));
        }
    }
    names.into_iter().filter_map(|(name, place)| Some((name, place?))).collect()
}

fn by_name(stored: &[Known], given: &[Known], peek: Peek) -> Merge {
    let (stored_names, given_names) = (names(stored), names(given));
    let mut by_hash: HashMap<ContentHash, Vec<usize>> = HashMap::new();
    for (place, message) in stored.iter().enumerate().rev() {
        by_hash.entry(message.hash).or_default().push(place);
    }
    let mut taken = vec![false; stored.len()];
    let mut take = |place: usize| taken.get_mut(place).is_some_and(|taken| !std::mem::replace(taken, true));
    let mut placements: Vec<Option<Placement>> = given
        .iter()
        .map(|message| {
            let name = name(message).filter(|name| given_names.contains_key(name))?;
            let place = *stored_names.get(&name)?;
            take(place);
            let is_kept = stored.get(place)?.hash == message.hash;
            Some(if is_kept { Placement::Kept(place) } else { Placement::Changed(place) })
        })
        .collect();
    // Those whose names say nothing are known by what they say: each is a stored one without a name, once, in order.
    let mut after = 0;
    for (message, placement) in given.iter().zip(&mut placements) {
        if placement.is_none() {
            let is_named = name(message).is_some_and(|name| given_names.contains_key(&name));
            let candidates = by_hash.get(&message.hash).into_iter().flatten().rev().copied();
            let could_be = |place: &usize| {
                let is_nameless = stored.get(*place).is_some_and(|known| name(known).is_none());
                *place >= after && (is_nameless || !is_named)
            };
            *placement = candidates.filter(could_be).find(|&place| take(place)).map(Placement::Kept);
        }
        if let Some(Placement::Kept(known) | Placement::Changed(known)) = *placement {
            after = after.max(known + 1);
        }
    }
    pair_changed(stored, given, peek, &taken, &mut placements);
    let placements = placements.into_iter().map(|placement| placement.unwrap_or(Placement::New(stored.len())));
    Merge { placements: placements.collect(), gone: Vec::new() }
}

/// Finds those among the messages without a place that are stored ones, changed: as many as stand between the same two that
/// are known, and the last one where it goes on. One with an id is none of them, on either side.
fn pair_changed(stored: &[Known], given: &[Known], peek: Peek, taken: &[bool], placements: &mut [Option<Placement>]) {
    let is_free = |place: usize| {
        taken.get(place) == Some(&false) && stored.get(place).is_some_and(|known| known.client_id.is_none())
    };
    let mut before: Option<usize> = None;
    let mut open: Vec<usize> = Vec::new();
    for place in 0..given.len() {
        match placements.get(place).copied().flatten() {
            None => open.push(place),
            Some(Placement::New(_)) => open.clear(),
            Some(Placement::Kept(known) | Placement::Changed(known)) => {
                let gap = before.map_or(0, |before| before + 1)..known;
                let is_nameless = open.iter().all(|&open| given.get(open).is_some_and(|new| new.client_id.is_none()));
                if before.is_some() && gap.len() == open.len() && is_nameless && gap.clone().all(is_free) {
                    for (place, known) in open.iter().zip(gap) {
                        if let Some(placement) = placements.get_mut(*place) {
                            *placement = Some(Placement::Changed(known));
                        }
                    }
                }
                open.clear();
                before = Some(known);
            }
        }
    }
    if let Some(&first) = open.first()
        && peek.goes_on
        && first == peek.common
        && first + 1 == stored.len()
        && is_free(first)
        && given.get(first).is_some_and(|new| new.client_id.is_none())
        && let Some(placement) = placements.get_mut(first)
    {
        *placement = Some(Placement::Changed(first));
    }
}

fn by_content(form: SessionForm, stored: &[Known], given: &[Known], peek: Peek) -> Merge {
    let new = Placement::New(stored.len());
    let is_text = form == SessionForm::Text;
    if is_text && peek.falls_short && peek.common + 1 == given.len() {
        // An earlier state of the text, saved late.
        return Merge { placements: (0..given.len()).map(Placement::Kept).collect(), gone: Vec::new() };
    }
    let Some(start) = start(stored, given, peek) else {
        return Merge { placements: vec![new; given.len()], gone: Vec::new() };
    };
    let hashes = |messages: &[Known]| messages.iter().map(|message| message.hash).collect::<Vec<_>>();
    let (old, newer) = (hashes(stored.get(start..).unwrap_or_default()), hashes(given));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &newer, Some(Instant::now() + PATIENCE));
    let last_equal = ops.iter().rposition(|op| matches!(op, DiffOp::Equal { .. })).unwrap_or(0);
    let mut placed = Merge::default();
    for (place, op) in ops.into_iter().enumerate() {
        let is_between = place < last_equal;
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                placed.placements.extend((start + old_index..start + old_index + len).map(Placement::Kept));
            }
            DiffOp::Insert { old_index, new_len, .. } => {
                let before = if is_between { Placement::New(start + old_index) } else { new };
                placed.placements.extend(vec![before; new_len]);
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                // A text that ends earlier is an earlier state of it, saved late.
                if is_text && is_between && start + old_index > 0 {
                    let into = start + old_index - 1;
                    placed.gone.extend((into + 1..=into + old_len).map(|gone| (gone, into)));
                }
            }
            DiffOp::Replace { old_index, old_len, new_len, .. } => {
                let old_index = start + old_index;
                let is_changed = is_between && old_len == new_len;
                let goes_on = !is_between && peek.goes_on && old_index + 1 == stored.len() && old_index == peek.common;
                let pairs = match () {
                    () if is_text => old_len.min(new_len),
                    () if is_changed => new_len,
                    () if goes_on => 1,
                    () => 0,
                };
                placed.placements.extend((old_index..old_index + pairs).map(Placement::Changed));
                let before = if is_between { Placement::New(old_index + old_len) } else { new };
                placed.placements.extend(vec![before; new_len - pairs]);
                if is_text && pairs > 0 {
                    let into = old_index + pairs - 1;
                    placed.gone.extend((into + 1..old_index + old_len).map(|gone| (gone, into)));
                }
            }
        }
    }
    placed
}

/// Where in what is stored the given messages begin; nothing where they are all new.
fn start(stored: &[Known], given: &[Known], peek: Peek) -> Option<usize> {
    if peek.common > 0 || (peek.goes_on && stored.len() == 1) {
        return Some(0);
    }
    let first = given.first()?;
    let row = |start: usize| common(stored.get(start..).unwrap_or_default(), given);
    let rows =
        stored.iter().enumerate().filter(|(_, known)| known.hash == first.hash).map(|(place, _)| (row(place), place));
    let (length, place) = rows.max()?;
    (length > 1 || place + length == stored.len()).then_some(place)
}

/// Puts what is new where it belongs: between those that are known on either side of it, else by its time.
fn order(stored: &[Known], given: &[Known], placements: &[Placement]) -> Vec<Placement> {
    let known = |placement: &Placement| match *placement {
        Placement::Kept(place) | Placement::Changed(place) => Some(place),
        Placement::New(_) => None,
    };
    // For each given message the first one known after it.
    let mut following = vec![None; given.len()];
    let mut next = None;
    for (slot, placement) in following.iter_mut().zip(placements).rev() {
        *slot = next;
        next = known(placement).or(next);
    }
    let mut least = 0;
    placements
        .iter()
        .zip(given)
        .zip(following)
        .map(|((placement, message), following)| {
            let Placement::New(before) = *placement else {
                least = known(placement).map_or(least, |place| least.max(place + 1));
                return *placement;
            };
            let before = match following {
                // Where those around it don't stand in the order given, it stays behind the one before it.
                Some(next) => before.min(next).max(least),
                None => by_time(stored, message.at, least, before),
            };
            least = before;
            Placement::New(before)
        })
        .collect()
}

/// The place before all stored messages that were said later, at least `least`.
fn by_time(stored: &[Known], at: Option<Timestamp>, least: usize, most: usize) -> usize {
    let Some(at) = at else { return most };
    let is_later = |place: usize| stored.get(place).and_then(|known| known.at).is_some_and(|other| other > at);
    let mut place = most;
    while place > least && is_later(place - 1) {
        place -= 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sha2::{Digest as _, Sha256};

    use super::{
        Placement::{Changed, Kept, New},
        *,
    };

    fn known(said: &str) -> Known {
        Known { hash: Sha256::digest(said).into(), client_id: None, at: None }
    }

    /// Messages, a word each; `1=a` has the id 1.
    fn messages(said: &str) -> Vec<Known> {
        let message = |word: &str| match word.split_once('=') {
            Some((id, said)) => Known { client_id: Some(id.to_owned()), ..known(said) },
            None => known(word),
        };
        said.split_whitespace().map(message).collect()
    }

    fn merged(stored: &str, given: &str) -> Vec<Placement> {
        let (stored, given) = (messages(stored), messages(given));
        let merge = merge(SessionForm::Messages, &stored, &given, Peek::at(&stored, &given));
        assert_eq!(merge.gone, []);
        merge.placements
    }

    #[test]
    fn saving_again_adds_what_is_new() {
        assert_eq!(merged("", "a b"), [New(0), New(0)]);
        assert_eq!(merged("a b", "a b"), [Kept(0), Kept(1)]);
        assert_eq!(merged("a b", "a b c d"), [Kept(0), Kept(1), New(2), New(2)]);
        assert_eq!(merged("a b c", "a b"), [Kept(0), Kept(1)]);
    }

    #[test]
    fn parts_are_laid_over_what_is_there() {
        assert_eq!(merged("a b c", "c d"), [Kept(2), New(3)]);
        assert_eq!(merged("a b c d", "b c"), [Kept(1), Kept(2)]);
        assert_eq!(merged("a b c", "d e"), [New(3), New(3)]);
        assert_eq!(merged("a b c x", "b c d"), [Kept(1), Kept(2), New(4)]);
        assert_eq!(merged("a yes b yes c", "yes"), [New(5)]);
        assert_eq!(merged("a yes", "yes"), [Kept(1)]);
    }

    #[test]
    fn a_changed_message_is_told_from_a_new_one() {
        assert_eq!(merged("a b c", "a x c"), [Kept(0), Changed(1), Kept(2)]);
        assert_eq!(merged("a b c", "a c"), [Kept(0), Kept(2)]);
        assert_eq!(merged("a c", "a b c"), [Kept(0), New(1), Kept(1)]);
        // Two went on from the same beginning: nothing of either is lost.
        assert_eq!(merged("a b x y", "a b z"), [Kept(0), Kept(1), New(4)]);
    }

    #[test]
    fn an_answer_that_was_being_written_goes_on() {
        let (stored, given) = (messages("a b"), messages("a b… c"));
        let peek = Peek { goes_on: true, ..Peek::at(&stored, &given) };
        let merge = merge(SessionForm::Messages, &stored, &given, peek);
        assert_eq!(merge.placements, [Kept(0), Changed(1), New(2)]);
    }

    #[test]
    fn ids_say_which_message_is_which() {
        assert_eq!(merged("1=a 2=b", "2=x 3=c"), [Changed(1), New(2)]);
        assert_eq!(merged("1=yes 2=no", "3=yes"), [New(2)]);
        assert_eq!(merged("a b", "1=a 2=b 3=c"), [Kept(0), Kept(1), New(2)]);
        assert_eq!(merged("1=a 3=c", "1=a 2=b 3=c"), [Kept(0), New(1), Kept(1)]);
        // An id of several names none of them.
        assert_eq!(merged("1=a 1=b", "1=a 1=b 1=c"), [Kept(0), Kept(1), New(2)]);
    }

    #[test]
    fn times_put_parts_in_order() {
        let at = |minute: i64, said: &str| Known { at: Timestamp::from_second(60 * minute).ok(), ..known(said) };
        let stored = [at(1, "a"), at(4, "d"), at(5, "e")];
        let given = [at(2, "b"), at(3, "c"), at(6, "f")];
        let merge = merge(SessionForm::Messages, &stored, &given, Peek::at(&stored, &given));
        assert_eq!(merge.placements, [New(1), New(1), New(3)]);
    }

    #[test]
    fn what_was_said_at_the_same_time_is_the_same() {
        let at = |minute: i64, said: &str| Known { at: Timestamp::from_second(60 * minute).ok(), ..known(said) };
        let merged = |stored: &[Known], given: &[Known]| {
            merge(SessionForm::Messages, stored, given, Peek::at(stored, given)).placements
        };
        let stored = [at(3, "c"), at(4, "yes"), at(5, "e")];
        // The end of what is given is there, not its beginning.
        assert_eq!(merged(&stored, &[at(1, "a"), at(2, "yes"), at(3, "c")]), [New(0), New(0), Kept(0)]);
        assert_eq!(merged(&stored, &[at(3, "c"), at(4, "no"), at(5, "e")]), [Kept(0), Changed(1), Kept(2)]);
        assert_eq!(merged(&stored, &[at(6, "yes")]), [New(3)]);
        // Times that come later belong to what was saved without them.
        assert_eq!(merged(&messages("a b"), &[at(1, "a"), at(2, "b"), at(3, "c")]), [Kept(0), Kept(1), New(2)]);
    }

    #[test]
    fn a_text_is_what_was_saved_last_and_what_it_was_is_kept() {
        let merged = |stored: &str, given: &str, peek: fn(Peek) -> Peek| {
            let (stored, given) = (messages(stored), messages(given));
            let merge = merge(SessionForm::Text, &stored, &given, peek(Peek::at(&stored, &given)));
            (merge.placements, merge.gone)
        };
        let same = |peek| peek;
        assert_eq!(merged("a b c", "a x", same), (vec![Kept(0), Changed(1)], vec![(2, 1)]));
        assert_eq!(merged("a b c d", "a d", same), (vec![Kept(0), Kept(3)], vec![(1, 0), (2, 0)]));
        assert_eq!(merged("a b", "a b", same), (vec![Kept(0), Kept(1)], vec![]));
        assert_eq!(merged("a b c", "a b", same), (vec![Kept(0), Kept(1)], vec![]));
        let short = |peek| Peek { falls_short: true, ..peek };
        assert_eq!(merged("a bbb c", "a b", short), (vec![Kept(0), Kept(1)], vec![]));
    }

    /// What the session is after a save.
    fn apply(stored: &[u8], given: &[u8]) -> Vec<u8> {
        let hashes = |said: &[u8]| said.iter().map(|said| known(&said.to_string())).collect::<Vec<_>>();
        let (old, new) = (hashes(stored), hashes(given));
        let merge = merge(SessionForm::Messages, &old, &new, Peek::at(&old, &new));
        let mut result = Vec::new();
        for place in 0..=stored.len() {
            let before = merge.placements.iter().zip(given).filter(|(placement, _)| **placement == New(place));
            result.extend(before.map(|(_, said)| *said));
            let changed = merge.placements.iter().zip(given).find(|(placement, _)| **placement == Changed(place));
            result.extend(changed.map(|(_, said)| *said).or(stored.get(place).copied()));
        }
        result
    }

    proptest! {
        #[test]
        fn a_conversation_that_grows_is_stored_once(said in prop::collection::vec(0..4_u8, 1..40), cuts in prop::collection::vec(1..40_usize, 1..8)) {
            let mut stored = Vec::new();
            for cut in cuts {
                stored = apply(&stored, &said[..cut.min(said.len())]);
            }
            stored = apply(&stored, &said);
            prop_assert_eq!(&stored, &said);
            prop_assert_eq!(apply(&stored, &said), said);
        }

        #[test]
        fn all_that_is_given_is_there_in_its_order_and_nothing_is_lost(stored in prop::collection::vec(0..6_u8, 0..20), given in prop::collection::vec(0..6_u8, 2..20)) {
            let once = apply(&stored, &given);
            prop_assert!(once.len() >= stored.len().max(given.len()));
            // All of what is given is there, in its order.
            let mut rest = once.iter();
            prop_assert!(given.iter().all(|said| rest.any(|other| other == said)), "{:?}", once);
        }
    }
}
