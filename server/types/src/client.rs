use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a request came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// The web app, with a session cookie.
    Browser,
    /// An API token made by the user.
    ApiToken,
    /// An app that the user connected by OAuth.
    OauthApp,
    /// A key from the settings.
    StaticKey,
    /// A secret path for clients that can send no header.
    CapabilityPath,
    /// Standard input of a process that the user started.
    Stdio,
}

/// A client that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSighting {
    /// Its own name for itself, where it gives one.
    pub client: Option<String>,
    /// What it came through.
    pub door: Door,
    /// When it was last seen, to the minute.
    pub last_seen_at: Timestamp,
}
