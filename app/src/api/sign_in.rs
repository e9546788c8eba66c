//! How a person signs in, and who is signed in.

use std::str::FromStr;

use leptos::{prelude::*, server_fn::codec::GetUrl};
use serde::{Deserialize, Serialize};

use super::WebError;

/// How a person signs in to this server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "way", rename_all = "snake_case")]
pub enum SignInOffer {
    /// At GitHub, or at the GitHub Enterprise server of this host.
    GitHub {
        /// The host, with its port where that is not the usual one: `github.com`.
        host: String,
    },
    /// At the OpenID Connect provider of this host.
    Oidc {
        /// The host, with its port where that is not the usual one.
        host: String,
    },
    /// By a link that works once, printed on the machine where the server runs.
    Link,
    /// Not at all: the server is open to others, and no identity provider is set.
    Closed,
}

/// Why someone could not sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInProblem {
    /// The person, or the provider on their behalf, said no.
    Denied,
    /// The sign-in took too long, was done already, or began in another browser.
    Expired,
    /// The account is not among those that may sign in.
    NotAllowed,
    /// The provider does not answer, or not as it should.
    Provider,
    /// The link is not known, was used before, or is too old.
    Link,
    /// The link was opened from another machine, or through a proxy.
    NotLocal,
    /// Too many tried to sign in at once.
    TooMany,
    /// The database does not answer.
    Unavailable,
}

impl SignInProblem {
    const ALL: [(Self, &str); 8] = [
        (Self::Denied, "denied"),
        (Self::Expired, "expired"),
        (Self::NotAllowed, "not-allowed"),
        (Self::Provider, "provider"),
        (Self::Link, "link"),
        (Self::NotLocal, "not-local"),
        (Self::TooMany, "too-many"),
        (Self::Unavailable, "unavailable"),
    ];

    /// The word for it in the query of the sign-in page.
    #[must_use]
    pub fn code(self) -> &'static str {
        Self::ALL.iter().find(|(problem, _)| *problem == self).map_or("", |(_, code)| code)
    }
}

impl FromStr for SignInProblem {
    type Err = ();

    fn from_str(code: &str) -> Result<Self, ()> {
        Self::ALL.iter().find(|(_, known)| *known == code).map(|(problem, _)| *problem).ok_or(())
    }
}

/// Tells how a person signs in.
///
/// # Errors
///
/// Only those of the way to the server.
#[server(endpoint = "offered_sign_in", input = GetUrl)]
pub async fn offered_sign_in() -> Result<SignInOffer, WebError> {
    Ok(expect_context::<crate::WebContext>().sign_in)
}

/// Whoever is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewer {
    /// The name that the provider of their identity gives them.
    pub name: String,
}

/// Tells who is signed in, if anyone is.
///
/// # Errors
///
/// Only those of the way to the server.
#[server(endpoint = "current_viewer", input = GetUrl)]
pub async fn current_viewer() -> Result<Option<Viewer>, WebError> {
    Ok(super::signed_in().map(|ctx| Viewer { name: ctx.user.name }))
}

#[cfg(test)]
mod tests {
    use super::SignInProblem;

    #[test]
    fn every_problem_has_a_code_of_its_own_that_reads_back() {
        for (problem, code) in SignInProblem::ALL {
            assert_eq!(problem.code(), code);
            assert_eq!(code.parse(), Ok(problem));
        }
        assert_eq!("".parse::<SignInProblem>(), Err(()));
    }
}
