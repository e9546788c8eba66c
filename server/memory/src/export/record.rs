//! What an export holds, a type for each of its files. Their fields are the format: a change of them is a new version.

use jiff::Timestamp;
use polymnemo_types::{Kind, MemoryId, MessageFormat};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Who the user was. Never restored: whoever restores is signed in as someone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRecord {
    /// Their id.
    pub id: Uuid,
    /// Their name.
    pub name: String,
    /// When they first signed in.
    pub created_at: Timestamp,
    /// Who they are to issuers of identities.
    pub identities: Vec<IdentityRecord>,
}

/// Who a user is to an issuer of identities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityRecord {
    /// The issuer.
    pub issuer: String,
    /// What it calls them.
    pub subject: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// What a user chose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsRecord {
    /// Where clients store that name no namespace.
    pub default_namespace: String,
    /// The IANA name of their time zone.
    pub time_zone: String,
    /// The language of the web app: `en` or `zh`; null for that of the browser.
    pub language: Option<String>,
    /// `system`, `light` or `dark`.
    pub theme: String,
}

/// A namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceRecord {
    /// Its name.
    pub name: String,
    /// Whether its owner lets everyone on the server read it.
    pub shared: bool,
    /// Whether the settings of the server do.
    pub shared_by_server: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// A message of a session, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageOf {
    /// The session.
    pub session: MemoryId,
    /// The place of the message in it, from 1.
    pub number: u32,
}

/// A memory; also what a session and a file are to search, to namespaces and to the trash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// Its id.
    pub id: MemoryId,
    /// What it is.
    pub kind: Kind,
    /// Its namespace.
    pub namespace: String,
    /// Its text; the title of a session, the description of a file.
    pub content: String,
    /// Its labels, in the order given.
    pub tags: Vec<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// The client that stored it.
    pub client: Option<String>,
    /// The client that made its current state.
    pub changed_by: Option<String>,
    /// The time it speaks of.
    pub occurred_at: Timestamp,
    /// When it was stored.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// The number of its current state.
    pub revision: u32,
    /// What it was stored to correct.
    pub supersedes: Vec<MemoryId>,
    /// What corrects it.
    pub superseded_by: Option<MemoryId>,
    /// Since when.
    pub superseded_at: Option<Timestamp>,
    /// Since when it is in the trash.
    pub forgotten_at: Option<Timestamp>,
    /// The key of the request that stored it.
    pub idempotency_key: Option<String>,
    /// The message that it was taken from.
    pub origin: Option<MessageOf>,
}

/// An earlier state of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionRecord {
    /// The memory.
    pub id: MemoryId,
    /// The number of the state.
    pub revision: u32,
    /// Its namespace then.
    pub namespace: String,
    /// Its text then.
    pub content: String,
    /// Its labels then.
    pub tags: Vec<String>,
    /// Where it came from.
    pub source: Option<String>,
    /// The client that made this state.
    pub client: Option<String>,
    /// The time it spoke of.
    pub occurred_at: Timestamp,
    /// When this state began.
    pub created_at: Timestamp,
}

/// What makes a memory a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Its id, that of its memory.
    pub id: MemoryId,
    /// What the client calls it.
    pub key: String,
    /// `messages` or `text`.
    pub form: String,
    /// The JSON object that the client gave, as text, as it gave it.
    pub metadata: Option<String>,
    /// The time of its last message, else when it was last saved.
    pub last_at: Timestamp,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRecord {
    /// Its session.
    pub session: MemoryId,
    /// Its place in the session, from 1.
    pub number: u32,
    /// Who speaks.
    pub role: String,
    /// When it was said.
    pub said_at: Option<Timestamp>,
    /// What the client calls it.
    pub client_id: Option<String>,
    /// `text` or `blocks`.
    pub format: String,
    /// What it says; blocks as JSON text, as they were given.
    pub content: String,
    /// The number of its current state.
    pub revision: u32,
    /// When this state was stored.
    pub stored_at: Timestamp,
}

impl MessageRecord {
    /// How the content is to be read.
    pub(crate) fn message_format(&self) -> MessageFormat {
        if self.format == "blocks" { MessageFormat::Blocks } else { MessageFormat::Text }
    }
}

/// What a message said before it was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageRevisionRecord {
    /// Its session.
    pub session: MemoryId,
    /// The place of the message in the session.
    pub number: u32,
    /// The number of the state.
    pub revision: u32,
    /// Who spoke.
    pub role: String,
    /// When it was said.
    pub said_at: Option<Timestamp>,
    /// `text` or `blocks`.
    pub format: String,
    /// What it said.
    pub content: String,
    /// When this state was stored.
    pub stored_at: Timestamp,
}

/// What makes a memory a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaRecord {
    /// Its id, that of its memory.
    pub id: MemoryId,
    /// What it is called.
    pub filename: String,
    /// Its media type.
    pub content_type: String,
    /// Its length in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes, as hexadecimal digits.
    pub sha256: Option<String>,
    /// Where its bytes are in the export; null where the storage no longer had them.
    pub file: Option<String>,
    /// Where its bytes are in the storage. No part of the export.
    #[serde(skip)]
    pub object_key: String,
}

