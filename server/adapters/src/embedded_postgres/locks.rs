//! Who uses the database. Several processes may: `polymnemo serve` and any number of `polymnemo stdio`.
//!
//! Each user holds a shared lock on one file for as long as it lives, so that the last one to leave
//! knows that it is the last one; the operating system lets go of the lock when a process is killed.
//! Starting, attaching and stopping happen one at a time under an exclusive lock on a second file.

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use super::error::{Doing as _, Error, Result};

/// How long to wait before looking again whether a lock is free.
const POLL: Duration = Duration::from_millis(25);

/// After how long to say that we are waiting.
const PATIENCE: Duration = Duration::from_secs(2);

/// Held while the server is started, attached to or stopped.
#[derive(Debug)]
pub(super) struct Turn {
    _file: File,
}

impl Turn {
    /// Waits until no other process starts or stops the server.
    pub(super) async fn take(data_dir: &Path) -> Result<Self> {
        let path = data_dir.join("turn.lock");
        let file = open(&path)?;
        let mut waited = Duration::ZERO;
        // Asking again and again, unlike waiting inside the operating system, ends when the caller gives up.
        while !attempt(file.try_lock(), &path)? {
            if waited == PATIENCE {
                tracing::info!("waiting for another process that is starting or stopping the database");
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
        Ok(Self { _file: file })
    }
}

/// Held while this process uses the server.
#[derive(Debug)]
pub(super) struct UserLock {
    path: PathBuf,
    file: File,
}

impl UserLock {
    /// Counts this process among the users. Nobody can be leaving at the same time, because that takes a [`Turn`], too.
    pub(super) fn enter(data_dir: &Path, _turn: &Turn) -> Result<Self> {
        let path = data_dir.join("users.lock");
        let file = open(&path)?;
        file.lock_shared().doing(|| format!("lock {}", path.display()))?;
        Ok(Self { path, file })
    }

    /// Counts this process out; true where nobody else is left.
    pub(super) fn leave(self, _turn: &Turn) -> Result<bool> {
        self.file.unlock().doing(|| format!("unlock {}", self.path.display()))?;
        attempt(self.file.try_lock(), &self.path)
    }
}

fn open(path: &Path) -> Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
        .doing(|| format!("open {}", path.display()))
}

/// Whether a lock was granted.
fn attempt(outcome: std::result::Result<(), TryLockError>, path: &Path) -> Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(Error::Io { doing: format!("lock {}", path.display()), source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_one_to_leave_is_told_so() {
        let directory = tempfile::tempdir().expect("a directory");
        let turn = Turn::take(directory.path()).await.expect("a turn");
        let first = UserLock::enter(directory.path(), &turn).expect("the first user");
        let second = UserLock::enter(directory.path(), &turn).expect("the second user");
        assert!(!first.leave(&turn).expect("the first leaves"));
        assert!(second.leave(&turn).expect("the second leaves"));
    }

    #[tokio::test]
    async fn turns_are_taken_one_at_a_time() {
        let directory = tempfile::tempdir().expect("a directory");
        let turn = Turn::take(directory.path()).await.expect("a turn");
        let next = Turn::take(directory.path());
        tokio::pin!(next);
        assert!(tokio::time::timeout(Duration::from_millis(200), &mut next).await.is_err());
        drop(turn);
        tokio::time::timeout(Duration::from_secs(5), next).await.expect("in time").expect("the next turn");
    }
}
