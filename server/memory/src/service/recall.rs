use std::ops::Range;

use polymnemo_types::{Action, Hit, Recall, RecallRequest, Why, limits};

use super::{
    MemoryService, cursor,
    read::{FilterRequest, filter},
    validate,
};
use crate::{
    Ctx, Result, analyze,
    noise::{self, Background},
    ports::{Candidates, Passage, RecallSteps, Search},
    rank::{Ranked, Ranker, Ranking},
};

/// How many passages either side of the search contributes for an answer of the first [`NEAR`] memories, and for one
/// beyond. Further ones never change the order of the first, they only take time. An answer can be paged as far as
/// the greater depth goes.
const DEPTH: [u32; 2] = [60, 240];
const NEAR: usize = 40;

impl MemoryService {
    /// Searches the store by meaning and by keyword at once; whole memories, each with its best passage.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Invalid`] for a bad query, filter, limit or cursor; [`crate::Error::NamespaceNotFound`];
    /// [`crate::Error::Forbidden`], [`crate::Error::Model`], [`crate::Error::Unavailable`].
    pub async fn recall(&self, ctx: &Ctx, request: RecallRequest) -> Result<Recall> {
        ctx.check_read()?;
        let query = validate::query(&request.query)?;
        let limit = validate::limit(request.limit)? as usize;
        let filter = filter(
            ctx,
            FilterRequest {
                namespace: request.namespace.as_deref(),
                tags: &request.tags,
                kind: request.kind,
                source: request.source.as_deref(),
                client: request.client.as_deref(),
                after: request.after.as_deref(),
                before: request.before.as_deref(),
                include_superseded: request.include_superseded,
            },
        )?;
        let namespace = filter.namespace.clone();
        let scope = format!("{query}\n{filter:?}");
        let offset = match request.cursor.as_deref() {
            Some(cursor) => cursor::to_offset(cursor, &scope)?,
            None => 0,
        };

        let (terms, words): (Vec<String>, Vec<String>) = analyze::query_words(&query).into_iter().unzip();
        let search = Search {
            filter,
            terms,
            model: self.embedder.model().clone(),
            depth: if offset + limit <= NEAR { DEPTH[0] } else { DEPTH[1] },
            exact: false,
        };
        let part = offset..offset + limit;
        let mut found = self.search(ctx, &query, &search, &part).await?;
        for _ in 1..ATTEMPTS {
            if found.is_whole(&part) {
                break;
            }
            found.steps.finish().await?;
            found = self.search(ctx, &query, &search, &part).await?;
        }
        if found.scope == 0 {
            self.check_namespace(ctx, namespace.as_deref()).await?;
        }
        let FoundPart { steps, ranking, mut passages, pending, compared, .. } = found;
        let page = ranking.memories.get(part.start..part.end.min(ranking.memories.len())).unwrap_or_default();
        // All there is to know was read; the end of the transaction keeps nobody waiting.
        tokio::spawn(async move {
            if let Err(error) = steps.finish().await {
                tracing::warn!(%error, "the transaction of a recall did not end as it should");
            }
        });
        let budget = limits::PASSAGE_BYTES.min(limits::RECALL_BYTES / page.len().max(1));
        let mut hits: Vec<Hit> = page
            .iter()
            .filter_map(|ranked| {
                let place = passages.iter().position(|passage| passage.chunk == ranked.chunk)?;
                Some(hit(passages.swap_remove(place), ranked, &words, budget))
            })
            .collect();
        self.add_files(ctx, hits.iter_mut().map(|hit| &mut hit.memory).collect()).await?;
        let next = offset + page.len();
        self.record_call(ctx, Action::Recall, Some(&query), page.iter().map(|ranked| ranked.memory).collect());
        Ok(Recall {
            hits,
            below_threshold: compared
                .map_or(ranking.below_threshold, |all| all.saturating_sub(ranking.memories.len() as u32)),
            pending,
            next_cursor: (next < ranking.memories.len()).then(|| cursor::from_offset(next, &scope)),
        })
    }
}

