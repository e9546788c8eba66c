//! Tests a connection from the outside, as AI apps make it: each step that claude.ai, ChatGPT, Cursor and VS Code take, through
//! the public address and whatever stands in front of the server.
//!
//! Two sides use it: the page on connecting, on behalf of whoever is signed in, and `polymnemo doctor --url`, for which a
//! person decides in a browser. It leaves nothing behind: the app that it was is turned away in the end.

mod ask;
pub(crate) mod at_terminal;
pub(crate) mod on_behalf;

use std::{future::Future, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{StatusCode, header};
use polymnemo_types::{ConnectionOutcome, ConnectionProblem as Problem, ConnectionReport, ConnectionStep as Step};
use rand::RngExt as _;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use self::ask::{Answer, Asker, Failure};

/// Where the document is by which the test is known as a client.
pub(crate) const DOCUMENT_PATH: &str = "/connection-test/client.json";
/// What the test is called where a person decides about it.
pub(crate) const NAME: &str = "polymnemo connection test";
/// Where an address of this machine is needed that nobody listens at.
pub(crate) const UNUSED_REDIRECT: &str = "http://127.0.0.1/callback";

/// Sends a person to an address, and gives the one that they are sent back to; nothing where they are not.
pub(crate) trait Person {
    /// Where they are to be sent back to.
    fn redirect_uri(&self) -> String;

    /// Has them decide.
    fn decide(&mut self, address: &str) -> impl Future<Output = Option<String>> + Send;
}

/// A test of the endpoint at one address.
pub(crate) struct Test<P> {
    asker: Asker,
    /// The address as people type it.
    url: String,
    person: P,
    reports: Vec<ConnectionReport>,
}

/// What the documents say.
struct Discovered {
    resource: String,
    issuer: String,
    authorize: String,
    token: String,
    register: String,
    revoke: String,
}

type Tried<T> = Result<T, Failure>;

impl<P: Person> Test<P> {
    /// A test of this endpoint.
    ///
    /// # Errors
    ///
    /// Where the HTTP client can't be made.
    pub(crate) fn new(url: &str, person: P) -> reqwest::Result<Self> {
        Ok(Self { asker: Asker::new()?, url: url.to_owned(), person, reports: Vec::new() })
    }

    /// Takes all steps; what comes after a step without which there is no next one is skipped.
    pub(crate) async fn run(mut self) -> Vec<ConnectionReport> {
        let _ = self.all_steps().await;
        for step in Step::ALL {
            if self.reports.iter().all(|report| report.step != step) {
                self.reports.push(ConnectionReport { step, outcome: ConnectionOutcome::Skipped });
            }
        }
        self.reports
    }

    async fn all_steps(&mut self) -> Option<()> {
        let refused = self.note(Step::Endpoint, endpoint(&self.asker, &self.url).await)?;
        let metadata = self.note(Step::Challenge, challenge(&refused, &self.url))?;
        let issuer = resource_metadata(&self.asker, &self.url, &metadata).await;
        let issuer = self.note(Step::ResourceMetadata, issuer)?;
        let discovered = self.note(Step::ServerMetadata, server_metadata(&self.asker, &self.url, &issuer).await)?;
        self.note(Step::NoOpenId, no_openid(&self.asker, &issuer).await);
        self.note(Step::Get, get_is_refused(&self.asker, &self.url).await);
        self.note(Step::Preflight, preflight(&self.asker, &discovered).await);

        let redirect = self.person.redirect_uri();
        let client = self.note(Step::Register, register(&self.asker, &discovered, &redirect).await)?;
        if is_on_this_machine(&discovered.issuer) {
            self.skip(Step::Document);
        } else {
            let id = format!("{}{DOCUMENT_PATH}", discovered.issuer);
            let shown = authorize(&self.asker, &discovered, &Attempt::new(id, UNUSED_REDIRECT)).await;
            self.note(
                Step::Document,
                shown.map_err(|failure| Failure { problem: Problem::DocumentRefused, ..failure }),
            );
        }
        let attempt = Attempt::new(client, &redirect);
        self.note(Step::Authorize, authorize(&self.asker, &discovered, &attempt).await)?;
        let back = self.person.decide(&attempt.address(&discovered)).await;
        let code = self.note(Step::Consent, code_of(back.as_deref(), &attempt, &discovered))?;
        let pair = self.note(Step::Token, exchange(&self.asker, &discovered, &attempt, &code).await)?;
        let pair = self.note(Step::Refresh, refresh_twice(&self.asker, &discovered, &attempt, &pair).await)?;
        if self.note(Step::Tools, tools(&self.asker, &self.url, &pair.access).await).is_none() {
            // Without a token that arrives, the rest would prove nothing; the app is turned away all the same.
            let _ = revoke(&self.asker, &self.url, &discovered, &attempt, &pair).await;
            return None;
        }
        self.note(Step::Recall, recall(&self.asker, &self.url, &pair.access).await);
        self.note(Step::Revoke, revoke(&self.asker, &self.url, &discovered, &attempt, &pair).await)
    }

    fn note<T>(&mut self, step: Step, tried: Tried<T>) -> Option<T> {
        let (outcome, value) = match tried {
            Ok(value) => (ConnectionOutcome::Passed, Some(value)),
            Err(Failure { problem, seen }) => (ConnectionOutcome::Failed { problem, seen }, None),
        };
        self.reports.push(ConnectionReport { step, outcome });
        value
    }

    fn skip(&mut self, step: Step) {
        self.reports.push(ConnectionReport { step, outcome: ConnectionOutcome::Skipped });
    }
}

/// One attempt of a client to be let in.
struct Attempt {
    client: String,
    redirect: String,
    verifier: String,
    state: String,
}

struct Pair {
    access: String,
    refresh: String,
}

impl Attempt {
    fn new(client: String, redirect: &str) -> Self {
        Self { client, redirect: redirect.to_owned(), verifier: random(), state: random() }
    }

    /// Where the client sends a person.
    fn address(&self, discovered: &Discovered) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&self.verifier));
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.client)
            .append_pair("redirect_uri", &self.redirect)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("state", &self.state)
            .append_pair("resource", &discovered.resource)
            .append_pair("scope", "memory:read")
            .finish();
        format!("{}?{query}", discovered.authorize)
    }
}

