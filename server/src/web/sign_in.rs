//! Sign-in with an identity provider: to it and back (RFC 6749 section 4.1, with PKCE).
//!
//! What binds the two halves together:
//!
//! - The `state` is random, works once and for ten minutes, and is kept by its digest in the
//!   database with the PKCE verifier and the way to go on. Nothing of that can be read or changed
//!   on the way.
//! - The browser that begins gets a session with a random value in it, and only a browser with that
//!   session may complete the sign-in. Otherwise someone could let another's browser complete his
//!   own, and have them store their memories in his account.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    extract::{ConnectInfo, MatchedPath, Query, Request, State, rejection::QueryRejection},
    middleware::Next,
    response::{IntoResponse, Redirect, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use polymnemo_app::{
    api::sign_in::SignInProblem,
    paths::{SIGN_IN, after_sign_in, sign_in_path},
};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use tower_sessions::{Expiry, cookie::time};

use super::{
    Shared, Way, back,
    identity::begin_stay,
    own_pages,
    people::{AuthSession, Proof},
    provider::{Answer, Attempt, Provider, Refusal, plain},
    see_other,
};
use crate::http::client_address::network_of;

/// How long a person may take at the provider.
const LIFETIME: Duration = Duration::from_secs(600);
/// The key in a session under which the value is that binds a sign-in to its browser.
const BROWSER: &str = "sign_in_browser";
/// The longest `state` and `code` that are looked at, in bytes. GitHub's codes have 20, but there are issuers that put
/// everything into theirs.
const PARAMETER_BYTES: usize = 4096;

/// What is kept of a sign-in until it comes back.
#[derive(Serialize, Deserialize)]
struct Kept {
    verifier: String,
    redirect: String,
    next: String,
    browser: String,
    nonce: Option<String>,
}

/// The query of the link that begins.
#[derive(Deserialize)]
pub(super) struct Beginning {
    next: Option<String>,
}

/// The query with which the provider sends the browser back.
#[derive(Deserialize)]
pub(super) struct Completion {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
    iss: Option<String>,
}

/// Sends the browser to the provider.
pub(super) async fn begin(
    State(shared): State<Arc<Shared>>,
    route: MatchedPath,
    auth: AuthSession,
    headers: HeaderMap,
    query: Result<Query<Beginning>, QueryRejection>,
) -> Response {
    let next = query.ok().and_then(|Query(query)| query.next);
    let next = after_sign_in(next.as_deref());
    let Some(provider) = provider_at(&shared, &route) else { return see_other(SIGN_IN) };
    if own_pages::is_from_elsewhere(&headers) {
        // A provider remembers its consent, so another site's link would sign a person in unasked.
        return see_other(&sign_in_path(next));
    }
    match address_at(&shared, provider, &auth, &headers, next).await {
        Ok(address) => Redirect::to(&address).into_response(),
        Err(problem) => back(problem, next),
    }
}

/// The provider of this server, where this is its route and not another one's.
fn provider_at<'a>(shared: &'a Shared, route: &MatchedPath) -> Option<&'a Provider> {
    let Way::Provider(provider) = &shared.sign_in.way else { return None };
    route.as_str().starts_with(provider.path()).then_some(provider)
}

async fn address_at(
    shared: &Shared,
    provider: &Provider,
    auth: &AuthSession,
    headers: &HeaderMap,
    next: &str,
) -> Result<String, SignInProblem> {
    let browser = browser_of(auth).await.map_err(|error| {
        tracing::error!(%error, "a session could not begin");
        SignInProblem::Unavailable
    })?;
    let redirect = format!("{}{}/callback", shared.sign_in.network.origin_for(headers), provider.path());
    let attempt = provider.begin(redirect.clone()).await.map_err(|refusal| {
        tracing::error!(provider = provider.host(), reason = %refusal, "a sign-in could not begin");
        SignInProblem::Provider
    })?;
    let Attempt { address, state, verifier, nonce } = attempt;
    let kept = Kept { verifier, redirect, next: next.to_owned(), browser, nonce };
    shared.sign_in.secrets.keep(provider.purpose(), &state, &kept, LIFETIME).await.map_err(unavailable)?;
    Ok(address)
}

/// The value in the session that binds a sign-in to its browser. Several that are under way at
/// once, in several tabs, share it.
async fn browser_of(auth: &AuthSession) -> Result<String, tower_sessions::session::Error> {
    if auth.user.is_none() {
        let lifetime = time::Duration::try_from(LIFETIME).unwrap_or(time::Duration::MINUTE);
        auth.session.set_expiry(Some(Expiry::OnInactivity(lifetime)));
    }
    if let Some(browser) = auth.session.get::<String>(BROWSER).await? {
        return Ok(browser);
    }
    let browser = URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>());
    auth.session.insert(BROWSER, &browser).await?;
    Ok(browser)
}

