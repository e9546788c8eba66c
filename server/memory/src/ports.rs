//! What the service needs of the outside: an embedder, a store, a storage for files and a clock.

mod accounts;
mod apps;
mod blobs;
mod erase;
mod export;
mod imports;
mod media;
mod sessions;

use std::ops::Range;

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{
    EmbedderStatus, Erased, Facets, Kind, Memory, MemoryId, MessageHit, MessagePlace, NamespaceSummary, Page, Revision,
};

use crate::{Ctx, Identity, Result, User, UserDefaults};

pub use accounts::{Accounts, NamespaceChanged, TokenHash};
pub use apps::{
    Apps, CodeDecision, Family, KeyEntry, NewAuthorization, PresentedRefresh, RedeemedCode, RefreshDecision, Refreshed,
    TokenPair,
};
pub use blobs::{BlobStore, Delivery, FileBytes, Files, Object, Origin, Part, Promise};
pub use erase::{ErasureStep, Erasures, Measured, NewErasure, NothingToErase, RunningErasure};
pub use export::{
    ExportClaim, Exports, OwnMessage, OwnRecord, ReadyExport, Restored, RestoredAccount, RestoredMemory,
    RestoredMessage, RestoringSession, SessionBegun, Snapshot,
};
pub use imports::{
    ImportNote, ImportToDo, Imports, ItemToUndo, KnownItem, Lease, NewImport, NewImportItem, SourceKey, WrittenItem,
};
pub use media::{
    Announced, Media, MediaFilter, MediaInserted, NewMedia, ObjectToDelete, Room, StoredFile, StoredUpload, media_file,
};
pub use sessions::{
    GivenMessage, IndexedMessage, SessionFilter, SessionSaved, SessionState, Sessions, UnindexedMessage,
};

/// An embedding model, and what the ranking has to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Names the exact weights: vectors of different ids are never compared.
    pub id: String,
    /// The length of its vectors.
    pub dimension: u32,
    /// The most tokens of a text that it reads, prefix and special tokens included.
    pub max_tokens: u32,
    /// How to read its cosines.
    pub calibration: Calibration,
}

/// How to read a model's cosine similarities, which differ widely between models. Measured, see `rank`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// How much more similar than noise a passage is that counts as 0 in the blend.
    pub low: f32,
    /// The same for one that counts as 1.
    pub high: f32,
    /// How much evidence the best passage must show for a store of one passage to have an answer at all.
    pub gate_base: f32,
    /// How much more it must show for each factor of ten in passages: among more of them, chance finds better ones.
    pub gate_slope: f32,
    /// The most that is ever asked.
    pub gate_most: f32,
    /// The cosine of two passages that counts as 0 where texts are compared with each other; 1 counts as 1.
    pub similar_low: f32,
    /// From this sum of scaled cosine and shared words on, two texts say nearly the same.
    pub similar_least: f32,
}

/// Turns texts into vectors. Vectors have Euclidean length 1.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The model. Known at once, also while the model is still being loaded.
    fn model(&self) -> &Model;

    /// How the model is doing.
    fn status(&self) -> EmbedderStatus;

    /// Waits until the model is loaded.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`] where it could not be loaded.
    async fn ready(&self) -> Result<()>;

    /// Embeds what someone looks for.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`] where the model does not work.
    async fn embed_query(&self, text: &str) -> Result<Vec<f32>>;

    /// Embeds passages, one vector for each text, in the given order. A passage must fit the
    /// model ([`Model::max_tokens`]); the chunker sees to that.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`] where the model does not work.
    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>>;

    /// The same for passages that nobody waits for: all others go first.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`] where the model does not work.
    async fn embed_when_idle(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.embed_passages(texts).await
    }

    /// The model's own tokens of a text, as byte ranges in ascending order, without special tokens.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Model`] where the tokenizer does not work.
    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>>;
}

/// Tells the time; a test may have its own.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// SHA-256 of a memory's text, by which a repeated text is recognised.
pub type ContentHash = [u8; 32];

/// One searchable piece of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChunk {
    /// Its place in the memory's text, in bytes of UTF-8.
    pub range: Range<usize>,
    /// The terms under which keyword search finds it, each with its number of occurrences.
    pub terms: Vec<(String, u16)>,
    /// The number of terms, repetitions counted: the document length of BM25.
    pub length: u32,
    /// Its vector; `None` where it will be embedded in the background.
    pub vector: Option<Vec<f32>>,
    /// Whether it is never embedded, so that only its words find it.
    pub by_keyword_only: bool,
}

/// A searchable piece that is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Its number.
    pub chunk: i64,
    /// Its memory.
    pub memory: MemoryId,
    /// What it says.
    pub text: String,
    /// When that was said, where it is a message whose time is known.
    pub said_at: Option<Timestamp>,
    /// False where its vector is still to be made.
    pub embedded: bool,
}

