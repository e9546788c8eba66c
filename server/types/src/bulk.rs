use serde::{Deserialize, Serialize};

use crate::{ApiError, MemoryId};

/// Change several memories in one go: label and move them, or forget them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BulkChange {
    /// The memories, 1 to [`crate::limits::IDS`].
    pub ids: Vec<MemoryId>,
    /// Labels to add to each.
    pub add_tags: Vec<String>,
    /// Labels to take from each.
    pub remove_tags: Vec<String>,
    /// The namespace to move each to.
    pub namespace: Option<String>,
    /// Put each into the trash instead. This goes with none of the above.
    pub forget: bool,
}

/// The outcome of a [`BulkChange`] or its undoing. Each memory is changed wholly or not at all, and is named once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulkReport {
    /// Those that were changed.
    pub changed: Vec<MemoryId>,
    /// Those that were as asked already.
    pub unchanged: Vec<MemoryId>,
    /// Those that could not be changed.
    pub skipped: Vec<Skipped>,
    /// What undoes the change; absent where there is nothing to undo.
    pub undo: Option<BulkUndo>,
}

/// A memory that could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The memory.
    pub id: MemoryId,
    /// Why.
    pub reason: ApiError,
}

/// What undoes a [`BulkChange`]: the browser keeps it and sends it back unchanged. It grants nothing that its sender may
/// not do anyway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BulkUndo {
    /// To be taken out of the trash.
    pub restore: Vec<MemoryId>,
    /// To get labels and namespace back.
    pub revert: Vec<RevertChange>,
}

/// A change to be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevertChange {
    /// The memory.
    pub id: MemoryId,
    /// The revision that the change made. A memory that was changed again since is left alone.
    pub revision: u32,
}
