//! What people ask of a store of made-up memories.

use std::collections::HashSet;

use jiff::SignedDuration;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};

use crate::{
    setup::Failure,
    texts::{Language, MadeUp, NEWEST, SITTING, pick},
};

/// A way of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    RareWord,
    RareAndCommon,
    ThreeCommon,
    Question,
    Neighbours,
    InTag,
    InLastWeek,
    InNamespace,
}

impl Class {
    pub(crate) const ALL: [Self; 8] = [
        Self::RareWord,
        Self::RareAndCommon,
        Self::ThreeCommon,
        Self::Question,
        Self::Neighbours,
        Self::InTag,
        Self::InLastWeek,
        Self::InNamespace,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RareWord => "a rare word",
            Self::RareAndCommon => "a rare and a common word",
            Self::ThreeCommon => "three common words",
            Self::Question => "a question of ten words",
            Self::Neighbours => "words of two neighbours",
            Self::InTag => "a mix, in a tag",
            Self::InLastWeek => "a mix, in the last week",
            Self::InNamespace => "a mix, in a namespace",
        }
    }
}

/// Makes queries for a store of this many memories. None is made twice: the embedder knows the last ones by heart.
pub(crate) struct Queries<'a> {
    language: &'a Language,
    memories: u32,
    /// The ranks of the words that are in 30 to 60 % of the memories.
    common: Vec<usize>,
    /// The least and the greatest share of the memories that such a word is in.
    pub(crate) common_share: (f64, f64),
    asked: HashSet<String>,
    random: StdRng,
}

impl<'a> Queries<'a> {
    pub(crate) fn new(language: &'a Language, memories: u32) -> Result<Self, Failure> {
        const LOOKED_AT: u32 = 2_000;
        let sample = memories.min(LOOKED_AT);
        let mut counts = [0_u32; 64];
        for number in 0..sample {
            let held: HashSet<usize> = language.memory(number).ranks.into_iter().collect();
            counts.iter_mut().enumerate().filter(|(rank, _)| held.contains(rank)).for_each(|(_, count)| *count += 1);
        }
        let share = |count: u32| f64::from(count) / f64::from(sample.max(1));
        let common: Vec<(usize, f64)> =
            counts.into_iter().map(share).enumerate().filter(|(_, share)| (0.3..=0.6).contains(share)).collect();
        if common.len() < 6 {
            return Err("the made-up language has too few common words".into());
        }
        let shares = || common.iter().map(|(_, share)| *share);
        Ok(Self {
            language,
            memories,
            common_share: (shares().fold(1.0, f64::min), shares().fold(0.0, f64::max)),
            common: common.into_iter().map(|(rank, _)| rank).collect(),
            asked: HashSet::new(),
            random: StdRng::seed_from_u64(u64::from(memories) | 1 << 60),
        })
    }

    /// The arguments of another recall of this class.
    pub(crate) fn next(&mut self, class: Class) -> Value {
        loop {
            let arguments = self.make(class);
            if self.asked.insert(arguments["query"].to_string()) {
                return arguments;
            }
        }
    }

    fn make(&mut self, class: Class) -> Value {
        let word = |rank: usize| self.language.word(rank);
        match class {
            Class::RareWord => {
                let rare = self.words_of(|_| true).1;
                json!({ "query": word(rare[0]) })
            }
            Class::RareAndCommon => {
                let rare = self.words_of(|_| true).1;
                let [common, ..] = self.common_words();
                json!({ "query": format!("{} {}", word(rare[0]), word(common)) })
            }
            Class::ThreeCommon => {
                let [a, b, c] = self.common_words().map(word);
                json!({ "query": format!("{a} {b} {c}") })
            }
            Class::Question => {
                let [a, b, c, d] = self.words_of(|_| true).1.map(word);
                let [e, f, _] = self.common_words().map(word);
                json!({ "query": format!("when did the {d} {a} {e} and {b} {f} {c}?") })
            }
            Class::Neighbours => {
                let (first, number) = self.any(|memory| memory.ranks.len() > 4);
                let second = self.language.memory(if number % SITTING == 0 { number + 1 } else { number - 1 });
                let ([a, b, ..], [c, d, ..]) = (rarest(&first).map(word), rarest(&second).map(word));
                let [common, ..] = self.common_words().map(word);
                json!({ "query": format!("{a} {d} and {common} {c} {b}") })
            }
            Class::InTag => {
                let (memory, query) = self.mix(|memory| !memory.request.tags.is_empty());
                json!({ "query": query, "tags": memory.request.tags })
            }
            Class::InLastWeek => {
                let week_ago = (NEWEST - SignedDuration::from_hours(7 * 24)).to_string();
                let (_, query) =
                    self.mix(|memory| memory.request.occurred_at.as_ref().is_some_and(|at| *at >= week_ago));
                json!({ "query": query, "after": week_ago })
            }
            Class::InNamespace => {
                let (memory, query) = self.mix(|memory| memory.request.namespace.is_some());
                json!({ "query": query, "namespace": memory.request.namespace })
            }
        }
    }

    /// A query of one rare, one less rare and one common word.
    fn mix(&mut self, wanted: impl Fn(&MadeUp) -> bool) -> (MadeUp, String) {
        let (memory, [rare, second, ..]) = self.words_of(wanted);
        let [common, ..] = self.common_words();
        let query = [second, common, rare].map(|rank| self.language.word(rank)).join(" ");
        (memory, query)
    }

    /// A memory that is wanted, and its rarest words.
    fn words_of(&mut self, wanted: impl Fn(&MadeUp) -> bool) -> (MadeUp, [usize; 4]) {
        let (memory, _) = self.any(wanted);
        let rarest = rarest(&memory);
        (memory, rarest)
    }

    /// Some memory that is wanted, with its number.
    fn any(&mut self, wanted: impl Fn(&MadeUp) -> bool) -> (MadeUp, u32) {
        loop {
            let number = self.random.random_range(0..self.memories.max(1));
            let memory = self.language.memory(number);
            if wanted(&memory) && memory.ranks.len() >= 4 {
                return (memory, number);
            }
        }
    }

    /// Three different common words.
    fn common_words(&mut self) -> [usize; 3] {
        loop {
            let [a, b, c] = [0; 3].map(|_| pick(&self.common, &mut self.random));
            if a != b && b != c && a != c {
                return [a, b, c];
            }
        }
    }
}

/// The rarest words of a memory, the rarest first.
fn rarest(memory: &MadeUp) -> [usize; 4] {
    let mut ranks = memory.ranks.clone();
    ranks.sort_unstable_by(|a, b| b.cmp(a));
    [0, 1, 2, 3].map(|place| ranks.get(place).copied().unwrap_or_default())
}
