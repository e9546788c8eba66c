use super::MemoryService;
use crate::Result;

/// The most passages embedded before their vectors are stored: what an interruption can cost.
const BATCH: u32 = 32;

impl MemoryService {
    /// Embeds a batch of the passages that lack a vector of the current model, whoever owns them; gives their number.
    /// The queue is in the database, so nothing is lost when the process ends in between.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`], [`crate::Error::Unavailable`].
    pub async fn embed_pending(&self) -> Result<u32> {
        self.embedder.ready().await?;
        let model = self.embedder.model();
        let pending = self.store.pending(model, BATCH).await?;
        if pending.is_empty() {
            return Ok(0);
        }
        let texts = pending.iter().map(|chunk| chunk.text.clone()).collect();
        let vectors = self.embedder.embed_when_idle(texts).await?;
        let done = u32::try_from(vectors.len()).unwrap_or(u32::MAX);
        self.store.embed(model, pending.iter().map(|chunk| chunk.chunk).zip(vectors).collect()).await?;
        Ok(done)
    }

    /// Loads what the first recall would otherwise wait for.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`].
    pub async fn warm_up(&self) -> Result<()> {
        self.background().await.map(|_| ())
    }

    /// Waits until passages were stored without a vector.
    pub async fn work_arrived(&self) {
        self.pending.notified().await;
    }
}
