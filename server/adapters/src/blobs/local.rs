//! A directory as a storage.
//!
//! ```text
//! objects/ab/ab12…           an object; it is never written to, only made and deleted
//! objects/ab/ab12….sha256    the digest of its bytes
//! parts/ab12…/7              a part of an object that is still to be put together
//! incoming/…                 what is being written; whatever an interruption leaves here is tidied up
//! ```
//!
//! A file is written elsewhere, brought to the disk, and only then gets its name: whoever finds it finds all of it. The
//! first to get a name keeps it.

mod receive;

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use polymnemo_memory::{
    Error, Result,
    ports::{BlobStore, Clock, Delivery, FileBytes, Object, Origin, Part, Promise},
};
use polymnemo_types::{BlobBackend, Header, SignedRequest};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use tokio_util::io::ReaderStream;

use super::{
    grant::{Grant, Permission, Refusal, Signer},
    of_disk, unavailable,
};

pub use receive::NotReceived;

/// How much is read from the disk at once.
const READ_AT_ONCE: usize = 256 << 10;

/// A directory as a storage, whose signed URLs the server answers itself. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LocalBlobs(Arc<Shared>);

struct Shared {
    folder: PathBuf,
    signer: Signer,
    origin: Origin,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalBlobs").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl LocalBlobs {
    /// The path of the URLs, which an object's key follows.
    pub const PATH: &'static str = "/blobs/";

    /// A storage in this directory, which is made when the first object comes. The secret signs its URLs: random bytes, the
    /// same wherever they are answered.
    ///
    /// # Errors
    ///
    /// Where the secret is none.
    pub fn new(folder: PathBuf, secret: &[u8], origin: Origin, clock: Arc<dyn Clock>) -> Result<Self> {
        let signer =
            Signer::new(secret).ok_or_else(|| Error::internal("the secret that signs URLs is of a wrong length"))?;
        Ok(Self(Arc::new(Shared { folder, signer, origin, clock })))
    }

    /// What the URL of an object with this query allows.
    ///
    /// # Errors
    ///
    /// Where it is not one of ours, or its time is over.
    pub fn verify(&self, key: &str, query: &str) -> Result<Grant, Refusal> {
        self.0.signer.verify(key, query, self.0.clock.now())
    }

    /// The URL that gives a grant.
    ///
    /// # Errors
    ///
    /// Where it can't be written.
    pub fn url(&self, grant: &Grant) -> Result<String> {
        let query = self.0.signer.sign(grant).map_err(|error| Error::Internal(error.into()))?;
        Ok(format!("{}{}{}?{query}", self.0.origin.get(), Self::PATH, grant.key))
    }

    /// An object to read from, and its length. Nothing where there is none.
    ///
    /// # Errors
    ///
    /// Where the directory can't be read.
    pub async fn open(&self, key: &str) -> Result<Option<(tokio::fs::File, u64)>> {
        let file = match tokio::fs::File::open(self.object(key)?).await {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(of_disk(error)),
        };
        let size = file.metadata().await.map_err(of_disk)?.len();
        Ok(Some((file, size)))
    }

    /// The bytes of an open object from one place to another.
    ///
    /// # Errors
    ///
    /// Where the file can't be read.
    pub async fn bytes(mut file: tokio::fs::File, range: Range<u64>) -> Result<FileBytes> {
        file.seek(io::SeekFrom::Start(range.start)).await.map_err(of_disk)?;
        let part = file.take(range.end.saturating_sub(range.start));
        Ok(ReaderStream::with_capacity(part, READ_AT_ONCE).boxed())
    }

    fn object(&self, key: &str) -> Result<PathBuf> {
        let start = key.get(..2).ok_or_else(|| Error::internal("a key that is too short"))?;
        Ok(self.0.folder.join("objects").join(start).join(checked(key)?))
    }

    fn parts_folder(&self, key: &str) -> Result<PathBuf> {
        Ok(self.0.folder.join("parts").join(checked(key)?))
    }

    fn incoming(&self) -> PathBuf {
        self.0.folder.join("incoming")
    }

    fn signed(&self, key: &str, may: Permission, headers: Vec<Header>, expires_at: Timestamp) -> Result<SignedRequest> {
        let grant = Grant { key: key.to_owned(), until: expires_at.as_second(), may };
        // What is signed is whole seconds.
        let expires_at = Timestamp::from_second(grant.until).unwrap_or(expires_at);
        Ok(SignedRequest { method: "PUT".to_owned(), url: self.url(&grant)?, headers, expires_at })
    }
}

