//! From candidates with two raw scores each to one ranking of memories.
//!
//! The formula was found by measuring evidence recall on long conversations (`make eval` repeats
//! the measurement through the whole service). Its parts, in the order of what they contribute:
//!
//! - **BM25** with document frequencies of the caller's own passages and a fixed pivot for the
//!   passage length, so that a term's impact on a passage never changes and the index can be
//!   ordered by it. Passages shorter than the pivot are all treated alike.
//! - **Similarity above noise.** Cosines are those of what is telling in a query, minus how similar
//!   noise is to it (see [`noise`]), scaled to 0..1 by the model's [`Calibration`]. The two sides
//!   are blended, not their ranks fused.
//! - **Neighbours.** What was written next to each other belongs together: a memory's neighbours
//!   cover for terms that it lacks, and a good memory lends them some of its score.
//! - **The named source.** A query that names where a memory comes from prefers it.
//! - **Noise gate.** Each memory shows evidence: its scaled similarity plus the share of the query's
//!   weight that it matches, in which everyday words weigh little. If not even the best shows enough
//!   for a store of this size, there is no answer; memories with almost none are left out of any
//!   answer. A memory that holds half of the query, or an identifier of it, is always enough. The
//!   thresholds turn away gibberish and, in small stores, most of what has nothing to do with them;
//!   they are so low that 99 of 100 questions with an answer pass, also of those that share no word
//!   with it: a wrong answer can be read over, a hidden one is lost.

use std::collections::{HashMap, HashSet};

use polymnemo_types::MemoryId;

use crate::{
    analyze, noise,
    ports::{Calibration, Candidate, Candidates, Neighbourhood},
};

/// How quickly further occurrences of a term stop counting (BM25's k1).
const SATURATION: f32 = 0.9;
/// How much the length of a passage counts (BM25's b).
const LENGTH_SHARE: f32 = 0.3;
/// The passage length, in terms, that counts as usual.
const USUAL_LENGTH: f32 = 128.0;
/// Passages added to the count of a small store, so that its document frequencies say something.
const SMOOTHING: f64 = 200.0;

/// The share of the keyword side in the blend; the rest is the vector side's. More than half: a passage that
/// matches the words exactly is never behind one that matches by meaning alone.
const KEYWORD_SHARE: f32 = 0.55;
/// The least keyword score that the best passage is measured by, as a share of what is possible: where nothing matches
/// well, the best of it must not look perfect.
const LEAST_BEST: f32 = 0.25;

/// How many of the best memories have their neighbours looked up.
const ANCHORS: usize = 20;
/// The length, in terms, from which on a passage needs its neighbours less and less.
const SELF_CONTAINED: f32 = 64.0;
/// How much of a term's impact counts for the next memory, and for the one after.
const COVER: [f32; 2] = [0.4, 0.2];
/// How much of its score above [`LENDING_FLOOR`] a memory lends the next one, and the one after.
const LEND: [f32; 2] = [0.3, 0.15];
/// The score from which on a memory has something to lend.
const LENDING_FLOOR: f32 = 0.35;
/// How much a memory gains when the query names its source.
const SOURCE_NAMED: f32 = 0.4;

/// How much the share of a query that a memory holds counts as evidence, beside its similarity.
const SHARE_HELD: f32 = 0.7;
/// The part of its weight that an everyday word keeps where the share is counted.
const EVERYDAY_WEIGHT: f32 = 0.25;
/// The share from which on a memory is evidence enough in any store.
const EXACT_SHARE: f32 = 0.5;
/// The evidence that is enough in any store.
const ENOUGH: f32 = 1.0;
/// The evidence that each memory in an answer must show.
const ROW_FLOOR: f32 = 0.15;

/// A term's share of the BM25 score of a passage, before it is multiplied by the term's weight: from 0 to 1.9.
#[must_use]
pub fn impact(frequency: u16, length: u32) -> f32 {
    let frequency = f32::from(frequency);
    let length = (length as f32).max(USUAL_LENGTH) / USUAL_LENGTH;
    frequency * (SATURATION + 1.0) / (frequency + SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length))
}

