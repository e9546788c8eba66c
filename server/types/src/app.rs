use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AppId, Door, MemoryId};

/// What a client of a user may do, as the user decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppGrants {
    /// It may read.
    pub can_read: bool,
    /// It may write.
    pub can_write: bool,
    /// Where.
    pub namespaces: NamespaceChoice,
}

/// A choice of namespaces, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamespaceChoice {
    /// All of them, later ones included.
    #[default]
    All,
    /// Only these.
    Only(Vec<String>),
    /// All but these, later ones included.
    AllBut(Vec<String>),
}

/// A client of a user, with what it may do: an app connected by OAuth, an API token, or a key of the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct App {
    /// Its id; that of the token where it is one.
    pub id: AppId,
    /// What it comes through.
    pub door: Door,
    /// What it is called: by itself, or, a token, by its owner.
    pub name: String,
    /// The domain that vouches for it: whose server holds the document that describes it. Absent where nobody does.
    pub domain: Option<String>,
    /// The host that it is led back to when it is let in.
    pub redirect_host: Option<String>,
    /// What it may do.
    pub grants: AppGrants,
    /// When it was let in.
    pub granted_at: Timestamp,
    /// From when on it has to ask again.
    pub expires_at: Option<Timestamp>,
    /// When it last did something.
    pub last_used_at: Option<Timestamp>,
    /// How often it did something.
    pub calls: u64,
    /// Since when its owner has it paused.
    pub paused_at: Option<Timestamp>,
    /// When its owner turned it away.
    pub revoked_at: Option<Timestamp>,
}

impl App {
    /// Whether it can do anything at this time.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// What a client did with memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It searched.
    Recall,
    /// It listed.
    List,
    /// It read one.
    Get,
    /// It stored one.
    Remember,
    /// It changed one.
    Update,
    /// It put some into the trash.
    Forget,
    /// It announced or stored a file.
    Upload,
    /// It asked where to get a file.
    Download,
    /// It looked which namespaces there are.
    Namespaces,
    /// It saved a session.
    SaveSession,
    /// It read a session.
    LoadSession,
    /// It listed sessions.
    ListSessions,
}

/// One call of a client: what it saw or changed, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppCall {
    /// When.
    pub at: Timestamp,
    /// What it did.
    pub action: Action,
    /// What it searched for, where it did.
    pub query: Option<String>,
    /// The memories in the answer.
    pub memories: Vec<SeenMemory>,
}

/// A memory in the answer to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenMemory {
    /// Its id.
    pub id: MemoryId,
    /// How it begins now; absent where it is gone.
    pub beginning: Option<String>,
}

/// What an app asks for when it sends a person here, before they have decided.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuthorizationRequest {
    /// The client's id.
    pub client_id: String,
    /// Its name, as it says.
    pub client_name: String,
    /// The domain that vouches for it.
    pub domain: Option<String>,
    /// Where it is to be told the outcome, byte for byte as it gave it.
    pub redirect_uri: String,
    /// The host of that, for people to read: a scheme where it has none.
    pub redirect_host: String,
    /// Whether that is a program on the person's own machine.
    pub is_loopback: bool,
    /// Whether it wants to write, too.
    pub wants_write: bool,
    /// The resource that it asked for, in its canonical form.
    pub resource: String,
    /// What it gets back unchanged.
    pub state: Option<String>,
    /// The PKCE challenge (RFC 7636, S256).
    pub code_challenge: String,
    /// SHA-256 of what the browser has to show for it, in base64.
    pub browser: String,
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuthorizationRequest").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

/// What a person decided about an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// What it may do.
    pub grants: AppGrants,
    /// For how many days.
    pub days: u32,
}
