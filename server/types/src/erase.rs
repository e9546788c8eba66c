use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{AppId, Door, ErasureId, ImportId, MemoryId, UserId};

/// What is to be erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EraseTarget {
    /// These memories, sessions and files, 1 to [`crate::limits::IDS`], in the trash or not.
    Memories(Vec<MemoryId>),
    /// Everything in a namespace of the caller, and the namespace itself unless it is their default one.
    Namespace(String),
    /// Everything that an app, a token or a key stored, and what is noted of its calls.
    App(AppId),
    /// Everything that an import brought.
    Import(ImportId),
    /// The whole account.
    Account,
}

/// What an erasure is of, without any word of what is erased: a namespace is known by its number and the digest of its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ErasureSubject {
    /// Single memories, sessions and files.
    Memories {
        /// Their ids.
        ids: Vec<MemoryId>,
    },
    /// A namespace.
    Namespace {
        /// Its number in the database.
        number: i32,
        /// SHA-256 of its name in UTF-8, in hexadecimal digits: whoever knows the name can tell that it is meant.
        name_sha256: String,
        /// Whether it is the default one, which stays, empty.
        default: bool,
    },
    /// What an app stored.
    App {
        /// The app.
        id: AppId,
    },
    /// What an import brought.
    Import {
        /// The import.
        id: ImportId,
    },
    /// The whole account.
    Account,
}

/// A kind of thing that is erased and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasedStore {
    /// Memories that are neither sessions nor files, in the trash or not.
    Memories,
    /// Sessions.
    Sessions,
    /// Files.
    Files,
    /// The bytes of files.
    FileBytes,
    /// Files and small images in the storage, and what was sent for uploads.
    StoredObjects,
    /// Uploads under way.
    Uploads,
    /// Earlier states of memories.
    Revisions,
    /// Messages of sessions.
    Messages,
    /// Earlier states of messages.
    MessageRevisions,
    /// Labels.
    Tags,
    /// Searchable passages.
    Passages,
    /// Vectors of passages.
    Vectors,
    /// Passages that wait for a vector.
    EmbeddingQueue,
    /// Entries of the keyword index.
    Postings,
    /// Words that no other memory of the namespace has.
    Terms,
    /// Other memories that say they correct what is erased.
    References,
    /// Notes of what clients did that name what is erased.
    AppCalls,
    /// Namespaces.
    Namespaces,
    /// Apps and keys.
    Apps,
    /// API tokens.
    ApiTokens,
    /// Lettings in of apps, with their codes and tokens.
    OauthFamilies,
    /// Authorization codes.
    OauthCodes,
    /// Pairs of access and refresh tokens.
    OauthTokens,
    /// Clients that were seen.
    ClientSightings,
    /// Sign-in sessions of browsers.
    BrowserSessions,
    /// Identities to sign in with.
    Identities,
    /// The account itself, with its settings.
    Users,
}

/// How much there is in each store.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ErasedCounts(pub BTreeMap<ErasedStore, u64>);

impl ErasedCounts {
    /// How much there is in one.
    #[must_use]
    pub fn of(&self, store: ErasedStore) -> u64 {
        self.0.get(&store).copied().unwrap_or_default()
    }

    /// Memories, sessions and files together.
    #[must_use]
    pub fn items(&self) -> u64 {
        [ErasedStore::Memories, ErasedStore::Sessions, ErasedStore::Files].into_iter().map(|store| self.of(store)).sum()
    }

    /// Those stores that hold anything.
    pub fn present(&self) -> impl Iterator<Item = (ErasedStore, u64)> + '_ {
        self.0.iter().map(|(&store, &count)| (store, count)).filter(|(_, count)| *count > 0)
    }

    /// Counts further.
    pub fn add(&mut self, other: &Self) {
        for (&store, count) in &other.0 {
            *self.0.entry(store).or_default() += count;
        }
    }
}

