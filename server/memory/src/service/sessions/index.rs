use std::time::Duration;

use polymnemo_types::MemoryId;

use crate::{
    Ctx, Result, analyze,
    ports::{Filter, IndexedMessage, NewChunk, UnindexedMessage},
    service::{
        MemoryService,
        index::{heading_of, terms},
    },
    transcript,
};

/// The most messages that are indexed in one go: what an interruption can cost, and how long other writers wait.
const BATCH: u32 = 200;

/// The same while whoever searches waits for it.
const AT_ONCE: u32 = 50;

/// How long whoever saves a session waits for its index. The rest follows in the background.
const PATIENCE: Duration = Duration::from_secs(2);

impl MemoryService {
    /// Makes messages searchable that are not yet, whoever owns them; gives their number. What is left to do is in the
    /// database, so nothing is lost when the process ends in between.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`], [`crate::Error::Unavailable`].
    pub async fn index_sessions(&self) -> Result<u32> {
        self.index_batch(None).await
    }

    /// Waits until messages were stored without passages.
    pub async fn session_arrived(&self) {
        self.unindexed.notified().await;
    }

    /// Indexes a session that was just saved, as far as the patience of whoever saved it goes.
    pub(super) async fn index_at_once(&self, session: MemoryId) {
        let all = async {
            while self.index_batch(Some(session)).await? > 0 {}
            Ok::<_, crate::Error>(())
        };
        match tokio::time::timeout(PATIENCE, all).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "a session could not be indexed at once");
                self.unindexed.notify_one();
            }
            Err(_) => self.unindexed.notify_one(),
        }
        self.pending.notify_one();
    }

    async fn index_batch(&self, session: Option<MemoryId>) -> Result<u32> {
        self.embedder.ready().await?;
        self.index_these(self.store.unindexed(session, BATCH).await?).await
    }

    /// Makes those messages searchable that have words of a query, of what the caller may search; false where there are none.
    pub(in crate::service) async fn index_what_has(&self, ctx: &Ctx, filter: &Filter, query: &str) -> Result<bool> {
        let words = analyze::query_beginnings(query);
        let messages = self.store.unindexed_with(ctx, filter, &words, AT_ONCE).await?;
        Ok(self.index_these(messages).await? > 0)
    }

    async fn index_these(&self, messages: Vec<UnindexedMessage>) -> Result<u32> {
        if messages.is_empty() {
            return Ok(0);
        }
        let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
        let mut indexed = Vec::with_capacity(messages.len());
        for message in messages {
            indexed.push(self.index_message(message).await?);
        }
        self.store.index_messages(self.embedder.model(), indexed).await?;
        self.pending.notify_one();
        Ok(count)
    }

    async fn index_message(&self, message: UnindexedMessage) -> Result<IndexedMessage> {
        let heading = heading_of(message.at, &message.time_zone, &message.tags, message.source.as_deref());
        let words = transcript::words(&message.role, message.format, &message.content);
        let mut texts = Vec::new();
        for (text, by_keyword_only) in [(words.said, false), (words.aside, true)] {
            let text = text.replace('\0', "\u{FFFD}");
            if text.trim().is_empty() {
                continue;
            }
            let ranges = self.cut(&text).await?;
            let passages = ranges.iter().map(|range| text.get(range.clone()).unwrap_or_default().to_owned());
            let terms = terms(passages.map(|passage| (heading.clone(), passage)).collect()).await?;
            let chunks = ranges.into_iter().zip(terms).map(|(range, (terms, length))| NewChunk {
                range,
                terms,
                length,
                vector: None,
                by_keyword_only,
            });
            let chunks = chunks.collect();
            texts.push((text, chunks));
        }
        Ok(IndexedMessage { message: message.message, revision: message.revision, texts })
    }
}
