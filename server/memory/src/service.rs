use std::sync::Arc;

use polymnemo_types::{
    Forgotten, GetRequest, ListRequest, Memory, MemoryId, MemoryText, NamespaceSummary, Page, Ping, Recall, RecallRequest,
    RememberRequest, Remembered, Revision, UpdateRequest, Updated,
};

use crate::{
    Ctx, Error, Identity, Result, User, UserDefaults,
    ports::{Clock, Embedder, Store},
};

/// The memory service. Cheap to clone; every door holds one.
#[derive(Clone)]
pub struct MemoryService {
    store: Arc<dyn Store>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    defaults: Arc<UserDefaults>,
}

impl MemoryService {
    /// A service over these parts; `defaults` is what a new user starts with.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, embedder: Arc<dyn Embedder>, clock: Arc<dyn Clock>, defaults: UserDefaults) -> Self {
        Self { store, embedder, clock, defaults: Arc::new(defaults) }
    }
    /// u
    pub async fn user(&self, _identity: &Identity) -> Result<User> { Err(Error::NotReady) }
    /// p
    pub async fn ping(&self, _ctx: &Ctx) -> Result<Ping> { Err(Error::NotReady) }
    /// r
    pub async fn remember(&self, _ctx: &Ctx, _request: RememberRequest) -> Result<Remembered> { Err(Error::NotReady) }
    /// r
    pub async fn recall(&self, _ctx: &Ctx, _request: RecallRequest) -> Result<Recall> { Err(Error::NotReady) }
    /// l
    pub async fn list_memories(&self, _ctx: &Ctx, _request: ListRequest) -> Result<Page<Memory>> { Err(Error::NotReady) }
    /// g
    pub async fn get_memory(&self, _ctx: &Ctx, _request: GetRequest) -> Result<MemoryText> { Err(Error::NotReady) }
    /// u
    pub async fn update(&self, _ctx: &Ctx, _request: UpdateRequest) -> Result<Updated> { Err(Error::NotReady) }
    /// f
    pub async fn forget(&self, _ctx: &Ctx, _ids: &[MemoryId]) -> Result<Forgotten> { Err(Error::NotReady) }
    /// r
    pub async fn restore(&self, _ctx: &Ctx, _id: MemoryId) -> Result<Updated> { Err(Error::NotReady) }
    /// r
    pub async fn revisions(&self, _ctx: &Ctx, _id: MemoryId, _before: Option<u32>, _limit: Option<u32>) -> Result<Vec<Revision>> { Err(Error::NotReady) }
    /// n
    pub async fn namespaces(&self, _ctx: &Ctx, _prefix: &str, _limit: u32) -> Result<Vec<NamespaceSummary>> { Err(Error::NotReady) }
    /// Embeds a batch of what waits for it; gives the number of passages done. For the background.
    pub async fn embed_pending(&self) -> Result<u32> { Err(Error::NotReady) }
    /// For the background.
    pub async fn empty_trash(&self) -> Result<u64> { Err(Error::NotReady) }
    /// The store answers.
    pub async fn check_store(&self) -> Result<String> { Err(Error::NotReady) }
    /// The embedder's state.
    pub fn embedder(&self) -> &Arc<dyn Embedder> { let _ = (&self.store, &self.clock, &self.defaults); &self.embedder }
}
