//! The real embedder, watched or relieved.

use std::{
    ops::Range,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use async_trait::async_trait;
use polymnemo_memory::{
    Result,
    ports::{Embedder, Model},
};
use polymnemo_types::EmbedderStatus;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use sha2::{Digest as _, Sha256};

use crate::texts::{Language, pick};

/// How many real vectors the cheap ones gather around.
const CENTRES: u32 = 500;
/// How far, as the length of what is added to a vector of length 1: two around one centre have a cosine of 0.89,
/// about that of two texts on one subject.
const SPREAD: f32 = 0.35;

/// Measures how long queries take in the real embedder. While it is told to be cheap, it makes up
/// the vectors of passages, so that a great store is filled in minutes.
pub(crate) struct TimedEmbedder {
    real: Arc<dyn Embedder>,
    cheap: AtomicBool,
    centres: Vec<Vec<f32>>,
    in_queries: Mutex<Duration>,
}

impl TimedEmbedder {
    pub(crate) async fn new(real: Arc<dyn Embedder>, language: &Language) -> Result<Self> {
        // Texts that no store is filled with.
        let texts = (0..CENTRES).map(|number| language.memory(u32::MAX - number).request.content).collect();
        let centres = real.embed_passages(texts).await?;
        Ok(Self { real, cheap: AtomicBool::new(false), centres, in_queries: Mutex::default() })
    }

    pub(crate) fn be_cheap(&self, cheap: bool) {
        self.cheap.store(cheap, Ordering::Relaxed);
    }

    /// The time spent on queries since this was asked last.
    pub(crate) fn take_time(&self) -> Duration {
        std::mem::take(&mut *self.in_queries.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A vector near one of the centres; the same one for the same text.
    fn made_up(&self, text: &str) -> Vec<f32> {
        let mut random = StdRng::from_seed(Sha256::digest(text.as_bytes()).into());
        let centre = pick(&self.centres.iter().map(Vec::as_slice).collect::<Vec<_>>(), &mut random);
        // Uniform noise of this width has the spread's length in all dimensions together.
        let width = SPREAD * (3.0 / centre.len().max(1) as f32).sqrt();
        let mut vector: Vec<f32> = centre.iter().map(|value| value + random.random_range(-width..=width)).collect();
        let norm = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= norm);
        vector
    }
}

#[async_trait]
impl Embedder for TimedEmbedder {
    fn model(&self) -> &Model {
        self.real.model()
    }

    fn status(&self) -> EmbedderStatus {
        self.real.status()
    }

    async fn ready(&self) -> Result<()> {
        self.real.ready().await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        let started = Instant::now();
        let vector = self.real.embed_query(text).await;
        *self.in_queries.lock().unwrap_or_else(PoisonError::into_inner) += started.elapsed();
        vector
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        if self.cheap.load(Ordering::Relaxed) {
            return Ok(texts.iter().map(|text| self.made_up(text)).collect());
        }
        self.real.embed_passages(texts).await
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.real.tokens(text).await
    }
}

/// Remembers which passages were embedded at a time, so that the embedder can be measured with the same ones.
pub(crate) struct RecordingEmbedder {
    real: Arc<dyn Embedder>,
    requests: Mutex<Vec<Vec<String>>>,
}

impl RecordingEmbedder {
    pub(crate) fn new(real: Arc<dyn Embedder>) -> Self {
        Self { real, requests: Mutex::default() }
    }

    /// What was to be embedded since this was asked last, request by request.
    pub(crate) fn take(&self) -> Vec<Vec<String>> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl Embedder for RecordingEmbedder {
    fn model(&self) -> &Model {
        self.real.model()
    }

    fn status(&self) -> EmbedderStatus {
        self.real.status()
    }

    async fn ready(&self) -> Result<()> {
        self.real.ready().await
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.real.embed_query(text).await
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(texts.clone());
        self.real.embed_passages(texts).await
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.real.tokens(text).await
    }
}
