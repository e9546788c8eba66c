//! What a query has in common with any text, and with noise.
//!
//! Models give any two texts some similarity: because both are texts, because both are questions, because both are
//! Chinese. And whatever is asked, something in a store is the closest. So a similarity says little by itself, and is
//! measured against [`BACKGROUND`]: noise of many kinds, and sentences on what encyclopedias, newspapers and
//! cookbooks are about. None are on what a person would have remembered about themselves, for that would count against
//! finding it.
//!
//! - [`Background::telling`] takes out of a query's vector what all queries have in common (their mean), and the few
//!   directions in which the background differs most from itself. These are its languages and whether a text is one at
//!   all, which tells nothing about what it says. So a question in Chinese is no closer to a Chinese memory than to an
//!   English one for the language alone. All of a recall goes on with that vector.
//! - [`Background::noise`] is how similar the query is to the closest of the background. An answer has to be closer:
//!   gibberish is closest to gibberish, and who asks for the height of a mountain finds mountains there.

use crate::analyze;

/// The texts, one a line, in several languages.
pub const BACKGROUND: &str = include_str!("background.txt");

/// Words, and Chinese pairs of characters, that are in many a text whatever it is about.
const EVERYDAY: &str = include_str!("everyday.txt");

/// One in so many of the texts is embedded as a query too.
const SAMPLE: usize = 8;
/// How many directions are taken out of a query.
const DIRECTIONS: usize = 3;
/// How often a direction is refined; the spread along it is what matters, so there is no need of more.
const REFINEMENTS: usize = 12;
/// How many of the closest texts are the noise around a query.
const CLOSEST: usize = 3;

/// The texts that are embedded as passages.
pub fn passages() -> impl Iterator<Item = &'static str> {
    BACKGROUND.lines()
}

/// Those of them that are embedded as queries too.
pub fn queries() -> impl Iterator<Item = &'static str> {
    BACKGROUND.lines().step_by(SAMPLE)
}

/// The background, as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Background {
    passages: Vec<Vec<f32>>,
    /// What all queries have in common.
    mean: Vec<f32>,
    /// Of length 1 and perpendicular to each other.
    directions: Vec<Vec<f32>>,
}

impl Background {
    /// From the vectors of [`passages`] and [`queries`].
    #[must_use]
    pub fn new(passages: Vec<Vec<f32>>, queries: &[Vec<f32>]) -> Self {
        let mut mean = average(&passages);
        let centred: Vec<Vec<f32>> = passages
            .iter()
            .map(|passage| {
                let mut passage = passage.clone();
                add(&mut passage, -1.0, &mean);
                passage
            })
            .collect();
        let directions = directions(&centred);
        // Some models want to be told which of the two a text is, and their queries have a mean of their own. How far it
        // lies from that of the passages is seen well enough in a few texts that are embedded as both.
        let sample: Vec<Vec<f32>> = passages.iter().step_by(SAMPLE).cloned().collect();
        add(&mut mean, 1.0, &average(queries));
        add(&mut mean, -1.0, &average(&sample));
        Self { passages, mean, directions }
    }

    /// A query's vector without what says nothing of what is asked; of length 1 like the query's own.
    #[must_use]
    pub fn telling(&self, query: &[f32]) -> Vec<f32> {
        let mut telling = query.to_vec();
        add(&mut telling, -1.0, &self.mean);
        for direction in &self.directions {
            let along = dot(&telling, direction);
            add(&mut telling, -along, direction);
        }
        if normalize(&mut telling) { telling } else { query.to_vec() }
    }

    /// How similar the background is to a telling vector where it is closest.
    #[must_use]
    pub fn noise(&self, telling: &[f32]) -> f32 {
        let mut similarities: Vec<f32> = self.passages.iter().map(|passage| dot(telling, passage)).collect();
        similarities.sort_unstable_by(|a, b| b.total_cmp(a));
        similarities.truncate(CLOSEST);
        similarities.iter().sum::<f32>() / similarities.len().max(1) as f32
    }
}

/// The directions in which vectors around zero differ most from each other, by power iteration: the first principal
/// components.
fn directions(vectors: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut directions: Vec<Vec<f32>> = Vec::new();
    let start = vectors.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
    for _ in 0..DIRECTIONS {
        let Some(mut direction) = start.cloned() else { break };
        for _ in 0..REFINEMENTS {
            let mut sum = vec![0.0; direction.len()];
            for vector in vectors {
                add(&mut sum, dot(vector, &direction), vector);
            }
            for other in &directions {
                let along = dot(&sum, other);
                add(&mut sum, -along, other);
            }
            if !normalize(&mut sum) {
                return directions;
            }
            direction = sum;
        }
        directions.push(direction);
    }
    directions
}

