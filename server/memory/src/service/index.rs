//! Making a memory searchable: its passages, their terms and their vectors.

use std::{ops::Range, time::Duration};

use jiff::{Timestamp, tz::TimeZone};
use polymnemo_types::Memory;

use super::{MemoryService, validate};
use crate::{
    Ctx, Result, analyze, chunk,
    ports::{ChunkTerms, MemoryState, NewChunk, StoredChunk},
};

/// The most tokens of a passage. Models read more, but a short passage says one thing, which its vector then means.
const PASSAGE_TOKENS: usize = 256;

/// Room for the prefix that a model wants before a passage, and for its special tokens.
const RESERVED_TOKENS: usize = 16;

/// How many passages are embedded before the caller is answered. A longer memory is found by keyword at once
/// and by meaning a little later.
pub(super) const EMBEDDED_AT_ONCE: usize = 32;

/// How long a caller waits for vectors. Where the model has more to do than it can in that time, a memory is stored all
/// the same, and gets its vectors in the background.
const PATIENCE: Duration = Duration::from_secs(5);

/// Terms with their numbers of occurrences, and how many they are with repetitions.
pub(super) type Terms = (Vec<(String, u16)>, u32);

impl MemoryService {
    /// The passages of a memory, the first `at_once` of them embedded.
    pub(super) async fn passages(&self, ctx: &Ctx, state: &MemoryState, at_once: usize) -> Result<Vec<NewChunk>> {
        let mut chunks = self.cut_passages(ctx, state).await?;
        self.embed_first(state, &mut chunks, at_once).await?;
        Ok(chunks)
    }

    /// The passages of a memory, none of them embedded yet.
    pub(super) async fn cut_passages(&self, ctx: &Ctx, state: &MemoryState) -> Result<Vec<NewChunk>> {
        self.embedder.ready().await?;
        let ranges = self.cut(&state.content).await?;
        let heading = heading(state, &ctx.user.time_zone);
        let text = |range: &Range<usize>| state.content.get(range.clone()).unwrap_or_default().to_owned();
        let terms = terms(ranges.iter().map(|range| (heading.clone(), text(range))).collect()).await?;
        Ok(ranges
            .into_iter()
            .zip(terms)
            .map(|(range, (terms, length))| NewChunk { range, terms, length, vector: None, by_keyword_only: false })
            .collect())
    }

    /// Gives the first `at_once` passages of a memory their vectors, unless the model is too busy for that.
    pub(super) async fn embed_first(&self, state: &MemoryState, chunks: &mut [NewChunk], at_once: usize) -> Result<()> {
        let at_once: Vec<String> = chunks
            .iter()
            .take(at_once)
            .map(|chunk| state.content.get(chunk.range.clone()).unwrap_or_default().to_owned())
            .collect();
        if at_once.is_empty() {
            return Ok(());
        }
        let Ok(vectors) = tokio::time::timeout(PATIENCE, self.embedder.embed_passages(at_once)).await else {
            return Ok(());
        };
        let vectors = vectors?;
        for (chunk, vector) in chunks.iter_mut().zip(vectors) {
            chunk.vector = Some(vector);
        }
        Ok(())
    }

    /// Cuts a text so that each piece fits the model.
    pub(super) async fn cut(&self, content: &str) -> Result<Vec<Range<usize>>> {
        let tokens = self.embedder.tokens(content).await?;
        let most = (self.embedder.model().max_tokens as usize).saturating_sub(RESERVED_TOKENS);
        Ok(chunk::chunk(content, &tokens, PASSAGE_TOKENS.min(most)))
    }

    /// The vector of a query. One that is too long for the model is embedded in pieces.
    pub(super) async fn query_vector(&self, query: &str) -> Result<Vec<f32>> {
        self.embedder.ready().await?;
        let ranges = self.cut(query).await?;
        let mut sum: Vec<f32> = Vec::new();
        for range in ranges {
            let vector = self.embedder.embed_query(query.get(range).unwrap_or_default()).await?;
            if sum.is_empty() {
                sum = vector;
            } else {
                sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
            }
        }
        let norm = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
        if norm > 0.0 {
            sum.iter_mut().for_each(|value| *value /= norm);
        }
        Ok(sum)
    }
}

/// How many more passages are embedded at once, of `at_once`, after those of a memory; none where the model was too busy.
pub(super) fn left_at_once(at_once: usize, chunks: &[NewChunk]) -> usize {
    let wanted = chunks.len().min(at_once);
    let embedded = chunks.iter().filter(|chunk| chunk.vector.is_some()).count();
    if embedded < wanted { 0 } else { at_once - wanted }
}

/// What a memory is, apart from its id and history.
pub(super) fn state_of(memory: Memory, content: String) -> MemoryState {
    MemoryState {
        namespace: memory.namespace,
        hash: validate::hash_of(memory.kind, memory.id, &content),
        content,
        tags: memory.tags,
        source: memory.source,
        occurred_at: memory.occurred_at,
    }
}

/// New terms for the stored passages of a memory whose text stays the same.
pub(super) async fn new_terms(ctx: &Ctx, state: &MemoryState, chunks: &[StoredChunk]) -> Result<Vec<ChunkTerms>> {
    let heading = |chunk: &StoredChunk| {
        let at = chunk.said_at.unwrap_or(state.occurred_at);
        heading_of(at, &ctx.user.time_zone, &state.tags, state.source.as_deref())
    };
    let terms = terms(chunks.iter().map(|chunk| (heading(chunk), chunk.text.clone())).collect()).await?;
    let terms = chunks
        .iter()
        .zip(terms)
        .map(|(chunk, (terms, length))| ChunkTerms { chunk: chunk.chunk, terms, length })
        .collect();
    Ok(terms)
}

/// The terms under which each of these passages is found: those of its heading, then those of its text.
pub(super) async fn terms(passages: Vec<(String, String)>) -> Result<Vec<Terms>> {
    // Analysing a megabyte takes a while, and the threads here serve everyone.
    let analysed = tokio::task::spawn_blocking(move || {
        // Neighbours mostly have the same heading.
        let mut last = (String::new(), Terms::default());
        let mut of = |heading: String, text: String| {
            if last.0 != heading {
                last = (heading.clone(), analyze::index_terms(&heading));
            }
            merge(analyze::index_terms(&text), &last.1)
        };
        passages.into_iter().map(|(heading, text)| of(heading, text)).collect()
    });
    analysed.await.map_err(|error| crate::Error::Internal(error.into()))
}

/// What the keyword index holds of a memory besides its text: its date, in the ways people write it, its labels and its source.
///
/// They are not embedded: measured, they add nothing to the ranking, and two memories of the same day and source would look
/// alike whatever they say.
fn heading(state: &MemoryState, zone: &TimeZone) -> String {
    heading_of(state.occurred_at, zone, &state.tags, state.source.as_deref())
}

/// The same of its parts.
pub(super) fn heading_of(at: Timestamp, zone: &TimeZone, tags: &[String], source: Option<&str>) -> String {
    let mut words = at.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %-d %B").to_string();
    for part in tags.iter().map(String::as_str).chain(source) {
        words.push('\n');
        words.push_str(part);
    }
    words
}

/// The terms of a passage and of its heading together.
fn merge(text: Terms, heading: &Terms) -> Terms {
    let (mut terms, length) = text;
    for (term, count) in &heading.0 {
        match terms.iter_mut().find(|(other, _)| other == term) {
            Some((_, sum)) => *sum = sum.saturating_add(*count),
            None => terms.push((term.clone(), *count)),
        }
    }
    (terms, length + heading.1)
}
