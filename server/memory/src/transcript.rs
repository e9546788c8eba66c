//! Conversations: cutting a transcript into pieces, finding what is new in one that is saved again, and what of it is
//! worth searching.

mod merge;
mod pieces;
mod words;

use std::ops::Range;

use polymnemo_types::limits::MESSAGE_PART_BYTES;

pub use merge::{Known, Merge, Peek, Placement, merge};
pub use pieces::{Piece, pieces};
pub use words::{Words, words};

/// The parts of a message, as byte ranges that cover all of it: one, unless it is longer than [`MESSAGE_PART_BYTES`].
#[must_use]
pub fn parts(content: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::with_capacity(1 + content.len() / MESSAGE_PART_BYTES);
    let mut start = 0;
    while content.len() - start > MESSAGE_PART_BYTES {
        let end = content.floor_char_boundary(start + MESSAGE_PART_BYTES);
        parts.push(start..end);
        start = end;
    }
    parts.push(start..content.len());
    parts
}
