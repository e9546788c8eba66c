use serde::{Deserialize, Serialize};

/// One page of a longer list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page<T> {
    /// The records of this page, in the list's order.
    pub items: Vec<T>,
    /// How many records the whole list has, over all pages.
    pub total: u64,
    /// Opaque; present when there is another page. Give it back unchanged to get that page.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next_cursor: Option<String>,
}

/// The bounds that the service holds its inputs and outputs to.
pub mod limits {
    /// The greatest length of one memory in bytes of UTF-8: 1 MiB.
    pub const CONTENT_BYTES: usize = 1 << 20;
    /// The number of records a page has when the caller does not say.
    pub const PAGE_DEFAULT: u32 = 10;
    /// The greatest number of records on a page.
    pub const PAGE_MAX: u32 = 50;
    /// The greatest number of tags on a memory or in a filter.
    pub const TAGS: usize = 32;
    /// The greatest length of a tag, in characters.
    pub const TAG_CHARS: usize = 64;
    /// The greatest length of a namespace's name, in characters.
    pub const NAMESPACE_CHARS: usize = 64;
    /// The greatest length of a source, in characters.
    pub const SOURCE_CHARS: usize = 200;
    /// The greatest length of an idempotency key, in characters.
    pub const IDEMPOTENCY_KEY_CHARS: usize = 200;
    /// The greatest length of a query, in characters.
    pub const QUERY_CHARS: usize = 4_000;
    /// The greatest number of ids in one request.
    pub const IDS: usize = 100;
    /// The greatest total of passages in one recall answer, in bytes of UTF-8.
    pub const RECALL_BYTES: usize = 24_000;
    /// The greatest length of one passage in a recall answer, in bytes of UTF-8.
    pub const PASSAGE_BYTES: usize = 1_500;
    /// The length of the preview of a memory in a list, in characters.
    pub const PREVIEW_CHARS: usize = 200;
    /// The greatest part of a memory's text in one answer, in bytes of UTF-8.
    pub const TEXT_BYTES: usize = 32_000;
    /// The number of days that a forgotten memory stays in the trash.
    pub const TRASH_DAYS: u32 = 30;
    /// The greatest number of values that are counted of each property of a list.
    pub const FACET_VALUES: u32 = 50;
    /// The greatest length of what a difference between two texts shows, in bytes of UTF-8.
    pub const DIFFERENCE_BYTES: usize = 32_000;
    /// The greatest number of days after which an app has to ask again.
    pub const APP_DAYS: u32 = 90;
    /// The greatest length of the name of an app, in characters.
    pub const APP_NAME_CHARS: usize = 100;
    /// The greatest number of tokens that a user has in use at once.
    pub const TOKENS: u32 = 100;
    /// The greatest length of a token's name, in characters.
    pub const TOKEN_NAME_CHARS: usize = 100;
    /// The greatest length of what a client calls a session or a message, in characters.
    pub const SESSION_ID_CHARS: usize = 200;
    /// The greatest length of a session's title, in characters.
    pub const TITLE_CHARS: usize = 200;
    /// The greatest length of a session's metadata, in bytes of JSON.
    pub const METADATA_BYTES: usize = 16_000;
    /// The greatest length of a role, in characters.
    pub const ROLE_CHARS: usize = 64;
    /// The greatest length of one message, in bytes of UTF-8: 4 MiB.
    pub const MESSAGE_BYTES: usize = 4 << 20;
    /// The greatest number of messages of a session.
    pub const SESSION_MESSAGES: u32 = 200_000;
    /// The greatest length of a session, in bytes of UTF-8: 64 MiB.
    pub const SESSION_BYTES: u64 = 64 << 20;
    /// The greatest length of a part of a message, in bytes of UTF-8.
    pub const MESSAGE_PART_BYTES: usize = 3_000;
    /// The greatest length of the beginning of a message in a transcript, in bytes of UTF-8.
    pub const MESSAGE_VIEW_BYTES: usize = 16_000;
    /// The greatest number of messages of a transcript read at once.
    pub const MESSAGE_VIEWS: u32 = 100;
    /// The number of parts that a page of a session has when the caller does not say.
    pub const SESSION_PAGE_DEFAULT: u32 = 10;
    /// The greatest number of parts on a page of a session.
    pub const SESSION_PAGE_MAX: u32 = 50;
    /// The greatest number of clients that are kept in mind for a user, the last seen ones.
    pub const CLIENTS: u32 = 100;
    /// The greatest length of the name of a file, in characters.
    pub const FILENAME_CHARS: usize = 255;
    /// The greatest length of a media type, in characters.
    pub const CONTENT_TYPE_CHARS: usize = 127;
    /// The greatest length of a file that comes inside a request, in bytes before it is encoded.
    pub const INLINE_BYTES: usize = 1_000_000;
    /// The length of the parts in which a large file is uploaded, in bytes.
    pub const PART_BYTES: u64 = 8 << 20;
    /// The greatest number of parts whose requests are signed at once.
    pub const PART_REQUESTS: usize = 100;
    /// The greatest number of uploads that a user has under way at once.
    pub const UPLOADS: u32 = 100;
    /// The number of hours after which an upload that was not confirmed is given up.
    pub const UPLOAD_HOURS: u32 = 24;
    /// How long a request that uploads a file is good for, in seconds: an upload that takes longer is not cut off by it,
    /// for it counts when a request begins.
    pub const UPLOAD_URL_SECONDS: u32 = 3_600;
    /// How long a URL that saves a file is good for, in seconds.
    pub const DOWNLOAD_URL_SECONDS: u32 = 300;
    /// How long a URL that shows a file on a page is good for, in seconds: as long as someone may watch a film.
    pub const VIEW_URL_SECONDS: u32 = 3 * 3_600;
    /// The number of days that an export can be fetched.
    pub const EXPORT_DAYS: u32 = 7;
    /// The greatest width and height of a small image of a file.
    pub const THUMBNAIL_PIXELS: u32 = 400;
}