/// Whether a term of a query is so common in any text that holding it says little of what a passage is about.
#[must_use]
pub fn is_everyday(term: &str) -> bool {
    static TERMS: std::sync::LazyLock<std::collections::HashSet<String>> =
        std::sync::LazyLock::new(|| analyze::query_terms(EVERYDAY).into_iter().collect());
    let is_short = term.len() == 1 || (term.len() == 2 && term.bytes().all(|byte| byte.is_ascii_digit()));
    is_short || TERMS.contains(term)
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// Adds a multiple of a vector to another.
fn add(to: &mut [f32], times: f32, vector: &[f32]) {
    to.iter_mut().zip(vector).for_each(|(to, value)| *to += times * value);
}

fn average(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut average = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for vector in vectors {
        add(&mut average, 1.0 / vectors.len() as f32, vector);
    }
    average
}

/// Brings a vector to length 1, unless there is next to nothing of it.
fn normalize(vector: &mut [f32]) -> bool {
    let length = dot(vector, vector).sqrt();
    if length < 1e-4 {
        return false;
    }
    vector.iter_mut().for_each(|value| *value /= length);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with three topics, the last three coordinates, in two languages, the first; the second is what all share.
    fn background() -> Background {
        let passages: Vec<Vec<f32>> = (0..24)
            .map(|number| {
                let mut vector = vec![if number % 2 == 0 { 0.5 } else { -0.5 }, 0.8, 0.0, 0.0, 0.0];
                vector[2 + number % 3] = 0.3;
                normalize(&mut vector);
                vector
            })
            .collect();
        let queries: Vec<Vec<f32>> = passages.iter().step_by(SAMPLE).cloned().collect();
        let mut background = Background::new(passages, &queries);
        background.directions.truncate(1);
        background
    }

    #[test]
    fn the_language_of_a_query_tells_nothing() {
        let background = background();
        let [one, other] = [0.5, -0.5].map(|language| {
            let mut query = vec![language, 0.8, 0.3, 0.0, 0.0];
            normalize(&mut query);
            background.telling(&query)
        });
        assert!(dot(&one, &other) > 0.99, "{one:?} {other:?}");
        assert!(one[0].abs() < 0.05 && one[2] > 0.7, "{one:?}");
    }

    #[test]
    fn directions_are_perpendicular_and_of_length_1() {
        let vectors: Vec<Vec<f32>> =
            (0..30).map(|number| (0..6).map(|place| ((number * 7 + place * 13) % 11) as f32 - 5.0).collect()).collect();
        let found = directions(&vectors);
        assert_eq!(found.len(), DIRECTIONS);
        for (place, one) in found.iter().enumerate() {
            for (other_place, other) in found.iter().enumerate() {
                let expected = if place == other_place { 1.0 } else { 0.0 };
                assert!((dot(one, other) - expected).abs() < 1e-3, "{place} {other_place}");
            }
        }
    }

    #[test]
    fn noise_is_what_is_closest() {
        let background = background();
        let telling = background.telling(&[0.5, 0.8, 0.3, 0.0, 0.0]);
        let closest: Vec<f32> = background.passages.iter().map(|passage| dot(&telling, passage)).collect();
        let most = closest.iter().copied().fold(f32::MIN, f32::max);
        assert!((background.noise(&telling) - most).abs() < 0.01);
    }

    #[test]
    fn without_anything_to_measure_by_a_query_stays_as_it_is() {
        let nothing = Background::new(Vec::new(), &[]);
        assert_eq!(nothing.telling(&[0.6, 0.8]), [0.6, 0.8]);
        assert!(nothing.noise(&[0.6, 0.8]).abs() < f32::EPSILON);
        let same = Background::new(vec![vec![0.6, 0.8]; 9], &vec![vec![0.6, 0.8]; 2]);
        assert_eq!(same.telling(&[0.6, 0.8]), [0.6, 0.8]);
    }

    #[test]
    fn everyday_words_are_known_by_their_terms() {
        for term in ["weather", "like", "tell", "7", "42", "现在"] {
            assert!(is_everyday(term), "{term}");
        }
        for term in ["xk-4471", "4471", "kafka", "omeprazol", "绿茶"] {
            assert!(!is_everyday(term), "{term}");
        }
        for word in ["movies", "stories", "history", "beautiful"] {
            assert!(analyze::query_terms(word).iter().all(|term| is_everyday(term)), "{word}");
        }
    }
}