/// What erasing would take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasePreview {
    /// What was asked about.
    pub target: EraseTarget,
    /// What it is called: the namespace, the app or the person. Absent for single memories.
    pub name: Option<String>,
    /// How the first of the memories begin, where single ones are meant.
    pub beginnings: Vec<String>,
    /// How much there is.
    pub counts: ErasedCounts,
    /// How many of the memories, sessions and files are in the trash.
    pub in_trash: u64,
    /// Whether it is the default namespace, which stays, empty.
    pub is_default: bool,
    /// What has to be typed to confirm.
    pub confirm: Option<String>,
    /// What is left afterwards, and until when.
    pub survives: Vec<Survivor>,
}

/// What an erasure leaves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// What it is.
    pub what: SurvivorKind,
    /// Until when; absent where there is no such time.
    pub until: Option<Timestamp>,
    /// The same for people to read.
    pub note: String,
}

/// What kinds of things an erasure leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SurvivorKind {
    /// Backups by whoever runs the server.
    Backups,
    /// The server's logs, which hold no content.
    Logs,
    /// Signed requests for uploads, which are good until then; what they bring is deleted.
    UploadRequests,
    /// The list of imports, with the names of their files.
    Imports,
    /// The record of the erasure, and its receipt.
    Receipt,
}

/// How far an erasure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErasureState {
    /// What is to go is hidden already and is being deleted and looked for.
    Running,
    /// All is gone, and the receipt is there.
    Done,
}

/// An erasure that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// Its id, which is that of its receipt. Nobody can guess it.
    pub id: ErasureId,
    /// What it is of.
    pub subject: ErasureSubject,
    /// How far it is.
    pub state: ErasureState,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When it was done.
    pub finished_at: Option<Timestamp>,
    /// How much there was when it was asked for.
    pub before: ErasedCounts,
    /// How much is deleted so far.
    pub erased: ErasedCounts,
    /// What is in the way, where it could not go on.
    pub problem: Option<String>,
}

/// Who asked for an erasure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedBy {
    /// The user.
    pub user_id: UserId,
    /// What the request came through.
    pub door: Door,
    /// The client, where it was one that has a name.
    pub client: Option<String>,
}

/// How much of something there was and is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BeforeAfter {
    /// When it was asked for.
    pub before: u64,
    /// When all was verified.
    pub after: u64,
}

/// One place that was looked at again after all was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasureCheck {
    /// Which place: a table and column, or another way by which content could be reached.
    pub path: String,
    /// How many things were looked for there.
    pub looked_for: u64,
    /// How many were found.
    pub found: u64,
}

/// What a receipt says. No word of what was erased is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReceiptDocument {
    /// What the document is: always [`Self::TYPE`].
    #[serde(rename = "type")]
    pub document_type: String,
    /// The id of the erasure.
    pub id: ErasureId,
    /// What was erased.
    pub what: ErasureSubject,
    /// Who asked for it.
    pub erased_by: ErasedBy,
    /// When it was asked for.
    pub requested_at: Timestamp,
    /// When it was done.
    pub finished_at: Timestamp,
    /// How much there was of each kind of thing, and is.
    pub counts: BTreeMap<ErasedStore, BeforeAfter>,
    /// Where was looked again when all was deleted, and what was found.
    pub checks: Vec<ErasureCheck>,
    /// How often was looked until nothing was found.
    pub rounds: u32,
    /// What is left, and until when.
    pub survives: Vec<Survivor>,
    /// The version of the server.
    pub server_version: String,
    /// The id of the key that signs it: the thumbprint of RFC 7638.
    pub key_id: String,
}

impl ReceiptDocument {
    /// What the document is.
    pub const TYPE: &'static str = "polymnemo erasure receipt 1";
}

/// A receipt as it is kept and handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Its id, which is that of its erasure.
    pub id: ErasureId,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// The document in its canonical form: JSON without white space, the members of each object in the order of their names.
    pub document: String,
    /// The Ed25519 signature over the bytes of that.
    pub signature: Vec<u8>,
    /// The id of the key.
    pub key_id: String,
}
