use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::TokenId;

/// A token that a user made for a client without a browser. The secret itself is not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiToken {
    /// Its id.
    pub id: TokenId,
    /// What its owner calls it.
    pub name: String,
    /// The first characters of the secret, to know it again by.
    pub hint: String,
    /// True where it may read and write; any token may read.
    pub can_write: bool,
    /// True where it may be a part of a URL, for clients that can send no header.
    #[serde(default)]
    pub in_url: bool,
    /// The namespaces it is good for; all of them, later ones included, when absent.
    pub namespaces: Option<Vec<String>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// When its owner revoked it.
    pub revoked_at: Option<Timestamp>,
    /// Since when its owner has it paused.
    pub paused_at: Option<Timestamp>,
}

impl ApiToken {
    /// Whether it is accepted at this time.
    #[must_use]
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }
}

/// Make a token.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewApiToken {
    /// What to call it, so that its owner knows later what it was for.
    pub name: String,
    /// Whether it may write, too.
    pub can_write: bool,
    /// Whether it may be a part of a URL, for clients that can send no header.
    pub in_url: bool,
    /// The namespaces it is to be good for; all of them, later ones included, when absent.
    pub namespaces: Option<Vec<String>>,
    /// From when on it is refused: RFC 3339, or a date in the user's time zone, whose beginning is meant. Never, when absent.
    pub expires_at: Option<String>,
}

/// A token just made, with its secret, which is shown this once and kept nowhere.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedApiToken {
    /// The token.
    pub token: ApiToken,
    /// What the client sends as its bearer credential.
    pub secret: String,
}

impl fmt::Debug for CreatedApiToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CreatedApiToken").field("token", &self.token).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_does_not_print() {
        let at: Timestamp = "2026-03-01T12:00:00Z".parse().expect("a time");
        let token = ApiToken {
            id: "0198c0de-7a11-7000-8000-000000000000".parse().expect("an id"),
            name: "CI".into(),
            hint: "pmn_AbCd".into(),
            can_write: false,
            in_url: false,
            namespaces: None,
            created_at: at,
            expires_at: Some(at),
            last_used_at: None,
            revoked_at: None,
            paused_at: None,
        };
        assert!(!token.is_active(at), "it is refused from that moment on");
        let created = CreatedApiToken { token, secret: "pmn_AbCdTheRest".into() };
        assert!(!format!("{created:?}").contains("TheRest"));
    }
}
