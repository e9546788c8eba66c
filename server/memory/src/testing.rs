//! Working fakes of the ports.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{Hash as _, Hasher as _},
    ops::Range,
    sync::Mutex,
};

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use polymnemo_types::EmbedderStatus;

use crate::{
    Result, analyze,
    ports::{Calibration, Clock, Embedder, Model},
};

/// An embedder for tests that are not about meaning: a text's vector is the sum of one pseudo-random
/// direction for each of its terms, so texts are similar as far as they share words.
#[derive(Debug)]
pub struct FakeEmbedder {
    model: Model,
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self::new(384)
    }
}

impl FakeEmbedder {
    /// A fake with vectors of this length.
    #[must_use]
    pub fn new(dimension: u32) -> Self {
        let calibration = Calibration {
            low: -0.1,
            high: 0.9,
            gate_base: 0.2,
            gate_slope: 0.0,
            gate_most: 0.2,
            similar_low: 0.0,
            similar_least: 1.2,
        };
        Self { model: Model { id: format!("fake-{dimension}"), dimension, max_tokens: 512, calibration } }
    }

    /// The vector of a text.
    #[must_use]
    pub fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.model.dimension as usize];
        for (term, count) in analyze::index_terms(text).0 {
            let mut hasher = DefaultHasher::new();
            term.hash(&mut hasher);
            let mut state = hasher.finish() | 1;
            for value in &mut vector {
                // xorshift64: any cheap generator does.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                *value += f32::from(count) * ((state >> 40) as f32 / (1_u32 << 24) as f32 - 0.5);
            }
        }
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        if norm > 0.0 {
            vector.iter_mut().for_each(|value| *value /= norm);
        } else if let Some(first) = vector.first_mut() {
            *first = 1.0;
        }
        vector
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn model(&self) -> &Model {
        &self.model
    }

    fn status(&self) -> EmbedderStatus {
        EmbedderStatus::Ready
    }

    async fn ready(&self) -> Result<()> {
        Ok(())
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        Ok(self.vector(text))
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        let mut tokens: Vec<Range<usize>> = Vec::new();
        let mut in_word = false;
        for (start, character) in text.char_indices() {
            let end = start + character.len_utf8();
            match tokens.last_mut() {
                _ if character.is_whitespace() => in_word = false,
                Some(last) if in_word && character.is_ascii_alphanumeric() => last.end = end,
                _ => {
                    tokens.push(start..end);
                    in_word = character.is_ascii_alphanumeric();
                }
            }
        }
        Ok(tokens)
    }
}

/// A clock that a test advances.
#[derive(Debug)]
pub struct FakeClock(Mutex<Timestamp>);

impl FakeClock {
    /// A clock that shows this time.
    #[must_use]
    pub fn new(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Moves the clock on.
    pub fn advance(&self, by: SignedDuration) {
        let mut now = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *now += by;
    }
}

impl Clock for FakeClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
