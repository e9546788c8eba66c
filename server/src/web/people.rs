//! People who are signed in, as `axum-login` and `tower-sessions` know them.

use std::fmt;

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use axum_login::{AuthUser, AuthnBackend};
use http::{StatusCode, header};
use polymnemo_memory::{Account, Identity, MemoryService};
use polymnemo_store::BrowserSessions;
use polymnemo_types::UserId;
use tower_sessions::{
    Expiry, SessionManagerLayer,
    cookie::{SameSite, time::Duration},
};

use super::cookies;
use crate::config::NetworkConfig;

/// How long a session lasts without a visit.
pub(super) const IDLE: Duration = Duration::days(30);

/// The session of a request, and who is signed in by it.
pub(super) type AuthSession = axum_login::AuthSession<People>;

/// Finds people in the database.
#[derive(Clone)]
pub(super) struct People {
    service: MemoryService,
}

/// Someone who is signed in.
#[derive(Clone)]
pub(super) struct Person(pub(super) Account);

/// Who someone proved to be, and what to call them.
pub(super) struct Proof {
    pub(super) identity: Identity,
    pub(super) name: String,
}

impl People {
    pub(super) fn new(service: MemoryService) -> Self {
        Self { service }
    }
}

/// The library logs people at some levels, so this says no more than a log should.
impl fmt::Debug for Person {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Person({})", self.0.user.id)
    }
}

impl AuthUser for Person {
    type Id = UserId;

    fn id(&self) -> UserId {
        self.0.user.id
    }

    fn session_auth_hash(&self) -> &[u8] {
        self.0.session_secret.as_bytes()
    }
}

impl AuthnBackend for People {
    type User = Person;
    type Credentials = Proof;
    type Error = polymnemo_memory::Error;

    async fn authenticate(&self, proof: Proof) -> Result<Option<Person>, Self::Error> {
        let account = self.service.sign_in(&proof.identity, &proof.name).await?;
        Ok(Some(Person(account)))
    }

    async fn get_user(&self, id: &UserId) -> Result<Option<Person>, Self::Error> {
        Ok(self.service.account(*id).await?.map(Person))
    }
}

/// Sessions by a cookie that scripts can't read and other sites' forms don't carry.
///
/// Behind https its name has the prefix `__Host-`: browsers then take it from nobody else, not even
/// from another host of the same domain. Over plain http, which is for this machine only, its name
/// holds the port, because browsers keep one set of cookies for all ports of a host.
pub(super) fn sessions(
    store: BrowserSessions,
    network: &NetworkConfig,
    port: u16,
) -> SessionManagerLayer<BrowserSessions> {
    let secure = network.is_https();
    let name =
        if secure { format!("{}polymnemo_session", cookies::HOST_PREFIX) } else { format!("polymnemo_session_{port}") };
    SessionManagerLayer::new(store)
        .with_name(name)
        .with_secure(secure)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_path("/")
        .with_expiry(Expiry::OnInactivity(IDLE))
}

/// The session libraries answer a failure of the database with a bare 500; a person is told more.
/// They have logged the cause.
pub(super) async fn explain_failures(request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let is_bare = !response.headers().contains_key(header::CONTENT_TYPE);
    if response.status() != StatusCode::INTERNAL_SERVER_ERROR || !is_bare {
        return response;
    }
    let text = "The database does not answer. Try again in a minute; the server's log tells more.\n";
    (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "60")], text).into_response()
}