/// A term's weight: how rare it is among the passages that the caller may read (inverse document frequency).
#[must_use]
pub fn term_weight(passages: u64, holding_it: u64) -> f32 {
    let (all, holding) = (passages as f64 + SMOOTHING, holding_it as f64);
    (1.0 + (all - holding + 0.5).max(0.5) / (holding + 0.5)).ln() as f32
}

/// A memory in the ranking, with its best passage.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// The memory.
    pub memory: MemoryId,
    /// Its best passage.
    pub chunk: i64,
    /// The final score: the greater, the better; it compares within one ranking only.
    pub score: f32,
    /// Cosine similarity of that passage.
    pub cosine: Option<f32>,
    /// BM25 score of that passage.
    pub bm25: f32,
    /// The terms it holds, as places in the search's terms.
    pub matched: Vec<u16>,
}

/// The outcome of ranking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    /// The memories above the floor, the best first, each once.
    pub memories: Vec<Ranked>,
    /// How many other memories there were among the candidates.
    pub below_threshold: u32,
}

/// A ranking in the making: scored by what each memory says itself, not yet by its neighbours.
#[derive(Debug)]
pub struct Ranker {
    documents: Vec<Document>,
    scale: Scale,
    gate: f32,
    /// The query's terms, to recognise a named source.
    terms: Vec<String>,
}

/// What turns raw scores into blended ones.
#[derive(Debug)]
struct Scale {
    calibration: Calibration,
    /// How similar noise is to the query.
    noise: f32,
    /// The sum of the terms' weights.
    weight: f32,
    /// What each term says of the query.
    terms: Vec<Term>,
}

/// A term of the query, as evidence.
#[derive(Debug)]
struct Term {
    /// Its part in the query, all of which are 1 together.
    share: f32,
    is_everyday: bool,
    is_identifier: bool,
}

/// A memory, by its best passage.
#[derive(Debug)]
struct Document {
    passage: Candidate,
    /// The impact of each of the query's terms.
    keywords: Vec<f32>,
    /// Similarity above noise, scaled, not clamped.
    similarity: f32,
    evidence: f32,
    score: f32,
}

impl Ranker {
    /// Scores candidates. `terms` are what was searched for, and `noise` is how similar noise is to it
    /// ([`noise::Background::noise`]).
    #[must_use]
    pub fn new(candidates: Candidates, terms: &[String], noise: f32, calibration: Calibration) -> Self {
        let scale = Scale {
            calibration,
            noise,
            weight: candidates.weights.iter().sum(),
            terms: evidence_of(terms, &candidates.weights),
        };
        let size = (candidates.scope.max(1) as f32).log10();
        let gate = (calibration.gate_base + calibration.gate_slope * size).min(calibration.gate_most);
        let mut ranker = Self { documents: Vec::new(), scale, gate, terms: terms.to_vec() };
        let documents: Vec<Document> =
            candidates.passages.into_iter().map(|passage| ranker.scale.document(passage)).collect();
        let best = ranker.scale.best(&documents, |document| document.keywords.iter().sum());
        let mut by_memory: HashMap<MemoryId, Document> = HashMap::new();
        for mut document in documents {
            document.score = ranker.scale.blend(document.keywords.iter().sum(), best, &document);
            let order = |document: &Document| (document.score, -document.passage.chunk);
            if by_memory.get(&document.passage.memory).is_none_or(|other| order(&document) > order(other)) {
                by_memory.insert(document.passage.memory, document);
            }
        }
        ranker.documents = by_memory.into_values().collect();
        ranker.sort();
        ranker
    }

    /// The memories whose neighbours are worth looking up.
    #[must_use]
    pub fn anchors(&self) -> Vec<MemoryId> {
        self.documents.iter().take(ANCHORS).map(|document| document.passage.memory).collect()
    }

