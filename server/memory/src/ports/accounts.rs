use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{ApiToken, ClientSighting, NamespaceDetails, Page, SettingsChange, TokenId, UserId};

use crate::{Account, Ctx, Identity, Result, User, UserDefaults};

/// SHA-256 of an API token: all that is kept of it.
pub type TokenHash = [u8; 32];

/// What became of a change to a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamespaceChanged {
    /// It is done.
    Done,
    /// The user has no namespace of this name.
    Missing,
    /// The user has another namespace of the new name.
    NameTaken,
    /// The settings share every namespace of the new name, so all that is in this one would become public.
    NameIsShared,
    /// The user stores in this one when they name none.
    IsDefault,
    /// It holds memories.
    NotEmpty {
        /// Those that are not in the trash.
        memories: u64,
        /// Those in the trash.
        forgotten: u64,
    },
}

/// The part of the database that knows users: their settings, tokens, namespaces and clients.
///
/// What [`super::Store`] promises holds here too: one method, one transaction; and a method that takes a [`Ctx`] sees and
/// changes what is that user's own.
#[async_trait]
pub trait Accounts: Send + Sync {
    /// The user of an identity, made when seen for the first time, under the name that the issuer gives them now.
    /// Their default namespace is there afterwards.
    async fn sign_in(&self, identity: &Identity, name: &str, defaults: &UserDefaults) -> Result<Account>;

    /// The user with this id, if there (still) is one.
    async fn account(&self, id: UserId) -> Result<Option<Account>>;

    /// Changes settings of the caller; what is new must be valid. The default namespace is made when it is new. False, and
    /// nothing changed, where everyone could read what goes there.
    async fn change_settings(&self, ctx: &Ctx, change: &SettingsChange) -> Result<bool>;

    /// Gives the caller a new session secret.
    async fn renew_session_secret(&self, ctx: &Ctx) -> Result<()>;

    /// Stores a token of the caller; false, and nothing stored, where they have `most` active ones already.
    async fn create_token(&self, ctx: &Ctx, token: &ApiToken, hash: &TokenHash, most: u32) -> Result<bool>;

    /// A page of the caller's tokens, the newest first: those older than `after`.
    async fn tokens(&self, ctx: &Ctx, after: Option<TokenId>, limit: u32) -> Result<Page<ApiToken>>;

    /// Revokes a token of the caller; one that is revoked already stays as it is. False where there is no such token.
    async fn revoke_token(&self, ctx: &Ctx, id: TokenId, at: Timestamp) -> Result<bool>;

    /// The token with this hash and its user, whether or not it is active. Where it is, it counts as used at this time,
    /// which is noted at most once a minute.
    async fn use_token(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<(ApiToken, User)>>;

    /// A page of the caller's own namespaces, by name: those after `after`.
    async fn own_namespaces(&self, ctx: &Ctx, after: Option<&str>, limit: u32) -> Result<Page<NamespaceDetails>>;

    /// One of the caller's own namespaces.
    async fn own_namespace(&self, ctx: &Ctx, name: &str) -> Result<Option<NamespaceDetails>>;

    /// Makes a namespace of the caller; false where they have one of this name.
    async fn create_namespace(&self, ctx: &Ctx, name: &str) -> Result<bool>;

    /// Gives a namespace of the caller another name, everywhere: in the history of memories, as the default and in what
    /// tokens are good for. Memories stay as they are.
    async fn rename_namespace(&self, ctx: &Ctx, name: &str, new_name: &str) -> Result<NamespaceChanged>;

    /// Makes a namespace of the caller readable by everyone, unless it is their default one, or no longer.
    async fn share_namespace(&self, ctx: &Ctx, name: &str, shared: bool) -> Result<NamespaceChanged>;

    /// Deletes a namespace of the caller that is empty and not their default one.
    async fn delete_namespace(&self, ctx: &Ctx, name: &str) -> Result<NamespaceChanged>;

    /// Notes that the caller's client was seen, at most once a minute. Of a user's clients the `most` last seen ones are kept.
    async fn record_sighting(&self, ctx: &Ctx, at: Timestamp, most: u32) -> Result<()>;

    /// The caller's clients, the last seen one first.
    async fn sightings(&self, ctx: &Ctx) -> Result<Vec<ClientSighting>>;
}
