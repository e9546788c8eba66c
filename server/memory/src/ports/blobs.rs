use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use jiff::Timestamp;
use polymnemo_types::{BlobBackend, SignedRequest};

use crate::Result;

/// The bytes of a file as they come in or go out.
pub type FileBytes = BoxStream<'static, std::io::Result<Bytes>>;

/// What an object is promised to be; the request that brings it is bound to that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// Its media type.
    pub content_type: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its SHA-256, where it was told.
    pub sha256: Option<[u8; 32]>,
}

/// How an object is to be handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// What it is called, as it was given.
    pub filename: String,
    /// The media type that is told to the receiver.
    pub content_type: String,
    /// Whether a browser may show it; otherwise it is saved.
    pub inline: bool,
    /// From when on the URL is good.
    pub valid_from: Timestamp,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// What the storage says of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its length in bytes.
    pub size: u64,
    /// Its media type, where the storage keeps one.
    pub content_type: Option<String>,
    /// The SHA-256 of its bytes, where the storage vouches for it.
    pub sha256: Option<[u8; 32]>,
    /// What tells it from another object that may take its place.
    pub version: String,
}

/// A part of an object that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 1.
    pub number: u32,
    /// Its length in bytes.
    pub size: u64,
    /// What the storage knows it by.
    pub tag: String,
}

/// A storage for the bytes of files. It knows neither users nor memories: keys are random, and only who is told a signed
/// request can make it.
///
/// All methods fail with [`crate::Error::Unavailable`] where the storage can't be reached.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Which one this is.
    fn backend(&self) -> BlobBackend;

    /// The origin that browsers talk to, where it is not this server itself.
    fn origin(&self) -> Option<String>;

    /// A request that puts an object there: just the one that was promised.
    async fn sign_put(&self, key: &str, promise: &Promise, expires_at: Timestamp) -> Result<SignedRequest>;

    /// A request that puts a part of an object there, of this length.
    async fn sign_part(
        &self,
        key: &str,
        handle: &str,
        number: u32,
        size: u64,
        expires_at: Timestamp,
    ) -> Result<SignedRequest>;

    /// A URL that hands an object out.
    async fn sign_get(&self, key: &str, delivery: &Delivery) -> Result<String>;

    /// Puts an object there.
    async fn put(&self, key: &str, content_type: &str, bytes: Bytes) -> Result<()>;

    /// What is there.
    async fn head(&self, key: &str) -> Result<Option<Object>>;

    /// The bytes of an object, or the part of them from and to these places; nothing where there is none.
    async fn read(&self, key: &str, range: Option<Range<u64>>) -> Result<Option<FileBytes>>;

    /// Makes an object at a new key of the one that is at another; false, and none made, where that is another version
    /// or gone.
    async fn copy(&self, from: &str, object: &Object, to: &str) -> Result<bool>;

    /// Deletes an object. One that is not there is left at that.
    async fn delete(&self, key: &str) -> Result<()>;

    /// Begins an object that comes in parts; gives what to call that.
    async fn begin_parts(&self, key: &str, content_type: &str) -> Result<String>;

    /// Puts a part of an object there.
    async fn put_part(&self, key: &str, handle: &str, number: u32, bytes: Bytes) -> Result<()>;

    /// The parts that have arrived, by number; nothing where they were put together or given up.
    async fn parts(&self, key: &str, handle: &str) -> Result<Option<Vec<Part>>>;

    /// Gives the parts up that have arrived. Where they were put together or given up, it is left at that.
    async fn abort_parts(&self, key: &str, handle: &str) -> Result<()>;

    /// Puts the parts together. False where they are no longer there: someone else did it, or gave up.
    async fn complete_parts(&self, key: &str, handle: &str, parts: &[Part]) -> Result<bool>;

    /// Deletes what interruptions left behind before this time that no key leads to.
    async fn tidy(&self, _before: Timestamp) -> Result<()> {
        Ok(())
    }
}

/// The address under which people and clients reach this server, without a slash at the end. It is known for sure only
/// when the server listens.
#[derive(Debug, Clone, Default)]
pub struct Origin(Arc<(OnceLock<String>, String)>);

impl Origin {
    /// An address that holds until another one is set.
    #[must_use]
    pub fn new(until_set: impl Into<String>) -> Self {
        Self(Arc::new((OnceLock::new(), until_set.into())))
    }

    /// Sets the address; only the first time counts.
    pub fn set(&self, origin: impl Into<String>) {
        // A second server over the same parts has the same address for people as the first.
        let _ = self.0.0.set(origin.into());
    }

    /// The address.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.0.get().unwrap_or(&self.0.1)
    }
}

/// Where files are kept, and how much of them.
#[derive(Clone)]
pub struct Files {
    /// The storage.
    pub store: Arc<dyn BlobStore>,
    /// The greatest length of a file in bytes.
    pub max_bytes: u64,
    /// The greatest length of all files together, in bytes.
    pub quota_bytes: Option<u64>,
    /// Where upload pages are.
    pub origin: Origin,
}
