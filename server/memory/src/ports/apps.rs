use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_types::{Action, App, AppCall, AppGrants, AppId, AuthorizationRequest, Door, MemoryId, Page, UserId};

use crate::{AppAccess, Ctx, Identity, OauthClient, Result, TokenHash, User, UserDefaults};

/// An app to be let in: a new entry, or the newest decision about one that is there.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAuthorization {
    /// What is asked for.
    pub request: AuthorizationRequest,
    /// What it may do.
    pub grants: AppGrants,
    /// When it was let in.
    pub at: Timestamp,
    /// From when on it has to ask again.
    pub ends_at: Timestamp,
    /// SHA-256 of the code that it gets.
    pub code: TokenHash,
    /// Until when the code is good.
    pub code_expires_at: Timestamp,
    /// The random bytes that its tokens are derived with.
    pub secret: [u8; 32],
}

/// A code that was presented, and what it was made for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedeemedCode {
    /// The client that it was made for.
    pub client_id: String,
    /// Where that client was told it.
    pub redirect_uri: String,
    /// The PKCE challenge.
    pub challenge: String,
    /// The canonical resource.
    pub resource: String,
    /// False where it was used before; everything that followed from it is revoked then.
    pub is_fresh: bool,
    /// False where its time is over.
    pub is_in_time: bool,
    /// What the tokens belong to.
    pub family: Family,
}

/// One letting in of an app, from which its tokens follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Its id.
    pub id: uuid::Uuid,
    /// Whose it is.
    pub user: UserId,
    /// The random bytes that its tokens are derived with.
    pub secret: Vec<u8>,
    /// When it ends.
    pub ends_at: Timestamp,
    /// Whether the app may write.
    pub can_write: bool,
}

/// A pair of tokens, by SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenPair {
    /// The access token.
    pub access: TokenHash,
    /// The refresh token.
    pub refresh: TokenHash,
    /// When they were made.
    pub at: Timestamp,
    /// From when on the access token is refused.
    pub access_expires_at: Timestamp,
    /// From when on the refresh token is refused.
    pub refresh_expires_at: Timestamp,
}

/// A refresh token that was presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedRefresh {
    /// The client that it was issued to.
    pub client_id: String,
    /// The canonical resource.
    pub resource: String,
    /// What it belongs to.
    pub family: Family,
    /// From when on it is refused.
    pub expires_at: Timestamp,
    /// When it was first used.
    pub refreshed_at: Option<Timestamp>,
}

/// A client that needs no letting in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyEntry<'a> {
    /// What it comes through.
    pub door: Door,
    /// Its name for itself where several come through that door; else empty.
    pub client_id: &'a str,
    /// What to call it.
    pub name: &'a str,
}

/// Decides about a code that was presented: `None` gives no tokens for it.
pub type CodeDecision<'a> = &'a (dyn Fn(&RedeemedCode) -> Option<TokenPair> + Send + Sync);

/// Decides about a refresh token that was presented: `None` refuses it.
pub type RefreshDecision<'a> = &'a (dyn Fn(&PresentedRefresh) -> Option<TokenPair> + Send + Sync);

/// What became of a refresh token that was presented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refreshed {
    /// The next pair stands, made just now or by an earlier use of the same token.
    Issued(PresentedRefresh),
    /// It is none of ours, or no longer.
    Unknown,
    /// It was refused; nothing changed.
    Refused(PresentedRefresh),
    /// It was used before, and what followed from it was used too: everything that followed was revoked.
    Reused,
}

/// The part of the database that knows apps: which there are, what they may do, their tokens, and what they did.
///
/// What [`super::Store`] promises holds here too.
#[async_trait]
pub trait Apps: Send + Sync {
    /// Keeps a client. One of this id is overwritten. Of those that nobody ever let in at most `most_unused` are kept, the
    /// newest ones.
    async fn save_client(&self, client: &OauthClient, at: Timestamp, most_unused: u32) -> Result<()>;

