use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Memory, MemoryId};

/// What is known of the file of a media memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaFile {
    /// Its name as it was given: any text but NUL, so it may hold line breaks, quotes and slashes. It is for people to
    /// read and never a path.
    pub filename: String,
    /// Its media type in lower case, without parameters but for `charset`.
    pub content_type: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal digits, where it is known.
    pub sha256: Option<String>,
    /// How a browser may show it.
    pub shown_as: ShownAs,
}

/// How a browser may show a file. Anything that could run, such as SVG or HTML, is [`ShownAs::Download`], and so is what
/// the server does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownAs {
    /// As an image made of pixels (`img`).
    Image,
    /// As a video (`video`).
    Video,
    /// As sound (`audio`).
    Audio,
    /// As a PDF document, in a tab or frame of its own.
    Pdf,
    /// As plain text; its beginning is to be had from the service.
    Text,
    /// Not at all: it is saved.
    Download,
}

/// A file that someone keeps: a memory of the kind media, whose text is the description, with its file.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Media {
    /// The memory; its preview is the beginning of the description, and its `file` what is here too.
    pub memory: Memory,
    /// The file.
    pub file: MediaFile,
    /// A signed URL of a small image of it (at most [`crate::limits::THUMBNAIL_PIXELS`] wide and high), good for
    /// [`crate::limits::VIEW_URL_SECONDS`]. Absent where there is none.
    pub thumbnail_url: Option<String>,
}

impl fmt::Debug for Media {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Media").field("memory", &self.memory).field("file", &self.file).finish_non_exhaustive()
    }
}

/// One file with all that a page about it shows.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct MediaDetails {
    /// The file.
    pub media: Media,
    /// The description, at most [`crate::limits::TEXT_BYTES`] of it.
    pub description: String,
    /// A signed URL that shows the file in a browser, good for [`crate::limits::VIEW_URL_SECONDS`]; absent where
    /// [`MediaFile::shown_as`] is [`ShownAs::Download`].
    pub view_url: Option<String>,
    /// A signed URL that saves the file under its name, good for [`crate::limits::DOWNLOAD_URL_SECONDS`].
    pub download_url: String,
}

impl fmt::Debug for MediaDetails {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MediaDetails").field("media", &self.media.memory.id).finish_non_exhaustive()
    }
}

/// The beginning of a text file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaText {
    /// The text, at most [`crate::limits::TEXT_BYTES`] long; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// True where the file goes on.
    pub truncated: bool,
}

/// List files, the newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListMediaRequest {
    /// Only this namespace; all that the caller may read when absent.
    pub namespace: Option<String>,
    /// Only files with all of these tags.
    pub tags: Vec<String>,
    /// Only this media type, `image/png`, or all of a family, `image` or `image/*`.
    pub content_type: Option<String>,
    /// Only files with this text in their name or description, compared without regard to case.
    pub text: Option<String>,
    /// Records on a page, 1 to 50.
    pub limit: Option<u32>,
    /// From the page before.
    pub cursor: Option<String>,
}

/// Announce a file that is about to be uploaded, or bring a small one along.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewUpload {
    /// The file's name, as it is to be called when it is downloaded: 1 to [`crate::limits::FILENAME_CHARS`] characters.
    pub filename: String,
    /// Its media type: `image/png`. What has no better one is `application/octet-stream`.
    pub content_type: String,
    /// Its exact length in bytes. May be absent only with `content_base64`.
    pub size: Option<u64>,
    /// What it is and why it matters: the only part of it that is searched.
    pub description: String,
    /// The namespace it goes to; the user's default one when absent. Made when it is new.
    pub namespace: Option<String>,
    /// Labels, compared without regard to case.
    pub tags: Vec<String>,
    /// Its SHA-256 in hexadecimal digits. Where given, other bytes are refused.
    pub sha256: Option<String>,
    /// The file itself in Base64, at most [`crate::limits::INLINE_BYTES`] decoded. It is then stored at once.
    pub content_base64: Option<String>,
    /// Whether it is to be sent in parts of [`crate::limits::PART_BYTES`], each of which can be repeated on its own.
    pub in_parts: bool,
}