/// New terms for a piece that is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkTerms {
    /// Its number.
    pub chunk: i64,
    /// The terms under which keyword search finds it, each with its number of occurrences.
    pub terms: Vec<(String, u16)>,
    /// The number of terms, repetitions counted.
    pub length: u32,
}

/// What a change means for the index.
#[derive(Debug, Clone, PartialEq)]
pub enum Reindex {
    /// The text is another one: these are its pieces, with vectors of this model.
    Text {
        /// The model that made the vectors.
        model: Model,
        /// The pieces, in the order of the text, covering all of it.
        chunks: Vec<NewChunk>,
    },
    /// The text is the same, so its pieces keep their vectors; only what is said about it is found by other terms.
    Labels(Vec<ChunkTerms>),
}

/// What a memory is, apart from its id and history.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryState {
    /// The namespace.
    pub namespace: String,
    /// The text.
    pub content: String,
    /// Its SHA-256.
    pub hash: ContentHash,
    /// The labels.
    pub tags: Vec<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// The time it speaks of.
    pub occurred_at: Timestamp,
}

/// A memory to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemory {
    /// Its id.
    pub id: MemoryId,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub state: MemoryState,
    /// The time of the request.
    pub created_at: Timestamp,
    /// The memories that it corrects.
    pub supersedes: Vec<MemoryId>,
    /// The caller's key for this request.
    pub idempotency_key: Option<String>,
    /// The message that it was taken from.
    pub origin: Option<MessagePlace>,
    /// The model that made the vectors of the chunks.
    pub model: Model,
    /// Its pieces, in the order of the text, covering all of it.
    pub chunks: Vec<NewChunk>,
}

/// A memory that answers a request to remember without storing anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// Its id.
    pub id: MemoryId,
    /// Its namespace.
    pub namespace: String,
    /// Its revision.
    pub revision: u32,
    /// False where the idempotency key is the same, but the text is neither the one stored with it nor what it is now.
    pub same_content: bool,
}

/// What became of a memory to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inserted {
    /// It is stored.
    New,
    /// There was one like it.
    Existing(Duplicate),
    /// One of the memories it corrects does not exist; nothing was stored.
    NoSuch(MemoryId),
}

/// A memory with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMemory {
    /// What a list shows of it.
    pub memory: Memory,
    /// All of its text.
    pub content: String,
    /// The client that made its current state, as far as known; [`Memory::client`] is the one that stored it first.
    pub changed_by: Option<String>,
}

/// A change to a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryChange {
    /// The memory.
    pub id: MemoryId,
    /// The revision that the change builds on.
    pub from_revision: u32,
    /// What it says afterwards.
    pub state: MemoryState,
    /// The time of the request.
    pub at: Timestamp,
    /// What it means for the index.
    pub reindex: Reindex,
}

/// New labels and perhaps another namespace for a memory, which is otherwise left as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Relabelling {
    /// The memory.
    pub id: MemoryId,
    /// The revision that the change builds on.
    pub from_revision: u32,
    /// The namespace afterwards.
    pub namespace: String,
    /// The labels afterwards.
    pub tags: Vec<String>,
    /// New terms for all of its pieces, in the order of the text.
    pub chunks: Vec<ChunkTerms>,
}

/// The labels and the namespace that a memory had before a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierLabels {
    /// The memory.
    pub id: MemoryId,
    /// The revision that the change made.
    pub revision: u32,
    /// The labels before.
    pub tags: Vec<String>,
    /// The namespace before.
    pub namespace: String,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// It is done; the new revision.
    Done(u32),
    /// The memory or its pieces are not what the change builds on; nothing was written. Holds the revision it has.
    Conflict(u32),
    /// There is no such memory of this user.
    NotFound,
    /// The user has another memory with this text in this namespace; nothing was written.
    SameAs(MemoryId),
}

/// Which memories a list or a search is about. All conditions hold at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// The namespace's name.
    pub namespace: Option<String>,
    /// Labels that a memory must have, all of them.
    pub tags: Vec<String>,
    /// The kind.
    pub kind: Option<Kind>,
    /// The source.
    pub source: Option<String>,
    /// The client that stored it.
    pub client: Option<String>,
    /// The earliest time, inclusive.
    pub after: Option<Timestamp>,
    /// The latest time, exclusive.
    pub before: Option<Timestamp>,
    /// Also memories that others correct.
    pub include_superseded: bool,
    /// Only this session. Each of its messages then counts for itself.
    pub session: Option<MemoryId>,
}

impl Filter {
    /// Whether it asks for more than a namespace and for what is current.
    #[must_use]
    pub fn is_narrow(&self) -> bool {
        !self.tags.is_empty()
            || self.kind.is_some()
            || self.source.is_some()
            || self.client.is_some()
            || self.after.is_some()
            || self.before.is_some()
            || self.session.is_some()
    }
}