    /// Lets neighbours cover and lend, and applies the noise gate.
    #[must_use]
    pub fn finish(mut self, neighbourhood: Neighbourhood) -> Ranking {
        let mut places: HashMap<MemoryId, usize> =
            self.documents.iter().enumerate().map(|(place, document)| (document.passage.memory, place)).collect();
        for passage in neighbourhood.passages {
            if let std::collections::hash_map::Entry::Vacant(entry) = places.entry(passage.memory) {
                entry.insert(self.documents.len());
                self.documents.push(self.scale.document(passage));
            }
        }
        let neighbours = adjacency(&neighbourhood.rows, &places);
        self.cover(&neighbours);
        self.lend(&neighbours);
        for document in &mut self.documents {
            document.score *= 1.0 + SOURCE_NAMED * named(document.passage.source.as_deref(), &self.terms);
        }
        self.sort();
        self.gated()
    }

    /// Scores each memory as if it held, to some degree, the terms of its neighbours.
    fn cover(&mut self, neighbours: &[Vec<(usize, usize)>]) {
        let covered: Vec<f32> = self
            .documents
            .iter()
            .zip(neighbours)
            .map(|(document, near)| {
                let need = document.need();
                (0..self.scale.terms.len())
                    .map(|term| {
                        near.iter().fold(document.keyword(term), |most, &(other, distance)| {
                            let factor = COVER.get(distance - 1).copied().unwrap_or_default();
                            let lent = self.documents.get(other).map_or(0.0, |other| other.keyword(term));
                            most.max(factor * need * lent)
                        })
                    })
                    .sum()
            })
            .collect();
        let best = covered.iter().copied().fold(LEAST_BEST * self.scale.possible(), f32::max);
        for (document, keywords) in self.documents.iter_mut().zip(covered) {
            document.score = self.scale.blend(keywords, best, document);
        }
    }

    /// Adds to each memory some of what its neighbours score.
    fn lend(&mut self, neighbours: &[Vec<(usize, usize)>]) {
        let lent: Vec<f32> = self
            .documents
            .iter()
            .zip(neighbours)
            .map(|(document, near)| {
                let sum: f32 = near
                    .iter()
                    .map(|&(other, distance)| {
                        let factor = LEND.get(distance - 1).copied().unwrap_or_default();
                        let score = self.documents.get(other).map_or(0.0, |other| other.score);
                        factor * (score - LENDING_FLOOR).max(0.0)
                    })
                    .sum();
                document.need() * sum
            })
            .collect();
        for (document, lent) in self.documents.iter_mut().zip(lent) {
            document.score += lent;
        }
    }

    fn gated(self) -> Ranking {
        let most = self.documents.iter().map(|document| document.evidence).fold(0.0, f32::max);
        // Whoever asks for one word that is there means that word: what lacks it has to be an answer by itself.
        let is_word_there =
            self.terms.len() == 1 && self.documents.iter().any(|document| !document.passage.matched.is_empty());
        let floor = match most < self.gate {
            true => f32::INFINITY,
            false if is_word_there => self.gate,
            false => ROW_FLOOR,
        };
        let mut ranking = Ranking::default();
        for document in self.documents {
            if document.evidence < floor {
                ranking.below_threshold += 1;
                continue;
            }
            ranking.memories.push(Ranked {
                memory: document.passage.memory,
                chunk: document.passage.chunk,
                // Neighbours and a named source can lift it beyond what a memory has by itself.
                score: document.score.min(1.0),
                cosine: document.passage.cosine,
                bm25: document.keywords.iter().sum(),
                matched: document.passage.matched.iter().map(|&(term, _)| term).collect(),
            });
        }
        ranking
    }

    /// The best first; of equals the later one, so that the order is always the same.
    fn sort(&mut self) {
        self.documents
            .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.passage.memory.cmp(&a.passage.memory)));
    }
}

impl Scale {
    fn document(&self, passage: Candidate) -> Document {
        let mut keywords = vec![0.0; self.terms.len()];
        let (mut share, mut is_telling, mut is_identified) = (0.0, false, false);
        for &(place, impact) in &passage.matched {
            if let (Some(keyword), Some(term)) =
                (keywords.get_mut(usize::from(place)), self.terms.get(usize::from(place)))
            {
                *keyword = impact;
                share += term.share;
                is_telling |= !term.is_everyday;
                is_identified |= term.is_identifier;
            }
        }
        let similarity = passage.cosine.map_or(0.0, |cosine| {
            (cosine - self.noise - self.calibration.low) / (self.calibration.high - self.calibration.low)
        });
        let is_whole = passage.matched.len() == self.terms.len();
        let is_exact = is_identified || (share >= EXACT_SHARE && (is_telling || is_whole));
        let evidence = similarity + SHARE_HELD * share;
        Document {
            passage,
            keywords,
            similarity,
            evidence: if is_exact { evidence.max(ENOUGH) } else { evidence },
            score: 0.0,
        }
    }

