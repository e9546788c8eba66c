//! A clock of the test's own.

use std::sync::Arc;

use polymnemo_memory::{
    MemoryService, UserDefaults,
    ports::{Clock, Store},
    testing::{FakeClock, FakeEmbedder},
};
use polymnemo_store::{PgOptions, PgStore};

use super::TestApp;

/// A second server over the database of this one, with a clock of the test's own.
pub async fn with_clock(app: &TestApp, clock: &Arc<FakeClock>) -> MemoryService {
    let store = PgStore::connect(app.database_url(), PgOptions::default()).await.unwrap();
    MemoryService::new(
        Arc::new(store) as Arc<dyn Store>,
        Arc::new(FakeEmbedder::default()),
        Arc::clone(clock) as Arc<dyn Clock>,
        UserDefaults { namespace: "personal".into(), time_zone: "Europe/Berlin".into() },
    )
}

/// A clock that stands at noon of the first of March 2026 until it is moved.
pub fn noon() -> Arc<FakeClock> {
    Arc::new(FakeClock::new("2026-03-01T12:00:00Z".parse().unwrap()))
}