/// As clients of the older revisions begin.
async fn endpoint(asker: &Asker, url: &str) -> Tried<Answer> {
    let initialize = message(
        "initialize",
        &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": NAME, "version": "1" } }),
    );
    let answer = asker.post_json(url, None, &initialize).await?;
    match answer.status {
        StatusCode::UNAUTHORIZED => Ok(answer),
        StatusCode::FORBIDDEN => Err(answer.failure(Problem::HostRefused)),
        status if status.is_redirection() => Err(answer.failure(Problem::Redirected)),
        status if status.is_success() => Err(answer.failure(Problem::Open)),
        _ => Err(answer.failure(Problem::NotRouted)),
    }
}

/// The address in the header (RFC 9728, section 5.1).
fn challenge(refused: &Answer, url: &str) -> Tried<String> {
    let challenge =
        refused.header(header::WWW_AUTHENTICATE).ok_or_else(|| refused.failure(Problem::ChallengeDropped))?;
    let metadata = challenge.split_once("resource_metadata=\"").and_then(|(_, rest)| rest.split_once('"'));
    let (metadata, _) = metadata.ok_or_else(|| refused.failure(Problem::ChallengeDropped))?;
    let same_origin = || Some(Url::parse(metadata).ok()?.origin() == Url::parse(url).ok()?.origin());
    if same_origin() != Some(true) {
        return Err(Failure::new(Problem::ChallengeElsewhere, metadata));
    }
    Ok(metadata.to_owned())
}

/// The issuer in the document about the resource, at each of its addresses.
async fn resource_metadata(asker: &Asker, url: &str, metadata: &str) -> Tried<String> {
    let parsed = Url::parse(url).map_err(|_| Failure::new(Problem::Unreachable, url))?;
    let origin = parsed.origin().ascii_serialization();
    let mut issuer = None;
    for address in [
        metadata.to_owned(),
        format!("{origin}/.well-known/oauth-protected-resource{}", parsed.path()),
        format!("{origin}/.well-known/oauth-protected-resource"),
    ] {
        let document = asker.document(&address).await?;
        let resource = document["resource"].as_str().unwrap_or_default();
        if resource != url {
            return Err(Failure::new(Problem::ResourceDiffers, resource));
        }
        issuer = document["authorization_servers"][0].as_str().map(str::to_owned);
    }
    issuer.ok_or_else(|| Failure::new(Problem::NobodyLetsIn, "authorization_servers"))
}