/// How often a search is made where what it found is changed or forgotten before it is read.
const ATTEMPTS: usize = 3;

/// What a search found, ranked, and the texts of a part of it.
struct FoundPart {
    steps: Box<dyn RecallSteps>,
    ranking: Ranking,
    passages: Vec<Passage>,
    /// As in [`Candidates`].
    scope: u64,
    pending: u32,
    compared: Option<u32>,
}

impl FoundPart {
    /// Whether all in that part of the ranking is still as it was found.
    fn is_whole(&self, part: &Range<usize>) -> bool {
        let ranked = self.ranking.memories.len().saturating_sub(part.start).min(part.len());
        self.passages.len() == ranked
    }
}

/// What a search found, before ranking.
pub(super) struct Found {
    pub(super) steps: Box<dyn RecallSteps>,
    pub(super) candidates: Candidates,
    /// The noise of the query, for [`Ranker::new`].
    pub(super) noise: f32,
}

impl MemoryService {
    /// Searches, ranks what is found and reads the texts of a part of it.
    async fn search(&self, ctx: &Ctx, query: &str, search: &Search, part: &Range<usize>) -> Result<FoundPart> {
        let Found { mut steps, candidates, noise } = self.find(ctx, query, search.clone()).await?;
        let Candidates { scope, pending, compared, .. } = candidates;
        let ranker = Ranker::new(candidates, &search.terms, noise, search.model.calibration);
        let neighbourhood = steps.neighbourhood(&ranker.anchors()).await?;
        let ranking = ranker.finish(neighbourhood);
        let chunks: Vec<i64> =
            ranking.memories.iter().skip(part.start).take(part.len()).map(|ranked| ranked.chunk).collect();
        let passages = steps.passages(&chunks).await?;
        Ok(FoundPart { steps, ranking, passages, scope, pending, compared })
    }

    /// Searches by meaning and by keyword. What was said in a session and has words of the query is found also where its
    /// passages were not made yet: they are made now.
    pub(super) async fn find(&self, ctx: &Ctx, query: &str, search: Search) -> Result<Found> {
        let begun = self.store.begin_recall(ctx, search.clone());
        let (vector, mut steps) = tokio::try_join!(self.query_vector(query), begun)?;
        let background = self.background().await?;
        let telling = background.telling(&vector);
        let mut candidates = steps.candidates(&telling).await?;
        if candidates.unindexed > 0 && self.index_what_has(ctx, &search.filter, query).await? {
            steps.finish().await?;
            steps = self.store.begin_recall(ctx, search).await?;
            candidates = steps.candidates(&telling).await?;
        }
        Ok(Found { steps, candidates, noise: background.noise(&telling) })
    }

    /// What similarities are measured against. Embedded once, at the latest by the first recall.
    pub(super) async fn background(&self) -> Result<&Background> {
        self.background
            .get_or_try_init(async || {
                self.embedder.ready().await?;
                let passages = self.embedder.embed_passages(noise::passages().map(str::to_owned).collect()).await?;
                let mut queries = Vec::new();
                for query in noise::queries() {
                    queries.push(self.embedder.embed_query(query).await?);
                }
                Ok(Background::new(passages, &queries))
            })
            .await
    }
}

fn hit(passage: Passage, ranked: &Ranked, words: &[String], budget: usize) -> Hit {
    let text = passage.text.get(..passage.text.floor_char_boundary(budget)).unwrap_or_default();
    Hit {
        truncated: passage.message.is_some() || (text.len() as u64) < passage.memory.bytes,
        passage: text.to_owned(),
        offset: passage.offset,
        message: passage.message,
        memory: passage.memory,
        score: ranked.score,
        why: Why {
            similarity: ranked.cosine,
            keyword: ranked.bm25,
            matched: ranked.matched.iter().filter_map(|&term| words.get(usize::from(term)).cloned()).collect(),
        },
    }
}