/// An API token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRecord {
    /// Its id.
    pub id: Uuid,
    /// What its owner calls it.
    pub name: String,
    /// How its secret began.
    pub hint: String,
    /// Whether it could write.
    pub can_write: bool,
    /// Whether it was good in a URL.
    pub in_url: bool,
    /// The namespaces it was good for; null for all.
    pub namespaces: Option<Vec<String>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
    /// Since when it is paused.
    pub paused_at: Option<Timestamp>,
    /// When its owner revoked it.
    pub revoked_at: Option<Timestamp>,
    /// How often it was used.
    pub calls: u64,
}

/// A client that the user let in, with what it may do, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppRecord {
    /// Its id.
    pub id: Uuid,
    /// What it comes through.
    pub door: String,
    /// What it calls itself in requests.
    pub client_id: String,
    /// Its name.
    pub name: String,
    /// The domain that vouches for it.
    pub domain: Option<String>,
    /// The host that it is led back to.
    pub redirect_host: Option<String>,
    /// Whether it may read.
    pub can_read: bool,
    /// Whether it may write.
    pub can_write: bool,
    /// The namespaces: all when null, else these, or, with `all_but`, all others.
    pub namespaces: Option<Vec<String>>,
    /// See `namespaces`.
    pub all_but: bool,
    /// When it was let in.
    pub granted_at: Timestamp,
    /// From when on it has to ask again.
    pub expires_at: Option<Timestamp>,
    /// When it was last used.
    pub last_used_at: Option<Timestamp>,
    /// Since when it is paused.
    pub paused_at: Option<Timestamp>,
    /// When its owner turned it away.
    pub revoked_at: Option<Timestamp>,
    /// How often it did something.
    pub calls: u64,
}

/// What an app or a token did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The app or token.
    pub app: Uuid,
    /// When.
    pub at: Timestamp,
    /// What it did.
    pub action: String,
    /// What it searched for.
    pub query: Option<String>,
    /// The memories in the answer.
    pub memories: Vec<MemoryId>,
}

/// A client that was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SightingRecord {
    /// Its own name for itself; empty where it gave none.
    pub client: String,
    /// What it came through.
    pub door: String,
    /// When it was last seen.
    pub last_seen_at: Timestamp,
}

/// A kind of records, in the order in which an export has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// Namespaces, by name.
    Namespaces,
    /// Memories of all kinds, by id.
    Memories,
    /// Their earlier states, by memory and number.
    Revisions,
    /// Sessions, by id.
    Sessions,
    /// Their messages, by session and place.
    Messages,
    /// The earlier states of those, by session, place and number.
    MessageRevisions,
    /// Files, by id.
    Media,
    /// API tokens, by id.
    Tokens,
    /// Apps, by id.
    Apps,
    /// Calls of both, in the order in which they were noted.
    Calls,
    /// Clients that were seen, by name and door.
    Sightings,
    /// Once more the memories and files that are not in the trash, by namespace and time.
    ReadableMemories,
    /// Once more the sessions that are not in the trash, by id.
    ReadableSessions,
    /// Once more their messages.
    ReadableMessages,
}

impl Part {
    /// Those that have a file of JSON Lines, in the order in which they are written; media come last, after their bytes.
    pub const FILES: [Self; 11] = [
        Self::Namespaces,
        Self::Memories,
        Self::Revisions,
        Self::Sessions,
        Self::Messages,
        Self::MessageRevisions,
        Self::Tokens,
        Self::Apps,
        Self::Calls,
        Self::Sightings,
        Self::Media,
    ];

    /// The file that holds its records.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces.jsonl",
            Self::Memories | Self::ReadableMemories => "memories.jsonl",
            Self::Revisions => "revisions.jsonl",
            Self::Sessions | Self::ReadableSessions => "sessions.jsonl",
            Self::Messages | Self::ReadableMessages => "messages.jsonl",
            Self::MessageRevisions => "message_revisions.jsonl",
            Self::Media => "media.jsonl",
            Self::Tokens => "tokens.jsonl",
            Self::Apps => "apps.jsonl",
            Self::Calls => "calls.jsonl",
            Self::Sightings => "clients.jsonl",
        }
    }
}

/// A record of any kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Record {
    /// A namespace.
    Namespace(NamespaceRecord),
    /// A memory.
    Memory(MemoryRecord),
    /// An earlier state of one.
    Revision(RevisionRecord),
    /// A session.
    Session(SessionRecord),
    /// A message.
    Message(MessageRecord),
    /// An earlier state of one.
    MessageRevision(MessageRevisionRecord),
    /// A file.
    Media(MediaRecord),
    /// A token.
    Token(TokenRecord),
    /// An app.
    App(AppRecord),
    /// A call.
    Call(CallRecord),
    /// A client.
    Sighting(SightingRecord),
}
