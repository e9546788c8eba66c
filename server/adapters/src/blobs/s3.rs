//! A service that speaks S3 as a storage: AWS, R2, MinIO and others.

use std::{
    ops::Range,
    time::{Duration, SystemTime},
};

use async_trait::async_trait;
use aws_sdk_s3::{
    Client,
    config::{
        BehaviorVersion, Credentials, Region, RequestChecksumCalculation, ResponseChecksumValidation,
        retry::RetryConfig, timeout::TimeoutConfig,
    },
    error::{DisplayErrorContext, SdkError},
    presigning::{PresignedRequest, PresigningConfig},
    primitives::ByteStream,
    types::{ChecksumMode, CompletedMultipartUpload, CompletedPart},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use jiff::Timestamp;
use polymnemo_memory::{
    Error, Result,
    ports::{BlobStore, Delivery, FileBytes, Object, Part, Promise},
};
use polymnemo_types::{BlobBackend, Header, SignedRequest};

use super::{content_disposition, unavailable};

/// How long to wait for a connection, for the beginning of an answer, and for a whole operation with its second attempt.
const CONNECT: Duration = Duration::from_secs(5);
const READ: Duration = Duration::from_secs(20);
const OPERATION: Duration = Duration::from_secs(40);
/// The same for copying a file, and for putting its parts together.
const PATIENCE: Duration = Duration::from_secs(300);

/// Where a bucket is, and who we are there.
#[derive(Clone)]
pub struct S3Options {
    /// The bucket.
    pub bucket: String,
    /// Its region; services without regions take `auto` or `us-east-1`.
    pub region: String,
    /// The service, unless it is that of AWS.
    pub endpoint_url: Option<String>,
    /// The same service as clients reach it, where that is another address.
    pub public_endpoint_url: Option<String>,
    /// The id of the access key.
    pub access_key_id: String,
    /// The access key.
    pub secret_access_key: String,
    /// Whether the bucket is in the path of URLs instead of their host.
    pub path_style: bool,
}

impl std::fmt::Debug for S3Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("S3Options").field("bucket", &self.bucket).finish_non_exhaustive()
    }
}

/// A bucket as a storage.
#[derive(Debug, Clone)]
pub struct S3Blobs {
    client: Client,
    /// Signs what clients send, for the address at which they reach the service.
    public: Client,
    bucket: String,
    origin: String,
}

impl S3Blobs {
    /// A storage in this bucket, which nobody is asked about yet.
    ///
    /// # Errors
    ///
    /// Where the address is none.
    pub async fn new(options: &S3Options) -> Result<Self> {
        let public_endpoint = options.public_endpoint_url.as_ref().or(options.endpoint_url.as_ref());
        let mut storage = Self {
            client: client(options, options.endpoint_url.as_ref()),
            public: client(options, public_endpoint),
            bucket: options.bucket.clone(),
            origin: String::new(),
        };
        // Where the bucket is in the host, only the client knows what that makes of the address.
        let signed = storage.public.get_object().bucket(&storage.bucket).key("x").presigned(lasting(60)?).await;
        let signed = signed.map_err(|error| from_sdk(&error))?;
        let url = url::Url::parse(signed.uri()).map_err(unavailable)?;
        storage.origin = url.origin().ascii_serialization();
        Ok(storage)
    }
}

fn client(options: &S3Options, endpoint: Option<&String>) -> Client {
    let credentials =
        Credentials::new(&options.access_key_id, &options.secret_access_key, None, None, "polymnemo settings");
    let timeouts =
        TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(READ).operation_timeout(OPERATION).build();
    let mut config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(options.region.clone()))
        .credentials_provider(credentials)
        .force_path_style(options.path_style)
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(2))
        // Not every service knows the checksums that AWS has come to compute by default.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
    if let Some(endpoint) = endpoint {
        config = config.endpoint_url(endpoint);
    }
    Client::from_conf(config.build())
}

/// For what the service needs the longer for, the longer the file is.
fn patiently() -> aws_sdk_s3::config::Builder {
    let timeouts = TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(PATIENCE).operation_timeout(PATIENCE);
    aws_sdk_s3::Config::builder().timeout_config(timeouts.build())
}

/// A signature that is good from now on for so many seconds.
fn lasting(seconds: u64) -> Result<PresigningConfig> {
    PresigningConfig::expires_in(Duration::from_secs(seconds)).map_err(|error| Error::Internal(error.into()))
}

