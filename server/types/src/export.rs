use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ExportId;

/// How far an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// It was asked for.
    Queued,
    /// It is being written.
    Running,
    /// It can be fetched.
    Ready,
    /// It could not be written.
    Failed,
    /// Its time is over; it was deleted.
    Expired,
}

/// All that a user has, as a file to take away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Export {
    /// Its id.
    pub id: ExportId,
    /// How far it is.
    pub state: ExportState,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When it was finished, or failed.
    pub finished_at: Option<Timestamp>,
    /// Until when it can be fetched.
    pub expires_at: Option<Timestamp>,
    /// How much of the work is done, in thousandths.
    pub progress: u32,
    /// Its length in bytes.
    pub bytes: Option<u64>,
    /// Its SHA-256, as hexadecimal digits.
    pub sha256: Option<String>,
    /// What is in it.
    pub counts: Option<ExportCounts>,
}

impl Export {
    /// Whether it is waited for.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        matches!(self.state, ExportState::Queued | ExportState::Running)
    }
}

/// How much of each is in an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExportCounts {
    /// Namespaces.
    pub namespaces: u64,
    /// Memories, those in the trash included; neither sessions nor files.
    pub memories: u64,
    /// Earlier states of memories, sessions and files.
    pub revisions: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages of sessions.
    pub messages: u64,
    /// Earlier states of messages.
    pub message_revisions: u64,
    /// Files.
    pub media: u64,
    /// The length of all files together, in bytes.
    pub media_bytes: u64,
    /// Files whose bytes the storage no longer had.
    pub missing: u64,
    /// API tokens.
    pub tokens: u64,
    /// Apps.
    pub apps: u64,
    /// Calls of apps and tokens.
    pub calls: u64,
}
