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
/// How often files are looked for that nothing refers to any more, when nothing announced any.
const FILES: Duration = Duration::from_secs(300);

/// Starts all jobs. They end soon after `stop` is cancelled, wherever they are: what they do is
/// kept in the database and goes on at the next start.
pub(crate) fn spawn(service: &MemoryService, stop: &CancellationToken) -> TaskTracker {
    let tracker = TaskTracker::new();
    let spawn = |job| tracker.spawn(stop.clone().run_until_cancelled_owned(job));
    spawn(Box::pin(embed_pending(service.clone())) as futures::future::BoxFuture<'static, ()>);
    spawn(Box::pin(index_sessions(service.clone())));
    spawn(Box::pin(work_on_imports(service.clone())));
    spawn(Box::pin(empty_trash(service.clone())));
    spawn(Box::pin(sweep_apps(service.clone())));
    spawn(Box::pin(sweep_files(service.clone())));
    spawn(Box::pin(erase(service.clone())));
    spawn(Box::pin(write_exports(service.clone())));
    spawn(Box::pin(sweep_exports(service.clone())));
    tracker.close();
    tracker
}

/// Embeds what was stored without vectors: the tail of long memories, and everything after a
/// change of the model.
async fn embed_pending(service: MemoryService) {
    let done = |passages| tracing::debug!(passages, "embedded passages in the background");
    work_off(|| service.embed_pending(), || service.work_arrived(), done, "passages could not be embedded").await;
}

/// Makes the messages of long sessions searchable, and of those that were taken out of the trash.
async fn index_sessions(service: MemoryService) {
    let done = |messages| tracing::debug!(messages, "indexed messages in the background");
    work_off(|| service.index_sessions(), || service.session_arrived(), done, "messages could not be indexed").await;
}

/// Looks through, brings in and takes back what people import.
async fn work_on_imports(service: MemoryService) {
    let done = |imports| tracing::debug!(imports, "worked on an import");
    work_off(|| service.work_on_imports(), || service.import_arrived(), done, "an import could not go on; it will")
        .await;
}

/// Goes on with what people asked to erase, until a receipt says that it is gone.
async fn erase(service: MemoryService) {
    let done = |steps| tracing::debug!(steps, "went on with an erasure");
    work_off(|| service.continue_erasures(), || service.erasure_arrived(), done, "an erasure could not go on").await;
}

/// Takes batches off a queue until it is empty, and again whenever something arrives.
async fn work_off<B, A>(batch: impl Fn() -> B, arrived: impl Fn() -> A, done: impl Fn(u32), failed: &'static str)
where
    B: Future<Output = polymnemo_memory::Result<u32>>,
    A: Future<Output = ()>,
{
    loop {
        let pause = match batch().await {
            Ok(0) => POLL,
            Ok(number) => {
                done(number);
                continue;
            }
            Err(error) => {
                tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "{failed}");
                RETRY
            }
        };
        tokio::select! {
            () = arrived() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Writes the exports that people asked for, one after the other.
async fn write_exports(service: MemoryService) {
    let done = |_| {};
    work_off(|| service.make_export(), || service.export_requested(), done, "an export could not be written").await;
}

/// Deletes exports whose time is over.
async fn sweep_exports(service: MemoryService) {
    let mut hours = tokio::time::interval(HOUR);
    hours.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        hours.tick().await;
        match service.sweep_exports().await {
            Ok(0) => {}
            Ok(exports) => tracing::info!(exports, "deleted exports whose time was over"),
            Err(error) => {
                tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "exports whose time is over could not be deleted");
            }
        }
    }
}

/// Gives up uploads that nobody confirmed, and deletes the bytes of files that are gone.
async fn sweep_files(service: MemoryService) {
    loop {
        let pause = match service.sweep_files().await {
            Ok(0) => FILES,
            Ok(files) => {
                tracing::info!(files, "deleted uploads and stored objects that nothing refers to");
                FILES
            }
            Err(error) => {
                tracing::warn!(error = %error, cause = ?std::error::Error::source(&error), "stored objects could not be deleted; they will be");
                RETRY
            }
        };
        tokio::select! {
            () = service.files_to_delete(), if pause == FILES => {}
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
