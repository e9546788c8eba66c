//! The users' part of the port, a line for each method.

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Account, Ctx, Identity, Result, User, UserDefaults,
    ports::{Accounts, NamespaceChanged, TokenHash},
};
use polymnemo_types::{ApiToken, ClientSighting, NamespaceDetails, Page, SettingsChange, TokenId, UserId};

use crate::PgStore;

#[async_trait]
impl Accounts for PgStore {
    async fn sign_in(&self, identity: &Identity, name: &str, defaults: &UserDefaults) -> Result<Account> {
        self.account_of(identity, name, defaults).await
    }

    async fn account(&self, id: UserId) -> Result<Option<Account>> {
        self.account_by_id(id).await
    }

    async fn change_settings(&self, ctx: &Ctx, change: &SettingsChange) -> Result<bool> {
        self.update_settings(ctx, change).await
    }

    async fn renew_session_secret(&self, ctx: &Ctx) -> Result<()> {
        self.new_session_secret(ctx).await
    }

    async fn create_token(&self, ctx: &Ctx, token: &ApiToken, hash: &TokenHash, most: u32) -> Result<bool> {
        self.insert_token(ctx, token, hash, most).await
    }

    async fn tokens(&self, ctx: &Ctx, after: Option<TokenId>, limit: u32) -> Result<Page<ApiToken>> {
        self.list_tokens(ctx, after, limit).await
    }

    async fn revoke_token(&self, ctx: &Ctx, id: TokenId, at: Timestamp) -> Result<bool> {
        self.end_token(ctx, id, at).await
    }

    async fn use_token(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<(ApiToken, User)>> {
        self.token_by_hash(hash, at).await
    }

    async fn own_namespaces(&self, ctx: &Ctx, after: Option<&str>, limit: u32) -> Result<Page<NamespaceDetails>> {
        self.list_own_namespaces(ctx, after, limit).await
    }

    async fn own_namespace(&self, ctx: &Ctx, name: &str) -> Result<Option<NamespaceDetails>> {
        self.get_own_namespace(ctx, name).await
    }

    async fn create_namespace(&self, ctx: &Ctx, name: &str) -> Result<bool> {
        self.insert_namespace(ctx, name).await
    }

    async fn rename_namespace(&self, ctx: &Ctx, name: &str, new_name: &str) -> Result<NamespaceChanged> {
        self.change_name_of_namespace(ctx, name, new_name).await
    }

    async fn share_namespace(&self, ctx: &Ctx, name: &str, shared: bool) -> Result<NamespaceChanged> {
        self.change_sharing_of_namespace(ctx, name, shared).await
    }

    async fn delete_namespace(&self, ctx: &Ctx, name: &str) -> Result<NamespaceChanged> {
        self.delete_empty_namespace(ctx, name).await
    }

    async fn record_sighting(&self, ctx: &Ctx, at: Timestamp, most: u32) -> Result<()> {
        self.insert_sighting(ctx, at, most).await
    }

    async fn sightings(&self, ctx: &Ctx) -> Result<Vec<ClientSighting>> {
        self.list_sightings(ctx).await
    }
}