/// A place in a list that is sorted by (time, id), both descending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The time of the last record before this place.
    pub at: Timestamp,
    /// The id of that record.
    pub id: MemoryId,
}

/// What to search for.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// Where.
    pub filter: Filter,
    /// The terms to search by keyword, without repetitions.
    pub terms: Vec<String>,
    /// The model that makes the vector to search by meaning.
    pub model: Model,
    /// How many of the best passages to take on either side.
    pub depth: u32,
    /// Always scan instead of using the index: what tests compare with.
    pub exact: bool,
}

/// A passage that is a candidate for the answer. One found on one side is scored on the other one too.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The passage, for [`RecallSteps::passages`].
    pub chunk: i64,
    /// Its memory.
    pub memory: MemoryId,
    /// Its message, where one session is searched.
    pub message: Option<i64>,
    /// Where that memory comes from.
    pub source: Option<String>,
    /// The number of the passage's terms, repetitions counted.
    pub length: u32,
    /// Cosine similarity to the vector of the search; `None` where the passage is not embedded yet.
    pub cosine: Option<f32>,
    /// Whether it is still to be embedded.
    pub is_pending: bool,
    /// The terms it holds, as places in [`Search::terms`], each with its share of the BM25 score
    /// ([`crate::rank::impact`] times the term's weight).
    pub matched: Vec<(u16, f32)>,
}

/// The outcome of a search, before ranking.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Candidates {
    /// The candidates, in no particular order, without repetitions.
    pub passages: Vec<Candidate>,
    /// For each term of the search its weight ([`crate::rank::term_weight`]), from the passages that the caller may read.
    pub weights: Vec<f32>,
    /// The number of passages in the namespaces searched.
    pub scope: u64,
    /// Those among them that have no vector yet, and the messages of which no passages were made yet.
    pub pending: u32,
    /// These messages alone.
    pub unindexed: u32,
    /// The number of memories that were compared with the query, where that is all of them; the candidates are the best.
    pub compared: Option<u32>,
}

/// Memories that were written next to each other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighbourhood {
    /// Each is a row of memories, adjacent in time.
    pub rows: Vec<Vec<MemoryId>>,
    /// The first passage of each memory in the rows that is not among the candidates, once.
    pub passages: Vec<Candidate>,
}

/// The text of a candidate, and its memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The passage.
    pub chunk: i64,
    /// Its memory.
    pub memory: Memory,
    /// Its text.
    pub text: String,
    /// Where it begins in the memory's text, in bytes of UTF-8; in that of the message, where it is one of a session.
    pub offset: u64,
    /// The message that it is of, where the memory is a session.
    pub message: Option<MessageHit>,
}

/// A passage of someone's memory close to a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Its memory.
    pub memory: MemoryId,
    /// Its text.
    pub text: String,
    /// Cosine similarity.
    pub cosine: f32,
}

/// A passage without a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingChunk {
    /// The passage.
    pub chunk: i64,
    /// Its text.
    pub text: String,
}

/// The steps of a recall, in their order. Dropping it in between ends the recall.
#[async_trait]
pub trait RecallSteps: Send + Sync {
    /// The candidates. The vector is that of the query.
    async fn candidates(&mut self, vector: &[f32]) -> Result<Candidates>;

    /// For each of the memories the row of up to two that were written before it and after it: in the same namespace,
    /// by the same client, matching the filter, and no more than an hour apart from each other.
    async fn neighbourhood(&mut self, memories: &[MemoryId]) -> Result<Neighbourhood>;

    /// The texts of candidates, in no particular order. Those that vanished meanwhile, or are not what was searched for any
    /// more, are left out.
    async fn passages(&mut self, chunks: &[i64]) -> Result<Vec<Passage>>;

    /// Ends the recall.
    async fn finish(self: Box<Self>) -> Result<()>;
}

/// The database, as far as it holds memories; [`Accounts`] is the rest of it. Each method is one transaction; what it reports as done is committed.
///
/// Every method that takes a [`Ctx`] sees and changes only what that user may, and only in the
/// namespaces that the grant covers; a memory of someone else answers like one that never was.
/// All of them fail with [`crate::Error::Unavailable`] when the database can't be reached.
#[async_trait]
pub trait Store: Accounts + Apps + Erasures + Exports + Media + Imports + Sessions {
    /// The engine and its version, for `ping`.
    async fn describe(&self) -> Result<String>;

    /// The user of an identity, made when seen for the first time.
    async fn user(&self, identity: &Identity, defaults: &UserDefaults) -> Result<User>;

    /// Makes the model known and its index ready. Called once before vectors of the model are stored.
    async fn register_model(&self, model: &Model) -> Result<()>;

    /// Marks the namespaces of these names as shared by the settings, and no others.
    async fn set_shared_namespaces(&self, names: &[String]) -> Result<()>;

