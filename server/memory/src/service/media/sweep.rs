//! Deleting what is no longer needed.

use jiff::SignedDuration;

use crate::{Result, service::MemoryService};

/// How many objects are deleted before that is noted: what an interruption makes do again.
const BATCH: u32 = 50;

/// Whoever took an object to delete it and did not say so after this time is gone.
const GONE_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// What is still being written after this time never will be.
const LEFT_BEHIND: SignedDuration = SignedDuration::from_hours(24);

impl MemoryService {
    /// Gives up uploads whose time is over, and deletes from the storage what nothing refers to, whosever it is. For the
    /// background. Gives how many of both there were.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Unavailable`], also where only some of it could be deleted: the rest is tried again later.
    pub async fn sweep_files(&self) -> Result<u64> {
        let mut done = self.store.give_up_uploads(self.now()).await?;
        let Some(files) = &self.files else { return Ok(done) };
        files.store.tidy(self.now() - LEFT_BEHIND).await?;
        loop {
            let now = self.now();
            let taken = self.store.take_objects(now, now - GONE_AFTER, BATCH).await?;
            let mut deleted: Vec<String> = Vec::with_capacity(taken.len());
            let mut failure = None;
            for object in &taken {
                let gone = async {
                    files.store.delete(&object.key).await?;
                    match &object.parts_handle {
                        Some(handle) => files.store.abort_parts(&object.key, handle).await,
                        None => Ok(()),
                    }
                };
                match gone.await {
                    Ok(()) => deleted.push(object.key.clone()),
                    // What is down for one is down for the next.
                    Err(error) => {
                        failure = Some(error);
                        break;
                    }
                }
            }
            let left = taken.iter().skip(deleted.len()).map(|object| object.key.clone()).collect::<Vec<_>>();
            self.store.objects_deleted(&deleted, &left).await?;
            done += deleted.len() as u64;
            if let Some(error) = failure {
                return Err(error);
            }
            if taken.len() < BATCH as usize {
                return Ok(done);
            }
        }
    }

    /// Waits until there is something to delete from the storage.
    pub async fn files_to_delete(&self) {
        self.deletions.notified().await;
    }

    /// Deletes an object at once that is in the list of those to be deleted. What is in the way is told to the log: it is
    /// tried again later in any case.
    pub(super) async fn delete_now(&self, key: &str, handle: Option<&str>) {
        let Some(files) = &self.files else { return };
        let gone = async {
            files.store.delete(key).await?;
            match handle {
                Some(handle) => files.store.abort_parts(key, handle).await,
                None => Ok(()),
            }
        };
        if let Err(error) = gone.await {
            tracing::info!(%error, "a stored object could not be deleted at once; it will be");
        }
    }
}
