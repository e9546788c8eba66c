use serde::{Deserialize, Serialize};

use crate::{Kind, Memory, MessageHit};

/// Search the store by meaning and by keyword at once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecallRequest {
    /// What to look for, in plain words.
    pub query: String,
    /// Only this namespace; all that the caller may read when absent.
    pub namespace: Option<String>,
    /// Only memories with all of these tags.
    pub tags: Vec<String>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only this source.
    pub source: Option<String>,
    /// Only what this client stored.
    pub client: Option<String>,
    /// Only what occurred at this time or later: RFC 3339, or a date in the user's time zone.
    pub after: Option<String>,
    /// Only what occurred before this time: RFC 3339, or a date in the user's time zone, whose whole day is then left out.
    pub before: Option<String>,
    /// Also memories that others correct.
    pub include_superseded: bool,
    /// Memories in the answer, 1 to 50.
    pub limit: Option<u32>,
    /// From the page before.
    pub cursor: Option<String>,
}

/// Why a memory was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Cosine similarity of the passage and what is telling in the query; absent where the passage is not embedded yet.
    pub similarity: Option<f32>,
    /// BM25 score of the passage.
    pub keyword: f32,
    /// The query's words that the passage holds, in lower case.
    pub matched: Vec<String>,
}

/// A memory that was found, with its best passage.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// The memory.
    pub memory: Memory,
    /// Its best passage, cut to the answer's budget.
    pub passage: String,
    /// Where the passage begins in the memory's text, in bytes of UTF-8; in that of the message, where it is a session.
    pub offset: u64,
    /// Where the passage is, if the memory is a session.
    pub message: Option<MessageHit>,
    /// True where the memory has more text than the passage shows.
    pub truncated: bool,
    /// The blended score, from 0 to 1; comparable within one answer only.
    pub score: f32,
    /// What the score is made of.
    pub why: Why,
}

/// The answer to a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recall {
    /// What was found, the best first.
    pub hits: Vec<Hit>,
    /// How many further memories were compared with the query and lay below the floor. With all hits, over all pages, that
    /// makes all memories that the filter leaves and that are embedded or hold a word of the query; but of a great store only
    /// the candidates are compared, which are the nearest by meaning and by keyword.
    pub below_threshold: u32,
    /// Passages that are searched by keyword only, because they are still being embedded.
    pub pending: u32,
    /// Opaque; present when there are more hits. Give it back with the same query.
    pub next_cursor: Option<String>,
}
