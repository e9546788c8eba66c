use serde::{Deserialize, Serialize};

use crate::FileStorage;

/// How the embedding model is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state", content = "reason")]
pub enum EmbedderStatus {
    /// It is being loaded; recall and remember wait for it.
    Loading,
    /// It works.
    Ready,
    /// It could not be loaded; the text says why and what to do.
    Failed(String),
}

/// The answer to `ping`: who the caller is to the server, and which parts are active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ping {
    /// The server's version.
    pub version: String,
    /// The user's name.
    pub user: String,
    /// The namespace that `remember` uses when none is given.
    pub default_namespace: String,
    /// The user's time zone, an IANA name.
    pub time_zone: String,
    /// The store in use.
    pub store: String,
    /// The embedding model in use.
    pub embedder: String,
    /// The length of its vectors.
    pub dimension: u32,
    /// How the model is doing.
    pub embedder_status: EmbedderStatus,
    /// Where files are kept.
    pub files: FileStorage,
}

/// A namespace that the caller may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceSummary {
    /// Its name.
    pub name: String,
    /// True where everyone may read it.
    pub shared: bool,
    /// How many memories the caller finds in it.
    pub memories: u64,
}