/// Keys are ours; nothing else gets near a path.
fn checked(key: &str) -> Result<&str> {
    let is_plain = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '.';
    if key.chars().all(is_plain) && !key.contains("..") && !key.starts_with('.') {
        return Ok(key);
    }
    Err(Error::internal("a key that is none"))
}

fn digest_path(object: &Path) -> PathBuf {
    let mut path = object.as_os_str().to_owned();
    path.push(".sha256");
    path.into()
}

fn header(name: &str, value: impl Into<String>) -> Header {
    Header { name: name.to_owned(), value: value.into() }
}

/// Runs what waits for the disk where that keeps nobody.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await.map_err(|error| Error::Internal(error.into()))?;
    done.map_err(of_disk)
}

/// Nothing where the file is not there.
fn if_there<T>(outcome: io::Result<T>) -> io::Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Makes a folder, for its owner only.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Brings the names in a folder to the disk.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Gives a finished file its name. False where another one has it.
fn publish(file: NamedTempFile, object: &Path, digest: &[u8; 32]) -> io::Result<bool> {
    let folder = object.parent().unwrap_or_else(|| Path::new("."));
    make_folder(folder)?;
    match file.persist_noclobber(object) {
        Ok(_) => {}
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(error.error),
    }
    fs::write(digest_path(object), digest)?;
    sync_folder(folder)?;
    Ok(true)
}

fn digest_of(object: &Path) -> io::Result<Option<[u8; 32]>> {
    Ok(if_there(fs::read(digest_path(object)))?.and_then(|digest| digest.try_into().ok()))
}

#[async_trait]
impl BlobStore for LocalBlobs {
    fn backend(&self) -> BlobBackend {
        BlobBackend::Local
    }

    fn origin(&self) -> Option<String> {
        None
    }

    async fn sign_put(&self, key: &str, promise: &Promise, expires_at: Timestamp) -> Result<SignedRequest> {
        let Promise { content_type, size, sha256 } = promise.clone();
        let headers = vec![header("content-length", size.to_string()), header("content-type", content_type.clone())];
        self.signed(key, Permission::Put { size, content_type, sha256 }, headers, expires_at)
    }

    async fn sign_part(
        &self,
        key: &str,
        _handle: &str,
        number: u32,
        size: u64,
        expires_at: Timestamp,
    ) -> Result<SignedRequest> {
        let headers = vec![header("content-length", size.to_string())];
        self.signed(key, Permission::Part { number, size }, headers, expires_at)
    }

    async fn sign_get(&self, key: &str, delivery: &Delivery) -> Result<String> {
        let may = Permission::Get {
            filename: delivery.filename.clone(),
            content_type: delivery.content_type.clone(),
            inline: delivery.inline,
        };
        self.url(&Grant { key: key.to_owned(), until: delivery.expires_at.as_second(), may })
    }

    async fn put(&self, key: &str, _content_type: &str, bytes: Bytes) -> Result<()> {
        let object = self.object(key)?;
        let written = self.write(stream::once(async { Ok(bytes) }).boxed(), u64::MAX).await.map_err(not_received)?;
        on_disk(move || publish(written.file, &object, &written.digest).map(|_| ())).await
    }

    async fn head(&self, key: &str) -> Result<Option<Object>> {
        let object = self.object(key)?;
        on_disk(move || {
            let Some(found) = if_there(fs::metadata(&object))? else { return Ok(None) };
            let sha256 = digest_of(&object)?;
            // What the type is was bound to the request; nothing else is told here.
            Ok(Some(Object { size: found.len(), content_type: None, sha256, version: String::new() }))
        })
        .await
    }

    async fn read(&self, key: &str, range: Option<Range<u64>>) -> Result<Option<FileBytes>> {
        let Some((file, size)) = self.open(key).await? else { return Ok(None) };
        Self::bytes(file, range.unwrap_or(0..size)).await.map(Some)
    }

