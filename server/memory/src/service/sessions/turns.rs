use std::hash::{BuildHasher as _, Hash, RandomState};

use tokio::sync::{Mutex, MutexGuard};

/// How many things can be done at once that are not known to be apart.
const QUEUES: usize = 64;

/// Queues for those who would otherwise wait for one another in the database, each with a connection that others need
/// meanwhile. What has to be in order is in order without them: they know of this process alone.
pub(in crate::service) struct Turns {
    queues: [Mutex<()>; QUEUES],
    hasher: RandomState,
}

impl Default for Turns {
    fn default() -> Self {
        Self { queues: [const { Mutex::const_new(()) }; QUEUES], hasher: RandomState::new() }
    }
}

impl Turns {
    /// Waits until nobody else is at this.
    pub(super) async fn wait(&self, what: &impl Hash) -> Option<MutexGuard<'_, ()>> {
        let place = self.hasher.hash_one(what) % QUEUES as u64;
        let queue = usize::try_from(place).ok().and_then(|place| self.queues.get(place))?;
        Some(queue.lock().await)
    }
}
