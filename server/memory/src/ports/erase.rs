use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{
    AppId, EraseTarget, ErasedBy, ErasedCounts, Erasure, ErasureCheck, ErasureId, MemoryId, Page, Receipt, UserId,
};

use super::{ObjectToDelete, Place};
use crate::{Ctx, Result};

/// How much an erasure would take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Measured {
    /// What it is called.
    pub name: Option<String>,
    /// How the first of the memories begin, where single ones are meant.
    pub beginnings: Vec<String>,
    /// How much there is.
    pub counts: ErasedCounts,
    /// How many of the memories, sessions and files are in the trash.
    pub in_trash: u64,
    /// Whether it is the default namespace.
    pub is_default: bool,
    /// Until when requests are good that were signed for uploads among it.
    pub uploads_until: Option<Timestamp>,
}

/// What an erasure was asked for that is not there, or another user's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NothingToErase {
    /// The first of the memories that is not there.
    Memory(MemoryId),
    /// There is no such namespace.
    Namespace(String),
    /// There is no such app, token or key.
    App(AppId),
    /// There is no such import.
    Import,
}

/// An erasure to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewErasure {
    /// Its id.
    pub id: ErasureId,
    /// What is to be erased.
    pub target: EraseTarget,
    /// When it was asked for.
    pub at: Timestamp,
}

/// An erasure that is to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningErasure {
    /// What its owner sees of it.
    pub erasure: Erasure,
    /// Who asked for it.
    pub by: ErasedBy,
    /// Until when requests are good that were signed for uploads that it gave up.
    pub uploads_until: Option<Timestamp>,
    /// How often was looked for leftovers.
    pub rounds: u32,
}

impl RunningErasure {
    /// Whose it is.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.by.user_id
    }
}

/// What became of a step of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErasureStep {
    /// Something was deleted, and there may be more.
    More,
    /// There is nothing left to delete in this step.
    Through,
    /// Another process is at it.
    Busy,
}

/// The part of the database that erases with proof.
///
/// What [`super::Store`] promises holds here too. An erasure is one row, written by the transaction that hides what is to go;
/// each step is a transaction that notes what it did in that row, and can be done again.
#[async_trait]
pub trait Erasures: Send + Sync {
    /// How much erasing this would take.
    async fn measure(&self, ctx: &Ctx, target: &EraseTarget) -> Result<std::result::Result<Measured, NothingToErase>>;

    /// Notes an erasure and hides what it is of from everyone, in one transaction.
    async fn begin_erasure(&self, ctx: &Ctx, new: &NewErasure) -> Result<std::result::Result<Erasure, NothingToErase>>;

    /// An erasure of the caller.
    async fn erasure(&self, ctx: &Ctx, id: ErasureId) -> Result<Option<Erasure>>;

    /// The erasure of an account, whosever it was: nobody is left to ask for it but who knows its id.
    async fn account_erasure(&self, id: ErasureId) -> Result<Option<Erasure>>;

    /// A page of the caller's erasures, the newest first, with the place where the next page begins.
    async fn erasures(&self, ctx: &Ctx, after: Option<Place>, limit: u32) -> Result<(Page<Erasure>, Option<Place>)>;

    /// A receipt, whosever it is: whoever knows its id may read it.
    async fn receipt(&self, id: ErasureId) -> Result<Option<Receipt>>;

    /// The random bytes that the key for receipts follows from: the same for every process and after every restart. `fresh`
    /// are those to keep where there are none.
    async fn receipt_seed(&self, fresh: [u8; 32]) -> Result<Vec<u8>>;

    /// The erasure to go on with, if there is one. For the background only, as is everything that follows.
    async fn next_erasure(&self, now: Timestamp) -> Result<Option<RunningErasure>>;

    /// Deletes some of the memories, with everything that hangs on them.
    async fn erase_batch(&self, id: ErasureId) -> Result<ErasureStep>;

    /// Deletes what is left when all memories are gone: what names them elsewhere, namespaces, the account.
    async fn erase_rest(&self, id: ErasureId) -> Result<ErasureStep>;

    /// Objects of the storage that are to go, by key, those after this one.
    async fn erased_objects(&self, id: ErasureId, after: &str, limit: u32) -> Result<Vec<ObjectToDelete>>;

    /// Notes that objects are deleted, so that nobody needs to delete them later.
    async fn erased_objects_gone(&self, keys: &[String], now: Timestamp) -> Result<()>;

    /// Memories that were deleted, by id, those after this one.
    async fn erased_memories(&self, id: ErasureId, after: Option<MemoryId>, limit: u32) -> Result<Vec<MemoryId>>;

    /// Looks everywhere for what was deleted.
    async fn look_for_leftovers(&self, id: ErasureId, now: Timestamp) -> Result<Vec<ErasureCheck>>;

    /// How much there is now of what was counted before.
    async fn measure_again(&self, id: ErasureId) -> Result<ErasedCounts>;

    /// Deletes what was found left over.
    async fn erase_leftovers(&self, id: ErasureId) -> Result<()>;

    /// Notes what is in the way, and when to try again.
    async fn note_problem(&self, id: ErasureId, problem: &str, retry_at: Timestamp) -> Result<()>;

    /// Notes that all is gone, keeps the receipt that says so, and forgets what was deleted.
    async fn finish_erasure(&self, receipt: &Receipt, rounds: u32) -> Result<()>;
}