    /// The client of this id.
    async fn client(&self, id: &str) -> Result<Option<OauthClient>>;

    /// Removes the clients from before this time that nobody ever let in, and calls and tokens whose time is over; gives
    /// their number.
    async fn sweep(&self, unused_since: Timestamp, calls_before: Timestamp, now: Timestamp) -> Result<u64>;

    /// Keeps a request until it is answered, or its time is over.
    async fn keep_request(
        &self,
        id: &TokenHash,
        request: &AuthorizationRequest,
        lifetime: std::time::Duration,
    ) -> Result<()>;

    /// The request of this id; with `take` it is there no longer afterwards.
    async fn request(&self, id: &TokenHash, take: bool) -> Result<Option<AuthorizationRequest>>;

    /// Lets an app in.
    async fn authorize(&self, ctx: &Ctx, new: &NewAuthorization) -> Result<AppId>;

    /// Redeems a code: the first time it counts as used, whatever is decided, and any further time everything that followed
    /// from it is revoked.
    async fn redeem(&self, code: &TokenHash, at: Timestamp, first: CodeDecision<'_>) -> Result<Option<RedeemedCode>>;

    /// Uses a refresh token. Of several uses at once one makes the next pair, and the others find it.
    ///
    /// `grace_since` is the time from which on an earlier use counts as the same one.
    async fn refresh(&self, token: &TokenHash, grace_since: Timestamp, next: RefreshDecision<'_>) -> Result<Refreshed>;

    /// Ends the family that this token, of either kind, belongs to; nothing where it is not this client's. An app without any
    /// other counts as turned away.
    async fn revoke_oauth_token(&self, token: &TokenHash, client_id: Option<&str>, at: Timestamp) -> Result<()>;

    /// Whose access token this is, and what it may do, whether or not its time is over. It counts as used.
    async fn use_access_token(&self, token: &TokenHash, at: Timestamp) -> Result<Option<AppAccess>>;

    /// The user of an identity, and the entry of a client of theirs that needs no letting in; either is made when it is seen
    /// for the first time.
    async fn key_holder(
        &self,
        identity: &Identity,
        defaults: &UserDefaults,
        key: &KeyEntry<'_>,
        at: Timestamp,
    ) -> Result<(User, App)>;

    /// A page of the caller's apps and tokens, the newest first: those older than `after`.
    async fn apps(&self, ctx: &Ctx, after: Option<AppId>, limit: u32) -> Result<Page<App>>;

    /// One of them.
    async fn app(&self, ctx: &Ctx, id: AppId) -> Result<Option<App>>;

    /// The app that an OAuth client has with the caller.
    async fn app_of_client(&self, ctx: &Ctx, client_id: &str) -> Result<Option<App>>;

    /// Changes what an app may do; a token keeps what it has. False where there is no such app.
    async fn change_app(&self, ctx: &Ctx, id: AppId, grants: &AppGrants) -> Result<bool>;

    /// Pauses an app or token (`Some`), or lets it go on. False where there is no such app.
    async fn pause_app(&self, ctx: &Ctx, id: AppId, at: Option<Timestamp>) -> Result<bool>;

    /// Turns an app or token away: none of its tokens is good any more. False where there is no such app.
    async fn revoke_app(&self, ctx: &Ctx, id: AppId, at: Timestamp) -> Result<bool>;

    /// Removes the app that an OAuth client has with the caller, with all that is known of it, and the client.
    async fn discard_app(&self, ctx: &Ctx, client_id: &str) -> Result<()>;

    /// Notes what the caller's app did.
    async fn record_call(
        &self,
        ctx: &Ctx,
        app: AppId,
        at: Timestamp,
        action: Action,
        query: Option<&str>,
        memories: &[MemoryId],
    ) -> Result<()>;

    /// What an app did, the latest first: those calls before the number `before`, with the number of each.
    async fn calls(&self, ctx: &Ctx, id: AppId, before: Option<i64>, limit: u32) -> Result<Vec<(i64, AppCall)>>;
}