    /// The greatest BM25 score that any passage could have.
    fn possible(&self) -> f32 {
        (SATURATION + 1.0) * self.weight
    }

    /// What the keyword scores are measured by.
    fn best(&self, documents: &[Document], score: impl Fn(&Document) -> f32) -> f32 {
        documents.iter().map(score).fold(LEAST_BEST * self.possible(), f32::max)
    }

    fn blend(&self, keywords: f32, best: f32, document: &Document) -> f32 {
        let keywords = if best > 0.0 { keywords / best } else { 0.0 };
        let similarity = match document.passage.cosine {
            // Nobody knows yet what it means, so it is taken at its words: an exact one must not be lost meanwhile.
            None if document.passage.is_pending => keywords.min(1.0),
            _ => document.similarity.clamp(0.0, 1.0),
        };
        KEYWORD_SHARE * keywords + (1.0 - KEYWORD_SHARE) * similarity
    }
}

impl Document {
    fn keyword(&self, term: usize) -> f32 {
        self.keywords.get(term).copied().unwrap_or_default()
    }

    /// How much a memory needs its neighbours to be understood: a short one entirely, a long one little.
    fn need(&self) -> f32 {
        (SELF_CONTAINED / (self.passage.length.max(1) as f32)).min(1.0)
    }
}

/// What each term of a query says as evidence, from its weight in the caller's passages. In a small store each word looks
/// rare, so everyday words count less whatever their weight.
fn evidence_of(terms: &[String], weights: &[f32]) -> Vec<Term> {
    let mut all: Vec<Term> = terms
        .iter()
        .zip(weights)
        .map(|(term, &weight)| {
            let is_everyday = noise::is_everyday(term);
            let share = if is_everyday { EVERYDAY_WEIGHT * weight } else { weight };
            Term { share, is_everyday, is_identifier: is_identifier(term) }
        })
        .collect();
    let sum: f32 = all.iter().map(|term| term.share).sum();
    if sum > 0.0 {
        all.iter_mut().for_each(|term| term.share /= sum);
    }
    all
}

/// Whether a term is the number of a ticket, of a version, of an order: digits with something else, or many of them.
fn is_identifier(term: &str) -> bool {
    let digits = term.bytes().filter(u8::is_ascii_digit).count();
    digits > 0 && term.len() >= 3 && (digits < term.len() || digits >= 5)
}

/// For each document its neighbours, with the distance, 1 or 2.
fn adjacency(rows: &[Vec<MemoryId>], places: &HashMap<MemoryId, usize>) -> Vec<Vec<(usize, usize)>> {
    let mut neighbours = vec![Vec::new(); places.len()];
    let mut seen: HashSet<(usize, usize)> = HashSet::new();
    for row in rows {
        for distance in 1..=COVER.len() {
            for (first, second) in row.iter().zip(row.iter().skip(distance)) {
                let (Some(&first), Some(&second)) = (places.get(first), places.get(second)) else { continue };
                for (one, other) in [(first, second), (second, first)] {
                    if seen.insert((one, other))
                        && let Some(near) = neighbours.get_mut(one)
                    {
                        near.push((other, distance));
                    }
                }
            }
        }
    }
    neighbours
}

/// The share of a source's words that the query names.
fn named(source: Option<&str>, terms: &[String]) -> f32 {
    let words = source.map(analyze::query_terms).unwrap_or_default();
    if words.is_empty() {
        return 0.0;
    }
    words.iter().filter(|word| terms.contains(word)).count() as f32 / words.len() as f32
}

/// How much the words that two texts share count beside their cosine.
const SHARED_WORDS: f32 = 0.5;

