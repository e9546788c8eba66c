//! Identity from elsewhere: an authorization server of someone else's (WorkOS AuthKit, Auth0,
//! Keycloak), whose access tokens clients bring and where people sign in to the web app.
//!
//! ```text
//! Issuer ── discovery   its metadata document (RFC 8414, else OpenID Connect)
//!        ├─ keys        the keys that it signs with (RFC 7517)
//!        ├─ jwt         what holds for every token that it signs (RFC 7519, RFC 8725)
//!        ├─ access      ... and for those that open the MCP endpoint (RFC 9068)
//!        └─ id_token    ... and for those that tell the web app who someone is
//! ```
//!
//! Nothing is fetched before it is needed, so the server starts whether or not the issuer is up. What
//! was fetched is kept in the process ([`cached`]): it's the same for every replica, no user can
//! change it, and the last good copy serves for as long as the issuer is down.

mod access;
mod cached;
mod discovery;
mod id_token;
mod jwt;
mod keys;

use std::{sync::Arc, time::Duration};

use polymnemo_memory::Identity;
use serde_json::{Map, Value};

use self::{cached::Cached, keys::Keys};
use crate::{Error, config::OidcConfig, outbound::Outbound};

pub(crate) use access::AccessToken;
pub(crate) use discovery::Metadata;
pub use jwt::JwtProblem;

/// How long the metadata is good.
const METADATA_TIME: Duration = Duration::from_secs(3600);
/// How long the keys are: one that is taken out, because it became known, is not accepted for longer.
const KEYS_TIME: Duration = Duration::from_secs(600);
/// The greatest length of a subject, in characters (OpenID Connect Core section 2).
const SUBJECT_CHARS: usize = 255;

/// The claims of a token.
type Claims = Map<String, Value>;

/// The authorization server.
pub(crate) struct Issuer {
    config: OidcConfig,
    http: Outbound,
    metadata: Cached<Metadata>,
    keys: Cached<Keys>,
}

/// Why the issuer can't be asked, or can't be understood. For the log; it holds no secret.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(String);

/// Why a token lets nobody in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Rejection {
    /// It is not good.
    #[error(transparent)]
    Token(#[from] JwtProblem),
    /// Whether it is good can't be told now.
    #[error(transparent)]
    Issuer(#[from] Trouble),
}

/// Who someone is to the issuer.
pub(crate) struct Subject {
    pub(crate) identity: Identity,
    /// What to call them; never what they are known by.
    pub(crate) name: String,
}

impl Issuer {
    /// Prepares to ask the issuer of the settings.
    ///
    /// # Errors
    ///
    /// Where the client that talks to it can't be made.
    pub(crate) fn new(config: &OidcConfig) -> Result<Self, Error> {
        let http = Outbound::new(config.is_on_this_machine)
            .map_err(|error| Error::Failed(format!("{} can't be asked: {error}", config.issuer)))?;
        Ok(Self {
            config: config.clone(),
            http,
            metadata: Cached::new("metadata", METADATA_TIME),
            keys: Cached::new("keys", KEYS_TIME),
        })
    }

    /// Its settings.
    pub(crate) fn config(&self) -> &OidcConfig {
        &self.config
    }

    /// The client that talks to it.
    pub(crate) fn http(&self) -> &Outbound {
        &self.http
    }

    /// Its metadata.
    ///
    /// # Errors
    ///
    /// Where it was never fetched and can't be now.
    pub(crate) async fn metadata(&self) -> Result<Arc<Metadata>, Trouble> {
        self.metadata.get(discovery::discover(&self.http, &self.config)).await
    }

    /// The keys that it signs with, as far as known.
    async fn keys(&self) -> Result<Arc<Keys>, Trouble> {
        self.keys.get(self.fetch_keys()).await
    }

    /// The keys that it signs with, when there is none in those that are known to check a token with.
    async fn newer_keys(&self, known: &Arc<Keys>) -> Result<Arc<Keys>, Trouble> {
        self.keys.newer(known, self.fetch_keys()).await
    }

    async fn fetch_keys(&self) -> Result<Keys, Trouble> {
        let metadata = self.metadata().await?;
        keys::fetch(&self.http, &metadata.jwks_uri).await
    }

    /// Whom the claims are about.
    fn subject_of(&self, claims: &Claims) -> Result<Subject, JwtProblem> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let is_usable = |subject: &&str| {
            (1..=SUBJECT_CHARS).contains(&subject.chars().count()) && !subject.contains(char::is_control)
        };
        let subject = text("sub").filter(is_usable).ok_or(JwtProblem::Subject)?;
        let names = ["name", "preferred_username", "email"].into_iter().filter_map(text);
        let name = names.map(str::trim).find(|name| !name.is_empty()).unwrap_or(subject).to_owned();
        let subject = format!("{}{subject}", self.config.subject_prefix);
        Ok(Subject { identity: Identity { issuer: self.config.issuer.clone(), subject }, name })
    }
}

/// A foreign text made fit for the log: short, without control characters.
fn plain(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).take(200).collect()
}
