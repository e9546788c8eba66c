//! The service: one file for each verb.

mod account;
mod apps;
mod authorization;
mod background;
mod bulk;
mod clients;
mod cursor;
mod forget;
mod history;
mod index;
mod namespaces;
mod read;
mod recall;
mod remember;
mod status;
mod tokens;
mod update;
mod validate;

use std::sync::Arc;

use tokio::sync::{Notify, OnceCell};

use crate::{
    UserDefaults,
    noise::Background,
    ports::{Clock, Embedder, Store},
};

pub use authorization::client_name;

/// The memory service. Cheap to clone; every door holds one.
#[derive(Clone)]
pub struct MemoryService {
    store: Arc<dyn Store>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    defaults: Arc<UserDefaults>,
    /// Told whenever passages were stored without a vector.
    pending: Arc<Notify>,
    /// What similarities are measured against.
    background: Arc<OnceCell<Background>>,
    /// The clients whose last sighting is noted already.
    seen: Arc<clients::Seen>,
}

impl MemoryService {
    /// A service over these parts; `defaults` is what a new user starts with.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        defaults: UserDefaults,
    ) -> Self {
        Self {
            store,
            embedder,
            clock,
            defaults: Arc::new(defaults),
            pending: Arc::new(Notify::new()),
            background: Arc::new(OnceCell::new()),
            seen: Arc::default(),
        }
    }

    /// The time now, as exact as the database keeps it.
    fn now(&self) -> jiff::Timestamp {
        crate::when::to_microseconds(self.clock.now())
    }
}
