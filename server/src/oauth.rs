//! The authorization server: how AI apps are let in by people, app by app.
//!
//! ```text
//! /.well-known/oauth-authorization-server   what there is (RFC 8414)
//! /register    a client tells of itself (RFC 7591), or has a document at its own URL (CIMD)
//! /authorize   a client sends a person; what it asks for is checked and kept
//! /consent     the person decides, on a page of the web app
//! /token       codes and refresh tokens for access tokens
//! /revoke      tokens that are to end (RFC 7009)
//! ```
//!
//! A person always decides on a page of ours, however often they let the app in before, and after they signed in: neither
//! what the identity provider remembers nor what we remember answers for them. What a client asks for is kept in the
//! database under a random id from `/authorize` on, and belongs to the browser that brought it ([`browser`]). So nothing of
//! it can be changed on the way, any replica goes on with it, and nobody can have another person finish what they began.
//!
//! All clients are public ones (RFC 6749, section 2.1): they prove with PKCE that they began what they end, and their
//! tokens rotate. What may be done with a token is not in the token: it is looked up with each request, so a change holds
//! at once.

mod addresses;
mod authorize;
mod browser;
mod clients;
mod consent;
mod documents;
mod endpoint;
mod metadata;
mod redirect;
mod register;
pub(crate) mod resource;
mod revoke;
mod token;

use std::{sync::Arc, time::Duration};

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::{from_fn, from_fn_with_state},
    routing::{any, get, post},
};
use polymnemo_app::Site;
use polymnemo_memory::MemoryService;
use tower::ServiceBuilder;
use tower_http::limit::RequestBodyLimitLayer;

use self::{clients::Clients, documents::Documents};
use crate::{
    Error,
    config::{NetworkConfig, OauthConfig},
    connector,
    http::{cors, throttle::Throttle, time_limit},
};

pub(crate) use self::{browser::recognize, metadata::authorization_server};

/// How long an answer to a program may take.
const TIME: Duration = Duration::from_secs(30);
/// The longest body that a program may send, in bytes.
const BODY_BYTES: usize = 64 << 10;

/// What the endpoints work with.
#[derive(Clone)]
pub(crate) struct AuthorizationServer(Arc<Parts>);

struct Parts {
    service: MemoryService,
    network: Arc<NetworkConfig>,
    clients: Clients,
    site: Site,
    /// How often programs may register.
    registrations: Arc<Throttle>,
    /// How often browsers may bring requests. One who fills the first keeps nobody from this.
    requests: Arc<Throttle>,
}

impl AuthorizationServer {
    /// An authorization server over the service.
    ///
    /// # Errors
    ///
    /// Where the HTTP client for the documents of clients can't be made.
    pub(crate) fn new(
        config: &OauthConfig,
        service: MemoryService,
        network: Arc<NetworkConfig>,
        site: Site,
    ) -> Result<Self, Error> {
        let documents = Documents::new(config.client_documents_url.clone())
            .map_err(|error| Error::Failed(format!("the documents of clients can't be read: {error}")))?;
        let clients = Clients::new(service.clone(), documents);
        let [registrations, requests] = [Throttle::for_apps(), Throttle::for_apps()].map(Arc::new);
        Ok(Self(Arc::new(Parts { service, network, clients, site, registrations, requests })))
    }

    /// The endpoints that programs call. Pages of any origin may: what is asked here needs no cookie.
    pub(crate) fn for_programs(&self) -> Router {
        Router::new()
            .route(
                "/register",
                post(register::register).layer(from_fn_with_state(self.0.registrations.clone(), endpoint::throttle)),
            )
            .route("/token", post(token::token))
            .route("/revoke", post(revoke::revoke))
            .layer(
                ServiceBuilder::new()
                    .layer(cors::for_tokens())
                    .layer(from_fn_with_state(TIME, time_limit::enforce))
                    .layer(from_fn(endpoint::only_post))
                    .layer(DefaultBodyLimit::disable())
                    .layer(RequestBodyLimitLayer::new(BODY_BYTES)),
            )
            .with_state(self.clone())
    }

    /// The endpoint to which clients send people, and the document of one that we are ourselves.
    pub(crate) fn for_browsers(&self) -> Router {
        Router::new()
            .route(connector::DOCUMENT_PATH, get(metadata::connection_test))
            .route(
                "/authorize",
                get(authorize::authorize)
                    .post(authorize::authorize)
                    .layer(from_fn_with_state(self.0.requests.clone(), endpoint::throttle)),
            )
            .with_state(self.clone())
    }

    /// The endpoint that takes the decision of a person, who must be signed in.
    pub(crate) fn for_people(&self) -> Router {
        Router::new().route("/consent/answer", any(consent::answer)).with_state(self.clone())
    }
}
