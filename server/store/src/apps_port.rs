//! The apps' part of the port, a line for each method.

use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    AppAccess, Ctx, Identity, OauthClient, Result, TokenHash, User, UserDefaults,
    ports::{Apps, CodeDecision, KeyEntry, NewAuthorization, RedeemedCode, RefreshDecision, Refreshed},
};
use polymnemo_types::{Action, App, AppCall, AppGrants, AppId, AuthorizationRequest, MemoryId, Page};

use crate::{PgStore, oauth::REQUEST};

#[async_trait]
impl Apps for PgStore {
    async fn save_client(&self, client: &OauthClient, at: Timestamp, most_unused: u32) -> Result<()> {
        self.upsert_client(client, at, most_unused).await
    }

    async fn client(&self, id: &str) -> Result<Option<OauthClient>> {
        self.client_by_id(id).await
    }

    async fn sweep(&self, unused_since: Timestamp, calls_before: Timestamp, now: Timestamp) -> Result<u64> {
        self.sweep_apps(unused_since, calls_before, now).await
    }

    async fn keep_request(&self, id: &TokenHash, request: &AuthorizationRequest, lifetime: Duration) -> Result<()> {
        self.keep_secret(REQUEST, id, request, lifetime).await
    }

    async fn request(&self, id: &TokenHash, take: bool) -> Result<Option<AuthorizationRequest>> {
        self.secret(REQUEST, id, take).await
    }

    async fn authorize(&self, ctx: &Ctx, new: &NewAuthorization) -> Result<AppId> {
        self.insert_authorization(ctx, new).await
    }

    async fn redeem(&self, code: &TokenHash, at: Timestamp, first: CodeDecision<'_>) -> Result<Option<RedeemedCode>> {
        self.redeem_code(code, at, first).await
    }

    async fn refresh(&self, token: &TokenHash, grace_since: Timestamp, next: RefreshDecision<'_>) -> Result<Refreshed> {
        self.use_refresh_token(token, grace_since, next).await
    }

    async fn revoke_oauth_token(&self, token: &TokenHash, client_id: Option<&str>, at: Timestamp) -> Result<()> {
        self.end_family_of(token, client_id, at).await
    }

    async fn use_access_token(&self, token: &TokenHash, at: Timestamp) -> Result<Option<AppAccess>> {
        self.access_by_token(token, at).await
    }

    async fn key_holder(
        &self,
        identity: &Identity,
        defaults: &UserDefaults,
        key: &KeyEntry<'_>,
        at: Timestamp,
    ) -> Result<(User, App)> {
        self.holder_of_key(identity, defaults, key, at).await
    }

    async fn apps(&self, ctx: &Ctx, after: Option<AppId>, limit: u32) -> Result<Page<App>> {
        self.list_apps(ctx, after, limit).await
    }

    async fn app(&self, ctx: &Ctx, id: AppId) -> Result<Option<App>> {
        self.get_app(ctx, id).await
    }

    async fn app_of_client(&self, ctx: &Ctx, client_id: &str) -> Result<Option<App>> {
        self.get_app_of_client(ctx, client_id).await
    }

    async fn change_app(&self, ctx: &Ctx, id: AppId, grants: &AppGrants) -> Result<bool> {
        self.update_app(ctx, id, grants).await
    }

    async fn pause_app(&self, ctx: &Ctx, id: AppId, at: Option<Timestamp>) -> Result<bool> {
        self.set_paused(ctx, id, at).await
    }

    async fn revoke_app(&self, ctx: &Ctx, id: AppId, at: Timestamp) -> Result<bool> {
        self.end_app(ctx, id, at).await
    }

    async fn discard_app(&self, ctx: &Ctx, client_id: &str) -> Result<()> {
        self.delete_app(ctx, client_id).await
    }

    async fn record_call(
        &self,
        ctx: &Ctx,
        app: AppId,
        at: Timestamp,
        action: Action,
        query: Option<&str>,
        memories: &[MemoryId],
    ) -> Result<()> {
        self.insert_call(ctx, app, at, action, query, memories).await
    }

    async fn calls(&self, ctx: &Ctx, id: AppId, before: Option<i64>, limit: u32) -> Result<Vec<(i64, AppCall)>> {
        self.list_calls(ctx, id, before, limit).await
    }
}
