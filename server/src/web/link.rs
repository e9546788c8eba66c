//! Sign-in by a link, where no identity provider is set and the server is for this machine only.
//!
//! Whoever can read the terminal of the server is its owner, so a link printed there is proof
//! enough. It works once and for a quarter of an hour. The token in it is in the query, which
//! neither the log nor a `Referer` of ours shows, and the answer leads elsewhere at once, so that it
//! stays out of the browser's history.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Form,
    extract::{
        ConnectInfo, Query, Request, State,
        rejection::{FormRejection, QueryRejection},
    },
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, Method, StatusCode, header};
use polymnemo_app::{
    api::sign_in::SignInProblem,
    paths::{SIGN_IN, after_sign_in},
};
use polymnemo_memory::Identity;
use polymnemo_store::OneTimeSecrets;
use rand::RngExt;
use serde::Deserialize;

use super::{
    Shared, Way, back,
    people::{AuthSession, Proof},
    see_other,
    sign_in::{enter, unavailable},
};
use crate::{
    config::{Authority, Secret},
    http::client_address::is_forwarded,
};

/// How long a link works.
const LIFETIME: Duration = Duration::from_secs(900);
/// The purpose of the secrets in links.
const PURPOSE: &str = "sign-in link";
const TOKEN_BYTES: usize = 32;
/// The longest text that is looked at, in bytes; a link has about a hundred.
const TEXT_BYTES: usize = 2_000;

/// Makes links that sign in. Whoever can make one reaches the database anyway.
#[derive(Debug, Clone)]
pub struct SignInLinks {
    secrets: OneTimeSecrets,
}

impl SignInLinks {
    /// How long a link works, in minutes.
    pub const MINUTES: u64 = LIFETIME.as_secs() / 60;

    /// Links that are kept here.
    pub(crate) fn new(secrets: OneTimeSecrets) -> Self {
        Self { secrets }
    }

    /// A new link to the server at this origin (`http://127.0.0.1:8000`).
    ///
    /// # Errors
    ///
    /// Where the database can't be reached.
    pub async fn make(&self, origin: &str) -> polymnemo_memory::Result<Secret> {
        let token = URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; TOKEN_BYTES]>());
        self.secrets.keep(PURPOSE, &token, &(), LIFETIME).await?;
        Ok(Secret::new(format!("{origin}/sign-in/link?token={token}")))
    }
}

/// The query of a link.
#[derive(Deserialize)]
pub(super) struct Opened {
    token: Option<String>,
}

/// The form of the sign-in page.
#[derive(Deserialize)]
pub(super) struct Pasted {
    link: String,
    next: Option<String>,
}

/// Signs in whoever opened a link.
pub(super) async fn open(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    auth: AuthSession,
    query: Result<Query<Opened>, QueryRejection>,
    request: Request,
) -> Response {
    let headers = request.headers();
    // Whoever only looks at what is there must not use the link up.
    let only_looks = *request.method() != Method::GET
        || ["sec-purpose", "purpose", "x-purpose"].iter().any(|name| headers.contains_key(*name));
    if only_looks {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, POST")], "Open the link itself.\n")
            .into_response();
    }
    let token = query.ok().and_then(|Query(opened)| opened.token).unwrap_or_default();
    sign_in(&shared, peer, headers, auth, &token, None).await
}

/// Signs in whoever pasted a link into the sign-in page, and takes them back to where they were.
pub(super) async fn paste(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    auth: AuthSession,
    form: Result<Form<Pasted>, FormRejection>,
) -> Response {
    let Ok(Form(Pasted { link, next })) = form else { return back(SignInProblem::Link, "/") };
    let link = link.trim();
    let token = link.rsplit_once("token=").map_or(link, |(_, token)| token);
    sign_in(&shared, peer, &headers, auth, token, next.as_deref()).await
}

async fn sign_in(
    shared: &Shared,
    peer: SocketAddr,
    headers: &HeaderMap,
    mut auth: AuthSession,
    token: &str,
    next: Option<&str>,
) -> Response {
    let next = after_sign_in(next);
    let Way::Link { user } = &shared.sign_in.way else { return see_other(SIGN_IN) };
    if !is_from_this_machine(peer, headers) {
        tracing::warn!("a sign-in link was used from elsewhere, or through a proxy");
        return back(SignInProblem::NotLocal, next);
    }
    if token.len() > TEXT_BYTES {
        return back(SignInProblem::Link, next);
    }
    match shared.sign_in.secrets.take::<()>(PURPOSE, token).await {
        Ok(Some(())) => {}
        Ok(None) => return back(SignInProblem::Link, next),
        Err(error) => return back(unavailable(error), next),
    }
    match enter(&mut auth, &shared.sign_in.rules, Proof { identity: Identity::named(user), name: user.clone() }).await {
        Ok(()) => see_other(next),
        Err(problem) => back(problem, next),
    }
}

/// Whether a program on this machine sent the request itself, calling the server by a loopback name.
fn is_from_this_machine(peer: SocketAddr, headers: &HeaderMap) -> bool {
    let called = headers.get(header::HOST).and_then(|host| host.to_str().ok()).and_then(Authority::parse);
    peer.ip().to_canonical().is_loopback()
        && called.is_some_and(|called| called.is_loopback())
        && !is_forwarded(headers)
}
