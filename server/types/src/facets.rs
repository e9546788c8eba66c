use serde::{Deserialize, Serialize};

/// A value and how many memories have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueCount {
    /// The value.
    pub value: String,
    /// How many memories have it.
    pub memories: u64,
}

/// What the memories of a list have in common: for each property its most frequent values, the most frequent first,
/// at most [`crate::limits::FACET_VALUES`] of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facets {
    /// Their labels.
    pub tags: Vec<ValueCount>,
    /// Where they come from.
    pub sources: Vec<ValueCount>,
    /// The clients that stored them.
    pub clients: Vec<ValueCount>,
}
