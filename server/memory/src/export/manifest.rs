use jiff::Timestamp;
use polymnemo_types::ExportCounts;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What the format is called.
pub const FORMAT: &str = "polymnemo-export";

/// Its version, which a change of any record changes.
pub const VERSION: u32 = 1;

/// The file that lists all others. It is the last one written.
pub(super) const PATH: &str = "manifest.json";

/// What an export is and what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// When the data was like this.
    pub created_at: Timestamp,
    /// What wrote it.
    pub generator: String,
    /// Whose it is.
    pub user: ManifestUser,
    /// How much of each there is.
    pub counts: ExportCounts,
    /// All other files, in the order in which they were written.
    pub files: Vec<ListedFile>,
    /// Files of the user whose bytes are not here.
    #[serde(default)]
    pub missing: Vec<Missing>,
}

/// Whose an export is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestUser {
    /// Their id.
    pub id: Uuid,
    /// Their name.
    pub name: String,
}

/// A file of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedFile {
    /// Its path.
    pub path: String,
    /// The number of its records, where it is JSON Lines.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub records: Option<u64>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256, as hexadecimal digits.
    pub sha256: String,
}

/// A file of the user whose bytes are not in an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// Its id.
    pub id: Uuid,
    /// Why.
    pub reason: String,
}
