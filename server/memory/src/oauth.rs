use std::fmt;

use jiff::Timestamp;
use polymnemo_types::AppId;

use crate::{Grants, User};

/// What access tokens begin with.
pub const ACCESS_TOKEN_PREFIX: &str = "pmna_";
/// What refresh tokens begin with.
pub const REFRESH_TOKEN_PREFIX: &str = "pmnr_";
/// What authorization codes begin with.
pub const CODE_PREFIX: &str = "pmnc_";

/// A program that asks people to let it in (RFC 6749, section 1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OauthClient {
    /// What it calls itself in requests.
    pub id: String,
    /// What it calls itself before people.
    pub name: String,
    /// Where people may be sent back to.
    pub redirect_uris: Vec<String>,
    /// The domain that vouches for it.
    pub domain: Option<String>,
    /// Until when the copy of its document is good; `None` where it has none.
    pub fresh_until: Option<Timestamp>,
}

/// What a presented access token opens.
#[derive(Debug, Clone)]
pub struct AppAccess {
    /// The app's entry.
    pub app: AppId,
    /// What it calls itself.
    pub name: String,
    /// Who let it in.
    pub user: User,
    /// What it may do.
    pub grants: Grants,
    /// The resource that the token is for.
    pub resource: String,
    /// From when on the token is refused.
    pub expires_at: Timestamp,
    /// From when on the app is.
    pub app_expires_at: Option<Timestamp>,
    /// Since when the app is paused.
    pub paused_at: Option<Timestamp>,
}

/// Tokens just issued (RFC 6749, section 5.1). They do not print.
#[derive(Clone, PartialEq, Eq)]
pub struct IssuedTokens {
    /// What to send with each request.
    pub access_token: String,
    /// What to get the next ones for.
    pub refresh_token: String,
    /// How long the access token is good, in seconds.
    pub expires_in: i64,
    /// Whether the app may write.
    pub can_write: bool,
}

impl fmt::Debug for IssuedTokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IssuedTokens").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

/// Why there are no tokens for what a client presented. The texts are for whoever made the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GrantRefusal {
    /// There is no such code or token (any more).
    #[error("The code or token is not known here, or no longer. Let the app in again.")]
    Unknown,
    /// Its time is over.
    #[error("The code or token has expired. Let the app in again.")]
    Expired,
    /// It was used before.
    #[error(
        "The code or token was used before, so everything that followed from it was revoked. Let the app in again."
    )]
    Reused,
    /// It was made for another client or another address.
    #[error("The code or token was made for another client or another redirect_uri.")]
    OtherClient,
    /// The verifier does not fit (RFC 7636, section 4.6).
    #[error("The code_verifier does not fit the code_challenge that the authorization began with.")]
    Verifier,
    /// It was made for another resource.
    #[error("The code or token was made for another resource.")]
    OtherResource,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_do_not_print() {
        let tokens = IssuedTokens {
            access_token: "pmna_secret".into(),
            refresh_token: "pmnr_secret".into(),
            expires_in: 3600,
            can_write: true,
        };
        assert!(!format!("{tokens:?}").contains("secret"));
    }
}