/// A signature that is good from one time to another.
fn between(from: Timestamp, to: Timestamp) -> Result<PresigningConfig> {
    let seconds = u64::try_from(to.as_second() - from.as_second()).unwrap_or_default().max(1);
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(from.as_second()).unwrap_or_default());
    PresigningConfig::builder()
        .start_time(start)
        .expires_in(Duration::from_secs(seconds))
        .build()
        .map_err(|error| Error::Internal(error.into()))
}

/// What the service said, or why it said nothing.
fn from_sdk<E>(error: &SdkError<E>) -> Error
where
    E: std::error::Error + Send + Sync + 'static,
{
    unavailable(DisplayErrorContext(error).to_string())
}

/// Nothing where the service answers with one of these.
fn unless<T, E>(statuses: &[u16], outcome: Result<T, SdkError<E>>) -> Result<Option<T>>
where
    E: std::error::Error + Send + Sync + 'static,
{
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.raw_response().is_some_and(|answer| statuses.contains(&answer.status().as_u16())) => {
            Ok(None)
        }
        Err(error) => Err(from_sdk(&error)),
    }
}

fn signed_request(signed: &PresignedRequest, expires_at: Timestamp) -> SignedRequest {
    let headers =
        signed.headers().map(|(name, value)| Header { name: name.to_ascii_lowercase(), value: value.to_owned() });
    SignedRequest {
        method: signed.method().to_owned(),
        url: signed.uri().to_owned(),
        headers: headers.filter(|header| header.name != "host").collect(),
        expires_at,
    }
}

/// The greatest length that the service counts.
fn length(size: u64) -> Result<i64> {
    i64::try_from(size).map_err(|error| Error::Internal(error.into()))
}

