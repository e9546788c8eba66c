use jiff::tz::TimeZone;
use polymnemo_types::{AppGrants, AppId, Door, NamespaceChoice, UserId};

use crate::{Error, Result};

/// Who asks, through what, with which grants: the first argument of every service method.
///
/// A cookie and a bearer token both end as this, so that no method can tell them apart where it
/// does not mean to.
#[derive(Debug, Clone)]
pub struct Ctx {
    /// The user on whose store the request works.
    pub user: User,
    /// What the request came through.
    pub door: Door,
    /// The name of the client, as far as known; recorded with what it writes.
    pub client: Option<String>,
    /// The client's entry among the user's apps, where it has one; recorded with what it does.
    pub app: Option<AppId>,
    /// What the request may do.
    pub grants: Grants,
}

/// A user, with the settings that the service needs.
#[derive(Debug, Clone)]
pub struct User {
    /// The id that scopes every query.
    pub id: UserId,
    /// The name shown to the user and beside what they share.
    pub name: String,
    /// Where `remember` stores when no namespace is given.
    pub default_namespace: String,
    /// The zone in which dates without a time are read and shown.
    pub time_zone: TimeZone,
}

/// Who someone is to an issuer of identities. Users are keyed by this, never by name or e-mail.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Who says so: `static` for keys from the settings, later the URL of an identity provider.
    pub issuer: String,
    /// The issuer's stable name for the user.
    pub subject: String,
}

impl Identity {
    /// The issuer of the users named in the settings.
    pub const STATIC_ISSUER: &'static str = "static";

    /// The identity of a user named in the settings (`POLYMNEMO_API_KEYS`).
    #[must_use]
    pub fn named(user: &str) -> Self {
        Self { issuer: Self::STATIC_ISSUER.to_owned(), subject: user.to_owned() }
    }
}

/// What a user starts with when they are seen for the first time.
#[derive(Debug, Clone)]
pub struct UserDefaults {
    /// The name of the first, private namespace.
    pub namespace: String,
    /// An IANA time zone name.
    pub time_zone: String,
}

/// What a request may do. The service checks it on every call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grants {
    /// It may read.
    pub read: bool,
    /// It may write; this alone does not allow reading.
    pub write: bool,
    /// Where.
    pub namespaces: NamespaceGrant,
}

/// The namespaces that a grant covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamespaceGrant {
    /// All that the user may read or write, later ones included.
    All,
    /// Only these names.
    Only(Vec<String>),
    /// All but these names, later ones included.
    AllBut(Vec<String>),
}

impl From<NamespaceChoice> for NamespaceGrant {
    fn from(choice: NamespaceChoice) -> Self {
        match choice {
            NamespaceChoice::All => Self::All,
            NamespaceChoice::Only(names) => Self::Only(names),
            NamespaceChoice::AllBut(names) => Self::AllBut(names),
        }
    }
}

impl From<AppGrants> for Grants {
    fn from(grants: AppGrants) -> Self {
        Self { read: grants.can_read, write: grants.can_write, namespaces: grants.namespaces.into() }
    }
}

impl Grants {
    /// Everything that the user may do.
    #[must_use]
    pub fn full() -> Self {
        Self { read: true, write: true, namespaces: NamespaceGrant::All }
    }
}

impl Ctx {
    /// The person themselves, who may do everything: signed in to the web app, at a terminal of the server, or as the one in
    /// whose name something goes on in the background.
    #[must_use]
    pub fn of_person(user: User) -> Self {
        Self { user, door: Door::Browser, client: None, app: None, grants: Grants::full() }
    }

    /// Refuses a request that may not read.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] with the permission to ask for.
    pub fn check_read(&self) -> Result<()> {
        if self.grants.read {
            return Ok(());
        }
        Err(Error::Forbidden("This connection may not read memories. Ask the owner to grant it reading.".into()))
    }

    /// Refuses a request that may not write, or not there.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] with the permission to ask for.
    pub fn check_write(&self, namespace: &str) -> Result<()> {
        if !self.grants.write {
            return Err(Error::Forbidden(
                "This connection may only read memories. Ask the owner to grant it writing.".into(),
            ));
        }
        if self.covers(namespace) {
            return Ok(());
        }
        Err(Error::Forbidden(format!(
            "This connection may not write to the namespace `{namespace}`. Ask the owner to grant it, or use another one."
        )))
    }

    /// Refuses a request that does not come from the person themselves. Whoever holds a token or another credential
    /// of a client can neither make further ones, nor share, nor delete for good.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`] with the place to do it.
    pub fn check_person(&self) -> Result<()> {
        if self.door == Door::Browser {
            return Ok(());
        }
        Err(Error::Forbidden(
            "Only a person who is signed in to the web app can do this, not a connected client. Do it there.".into(),
        ))
    }

    /// Whether the grant covers a namespace of this name.
    #[must_use]
    pub fn covers(&self, namespace: &str) -> bool {
        match &self.grants.namespaces {
            NamespaceGrant::All => true,
            NamespaceGrant::Only(names) => names.iter().any(|name| name == namespace),
            NamespaceGrant::AllBut(names) => names.iter().all(|name| name != namespace),
        }
    }
}
