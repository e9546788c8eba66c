//! What the server does on its own, beside answering requests.

use std::time::Duration;

use polymnemo_memory::MemoryService;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How long to wait when nothing announced work. Another process may have stored something, and
/// its announcement reaches only itself.
const POLL: Duration = Duration::from_secs(5);
/// How long to wait after a failure.
const RETRY: Duration = Duration::from_secs(30);
const HOUR: Duration = Duration::from_secs(3600);

/// Starts all jobs. They end soon after `stop` is cancelled, wherever they are: what they do is
/// kept in the database and goes on at the next start.
pub(crate) fn spawn(service: &MemoryService, stop: &CancellationToken) -> TaskTracker {
    let tracker = TaskTracker::new();
    let spawn = |job| tracker.spawn(stop.clone().run_until_cancelled_owned(job));
    spawn(Box::pin(embed_pending(service.clone())) as futures::future::BoxFuture<'static, ()>);
    spawn(Box::pin(empty_trash(service.clone())));
    spawn(Box::pin(sweep_apps(service.clone())));
    tracker.close();
    tracker
}

/// Embeds what was stored without vectors: the tail of long memories, and everything after a
/// change of the model.
async fn embed_pending(service: MemoryService) {
    loop {
        let pause = match service.embed_pending().await {
            Ok(0) => POLL,
            Ok(passages) => {
                tracing::debug!(passages, "embedded passages in the background");
                continue;
            }
            Err(error) => {
                tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "passages could not be embedded");
                RETRY
            }
        };
        tokio::select! {
            () = service.work_arrived() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Removes clients that nobody let in, and what is known of apps for longer than it is kept.
async fn sweep_apps(service: MemoryService) {
    let mut hours = tokio::time::interval(HOUR);
    hours.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        match service.sweep_apps().await {
            Ok(0) => {}
            Ok(records) => tracing::info!(records, "removed what is no longer kept of apps"),
            Err(error) => {
                tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "what is no longer kept of apps could not be removed");
            }
        }
    }
}

/// Deletes what has been in the trash for its time.
async fn empty_trash(service: MemoryService) {
    let mut hours = tokio::time::interval(HOUR);
    hours.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        match service.empty_trash().await {
            Ok(0) => {}
            Ok(memories) => tracing::info!(memories, "emptied the trash of memories whose time was over"),
            Err(error) => {
                tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "the trash could not be emptied");
            }
        }
    }
}