fn number(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[async_trait]
impl BlobStore for S3Blobs {
    fn backend(&self) -> BlobBackend {
        BlobBackend::S3
    }

    fn origin(&self) -> Option<String> {
        Some(self.origin.clone())
    }

    async fn sign_put(&self, key: &str, promise: &Promise, expires_at: Timestamp) -> Result<SignedRequest> {
        let signing = between(Timestamp::now(), expires_at)?;
        let put = self
            .public
            .put_object()
            .bucket(&self.bucket)
            .key(key)
            .content_length(length(promise.size)?)
            .content_type(&promise.content_type)
            .set_checksum_sha256(promise.sha256.map(|digest| STANDARD.encode(digest)));
        let signed = put.presigned(signing).await.map_err(|error| from_sdk(&error))?;
        Ok(signed_request(&signed, expires_at))
    }

    async fn sign_part(
        &self,
        key: &str,
        handle: &str,
        part: u32,
        size: u64,
        expires_at: Timestamp,
    ) -> Result<SignedRequest> {
        let signing = between(Timestamp::now(), expires_at)?;
        let put = self
            .public
            .upload_part()
            .bucket(&self.bucket)
            .key(key)
            .upload_id(handle)
            .part_number(number(part))
            .content_length(length(size)?);
        let signed = put.presigned(signing).await.map_err(|error| from_sdk(&error))?;
        Ok(signed_request(&signed, expires_at))
    }

    async fn sign_get(&self, key: &str, delivery: &Delivery) -> Result<String> {
        let get = self
            .public
            .get_object()
            .bucket(&self.bucket)
            .key(key)
            .response_content_type(&delivery.content_type)
            .response_content_disposition(content_disposition(&delivery.filename, delivery.inline))
            .response_cache_control(if delivery.inline { "private, max-age=3600" } else { "no-store" });
        let signing = between(delivery.valid_from, delivery.expires_at)?;
        let signed = get.presigned(signing).await.map_err(|error| from_sdk(&error))?;
        Ok(signed.uri().to_owned())
    }

    async fn put(&self, key: &str, content_type: &str, bytes: Bytes) -> Result<()> {
        let put = self.client.put_object().bucket(&self.bucket).key(key).content_type(content_type);
        put.body(ByteStream::from(bytes)).send().await.map_err(|error| from_sdk(&error))?;
        Ok(())
    }

    async fn head(&self, key: &str) -> Result<Option<Object>> {
        let head = self.client.head_object().bucket(&self.bucket).key(key).checksum_mode(ChecksumMode::Enabled);
        let Some(found) = unless(&[404], head.send().await)? else { return Ok(None) };
        // The checksum of an object put together of parts is one of checksums, and marked by their number.
        let sha256 = found.checksum_sha256().and_then(|digest| STANDARD.decode(digest).ok()?.try_into().ok());
        Ok(Some(Object {
            size: u64::try_from(found.content_length().unwrap_or_default()).unwrap_or_default(),
            content_type: found.content_type().map(str::to_owned),
            sha256,
            version: found.e_tag().unwrap_or_default().to_owned(),
        }))
    }

    async fn read(&self, key: &str, range: Option<Range<u64>>) -> Result<Option<FileBytes>> {
        let range = range.map(|range| format!("bytes={}-{}", range.start, range.end.saturating_sub(1)));
        let get = self.client.get_object().bucket(&self.bucket).key(key).set_range(range);
        let Some(found) = unless(&[404], get.send().await)? else { return Ok(None) };
        let bytes = stream::unfold(found.body, |mut body| async {
            let next = body.next().await?;
            Some((next.map_err(std::io::Error::other), body))
        });
        Ok(Some(bytes.boxed()))
    }

    async fn copy(&self, from: &str, object: &Object, to: &str) -> Result<bool> {
        let copy = self
            .client
            .copy_object()
            .bucket(&self.bucket)
            .key(to)
            .copy_source(format!("{}/{from}", self.bucket))
            .set_copy_source_if_match(Some(object.version.clone()).filter(|version| !version.is_empty()));
        let copied = copy.customize().config_override(patiently()).send().await;
        Ok(unless(&[404, 412], copied)?.is_some())
    }

    async fn delete(&self, key: &str) -> Result<()> {
        let delete = self.client.delete_object().bucket(&self.bucket).key(key);
        unless(&[404], delete.send().await).map(|_| ())
    }

    async fn begin_parts(&self, key: &str, content_type: &str) -> Result<String> {
        let begin = self.client.create_multipart_upload().bucket(&self.bucket).key(key).content_type(content_type);
        let begun = begin.send().await.map_err(|error| from_sdk(&error))?;
        begun.upload_id().map(str::to_owned).ok_or_else(|| unavailable("an upload in parts without an id"))
    }

    async fn put_part(&self, key: &str, handle: &str, part: u32, bytes: Bytes) -> Result<()> {
        let put = self.client.upload_part().bucket(&self.bucket).key(key).upload_id(handle).part_number(number(part));
        put.body(ByteStream::from(bytes)).send().await.map_err(|error| from_sdk(&error))?;
        Ok(())
    }

    async fn parts(&self, key: &str, handle: &str) -> Result<Option<Vec<Part>>> {
        let mut parts = Vec::new();
        let mut marker = None;
        loop {
            let list = self.client.list_parts().bucket(&self.bucket).key(key).upload_id(handle);
            let Some(page) = unless(&[404], list.set_part_number_marker(marker).send().await)? else { return Ok(None) };
            for part in page.parts() {
                let Some(number) = part.part_number() else { continue };
                parts.push(Part {
                    number: u32::try_from(number).unwrap_or_default(),
                    size: u64::try_from(part.size().unwrap_or_default()).unwrap_or_default(),
                    tag: part.e_tag().unwrap_or_default().to_owned(),
                });
            }
            marker = page.next_part_number_marker().map(str::to_owned);
            if page.is_truncated() != Some(true) || marker.is_none() {
                // They are listed in order by most, and put together in order by all.
                parts.sort_unstable_by_key(|part| part.number);
                return Ok(Some(parts));
            }
        }
    }

    async fn abort_parts(&self, key: &str, handle: &str) -> Result<()> {
        let abort = self.client.abort_multipart_upload().bucket(&self.bucket).key(key).upload_id(handle);
        unless(&[404], abort.send().await).map(|_| ())
    }

    async fn complete_parts(&self, key: &str, handle: &str, parts: &[Part]) -> Result<bool> {
        let parts = parts.iter().map(|part| {
            let tag = Some(part.tag.clone()).filter(|tag| !tag.is_empty());
            CompletedPart::builder().part_number(number(part.number)).set_e_tag(tag).build()
        });
        let all = CompletedMultipartUpload::builder().set_parts(Some(parts.collect())).build();
        let complete = self.client.complete_multipart_upload().bucket(&self.bucket).key(key).upload_id(handle);
        let complete = complete.multipart_upload(all).customize().config_override(patiently());
        Ok(unless(&[404], complete.send().await)?.is_some())
    }
}
