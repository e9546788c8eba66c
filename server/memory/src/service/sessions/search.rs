use polymnemo_types::{MemoryId, SessionMatch};
use uuid::Uuid;

use crate::{
    Ctx, Result, analyze,
    ports::{Filter, Neighbourhood, Search},
    rank::{Ranked, Ranker},
    service::{MemoryService, recall::Found, validate},
};

/// How many passages either side of the search contributes.
const DEPTH: u32 = 240;

impl MemoryService {
    /// The messages of a session that fit a query best, by meaning and by keyword, the best first; at most `limit`.
    ///
    /// # Errors
    ///
    /// [`crate::Error::NotFound`]; [`crate::Error::Invalid`] for a bad query or limit; [`crate::Error::Forbidden`],
    /// [`crate::Error::Model`], [`crate::Error::Unavailable`].
    pub async fn search_session(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        query: &str,
        limit: Option<u32>,
    ) -> Result<Vec<SessionMatch>> {
        let query = validate::query(query)?;
        let limit = validate::limit(limit)? as usize;
        self.session(ctx, id).await?;
        let (terms, words): (Vec<String>, Vec<String>) = analyze::query_words(&query).into_iter().unzip();
        let search = Search {
            filter: Filter { session: Some(id), include_superseded: true, ..Filter::default() },
            terms: terms.clone(),
            model: self.embedder.model().clone(),
            depth: DEPTH,
            exact: false,
        };
        let calibration = search.model.calibration;
        let Found { mut steps, mut candidates, noise } = self.find(ctx, &query, search).await?;
        // Each message is ranked as memories are otherwise; the title is none.
        candidates.passages.retain_mut(|candidate| {
            let message = candidate.message.and_then(|message| u128::try_from(message).ok());
            candidate.memory = MemoryId(Uuid::from_u128(message.unwrap_or_default()));
            message.is_some()
        });
        let ranking = Ranker::new(candidates, &terms, noise, calibration).finish(Neighbourhood::default());
        let best: Vec<&Ranked> = ranking.memories.iter().take(limit).collect();
        let chunks: Vec<i64> = best.iter().map(|ranked| ranked.chunk).collect();
        let mut passages = steps.passages(&chunks).await?;
        steps.finish().await?;
        let matches = best.into_iter().filter_map(|ranked| {
            let place = passages.iter().position(|passage| passage.chunk == ranked.chunk)?;
            let passage = passages.swap_remove(place);
            let message = passage.message?;
            Some(SessionMatch {
                number: message.number,
                role: message.role,
                at: message.at,
                passage: passage.text,
                matched: ranked.matched.iter().filter_map(|&term| words.get(usize::from(term)).cloned()).collect(),
            })
        });
        Ok(matches.collect())
    }
}