/// Whether two texts say nearly the same, by the cosine of their vectors and the words they share (Dice's coefficient). Cosine
/// alone can't tell a repetition from another remark on the same topic. A hint for people, nothing to act on by itself.
#[must_use]
pub fn is_similar(cosine: f32, one: &str, other: &str, calibration: &Calibration) -> bool {
    let scaled = (cosine - calibration.similar_low) / (1.0 - calibration.similar_low);
    if scaled + SHARED_WORDS < calibration.similar_least {
        // Not even the same words would make them so.
        return false;
    }
    let (one, other) = (analyze::query_terms(one), analyze::query_terms(other));
    let words = (one.len() + other.len()).max(1) as f32;
    let shared: HashSet<&String> = one.iter().collect();
    let shared = 2.0 * other.iter().filter(|word| shared.contains(word)).count() as f32 / words;
    scaled + SHARED_WORDS * shared >= calibration.similar_least
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALIBRATION: Calibration = Calibration {
        low: 0.0,
        high: 0.7,
        gate_base: 0.3,
        gate_slope: 0.1,
        gate_most: 0.65,
        similar_low: 0.3,
        similar_least: 0.99,
    };

    fn memory(number: u128) -> MemoryId {
        MemoryId(uuid::Uuid::from_u128(number))
    }

    fn candidate(number: u32, cosine: f32, matched: &[(u16, f32)]) -> Candidate {
        Candidate {
            chunk: i64::from(number),
            memory: memory(u128::from(number)),
            message: None,
            source: None,
            length: 20,
            cosine: Some(cosine),
            is_pending: false,
            matched: matched.to_vec(),
        }
    }

    fn rank(passages: Vec<Candidate>, rows: Vec<Vec<MemoryId>>, terms: &[&str]) -> Ranking {
        let candidates = Candidates { passages, weights: vec![4.0; terms.len()], scope: 100, ..Candidates::default() };
        let terms: Vec<String> = terms.iter().map(|&term| term.to_owned()).collect();
        Ranker::new(candidates, &terms, 0.0, CALIBRATION).finish(Neighbourhood { rows, passages: Vec::new() })
    }

    fn order(ranking: &Ranking) -> Vec<i64> {
        ranking.memories.iter().map(|ranked| ranked.chunk).collect()
    }

    #[test]
    fn an_exact_keyword_hit_is_never_behind_a_similar_passage() {
        let full = 4.0 * impact(1, 20);
        let ranking = rank(vec![candidate(1, 0.7, &[]), candidate(2, 0.0, &[(0, full)])], vec![], &["xk-4471"]);
        assert_eq!(order(&ranking), [2, 1]);
    }

    #[test]
    fn what_is_still_to_be_embedded_is_taken_at_its_words() {
        let full = 4.0 * impact(1, 20);
        let waiting =
            |is_pending, matched: &[(u16, f32)]| Candidate { cosine: None, is_pending, ..candidate(2, 0.0, matched) };
        let similar = candidate(1, 0.7, &[(0, full), (1, full)]);
        let terms = ["item", "code", "xk-4471"];
        let all = [(0, full), (1, full), (2, full)];
        assert_eq!(order(&rank(vec![similar.clone(), waiting(true, &all)], vec![], &terms)), [2, 1]);
        // What is never embedded has no such excuse, and some of the words are not all.
        assert_eq!(order(&rank(vec![similar.clone(), waiting(false, &all)], vec![], &terms)), [1, 2]);
        assert_eq!(order(&rank(vec![similar, waiting(true, &all[2..])], vec![], &terms)), [1, 2]);
    }

    #[test]
    fn a_rare_term_weighs_more() {
        assert!(term_weight(1_000, 1) > term_weight(1_000, 500));
        assert!(term_weight(1_000, 1_000) > 0.0);
        assert!(term_weight(0, 0) > 0.0);
    }

    #[test]
    fn impact_saturates_and_falls_with_length() {
        assert!(impact(2, 50) > impact(1, 50));
        assert!(impact(1_000, 50) < 1.9);
        assert!(impact(1, 500) < impact(1, 50));
        assert!((impact(1, 1) - impact(1, 128)).abs() < f32::EPSILON);
    }

    #[test]
    fn noise_gives_no_answer_and_is_counted() {
        let ranking = rank(vec![candidate(1, 0.1, &[]), candidate(2, 0.2, &[])], vec![], &["zzz"]);
        assert!(ranking.memories.is_empty());
        assert_eq!(ranking.below_threshold, 2);
    }

    /// Whether a passage that holds these words of a query, and is no more similar than noise, is an answer.
    fn answers(terms: &[&str], held: &[u16]) -> bool {
        let matched: Vec<(u16, f32)> = held.iter().map(|&place| (place, 4.0 * impact(1, 20))).collect();
        !rank(vec![candidate(1, 0.0, &matched)], vec![], terms).memories.is_empty()
    }

    #[test]
    fn a_rare_word_or_half_of_the_query_is_an_answer_and_an_everyday_word_is_not() {
        assert!(answers(&["omeprazol"], &[0]));
        assert!(answers(&["omeprazol", "doctor", "tell"], &[0]));
        assert!(answers(&["tea"], &[0]), "a query of one everyday word");
        assert!(!answers(&["weather", "sydney", "tomorrow"], &[0, 2]));
        assert!(!answers(&["tell", "joke"], &[]));
    }

    #[test]
    fn an_identifier_is_an_answer_whatever_else_is_asked() {
        let rest = ["quartz", "violin", "harbour", "lantern", "meadow", "thistle"];
        assert!(answers(&[&["xk-4471"], &rest[..]].concat(), &[0]));
        assert!(answers(&[&["48291173"], &rest[..]].concat(), &[0]));
        assert!(!answers(&[&["7"], &rest[..]].concat(), &[0]));
        assert!(!answers(&[&["1998"], &rest[..]].concat(), &[0]));
    }

    #[test]
    fn a_word_that_is_there_keeps_out_what_is_only_a_little_like_it() {
        let full = 4.0 * impact(1, 20);
        let passages = || vec![candidate(1, 0.4, &[(0, full)]), candidate(2, 0.2, &[]), candidate(3, 0.6, &[])];
        assert_eq!(order(&rank(passages(), vec![], &["gull"])), [1, 3]);
        assert_eq!(order(&rank(passages(), vec![], &["gull", "likes"])), [1, 3, 2]);
    }

    #[test]
    fn noise_is_subtracted() {
        let candidates = || Candidates {
            passages: vec![candidate(1, 0.6, &[])],
            weights: vec![4.0],
            scope: 100,
            unindexed: 0,
            pending: 0,
            compared: Some(1),
        };
        let found = |noise: f32| {
            Ranker::new(candidates(), &["zzz".to_owned()], noise, CALIBRATION).finish(Neighbourhood::default()).memories
        };
        assert_eq!(found(0.0).len(), 1);
        assert!(found(0.5).is_empty());
    }

    #[test]
    fn a_memory_counts_once_by_its_best_passage() {
        let mut second = candidate(2, 0.6, &[]);
        second.memory = memory(1);
        let ranking = rank(vec![candidate(1, 0.4, &[]), second], vec![], &["tea"]);
        assert_eq!(order(&ranking), [2]);
        assert_eq!(ranking.below_threshold, 0);
    }

    #[test]
    fn neighbours_lend_and_cover() {
        let full = 4.0 * impact(1, 20);
        let passages = || {
            vec![
                candidate(1, 0.5, &[(0, full), (1, full)]),
                candidate(2, 0.3, &[(0, full)]),
                candidate(3, 0.31, &[(0, full)]),
            ]
        };
        assert_eq!(order(&rank(passages(), vec![], &["tea", "green"])), [1, 3, 2]);
        let rows = vec![vec![memory(1), memory(2)]];
        assert_eq!(order(&rank(passages(), rows, &["tea", "green"])), [1, 2, 3]);
    }

    #[test]
    fn a_named_source_is_preferred() {
        let mut named = candidate(1, 0.5, &[]);
        named.source = Some("Anna".into());
        let ranking = rank(vec![named, candidate(2, 0.52, &[])], vec![], &["anna"]);
        assert_eq!(order(&ranking), [1, 2]);
    }
}
