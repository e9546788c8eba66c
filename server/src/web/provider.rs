//! What sign-in asks of an identity provider, whichever it is.

use oauth2::RedirectUrl;

use super::{github::GitHub, oidc::Oidc, people::Proof};

/// The random bytes of a `state`, and of a nonce.
pub(super) const STATE_BYTES: u32 = 32;

/// Who vouches for people.
pub(super) enum Provider {
    GitHub(Box<GitHub>),
    Oidc(Oidc),
}

/// A sign-in that begins: where to send the browser, and what to keep until it comes back.
pub(super) struct Attempt {
    pub(super) address: String,
    pub(super) state: String,
    pub(super) verifier: String,
    /// What an ID token has to repeat, where there will be one.
    pub(super) nonce: Option<String>,
}

/// A sign-in that came back with a code.
pub(super) struct Answer {
    pub(super) code: String,
    /// Who says that it sent the browser back (RFC 9207).
    pub(super) issuer: Option<String>,
    pub(super) verifier: String,
    pub(super) redirect: String,
    pub(super) nonce: Option<String>,
}

/// Why the provider did not vouch for someone. The texts are for the log and hold no secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the account is not among those that may sign in")]
    NotAllowed,
    #[error("the code is not taken: {0}")]
    Code(String),
    #[error("{0}")]
    Trouble(String),
}

impl Provider {
    /// The path where a sign-in begins; it comes back to `callback` below.
    pub(super) fn path(&self) -> &'static str {
        match self {
            Self::GitHub(_) => "/sign-in/github",
            Self::Oidc(_) => "/sign-in/oidc",
        }
    }

    /// The purpose of the secrets that are kept for sign-ins with it.
    pub(super) fn purpose(&self) -> &'static str {
        match self {
            Self::GitHub(_) => "sign-in with GitHub",
            Self::Oidc(_) => "sign-in with OpenID Connect",
        }
    }

    /// Its name in the log.
    pub(super) fn host(&self) -> &str {
        match self {
            Self::GitHub(github) => github.host(),
            Self::Oidc(oidc) => oidc.host(),
        }
    }

    /// Begins a sign-in that comes back to the address `redirect`.
    pub(super) async fn begin(&self, redirect: String) -> Result<Attempt, Refusal> {
        match self {
            Self::GitHub(github) => github.begin(redirect),
            Self::Oidc(oidc) => oidc.begin(redirect).await,
        }
    }

    /// Completes a sign-in: who it is, if they may sign in.
    pub(super) async fn complete(&self, answer: Answer) -> Result<Proof, Refusal> {
        match self {
            Self::GitHub(github) => github.complete(answer.code, answer.verifier, answer.redirect).await,
            Self::Oidc(oidc) => oidc.complete(answer).await,
        }
    }
}

pub(super) fn trouble(what: &str) -> Refusal {
    Refusal::Trouble(what.to_owned())
}

pub(super) fn redirect_url(redirect: String) -> Result<RedirectUrl, Refusal> {
    RedirectUrl::new(redirect).map_err(|_| trouble("the address to come back to is none"))
}

/// A foreign text made fit for the log.
pub(super) fn plain(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(100).collect()
}