impl fmt::Debug for NewUpload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewUpload")
            .field("filename", &self.filename)
            .field("content_type", &self.content_type)
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

/// A request that whoever holds it may send once or more often until it expires, without any other credential. It is a
/// secret: its `Debug` form does not show the URL.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedRequest {
    /// The HTTP method; no other one is accepted.
    pub method: String,
    /// The URL.
    pub url: String,
    /// Headers that must be sent exactly as they are here. A browser sets `content-length` by itself, to the size of
    /// what it sends; the others it can be told to send.
    pub headers: Vec<Header>,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

impl fmt::Debug for SignedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SignedRequest")
            .field("method", &self.method)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

/// A header of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Its name, in lower case.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// An upload that was announced and is not confirmed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upload {
    /// Its id; the memory that it becomes has the same.
    pub id: MemoryId,
    /// What was promised.
    pub file: MediaFile,
    /// What is to be the memory's text.
    pub description: String,
    /// The namespace it goes to.
    pub namespace: String,
    /// Its labels.
    pub tags: Vec<String>,
    /// The client that announced it, as far as known.
    pub client: Option<String>,
    /// Whether it is sent in parts.
    pub in_parts: bool,
    /// When it was announced.
    pub created_at: Timestamp,
    /// When it is given up and its bytes are deleted.
    pub expires_at: Timestamp,
}

/// The answer to [`NewUpload`].
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct CreatedUpload {
    /// The upload; the memory that it becomes has the same id.
    pub upload: Upload,
    /// The file as it is stored, where it came along and nothing is left to do. All of the following is absent then.
    pub stored: Option<Media>,
    /// How to send the bytes in one go; absent where they are sent in parts.
    pub request: Option<SignedRequest>,
    /// The same as a line for a shell, with the file in the working directory.
    pub curl: Option<String>,
    /// A page where a person can drop the file, without signing in: a secret that is good for this upload alone, until it
    /// is confirmed.
    pub upload_page: Option<String>,
}

impl fmt::Debug for CreatedUpload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CreatedUpload").field("upload", &self.upload).finish_non_exhaustive()
    }
}

/// How far an upload in parts has come, and how to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadParts {
    /// The length of each part but the last one, in bytes.
    pub part_bytes: u64,
    /// How many parts there are; they are numbered from 1. The last one has what is left.
    pub count: u32,
    /// The numbers of those that have arrived, in ascending order.
    pub present: Vec<u32>,
    /// How to send those that were asked for.
    pub requests: Vec<PartRequest>,
}

/// How to send one part of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRequest {
    /// Its number, from 1.
    pub number: u32,
    /// Where it begins in the file, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub size: u64,
    /// The request, whose body is those bytes.
    pub request: SignedRequest,
}

/// Where to get a file for a little while.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DownloadUrl {
    /// The memory.
    pub id: MemoryId,
    /// The file.
    pub file: MediaFile,
    /// The signed URL, which saves the file under its name: a secret.
    pub url: String,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

impl fmt::Debug for DownloadUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DownloadUrl").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Where files are kept, and what that means for whoever uploads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStorage {
    /// What is in use.
    pub backend: BlobBackend,
    /// The origin that browsers send files to and load them from, where it is not the server itself: `https://host`. Where
    /// absent, all URLs of files are of the server itself, and its pages may use path and query alone.
    pub origin: Option<String>,
    /// The greatest length of a file in bytes.
    pub max_bytes: u64,
}

/// A place for the bytes of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(inline))]
#[serde(rename_all = "snake_case")]
pub enum BlobBackend {
    /// There is none: no files are kept.
    None,
    /// A directory of the server.
    Local,
    /// A service that speaks S3.
    S3,
}