/// The document about the authorization server (RFC 8414), with all that the clients look for in it.
async fn server_metadata(asker: &Asker, url: &str, issuer: &str) -> Tried<Discovered> {
    let parsed = Url::parse(issuer).map_err(|_| Failure::new(Problem::IssuerDiffers, issuer))?;
    let path = parsed.path().trim_end_matches('/');
    let address = format!("{}/.well-known/oauth-authorization-server{path}", parsed.origin().ascii_serialization());
    let document = asker.document(&address).await?;
    if document["issuer"] != issuer {
        return Err(Failure::new(Problem::IssuerDiffers, document["issuer"].as_str().unwrap_or_default()));
    }
    let has = |name: &str, value: &str| document[name].as_array().is_some_and(|all| all.iter().any(|one| one == value));
    for (name, value) in [
        ("code_challenge_methods_supported", "S256"),
        ("response_types_supported", "code"),
        ("grant_types_supported", "refresh_token"),
        // Claude uses its document only with this, ChatGPT its own only with the flags.
        ("token_endpoint_auth_methods_supported", "none"),
    ] {
        if !has(name, value) {
            return Err(Failure::new(Problem::MetadataIncomplete, name));
        }
    }
    for flag in ["client_id_metadata_document_supported", "authorization_response_iss_parameter_supported"] {
        if document[flag] != true {
            return Err(Failure::new(Problem::MetadataIncomplete, flag));
        }
    }
    let endpoint = |name: &str| {
        let address = document[name].as_str().filter(|address| Url::parse(address).is_ok());
        address.map(str::to_owned).ok_or_else(|| Failure::new(Problem::MetadataIncomplete, name))
    };
    Ok(Discovered {
        resource: url.to_owned(),
        issuer: issuer.to_owned(),
        authorize: endpoint("authorization_endpoint")?,
        token: endpoint("token_endpoint")?,
        register: endpoint("registration_endpoint")?,
        revoke: endpoint("revocation_endpoint")?,
    })
}

/// A page at this address would be read as a document, and a broken one.
async fn no_openid(asker: &Asker, issuer: &str) -> Tried<()> {
    let answer = asker.get(&format!("{issuer}/.well-known/openid-configuration")).await?;
    if answer.status == StatusCode::NOT_FOUND { Ok(()) } else { Err(answer.failure(Problem::PageInPlace)) }
}

async fn get_is_refused(asker: &Asker, url: &str) -> Tried<()> {
    let answer = asker.get(url).await?;
    match answer.status {
        StatusCode::UNAUTHORIZED | StatusCode::METHOD_NOT_ALLOWED => Ok(()),
        _ => Err(answer.failure(Problem::WrongAnswer)),
    }
}

async fn preflight(asker: &Asker, discovered: &Discovered) -> Tried<()> {
    for address in [&discovered.token, &discovered.register] {
        let answer = asker.preflight(address).await?;
        if !answer.status.is_success() || answer.header(header::ACCESS_CONTROL_ALLOW_ORIGIN).is_none() {
            return Err(answer.failure(Problem::WrongAnswer));
        }
    }
    Ok(())
}

/// As Cursor does it: three addresses in one registration, and more asked for than there is.
async fn register(asker: &Asker, discovered: &Discovered, redirect: &str) -> Tried<String> {
    let metadata = json!({
        "client_name": NAME,
        "redirect_uris": [redirect, "cursor://anysphere.cursor-mcp/oauth/callback", "https://www.cursor.com/agents/mcp/oauth/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "client_secret_post",
        "application_type": "web",
    });
    let answer = asker.post_json(&discovered.register, None, &metadata).await?;
    if answer.status != StatusCode::CREATED {
        return Err(answer.failure(unexpected(&answer)));
    }
    let registered = answer.json()?;
    let id = registered["client_id"].as_str().map(str::to_owned);
    id.ok_or_else(|| answer.failure(Problem::WrongAnswer))
}

/// The answer is the way to the page on which a person decides; a page in its place says why not.
async fn authorize(asker: &Asker, discovered: &Discovered, attempt: &Attempt) -> Tried<()> {
    let answer = asker.get(&attempt.address(discovered)).await?;
    let leads = answer.header(header::LOCATION).unwrap_or_default();
    if !answer.status.is_redirection() || !leads.contains("/consent?request=") {
        return Err(answer.failure(unexpected(&answer)));
    }
    // The page is for whoever is signed in; all others are led to where they can be.
    let page = Url::parse(&discovered.authorize).and_then(|base| base.join(leads));
    let page = page.map_err(|_| answer.failure(Problem::WrongAnswer))?;
    let answer = asker.get(page.as_str()).await?;
    let leads = answer.header(header::LOCATION).unwrap_or_default();
    if answer.status.is_redirection() && leads.contains("/sign-in") {
        return Ok(());
    }
    Err(answer.failure(Problem::NotRouted))
}

/// What an answer that is not the expected one means: ours are JSON, others come from something in front.
fn unexpected(answer: &Answer) -> Problem {
    let is_ours = answer.header(header::CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
    if is_ours { Problem::WrongAnswer } else { Problem::NotRouted }
}

fn code_of(back: Option<&str>, attempt: &Attempt, discovered: &Discovered) -> Tried<String> {
    let back = back.and_then(|back| Url::parse(back).ok());
    let back = back.ok_or_else(|| Failure::new(Problem::NotLetIn, ""))?;
    let get = |wanted: &str| back.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
    if let Some(error) = get("error") {
        return Err(Failure::new(Problem::NotLetIn, &error));
    }
    if get("iss").as_ref() != Some(&discovered.issuer) {
        return Err(Failure::new(Problem::IssuerDiffers, &get("iss").unwrap_or_default()));
    }
    if get("state").as_ref() != Some(&attempt.state) {
        return Err(Failure::new(Problem::WrongAnswer, "state"));
    }
    get("code").ok_or_else(|| Failure::new(Problem::WrongAnswer, "code"))
}

async fn exchange(asker: &Asker, discovered: &Discovered, attempt: &Attempt, code: &str) -> Tried<Pair> {
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", &attempt.client),
        ("code", code),
        ("redirect_uri", &attempt.redirect),
        ("code_verifier", &attempt.verifier),
        ("resource", &discovered.resource),
    ];
    pair(&asker.post_form(&discovered.token, &form).await?)
}

/// Two processes of one client do this at the same moment; both must go on with the same pair.
async fn refresh_twice(asker: &Asker, discovered: &Discovered, attempt: &Attempt, first: &Pair) -> Tried<Pair> {
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", attempt.client.as_str()),
        ("refresh_token", &first.refresh),
        ("resource", &discovered.resource),
    ];
    let ask = || asker.post_form(&discovered.token, &form);
    let (one, other) = tokio::try_join!(ask(), ask())?;
    match (pair(&one), pair(&other)) {
        (Ok(one), Ok(other)) if one.refresh == other.refresh => Ok(one),
        (Ok(_), Ok(_)) => Err(Failure::new(Problem::RefreshRace, "")),
        (Err(_), _) => Err(one.failure(Problem::RefreshRace)),
        (_, Err(_)) => Err(other.failure(Problem::RefreshRace)),
    }
}

