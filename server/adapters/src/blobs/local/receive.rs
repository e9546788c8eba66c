//! Taking in what a signed URL brings.

use std::{io, time::Duration};

use bytes::Bytes;
use futures::StreamExt as _;
use polymnemo_memory::ports::FileBytes;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::{LocalBlobs, digest_of, make_folder, on_disk, publish};
use crate::blobs::{Grant, Permission};

/// How many pieces wait for the disk: bounds what is held of a file.
const WAITING: usize = 16;

/// Whoever sends nothing for this time is gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// Why an object was not taken in. Nothing is there then.
#[derive(Debug, thiserror::Error)]
pub enum NotReceived {
    /// It is not as long as was promised.
    #[error("{given} bytes came where {promised} were promised")]
    WrongSize {
        /// Its length, as far as it was read.
        given: u64,
        /// What it should be.
        promised: u64,
    },
    /// It has another digest than was promised.
    #[error("the SHA-256 of what came is another one than was promised")]
    WrongDigest,
    /// Another one is there already.
    #[error("another file was sent before")]
    Taken,
    /// What it is a part of was put together or given up.
    #[error("the upload that this is a part of is over")]
    Over,
    /// The URL does not allow to put anything there.
    #[error("this URL is not for sending")]
    NotGranted,
    /// It stopped coming.
    #[error("the bytes stopped coming")]
    Stopped(#[source] io::Error),
    /// The disk failed.
    #[error("the file could not be written")]
    Disk(#[source] io::Error),
}

/// A file that has no name yet.
pub(super) struct Written {
    pub(super) file: NamedTempFile,
    pub(super) digest: [u8; 32],
    size: u64,
}

impl LocalBlobs {
    /// Takes in what a grant allows to be put there. Putting the same there again does no harm.
    ///
    /// # Errors
    ///
    /// Where it is not what the grant is for.
    pub async fn receive(&self, grant: &Grant, bytes: FileBytes) -> Result<(), NotReceived> {
        let (promised, expected, part) = match &grant.may {
            Permission::Put { size, sha256, .. } => (*size, *sha256, None),
            Permission::Part { number, size } => (*size, None, Some(*number)),
            Permission::Get { .. } => return Err(NotReceived::NotGranted),
        };
        let written = self.write(bytes, promised).await?;
        if written.size != promised {
            return Err(NotReceived::WrongSize { given: written.size, promised });
        }
        if expected.is_some_and(|expected| expected != written.digest) {
            return Err(NotReceived::WrongDigest);
        }
        let disk = |error: polymnemo_memory::Error| NotReceived::Disk(io::Error::other(error));
        if let Some(number) = part {
            let folder = self.parts_folder(&grant.key).map_err(disk)?;
            // A part that comes after the others were put together has no folder to go to.
            let persisted = on_disk(move || match written.file.persist(folder.join(number.to_string())) {
                Ok(_) => Ok(true),
                Err(error) if error.error.kind() == io::ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error.error),
            });
            return if persisted.await.map_err(disk)? { Ok(()) } else { Err(NotReceived::Over) };
        }
        let object = self.object(&grant.key).map_err(disk)?;
        let is_that = on_disk(move || {
            Ok(publish(written.file, &object, &written.digest)? || digest_of(&object)? == Some(written.digest))
        });
        if is_that.await.map_err(disk)? { Ok(()) } else { Err(NotReceived::Taken) }
    }

    /// Writes bytes, at most so many, into a file without a name. The disk is waited for on a thread of its own.
    pub(super) async fn write(&self, mut bytes: FileBytes, most: u64) -> Result<Written, NotReceived> {
        let incoming = self.incoming();
        let (sender, mut receiver) = mpsc::channel::<Bytes>(WAITING);
        let writing = tokio::task::spawn_blocking(move || -> io::Result<(NamedTempFile, [u8; 32])> {
            use io::Write as _;
            make_folder(&incoming)?;
            let mut file = NamedTempFile::new_in(&incoming)?;
            let mut digest = Sha256::new();
            while let Some(chunk) = receiver.blocking_recv() {
                file.write_all(&chunk)?;
                digest.update(&chunk);
            }
            file.as_file().sync_all()?;
            Ok((file, digest.finalize().into()))
        });
        let mut size = 0;
        loop {
            let next = tokio::time::timeout(PATIENCE, bytes.next()).await;
            let chunk = match next.map_err(|_| NotReceived::Stopped(io::ErrorKind::TimedOut.into()))? {
                Some(chunk) => chunk.map_err(NotReceived::Stopped)?,
                None => break,
            };
            size += chunk.len() as u64;
            if size > most {
                return Err(NotReceived::WrongSize { given: size, promised: most });
            }
            if sender.send(chunk).await.is_err() {
                // The disk failed, which the thread tells.
                break;
            }
        }
        drop(sender);
        let written = writing.await.map_err(|error| NotReceived::Disk(io::Error::other(error)))?;
        let (file, digest) = written.map_err(NotReceived::Disk)?;
        Ok(Written { file, digest, size })
    }
}
