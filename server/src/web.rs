//! How people get into the web app and stay in it: sign-in, sessions, and what stands before the
//! pages.
//!
//! ```text
//! our own pages only (CSRF)
//! └── session (tower-sessions, axum-login) → Ctx, Account among the request's extensions
//!     ├── /sign-in/github, /sign-in/oidc, each with /callback; /sign-in/link     at a limited rate
//!     ├── /sign-out, /sign-out/everywhere
//!     └── nobody gets further without a session, but to public routes → the web app, /export/ID/file
//! ```
//!
//! # Sessions
//!
//! A session is a row in the database, known by the SHA-256 of an id that only its browser has. The
//! id is renewed at sign-in, so one that was planted in a browser before is worth nothing after.
//! It holds the user's id and what their session secret was. Both are looked at with each request:
//! the sessions of a removed user, and all sessions of one who signed out everywhere, end at once,
//! on every replica. It ends on its own after [`people::IDLE`] without a visit, after a longer time
//! in any case, and with the rules for who may sign in that it began by (see [`identity`]).
//!
//! # Requests that other sites forge
//!
//! The module [`own_pages`] tells why there are no tokens in the forms.

mod cookies;
mod export_file;
mod file_forms;
mod github;
mod guard;
mod identity;
mod imports;
mod link;
mod oidc;
mod own_pages;
mod people;
mod provider;
mod sign_in;
mod sign_out;

use std::sync::Arc;

use axum::{
    Router,
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use axum_login::AuthManagerLayerBuilder;
use polymnemo_app::{
    WebContext,
    api::sign_in::{SignInOffer, SignInProblem},
    paths::{EXPORT_FILE, IMPORT_FORM, IMPORT_REPORT, MEDIA_FORM, UPLOAD_PAGE_FORM, sign_in_problem_path},
};
use polymnemo_memory::MemoryService;
use polymnemo_store::{BrowserSessions, OneTimeSecrets};
use tower::ServiceBuilder;

use crate::{
    Error,
    config::{NetworkConfig, SignInConfig},
    http::throttle::Throttle,
    oauth::{self, AuthorizationServer},
    oidc::Issuer,
};

use self::{github::GitHub, oidc::Oidc, people::People, provider::Provider};

pub use link::SignInLinks;

/// What signing in works with.
pub(crate) struct SignIn {
    way: Way,
    /// The rules for who may sign in, which a session must have begun by.
    rules: Arc<str>,
    network: Arc<NetworkConfig>,
    service: MemoryService,
    sessions: BrowserSessions,
    secrets: OneTimeSecrets,
    /// The port that the server listens on.
    port: u16,
}

/// How a person signs in.
enum Way {
    Provider(Provider),
    /// By a link, as the user of this name.
    Link {
        user: String,
    },
    Closed,
}

/// What the routes of this module share.
struct Shared {
    sign_in: SignIn,
    web: WebContext,
    throttle: Throttle,
}

impl SignIn {
    /// Prepares signing in as the settings say; the issuer is the one of the settings, if there is one.
    ///
    /// # Errors
    ///
    /// Where the client that talks to the identity provider can't be made.
    pub(crate) fn new(
        config: &SignInConfig,
        network: Arc<NetworkConfig>,
        service: MemoryService,
        sessions: BrowserSessions,
        secrets: OneTimeSecrets,
        issuer: Option<Arc<Issuer>>,
        port: u16,
    ) -> Result<Self, Error> {
        let way = match (issuer, config) {
            (Some(issuer), _) => Way::Provider(Provider::Oidc(Oidc::new(issuer))),
            (None, SignInConfig::GitHub(github)) => Way::Provider(Provider::GitHub(Box::new(GitHub::new(github)?))),
            (None, SignInConfig::Link { user }) => Way::Link { user: user.clone() },
            (None, SignInConfig::Oidc(_) | SignInConfig::Closed) => Way::Closed,
        };
        Ok(Self { way, rules: config.rules().into(), network, service, sessions, secrets, port })
    }

    /// What the sign-in page offers.
    pub(crate) fn offer(&self) -> SignInOffer {
        match &self.way {
            Way::Provider(Provider::GitHub(github)) => SignInOffer::GitHub { host: github.host().to_owned() },
            Way::Provider(Provider::Oidc(oidc)) => SignInOffer::Oidc { host: oidc.host().to_owned() },
            Way::Link { .. } => SignInOffer::Link,
            Way::Closed => SignInOffer::Closed,
        }
    }
}

/// The web app, behind sessions, with the routes that begin and end them; and the routes that take files from forms.
pub(crate) fn routes(sign_in: SignIn, web: WebContext, apps: Option<&AuthorizationServer>) -> (Router, Router) {
    let (network, rules) = (sign_in.network.clone(), sign_in.rules.clone());
    let service = Arc::new(sign_in.service.clone());
    let people = People::new(sign_in.service.clone());
    let sessions = people::sessions(sign_in.sessions.clone(), &network, sign_in.port);
    let pages = polymnemo_app::routes(web.clone());
    let shared = Arc::new(Shared { sign_in, web, throttle: Throttle::for_sign_in() });

    let entrances = Router::new()
        .route("/sign-in/github", get(sign_in::begin))
        .route("/sign-in/github/callback", get(sign_in::complete))
        .route("/sign-in/oidc", get(sign_in::begin))
        .route("/sign-in/oidc/callback", get(sign_in::complete))
        .route("/sign-in/link", get(link::open).post(link::paste))
        .route_layer(from_fn_with_state(shared.clone(), sign_in::limit))
        .with_state(shared.clone());
    let exits = Router::new()
        .route("/sign-out", post(sign_out::here))
        .route("/sign-out/everywhere", post(sign_out::everywhere))
        .with_state(shared);

    let decisions = apps.map(AuthorizationServer::for_people).unwrap_or_default();

    let before = ServiceBuilder::new()
        .layer(from_fn_with_state(network.clone(), own_pages::require))
        .layer(from_fn_with_state(network, oauth::recognize))
        .layer(from_fn(cookies::complete_removals))
        .layer(from_fn(people::explain_failures))
        .layer(AuthManagerLayerBuilder::new(people, sessions).build())
        .layer(from_fn_with_state(rules, identity::establish));
    let pages = pages.route(EXPORT_FILE, get(export_file::fetch).with_state(service.clone()));
    let pages = pages.layer(from_fn(guard::require_session)).merge(entrances).merge(exits).merge(decisions);
    let forms = Router::new()
        .route(MEDIA_FORM, post(file_forms::of_person))
        .route(IMPORT_FORM, post(imports::begin))
        .route(IMPORT_REPORT, get(imports::report))
        .layer(before.clone())
        // Its secret is all that an upload page asks for.
        .route(UPLOAD_PAGE_FORM, post(file_forms::of_page))
        .with_state(service);
    (pages.layer(before), forms)
}

/// Back to the sign-in page, which tells what went wrong.
fn back(problem: SignInProblem, next: &str) -> Response {
    see_other(&sign_in_problem_path(problem, next))
}

fn see_other(path: &str) -> Response {
    // 303, so that a POST becomes a GET; and the address that a secret came in is no page, so it
    // stays out of the browser's history.
    Redirect::to(path).into_response()
}
