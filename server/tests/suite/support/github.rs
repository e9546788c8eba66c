//! A GitHub of one's own, over real HTTP: what polymnemo needs of it, with the same rules and the
//! same answers when they are broken.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard},
};

use axum::{
    Form, Json, Router,
    extract::{Path, Query, State},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::{net::TcpListener, task::JoinHandle};
use url::Url;

/// The OAuth app that is registered there.
pub const CLIENT_ID: &str = "Iv1.polymnemo";
pub const CLIENT_SECRET: &str = "stand-in-secret-0123456789";

/// A running stand-in. It ends with this value.
pub struct GitHub {
    url: String,
    state: Shared,
    serving: JoinHandle<()>,
}

type Shared = Arc<Mutex<Inner>>;

#[derive(Default)]
struct Inner {
    /// Who is signed in at GitHub in the browser that comes next, and whether they consent.
    person: Option<Person>,
    denies: bool,
    broken: bool,
    codes: HashMap<String, Code>,
    tokens: HashMap<String, Grant>,
    made: u32,
}

/// Someone with an account.
#[derive(Debug, Clone, Default)]
pub struct Person {
    pub id: u64,
    pub login: String,
    /// Organisations, each with the state of the membership: `active` or `pending`.
    pub memberships: BTreeMap<String, &'static str>,
}

struct Code {
    challenge: String,
    redirect: String,
    grant: Grant,
}

#[derive(Clone)]
struct Grant {
    person: Person,
    scopes: Vec<String>,
}

impl GitHub {
    /// Starts one, where `octocat` is signed in and consents.
    pub async fn start() -> Self {
        Self::start_at(0).await
    }

    /// The same, at this port of this machine; 0 takes any free one.
    pub async fn start_at(port: u16) -> Self {
        let state = Shared::default();
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new()
            .route("/login/oauth/authorize", get(authorize))
            .route("/login/oauth/access_token", post(access_token))
            .route("/api/v3/user", get(user))
            .route("/api/v3/user/memberships/orgs/{organisation}", get(membership))
            .with_state(state.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let github = Self { url, state, serving };
        github.person(583_231, "octocat");
        github
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on this person is signed in there.
    pub fn person(&self, id: u64, login: &str) {
        self.member(id, login, &[]);
    }

    /// From now on this person is signed in there, who is a member of these organisations.
    pub fn member(&self, id: u64, login: &str, memberships: &[(&str, &'static str)]) {
        let memberships = memberships.iter().map(|(name, state)| ((*name).to_owned(), *state)).collect();
        self.state().person = Some(Person { id, login: login.to_owned(), memberships });
    }

    /// Whether the person refuses from now on.
    pub fn denies(&self, denies: bool) {
        self.state().denies = denies;
    }

    /// Whether it answers with nothing but errors from now on.
    pub fn is_broken(&self, broken: bool) {
        self.state().broken = broken;
    }

    fn state(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap()
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The page on which a person consents; this one has decided already. What is wrong with a request
/// is told to the person, never to the address it names.
async fn authorize(State(state): State<Shared>, Query(query): Query<HashMap<String, String>>) -> Response {
    let mut state = state.lock().unwrap();
    let get = |name: &str| query.get(name).cloned().unwrap_or_default();
    let wrong = |what: &str| (StatusCode::BAD_REQUEST, format!("GitHub: {what}")).into_response();
    if get("client_id") != CLIENT_ID {
        return wrong("no such app");
    }
    let Some(mut back) = Url::parse(&get("redirect_uri")).ok().filter(is_registered) else {
        return wrong("the redirect_uri is not the one of the app");
    };
    if get("response_type") != "code" || get("state").len() < 16 {
        return wrong("the request is malformed");
    }
    let challenge = get("code_challenge");
    if get("code_challenge_method") != "S256" || challenge.len() != 43 {
        return wrong("PKCE is malformed");
    }
    if state.denies {
        back.query_pairs_mut()
            .append_pair("error", "access_denied")
            .append_pair("error_description", "The user has denied your application access.")
            .append_pair("state", &get("state"));
        return Redirect::to(back.as_str()).into_response();
    }
    let person = state.person.clone().unwrap();
    state.made += 1;
    let code = format!("{:020x}", state.made);
    let scopes = get("scope").split(' ').filter(|scope| !scope.is_empty()).map(str::to_owned).collect();
    let kept = Code { challenge, redirect: get("redirect_uri"), grant: Grant { person, scopes } };
    state.codes.insert(code.clone(), kept);
    back.query_pairs_mut().append_pair("code", &code).append_pair("state", &get("state"));
    (StatusCode::FOUND, [(header::LOCATION, back.to_string())]).into_response()
}

/// Loopback with any port, or the public address of the tests.
fn is_registered(url: &Url) -> bool {
    let is_ours = matches!(url.host_str(), Some("127.0.0.1" | "localhost" | "memory.example.com"));
    is_ours && url.path() == "/sign-in/github/callback" && url.query().is_none()
}

/// Exchanges a code, once. GitHub tells of errors with the status 200.
async fn access_token(
    State(state): State<Shared>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let mut state = state.lock().unwrap();
    if state.broken {
        return (StatusCode::BAD_GATEWAY, "<h1>Unicorn!</h1>").into_response();
    }
    assert_eq!(headers[header::ACCEPT], "application/json", "GitHub would answer with a form");
    let get = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let error =
        |code: &str| Json(json!({ "error": code, "error_description": "See the documentation." })).into_response();
    if get("client_id") != CLIENT_ID || get("client_secret") != CLIENT_SECRET {
        return error("incorrect_client_credentials");
    }
    let Some(code) = state.codes.remove(get("code")) else { return error("bad_verification_code") };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(get("code_verifier").as_bytes()));
    if challenge != code.challenge {
        return error("bad_verification_code");
    }
    if get("redirect_uri") != code.redirect {
        return error("redirect_uri_mismatch");
    }
    state.made += 1;
    let token = format!("gho_{:036}", state.made);
    let scope = code.grant.scopes.join(",");
    state.tokens.insert(token.clone(), code.grant);
    Json(json!({ "access_token": token, "scope": scope, "token_type": "bearer" })).into_response()
}

/// Whose token a request carries. GitHub turns away whoever names no user agent.
fn grant(state: &Inner, headers: &HeaderMap) -> Result<Grant, Problem> {
    if !headers.contains_key(header::USER_AGENT) {
        return Err(message(StatusCode::FORBIDDEN, "Request forbidden by administrative rules."));
    }
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let granted = token.and_then(|token| state.tokens.get(token)).cloned();
    granted.ok_or_else(|| message(StatusCode::UNAUTHORIZED, "Bad credentials"))
}

type Problem = (StatusCode, Json<Value>);

fn message(status: StatusCode, text: &str) -> Problem {
    (status, Json(json!({ "message": text })))
}

async fn user(State(state): State<Shared>, headers: HeaderMap) -> Result<Json<Value>, Problem> {
    let person = grant(&state.lock().unwrap(), &headers)?.person;
    Ok(Json(json!({ "id": person.id, "login": person.login, "node_id": "MDQ6VXNlcg==", "type": "User", "name": null })))
}

async fn membership(
    State(state): State<Shared>,
    headers: HeaderMap,
    Path(organisation): Path<String>,
) -> Result<Json<Value>, Problem> {
    let grant = grant(&state.lock().unwrap(), &headers)?;
    if !grant.scopes.iter().any(|scope| scope == "read:org") {
        return Err(message(StatusCode::FORBIDDEN, "You need at least read:org scope."));
    }
    let found = grant.person.memberships.iter().find(|(name, _)| name.eq_ignore_ascii_case(&organisation));
    let (_, state) = found.ok_or_else(|| message(StatusCode::NOT_FOUND, "Not Found"))?;
    Ok(Json(json!({ "state": state, "role": "member" })))
}