    async fn copy(&self, from: &str, _object: &Object, to: &str) -> Result<bool> {
        let (from, to, incoming) = (self.object(from)?, self.object(to)?, self.incoming());
        on_disk(move || {
            let folder = to.parent().unwrap_or_else(|| Path::new("."));
            make_folder(folder)?;
            // An object never changes, so two names for one file are as good as two files.
            match fs::hard_link(&from, &to) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(_) => {
                    let Some(mut original) = if_there(fs::File::open(&from))? else { return Ok(false) };
                    make_folder(&incoming)?;
                    let mut copy = NamedTempFile::new_in(&incoming)?;
                    io::copy(&mut original, &mut copy)?;
                    copy.as_file().sync_all()?;
                    copy.persist(&to).map_err(|error| error.error)?;
                }
            }
            if let Some(digest) = digest_of(&from)? {
                fs::write(digest_path(&to), digest)?;
            }
            sync_folder(folder)?;
            Ok(true)
        })
        .await
    }

    async fn delete(&self, key: &str) -> Result<()> {
        let object = self.object(key)?;
        on_disk(move || {
            if_there(fs::remove_file(digest_path(&object)))?;
            if_there(fs::remove_file(&object)).map(|_| ())
        })
        .await
    }

    async fn begin_parts(&self, key: &str, _content_type: &str) -> Result<String> {
        let folder = self.parts_folder(key)?;
        on_disk(move || make_folder(&folder)).await?;
        Ok(key.to_owned())
    }

    async fn put_part(&self, key: &str, _handle: &str, number: u32, bytes: Bytes) -> Result<()> {
        let path = self.parts_folder(key)?.join(number.to_string());
        let written = self.write(stream::once(async { Ok(bytes) }).boxed(), u64::MAX).await.map_err(not_received)?;
        on_disk(move || written.file.persist(path).map(|_| ()).map_err(|error| error.error)).await
    }

    async fn parts(&self, key: &str, _handle: &str) -> Result<Option<Vec<Part>>> {
        let folder = self.parts_folder(key)?;
        on_disk(move || parts_in(&folder)).await
    }

    async fn abort_parts(&self, key: &str, _handle: &str) -> Result<()> {
        let folder = self.parts_folder(key)?;
        on_disk(move || if_there(fs::remove_dir_all(folder)).map(|_| ())).await
    }

    async fn complete_parts(&self, key: &str, _handle: &str, parts: &[Part]) -> Result<bool> {
        let (object, folder, incoming) = (self.object(key)?, self.parts_folder(key)?, self.incoming());
        let numbers: Vec<u32> = parts.iter().map(|part| part.number).collect();
        on_disk(move || {
            make_folder(&incoming)?;
            let Some((file, digest)) = if_there(put_together(&folder, &numbers, &incoming))? else { return Ok(false) };
            // Where someone else was quicker, that is the same object.
            publish(file, &object, &digest)?;
            if_there(fs::remove_dir_all(folder))?;
            Ok(true)
        })
        .await
    }

    async fn tidy(&self, before: Timestamp) -> Result<()> {
        let incoming = self.incoming();
        let before =
            SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(before.as_second()).unwrap_or_default());
        on_disk(move || {
            let Some(left) = if_there(fs::read_dir(incoming))? else { return Ok(()) };
            for entry in left {
                let entry = entry?;
                let Some(found) = if_there(entry.metadata())? else { continue };
                if found.modified()? < before {
                    if_there(fs::remove_file(entry.path()))?;
                }
            }
            Ok(())
        })
        .await
    }
}

fn parts_in(folder: &Path) -> io::Result<Option<Vec<Part>>> {
    let Some(entries) = if_there(fs::read_dir(folder))? else { return Ok(None) };
    let mut parts = Vec::new();
    for entry in entries {
        let entry = entry?;
        let Some(number) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Some(found) = if_there(entry.metadata())? else { continue };
        parts.push(Part { number, size: found.len(), tag: String::new() });
    }
    parts.sort_by_key(|part| part.number);
    Ok(Some(parts))
}

/// One file of all parts, and its digest.
fn put_together(folder: &Path, numbers: &[u32], incoming: &Path) -> io::Result<(NamedTempFile, [u8; 32])> {
    use io::{Read as _, Write as _};
    let mut file = NamedTempFile::new_in(incoming)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; READ_AT_ONCE];
    for number in numbers {
        let mut part = fs::File::open(folder.join(number.to_string()))?;
        loop {
            let read = part.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            digest.update(bytes);
            file.write_all(bytes)?;
        }
    }
    file.as_file().sync_all()?;
    Ok((file, digest.finalize().into()))
}
/// Why bytes of our own were not kept.
fn not_received(error: NotReceived) -> Error {
    match error {
        NotReceived::Disk(error) => of_disk(error),
        other => unavailable(other),
    }
}