fn pair(answer: &Answer) -> Tried<Pair> {
    if answer.status != StatusCode::OK {
        return Err(answer.failure(unexpected(answer)));
    }
    let tokens = answer.json()?;
    let text = |name: &str| tokens[name].as_str().map(str::to_owned);
    match (text("access_token"), text("refresh_token")) {
        (Some(access), Some(refresh)) => Ok(Pair { access, refresh }),
        _ => Err(Failure::new(Problem::WrongAnswer, "access_token, refresh_token")),
    }
}

async fn tools(asker: &Asker, url: &str, token: &str) -> Tried<()> {
    let answer = asker.post_json(url, Some(token), &message("tools/list", &json!({}))).await?;
    if answer.status == StatusCode::UNAUTHORIZED {
        // Where the token arrives and is bad, the answer says so.
        let is_bad = answer.header(header::WWW_AUTHENTICATE).is_some_and(|challenge| challenge.contains("error="));
        return Err(answer.failure(if is_bad { Problem::WrongAnswer } else { Problem::TokenDropped }));
    }
    if answer.status.is_success() && answer.text.contains("\"recall\"") {
        return Ok(());
    }
    Err(answer.failure(Problem::WrongAnswer))
}

async fn recall(asker: &Asker, url: &str, token: &str) -> Tried<()> {
    let call = json!({ "name": "recall", "arguments": { "query": "connection test", "limit": 1 } });
    let answer = asker.post_json(url, Some(token), &message("tools/call", &call)).await?;
    let works = answer.status.is_success() && !answer.text.contains("\"isError\":true");
    if works { Ok(()) } else { Err(answer.failure(Problem::WrongAnswer)) }
}

async fn revoke(asker: &Asker, url: &str, discovered: &Discovered, attempt: &Attempt, pair: &Pair) -> Tried<()> {
    let form = [("token", pair.refresh.as_str()), ("client_id", &attempt.client)];
    let answer = asker.post_form(&discovered.revoke, &form).await?;
    if !answer.status.is_success() {
        return Err(answer.failure(Problem::WrongAnswer));
    }
    let answer = asker.post_json(url, Some(&pair.access), &message("tools/list", &json!({}))).await?;
    if answer.status == StatusCode::UNAUTHORIZED { Ok(()) } else { Err(answer.failure(Problem::NotRevoked)) }
}

fn message(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn is_on_this_machine(issuer: &str) -> bool {
    Url::parse(issuer).is_ok_and(|url| url.scheme() == "http")
}

fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}

/// The document by which the test is known (see [`DOCUMENT_PATH`]).
pub(crate) fn document(issuer: &str) -> Value {
    json!({
        "client_id": format!("{issuer}{DOCUMENT_PATH}"),
        "client_name": NAME,
        "redirect_uris": [UNUSED_REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}

/// How long clients wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
