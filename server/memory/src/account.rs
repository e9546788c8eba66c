use std::fmt;

use polymnemo_types::{AppId, Door, LanguageSetting, Theme, TokenId};

use crate::{Ctx, Grants, User};

/// What every API token begins with: it tells a reader, and a scanner of leaked secrets, what the text is.
pub const API_TOKEN_PREFIX: &str = "pmn_";

/// A user as the web app knows them: with what it needs for each of their pages.
#[derive(Debug, Clone)]
pub struct Account {
    /// The user.
    pub user: User,
    /// The language they want.
    pub language: LanguageSetting,
    /// Light or dark.
    pub theme: Theme,
    /// What their sessions are bound to.
    pub session_secret: SessionSecret,
}

/// Random bytes of a user. A session is good as long as they are what they were when it began, so new ones sign the
/// user out everywhere. They never leave the server and do not print.
#[derive(Clone)]
pub struct SessionSecret(Vec<u8>);

impl SessionSecret {
    /// Takes over the bytes.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SessionSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionSecret(..)")
    }
}

/// Whose a presented token is, and what it may do.
#[derive(Debug, Clone)]
pub struct TokenAccess {
    /// The token.
    pub token: TokenId,
    /// What its owner calls it.
    pub name: String,
    /// Its owner.
    pub user: User,
    /// What it may do.
    pub grants: Grants,
    /// Whether it may be a part of a URL.
    pub in_url: bool,
}

impl TokenAccess {
    /// The context of a request that came with the token through this door.
    #[must_use]
    pub fn into_ctx(self, door: Door) -> Ctx {
        Ctx { user: self.user, door, client: None, app: Some(AppId(self.token.0)), grants: self.grants }
    }
}

/// Why a presented token lets nobody in. Only its owner can know more than that it is unknown, so the text may be shown
/// to whoever presented it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefusal {
    /// There is no such token, or its user is gone.
    #[error("The token is not known here. Copy it once more, or make a new one on the page Tokens of the web app.")]
    Unknown,
    /// Its time is over.
    #[error("The token has expired. Make a new one on the page Tokens of the web app.")]
    Expired,
    /// Its owner revoked it.
    #[error("The token was revoked. Make a new one on the page Tokens of the web app.")]
    Revoked,
    /// Its owner paused it.
    #[error("The owner has paused this client. They can let it go on again on the page Apps of the web app.")]
    Paused,
    /// There is no such access token (any more).
    #[error("The access token is not known here, or no longer. Get a new one, or let the app in again.")]
    AppUnknown,
    /// The time of an access token, or of the app, is over.
    #[error("The access token has expired. Get a new one with the refresh token, or let the app in again.")]
    AppExpired,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_secret_does_not_print() {
        let printed = format!("{:?}", SessionSecret::new(vec![111, 222]));
        assert!(!printed.contains("111"), "{printed}");
    }
}
