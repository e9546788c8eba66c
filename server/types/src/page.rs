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
    /// The greatest number of clients that are kept in mind for a user, the last seen ones.
    pub const CLIENTS: u32 = 100;
}
