use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A state of a memory in its history, and what it changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevisionView {
    /// Its number, from 1.
    pub revision: u32,
    /// True for the state that the memory has now.
    pub current: bool,
    /// When this state began.
    pub created_at: Timestamp,
    /// The client that made it.
    pub client: Option<String>,
    /// The labels.
    pub tags: Vec<String>,
    /// The source.
    pub source: Option<String>,
    /// The namespace.
    pub namespace: String,
    /// The time it speaks of.
    pub occurred_at: Timestamp,
    /// The length of its text in bytes of UTF-8.
    pub bytes: u64,
    /// What it changed of the state before; absent for the first one.
    pub changes: Option<RevisionChanges>,
}

/// What a state changed of the one before it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RevisionChanges {
    /// The text, where it is another one.
    pub text: Option<Difference>,
    /// Labels that it has and the state before had not.
    pub added_tags: Vec<String>,
    /// Labels that the state before had and it has not.
    pub removed_tags: Vec<String>,
    /// True where the source is another one.
    pub source_changed: bool,
    /// The source before, where it is another one and there was one.
    pub previous_source: Option<String>,
    /// The namespace before, where it is another one.
    pub previous_namespace: Option<String>,
    /// The time before, where it is another one.
    pub previous_occurred_at: Option<Timestamp>,
}

/// How a text became another one, by words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The parts of both texts, in reading order; what was removed stands before what took its place.
    pub parts: Vec<DiffPart>,
    /// True where there are more parts than are shown.
    pub truncated: bool,
}

/// A part of a [`Difference`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiffPart {
    /// Both texts have it.
    Kept(String),
    /// Only the old text has it.
    Removed(String),
    /// Only the new text has it.
    Added(String),
    /// Both texts have it; it is far from any change and left out. Holds its length in characters.
    Skipped(u64),
}