    /// The namespaces that the caller may read, by name; at most `limit`, those that start with `prefix`.
    async fn namespaces(&self, ctx: &Ctx, prefix: &str, limit: u32) -> Result<Vec<NamespaceSummary>>;

    /// Whether everyone can read what the caller writes to a namespace of this name, or could once it is made.
    async fn is_shared(&self, ctx: &Ctx, name: &str) -> Result<bool>;

    /// The memory that a request to remember would repeat.
    async fn find_duplicate(
        &self,
        ctx: &Ctx,
        namespace: &str,
        hash: &ContentHash,
        idempotency_key: Option<&str>,
    ) -> Result<Option<Duplicate>>;

    /// Stores a memory, its pieces and their index, or finds that it is there already.
    async fn insert(&self, ctx: &Ctx, new: NewMemory) -> Result<Inserted>;

    /// A memory with its text; also one in the trash when `trash` is set.
    async fn memory(&self, ctx: &Ctx, id: MemoryId, trash: bool) -> Result<Option<StoredMemory>>;

    /// A page of memories, the newest first; with `trash` those in the trash, the last forgotten first.
    async fn list(
        &self,
        ctx: &Ctx,
        filter: &Filter,
        trash: bool,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Memory>, Option<Place>)>;

    /// The most frequent labels, sources and clients of the memories that [`Store::list`] would give, at most `limit` of each.
    async fn facets(&self, ctx: &Ctx, filter: &Filter, trash: bool, limit: u32) -> Result<Facets>;

    /// Those of these memories that are the caller's own, with their texts, in no particular order; with `trash` those
    /// in the trash, else the others.
    async fn own_memories(&self, ctx: &Ctx, ids: &[MemoryId], trash: bool) -> Result<Vec<StoredMemory>>;

    /// The pieces of memories of the caller, each memory's in the order of its text.
    async fn chunks(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Vec<StoredChunk>>;

    /// Gives memories of the caller other labels and namespaces; the states before become revisions. Tells what became of
    /// each, in the given order: one that can't be changed stays as it is and does not keep the others from it.
    async fn relabel(&self, ctx: &Ctx, changes: &[Relabelling], at: Timestamp) -> Result<Vec<Changed>>;

    /// What memories of the caller had before changes, which are named by the memory and the revision that each made. Those
    /// that are not there are left out.
    async fn labels_before(&self, ctx: &Ctx, changes: &[(MemoryId, u32)]) -> Result<Vec<EarlierLabels>>;

    /// Changes a memory of the caller; the state before becomes a revision.
    async fn change(&self, ctx: &Ctx, change: MemoryChange) -> Result<Changed>;

    /// Puts memories of the caller into the trash and takes them out of the index: all of them, or
    /// none when one does not exist (`Err` holds that one). Those in the trash already stay there; `Ok` holds the others.
    async fn forget(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        at: Timestamp,
    ) -> Result<std::result::Result<Vec<MemoryId>, MemoryId>>;

    /// Deletes memories of the caller that are in the trash, with their history and every word that only they brought into
    /// the index: all of them, or none when one is not there (`Err` holds that one).
    async fn erase(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<std::result::Result<Erased, MemoryId>>;

    /// Takes memories of the caller out of the trash and indexes them again with the given pieces, whose vectors this model
    /// made. Tells what became of each, in the given order: one that can't be restored does not keep the others from it.
    async fn restore(&self, ctx: &Ctx, model: &Model, memories: Vec<(MemoryId, Vec<NewChunk>)>)
    -> Result<Vec<Changed>>;

    /// The earlier states of a memory of the caller, the latest first; at most `limit`, those below `before`.
    async fn revisions(&self, ctx: &Ctx, id: MemoryId, before: Option<u32>, limit: u32) -> Result<Vec<Revision>>;

    /// Begins a recall with all that can be done before the query's vector is known.
    async fn begin_recall(&self, ctx: &Ctx, search: Search) -> Result<Box<dyn RecallSteps>>;

    /// The passages of the caller's own memories closest to a vector, one for each memory.
    async fn nearest(&self, ctx: &Ctx, vector: &[f32], model: &Model, limit: u32) -> Result<Vec<Neighbour>>;

    /// Passages of any user that lack a vector of this model, the oldest first. For the background only.
    async fn pending(&self, model: &Model, limit: u32) -> Result<Vec<PendingChunk>>;

    /// Stores vectors for passages; those that vanished meanwhile are left out. For the background only.
    async fn embed(&self, model: &Model, vectors: Vec<(i64, Vec<f32>)>) -> Result<()>;

    /// Deletes what was put into the trash before this time, for all users. For the background only.
    /// Gives the number of memories deleted.
    async fn empty_trash(&self, before: Timestamp) -> Result<u64>;
}