/// Takes the browser back from the provider.
pub(super) async fn complete(
    State(shared): State<Arc<Shared>>,
    route: MatchedPath,
    mut auth: AuthSession,
    query: Result<Query<Completion>, QueryRejection>,
) -> Response {
    let Some(provider) = provider_at(&shared, &route) else { return see_other(SIGN_IN) };
    // A parameter that comes twice is no answer of a provider's.
    let Ok(Query(completion)) = query else { return back(SignInProblem::Expired, "/") };
    let kept = match kept_of(&shared, provider, &auth, completion.state.as_deref()).await {
        Ok(kept) => kept,
        Err(problem) => return back(problem, "/"),
    };
    let next = kept.next.clone();
    match signed_in(provider, &mut auth, &shared.sign_in.rules, completion, kept).await {
        Ok(()) => see_other(after_sign_in(Some(&next))),
        Err(problem) => back(problem, &next),
    }
}

/// What was kept under this state, once, and for this browser.
async fn kept_of(
    shared: &Shared,
    provider: &Provider,
    auth: &AuthSession,
    state: Option<&str>,
) -> Result<Kept, SignInProblem> {
    let state = state.filter(|state| state.len() <= PARAMETER_BYTES).ok_or(SignInProblem::Expired)?;
    let kept: Option<Kept> = shared.sign_in.secrets.take(provider.purpose(), state).await.map_err(unavailable)?;
    let kept = kept.ok_or(SignInProblem::Expired)?;
    let browser = auth.session.get::<String>(BROWSER).await.map_err(|error| {
        tracing::error!(%error, "a session could not be read");
        SignInProblem::Unavailable
    })?;
    let is_same = browser.is_some_and(|browser| browser.as_bytes().ct_eq(kept.browser.as_bytes()).into());
    if !is_same {
        tracing::warn!("a sign-in came back in another browser than the one it began in");
        return Err(SignInProblem::Expired);
    }
    Ok(kept)
}

async fn signed_in(
    provider: &Provider,
    auth: &mut AuthSession,
    rules: &str,
    completion: Completion,
    kept: Kept,
) -> Result<(), SignInProblem> {
    let code = match (completion.error.as_deref(), completion.code) {
        (None, Some(code)) if code.len() <= PARAMETER_BYTES => code,
        (Some("access_denied"), _) => return Err(SignInProblem::Denied),
        (error, _) => {
            let error = plain(error.unwrap_or_default());
            tracing::warn!(provider = provider.host(), error, "a browser was sent back without a code");
            return Err(SignInProblem::Provider);
        }
    };
    let Kept { verifier, redirect, nonce, .. } = kept;
    let answer = Answer { code, issuer: completion.iss, verifier, redirect, nonce };
    let proof = provider.complete(answer).await.map_err(|refusal| {
        tracing::warn!(provider = provider.host(), reason = %refusal, "the provider did not vouch for someone");
        match refusal {
            Refusal::NotAllowed => SignInProblem::NotAllowed,
            Refusal::Code(_) => SignInProblem::Expired,
            Refusal::Trouble(_) => SignInProblem::Provider,
        }
    })?;
    enter(auth, rules, proof).await
}

/// Answers 429 where a client, or all of them together, try to sign in too often.
pub(super) async fn limit(
    State(shared): State<Arc<Shared>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let Err(wait) = shared.throttle.try_pass(network_of(peer, request.headers())) else {
        return next.run(request).await;
    };
    let mut response = polymnemo_app::sign_in_page(&shared.web, SignInProblem::TooMany, request.headers()).await;
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let seconds = wait.as_secs() + 1;
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// Begins the session of someone who proved who they are.
pub(super) async fn enter(auth: &mut AuthSession, rules: &str, proof: Proof) -> Result<(), SignInProblem> {
    let begin = async {
        let Some(person) = auth.authenticate(proof).await? else { return Ok(None) };
        // The library renews the id of a session only where nobody was signed in by it. Here it is
        // renewed always, so that whoever knew the old one knows nothing.
        auth.session.cycle_id().await?;
        auth.session.remove_value(BROWSER).await?;
        begin_stay(&auth.session, rules).await?;
        auth.login(&person).await?;
        Ok::<_, axum_login::Error<_>>(Some(person))
    };
    match begin.await {
        Ok(Some(person)) => {
            tracing::info!(user.id = %person.0.user.id, "signed in");
            Ok(())
        }
        Ok(None) => Err(SignInProblem::NotAllowed),
        Err(error) => {
            tracing::error!(error = crate::error::in_one_line(&error), "a session could not begin");
            Err(SignInProblem::Unavailable)
        }
    }
}

/// The service logs the cause.
pub(super) fn unavailable(error: polymnemo_memory::Error) -> SignInProblem {
    let _ = polymnemo_types::ApiError::from(error);
    SignInProblem::Unavailable
}
