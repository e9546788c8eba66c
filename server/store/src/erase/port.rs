//! The part of the port that erases with proof, a line for each method.

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{ErasureStep, Erasures, Measured, NewErasure, NothingToErase, ObjectToDelete, Place, RunningErasure},
};
use polymnemo_types::{EraseTarget, ErasedCounts, Erasure, ErasureCheck, ErasureId, MemoryId, Page, Receipt};

use crate::{PgStore, transaction::Scope};

/// What the secret is called that signs receipts.
const RECEIPT_SECRET: &str = "receipts";

#[async_trait]
impl Erasures for PgStore {
    async fn measure(&self, ctx: &Ctx, target: &EraseTarget) -> Result<Result<Measured, NothingToErase>> {
        self.measure_target(ctx, target).await
    }

    async fn begin_erasure(&self, ctx: &Ctx, new: &NewErasure) -> Result<Result<Erasure, NothingToErase>> {
        self.begin_to_erase(ctx, new).await
    }

    async fn erasure(&self, ctx: &Ctx, id: ErasureId) -> Result<Option<Erasure>> {
        let values = vec![id.0.into(), ctx.user.id.0.into()];
        self.one_erasure(Scope::User(ctx.user.id), "id = $1 and user_id = $2", values).await
    }

    async fn account_erasure(&self, id: ErasureId) -> Result<Option<Erasure>> {
        self.one_erasure(Scope::Background, "id = $1 and target->>'kind' = 'account'", vec![id.0.into()]).await
    }

    async fn erasures(&self, ctx: &Ctx, after: Option<Place>, limit: u32) -> Result<(Page<Erasure>, Option<Place>)> {
        self.list_erasures(ctx, after, limit).await
    }

    async fn receipt(&self, id: ErasureId) -> Result<Option<Receipt>> {
        self.get_receipt(id).await
    }

    async fn receipt_seed(&self, fresh: [u8; 32]) -> Result<Vec<u8>> {
        self.server_secret(RECEIPT_SECRET, fresh).await
    }

    async fn next_erasure(&self, now: Timestamp) -> Result<Option<RunningErasure>> {
        self.next_running(now).await
    }

    async fn erase_batch(&self, id: ErasureId) -> Result<ErasureStep> {
        self.delete_batch(id).await
    }

    async fn erase_rest(&self, id: ErasureId) -> Result<ErasureStep> {
        self.delete_rest(id).await
    }

    async fn erased_objects(&self, id: ErasureId, after: &str, limit: u32) -> Result<Vec<ObjectToDelete>> {
        self.list_erased_objects(id, after, limit).await
    }

    async fn erased_objects_gone(&self, keys: &[String], now: Timestamp) -> Result<()> {
        self.forget_due_objects(keys, now).await
    }

    async fn erased_memories(&self, id: ErasureId, after: Option<MemoryId>, limit: u32) -> Result<Vec<MemoryId>> {
        self.list_erased_memories(id, after, limit).await
    }

    async fn look_for_leftovers(&self, id: ErasureId, now: Timestamp) -> Result<Vec<ErasureCheck>> {
        self.find_leftovers(id, now).await
    }

    async fn measure_again(&self, id: ErasureId) -> Result<ErasedCounts> {
        self.count_again(id).await
    }

    async fn erase_leftovers(&self, id: ErasureId) -> Result<()> {
        self.delete_leftovers(id).await
    }

    async fn note_problem(&self, id: ErasureId, problem: &str, retry_at: Timestamp) -> Result<()> {
        self.keep_problem(id, problem, retry_at).await
    }

    async fn finish_erasure(&self, receipt: &Receipt, rounds: u32) -> Result<()> {
        self.keep_receipt(receipt, rounds).await
    }
}
