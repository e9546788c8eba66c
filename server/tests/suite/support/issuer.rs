//! An authorization server of one's own, over real HTTP: it signs tokens with its own keys and lets
//! people sign in (OAuth 2.1 with PKCE, OpenID Connect), by the rules.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::{SystemTime, UNIX_EPOCH},
};

use aws_lc_rs::{
    hmac,
    rand::SystemRandom,
    rsa::KeySize,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RSA_PSS_SHA256,
        RsaKeyPair,
    },
};
use axum::{
    Form, Json, Router,
    extract::{Query, Request, State},
    middleware::{self, Next},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::{net::TcpListener, task::JoinHandle};
use url::Url;

/// The client of the web app that is registered there.
pub const WEB_CLIENT: &str = "polymnemo-web";
pub const WEB_SECRET: &str = "stand-in-secret-of-the-web-app";
/// What it puts into `aud` for this server.
pub const AUDIENCE: &str = "https://memory.example.com/mcp";

/// A running issuer. It ends with this value.
pub struct Issuer {
    url: String,
    state: Shared,
    serving: JoinHandle<()>,
}

type Shared = Arc<Mutex<Inner>>;

#[derive(Default)]
struct Inner {
    /// The issuer identifier: the URL, with a path where there is one.
    url: String,
    /// What the metadata says it is.
    named: Option<String>,
    /// Whether the metadata is where OpenID Connect has it only.
    only_openid: bool,
    down: bool,
    keys: Vec<Key>,
    /// How often the keys were read.
    keys_read: u32,
    made: u32,
    /// Who is signed in there in the browser that comes next: the claims of an ID token.
    person: Map<String, Value>,
    denies: bool,
    codes: HashMap<String, Code>,
    /// What is different in the ID tokens from now on.
    odd: Map<String, Value>,
}

struct Key {
    id: String,
    pair: Pair,
}

enum Pair {
    Ec(EcdsaKeyPair),
    Rsa(Box<RsaKeyPair>),
    Ed(Ed25519KeyPair),
}

struct Code {
    challenge: String,
    redirect: String,
    nonce: String,
    person: Map<String, Value>,
}

/// A token to be signed.
#[derive(Clone)]
pub struct Token {
    state: Shared,
    header: Map<String, Value>,
    claims: Map<String, Value>,
}

impl Issuer {
    /// Starts one that signs with a key of its own (ES256), where Ada is signed in and consents.
    pub async fn start() -> Self {
        Self::start_below("").await
    }

    /// The same with a path in its identifier.
    pub async fn start_below(path: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{origin}{path}");
        let state = Shared::default();
        let without_slash = path.trim_end_matches('/');
        let router = Router::new()
            .route(&format!("/.well-known/oauth-authorization-server{without_slash}"), get(metadata))
            .route(&format!("{without_slash}/.well-known/openid-configuration"), get(openid_metadata))
            .route("/jwks", get(jwks))
            .route("/authorize", get(authorize))
            .route("/token", post(exchange))
            .layer(middleware::from_fn_with_state(state.clone(), answer_when_up))
            .with_state(state.clone());
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let issuer = Self { url: url.clone(), state, serving };
        issuer.state().url = url;
        issuer.rotate();
        issuer.person("ada", json!({ "name": "Ada" }));
        issuer
    }

    /// Its identifier.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on it signs with a new key, and knows no other.
    pub fn rotate(&self) {
        self.replace_key(Pair::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap()));
    }

    /// The same with an RSA key.
    pub fn use_rsa(&self) {
        self.replace_key(Pair::Rsa(Box::new(RsaKeyPair::generate(KeySize::Rsa2048).unwrap())));
    }

    /// The same with an Ed25519 key.
    pub fn use_ed25519(&self) {
        self.replace_key(Pair::Ed(Ed25519KeyPair::generate().unwrap()));
    }

    fn replace_key(&self, pair: Pair) {
        let mut state = self.state();
        state.made += 1;
        let id = format!("key-{}", state.made);
        state.keys = vec![Key { id, pair }];
    }

    /// Whether it answers nothing from now on.
    pub fn is_down(&self, down: bool) {
        self.state().down = down;
    }

    /// What its metadata names as issuer from now on.
    pub fn calls_itself(&self, name: &str) {
        self.state().named = Some(name.to_owned());
    }

    /// Its metadata is only where OpenID Connect has it from now on.
    pub fn has_only_openid(&self) {
        self.state().only_openid = true;
    }

    /// How often its keys were read.
    pub fn keys_read(&self) -> u32 {
        self.state().keys_read
    }

    /// From now on this person is signed in there, with these claims in their ID token.
    pub fn person(&self, subject: &str, claims: Value) {
        let mut person = claims.as_object().unwrap().clone();
        person.insert("sub".to_owned(), json!(subject));
        self.state().person = person;
    }

    /// Whether the person refuses from now on.
    pub fn denies(&self, denies: bool) {
        self.state().denies = denies;
    }

    /// What is different in its ID tokens from now on; a null takes a claim away.
    pub fn id_tokens_have(&self, claims: Value) {
        self.state().odd = claims.as_object().unwrap().clone();
    }

    /// An access token for a client of this person, as RFC 9068 has it.
    pub fn token(&self, subject: &str) -> Token {
        let now = now();
        let claims = json!({
            "iss": self.url,
            "sub": subject,
            "aud": AUDIENCE,
            "exp": now + 300,
            "iat": now,
            "client_id": "cursor",
            "scope": "memory:read memory:write",
        });
        self.to_sign(json!({ "typ": "at+jwt" }), claims)
    }

    /// An ID token of this person, for the web app.
    pub fn id_token(&self, subject: &str) -> Token {
        let now = now();
        let claims = json!({ "iss": self.url, "sub": subject, "aud": WEB_CLIENT, "exp": now + 300, "iat": now });
        self.to_sign(json!({ "typ": "JWT" }), claims)
    }

    fn to_sign(&self, header: Value, claims: Value) -> Token {
        let object = |value: Value| value.as_object().unwrap().clone();
        let mut header = object(header);
        header.insert("kid".to_owned(), json!(self.state().key().id));
        Token { state: self.state.clone(), header, claims: object(claims) }
    }

    fn state(&self) -> MutexGuard<'_, Inner> {
        self.state.lock().unwrap()
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Token {
    /// With this claim; null takes it away.
    pub fn claim(mut self, name: &str, value: Value) -> Self {
        change(&mut self.claims, name, value);
        self
    }

    /// With this member of the header; null takes it away.
    pub fn header(mut self, name: &str, value: Value) -> Self {
        change(&mut self.header, name, value);
        self
    }

    /// Signed with the key of the issuer, in the way of the key unless the header says PS256.
    pub fn sign(self) -> String {
        let state = self.state.lock().unwrap();
        state.sign(self.header.clone(), &self.claims)
    }

    /// Signed as HS256, with the public key of the issuer as the shared secret.
    pub fn sign_with_public_key(mut self) -> String {
        let state = self.state.lock().unwrap();
        self.header.insert("alg".to_owned(), json!("HS256"));
        let secret = hmac::Key::new(hmac::HMAC_SHA256, &state.key().public());
        compact(&self.header, &self.claims, |message| hmac::sign(&secret, message).as_ref().to_vec())
    }

    /// Not signed, and saying so.
    pub fn unsigned(mut self) -> String {
        self.header.insert("alg".to_owned(), json!("none"));
        compact(&self.header, &self.claims, |_| Vec::new())
    }
}

fn change(object: &mut Map<String, Value>, name: &str, value: Value) {
    if value.is_null() {
        object.remove(name);
    } else {
        object.insert(name.to_owned(), value);
    }
}

/// The seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

impl Inner {
    /// The key that it signs with.
    fn key(&self) -> &Key {
        self.keys.first().unwrap()
    }

    fn sign(&self, mut header: Map<String, Value>, claims: &Map<String, Value>) -> String {
        let key = self.key();
        let usual = match key.pair {
            Pair::Ec(_) => "ES256",
            Pair::Rsa(_) => "RS256",
            Pair::Ed(_) => "EdDSA",
        };
        header.entry("alg").or_insert_with(|| json!(usual));
        let random = SystemRandom::new();
        let by_pss = header["alg"] == "PS256";
        compact(&header, claims, |message| match &key.pair {
            Pair::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let padding = if by_pss { &RSA_PSS_SHA256 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
        })
    }
}

impl Key {
    fn public(&self) -> Vec<u8> {
        match &self.pair {
            Pair::Ec(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Ed(pair) => pair.public_key().as_ref().to_vec(),
        }
    }

    fn jwk(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let public = self.public();
        match &self.pair {
            Pair::Ec(_) => {
                // The point is written as 0x04, x, y.
                let (x, y) = public[1..].split_at(32);
                json!({ "kty": "EC", "crv": "P-256", "use": "sig", "kid": self.id, "x": text(x), "y": text(y) })
            }
            Pair::Ed(_) => json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": self.id, "x": text(&public) }),
            Pair::Rsa(pair) => {
                let public = pair.public_key();
                let (n, e) = (public.modulus(), public.exponent());
                let (n, e) = (text(n.big_endian_without_leading_zero()), text(e.big_endian_without_leading_zero()));
                json!({ "kty": "RSA", "use": "sig", "kid": self.id, "n": n, "e": e })
            }
        }
    }
}

fn compact(header: &Map<String, Value>, claims: &Map<String, Value>, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |object: &Map<String, Value>| URL_SAFE_NO_PAD.encode(serde_json::to_vec(object).unwrap());
    let message = format!("{}.{}", part(header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(message.as_bytes()));
    format!("{message}.{signature}")
}

async fn answer_when_up(State(state): State<Shared>, request: Request, next: Next) -> Response {
    if state.lock().unwrap().down {
        return (StatusCode::SERVICE_UNAVAILABLE, "<h1>Down for maintenance</h1>").into_response();
    }
    next.run(request).await
}

async fn metadata(state: State<Shared>) -> Response {
    if state.lock().unwrap().only_openid {
        // As a server does that answers everything with its one page.
        return (StatusCode::OK, "<!doctype html><title>Sign in</title>").into_response();
    }
    openid_metadata(state).await
}

async fn openid_metadata(State(state): State<Shared>) -> Response {
    let state = state.lock().unwrap();
    let origin = Url::parse(&state.url).unwrap().origin().ascii_serialization();
    Json(json!({
        "issuer": state.named.as_ref().unwrap_or(&state.url),
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "jwks_uri": format!("{origin}/jwks"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
        "authorization_response_iss_parameter_supported": true,
    }))
    .into_response()
}

async fn jwks(State(state): State<Shared>) -> Json<Value> {
    let mut state = state.lock().unwrap();
    state.keys_read += 1;
    let mut keys: Vec<Value> = state.keys.iter().map(Key::jwk).collect();
    // One of a kind that nobody here knows.
    keys.push(json!({ "kty": "AKP", "kid": "future", "alg": "ML-DSA-44", "pub": "AQAB" }));
    Json(json!({ "keys": keys }))
}

/// The page on which a person signs in; this one has done it already.
async fn authorize(State(state): State<Shared>, Query(query): Query<HashMap<String, String>>) -> Response {
    let mut state = state.lock().unwrap();
    let get = |name: &str| query.get(name).cloned().unwrap_or_default();
    let wrong = |what: &str| (StatusCode::BAD_REQUEST, format!("Issuer: {what}")).into_response();
    if get("client_id") != WEB_CLIENT {
        return wrong("no such client");
    }
    let is_registered = |url: &Url| {
        matches!(url.host_str(), Some("127.0.0.1" | "memory.example.com")) && url.path() == "/sign-in/oidc/callback"
    };
    let Some(mut back) = Url::parse(&get("redirect_uri")).ok().filter(is_registered) else {
        return wrong("the redirect_uri is not one of the client");
    };
    let (challenge, nonce) = (get("code_challenge"), get("nonce"));
    let asks_who = get("scope").split(' ').any(|scope| scope == "openid");
    if get("response_type") != "code" || get("state").len() < 16 || nonce.len() < 16 || !asks_who {
        return wrong("the request is malformed");
    }
    if get("code_challenge_method") != "S256" || challenge.len() != 43 {
        return wrong("PKCE is malformed");
    }
    if state.denies {
        back.query_pairs_mut()
            .append_pair("error", "access_denied")
            .append_pair("state", &get("state"))
            .append_pair("iss", &state.url);
        return Redirect::to(back.as_str()).into_response();
    }
    state.made += 1;
    let code = format!("code-{}", state.made);
    let person = state.person.clone();
    state.codes.insert(code.clone(), Code { challenge, redirect: get("redirect_uri"), nonce, person });
    back.query_pairs_mut()
        .append_pair("code", &code)
        .append_pair("state", &get("state"))
        .append_pair("iss", &state.url);
    Redirect::to(back.as_str()).into_response()
}

/// Exchanges a code, once.
async fn exchange(
    State(state): State<Shared>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let mut state = state.lock().unwrap();
    let get = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let error = |status: StatusCode, code: &str| (status, Json(json!({ "error": code }))).into_response();
    let basic = format!("Basic {}", STANDARD.encode(format!("{WEB_CLIENT}:{WEB_SECRET}")));
    let is_client = match headers.get(header::AUTHORIZATION) {
        Some(given) => given.to_str().unwrap() == basic,
        None => get("client_id") == WEB_CLIENT && get("client_secret").is_empty(),
    };
    if !is_client {
        return error(StatusCode::UNAUTHORIZED, "invalid_client");
    }
    let Some(code) = state.codes.remove(get("code")) else {
        return error(StatusCode::BAD_REQUEST, "invalid_grant");
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(get("code_verifier").as_bytes()));
    if challenge != code.challenge || get("redirect_uri") != code.redirect {
        return error(StatusCode::BAD_REQUEST, "invalid_grant");
    }
    let now = now();
    let mut claims = code.person;
    for (name, value) in [
        ("iss", json!(state.url)),
        ("aud", json!(WEB_CLIENT)),
        ("exp", json!(now + 300)),
        ("iat", json!(now)),
        ("nonce", json!(code.nonce)),
    ] {
        claims.insert(name.to_owned(), value);
    }
    for (name, value) in state.odd.clone() {
        change(&mut claims, &name, value);
    }
    let mut header = Map::new();
    header.insert("typ".to_owned(), json!("JWT"));
    header.insert("kid".to_owned(), json!(state.key().id));
    let id_token = state.sign(header, &claims);
    Json(json!({ "access_token": "opaque", "token_type": "Bearer", "expires_in": 300, "id_token": id_token }))
        .into_response()
}
