//! Reads the documents by which clients tell of themselves (OAuth Client ID Metadata Document): the client's id is the URL.
//!
//! Whoever sends a request chooses the URL, so the server must not be led to read what only it can reach. It asks public
//! addresses only, by TLS on the usual port, follows no redirect, and uses the very addresses that it has checked: a name
//! that resolves to another one a moment later gains nothing.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use http::{HeaderMap, StatusCode, header};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde_json::Value;
use url::{Host, Url};

use super::{addresses::is_public, redirect::RedirectUri};

/// The longest URL, and the longest document, in bytes.
const URL_BYTES: usize = 1_000;
const MOST_BYTES: usize = 64 << 10;
/// How long the connection, and all of it, may take.
const CONNECT_TIME: Duration = Duration::from_secs(3);
const TIME: Duration = Duration::from_secs(5);
/// How long a copy is good: as long as its server says, but neither asked for with each request nor kept for ever.
const FRESH: std::ops::RangeInclusive<u64> = 300..=86_400;
const USUALLY_FRESH: u64 = 3_600;
/// How long a failure is remembered, and how many of them.
const FAILED_FOR: Duration = Duration::from_secs(60);
const MOST_FAILURES: usize = 1_000;
/// The most addresses to be led back to.
pub(super) const MOST_REDIRECTS: usize = 10;

/// A client as its document describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Document {
    pub(super) name: String,
    pub(super) redirect_uris: Vec<String>,
    /// The host that the document is on.
    pub(super) domain: String,
    pub(super) fresh_for: Duration,
}

/// Why a document was not read, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// Its server has trouble, and a copy may stand in for it.
    Now(String),
    /// There is no such document, or none that tells of the client (any more).
    Gone(String),
}

impl From<String> for Unread {
    fn from(problem: String) -> Self {
        Self::Gone(problem)
    }
}

/// Reads documents.
pub(super) struct Documents {
    http: reqwest::Client,
    /// Where they are in tests: below this, by host and path.
    instead: Option<Url>,
    failures: Mutex<HashMap<String, Instant>>,
}

/// Whether an id is the URL of a document.
pub(super) fn is_document(client_id: &str) -> bool {
    client_id.starts_with("https://")
}

impl Documents {
    pub(super) fn new(instead: Option<Url>) -> reqwest::Result<Self> {
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_TIME)
            .timeout(TIME)
            // A proxy would do the looking up, and nobody knows where it gets to.
            .no_proxy()
            .user_agent(concat!("polymnemo/", env!("CARGO_PKG_VERSION")));
        let builder = match instead {
            Some(_) => builder,
            None => builder.https_only(true).dns_resolver(Arc::new(PublicOnly)),
        };
        Ok(Self { http: builder.build()?, instead, failures: Mutex::default() })
    }

    /// Reads the document at this URL.
    ///
    /// # Errors
    ///
    /// Why there is none, in words for whoever made the client. Nothing of what was read is in them.
    pub(super) async fn read(&self, client_id: &str) -> Result<Document, Unread> {
        let url = location(client_id)?;
        if self.failed_lately(client_id) {
            return Err(Unread::Now("its document could not be read a moment ago; try again in a minute".to_owned()));
        }
        let read = self.fetch(client_id, url).await;
        if read.is_err() {
            self.note_failure(client_id);
        }
        read
    }

    async fn fetch(&self, client_id: &str, url: Url) -> Result<Document, Unread> {
        let domain = url.host_str().unwrap_or_default().to_owned();
        let address = match &self.instead {
            Some(instead) => {
                let path = format!("{domain}{}", url.path());
                instead.join(&path).map_err(|_| "its URL can't be asked for".to_owned())?
            }
            None => url,
        };
        let request = self.http.get(address).header(header::ACCEPT, "application/json");
        let mut response = request.send().await.map_err(|error| {
            Unread::Now(match error.is_timeout() {
                true => "the server of its document took too long".to_owned(),
                false => "the server of its document can't be reached, or is not on the public internet".to_owned(),
            })
        })?;
        let status = response.status();
        if status != StatusCode::OK {
            let problem = format!("the server of its document answers {}", status.as_u16());
            let is_trouble = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
            return Err(if is_trouble { Unread::Now(problem) } else { Unread::Gone(problem) });
        }
        let fresh_for = freshness(response.headers());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| Unread::Now("its document broke off".to_owned()))? {
            if body.len() + chunk.len() > MOST_BYTES {
                return Err(Unread::Gone(format!("its document is longer than {MOST_BYTES} bytes")));
            }
            body.extend_from_slice(&chunk);
        }
        let document: Value = serde_json::from_slice(&body).map_err(|_| "its document is not JSON".to_owned())?;
        let (name, redirect_uris) = read_document(client_id, &document)?;
        Ok(Document { name, redirect_uris, domain, fresh_for })
    }

    fn failed_lately(&self, client_id: &str) -> bool {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.get(client_id).is_some_and(|at| at.elapsed() < FAILED_FOR)
    }

    fn note_failure(&self, client_id: &str) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if failures.len() >= MOST_FAILURES {
            failures.retain(|_, at| at.elapsed() < FAILED_FOR);
        }
        if failures.len() < MOST_FAILURES {
            failures.insert(client_id.to_owned(), Instant::now());
        }
    }
}

/// The URL behind an id, where it is one that may be asked for.
fn location(client_id: &str) -> Result<Url, String> {
    let wrong = |problem: &str| format!("its id {problem}");
    if client_id.len() > URL_BYTES || !client_id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\') {
        return Err(wrong("is too long, or holds a character that does not belong in a URL"));
    }
    let url = Url::parse(client_id).map_err(|_| wrong("is not a URL"))?;
    if url.scheme() != "https" || !url.username().is_empty() || url.password().is_some() || client_id.contains('#') {
        return Err(wrong("must be an https URL without a user name and without a fragment"));
    }
    if url.port().is_some() {
        return Err(wrong("must be on the usual port"));
    }
    // What the parser takes out would make two ids of one document.
    let given = client_id.get("https://".len()..).and_then(|rest| rest.get(rest.find('/')?..));
    if url.path() == "/" || given != Some(&url[url::Position::BeforePath..]) {
        return Err(wrong("must have a path, without segments . and .."));
    }
    match url.host() {
        Some(Host::Domain(name)) if name.contains('.') && !name.ends_with('.') => {}
        Some(Host::Ipv4(address)) if is_public(IpAddr::V4(address)) => {}
        Some(Host::Ipv6(address)) if is_public(IpAddr::V6(address)) => {}
        _ => return Err(wrong("must be on the public internet")),
    }
    Ok(url)
}

/// Name and addresses of a client by its document. Members that we have no use for may be anything.
fn read_document(client_id: &str, document: &Value) -> Result<(String, Vec<String>), String> {
    if document.get("client_id").and_then(Value::as_str) != Some(client_id) {
        return Err("the client_id in its document is not the URL that it is at".to_owned());
    }
    let name = document.get("client_name").and_then(Value::as_str).and_then(polymnemo_memory::client_name);
    let name = name.ok_or_else(|| "its document has no client_name".to_owned())?;
    let given = document.get("redirect_uris").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let redirect_uris: Vec<String> = given
        .iter()
        .filter_map(Value::as_str)
        .filter(|uri| RedirectUri::parse(uri).is_ok())
        .take(MOST_REDIRECTS)
        .map(str::to_owned)
        .collect();
    if redirect_uris.is_empty() {
        return Err("its document has no redirect_uris that people may be sent to".to_owned());
    }
    Ok((name, redirect_uris))
}

/// For how long a copy is good (RFC 9111, section 5.2.2).
fn freshness(headers: &HeaderMap) -> Duration {
    let directives = headers.get(header::CACHE_CONTROL).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let said = directives.split(',').find_map(|directive| {
        let (name, value) = directive.trim().split_once('=')?;
        name.eq_ignore_ascii_case("max-age").then(|| value.trim_matches('"').parse().ok())?
    });
    Duration::from_secs(said.unwrap_or(USUALLY_FRESH).clamp(*FRESH.start(), *FRESH.end()))
}

/// Looks names up, and gives those of their addresses that are public.
struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 443)).await?;
            let public: Vec<SocketAddr> = found.filter(|address| is_public(address.ip())).collect();
            if public.is_empty() {
                return Err("the name has no address on the public internet".into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_the_url_of_a_document_on_the_public_internet() {
        for good in ["https://claude.ai/oauth/mcp-oauth-client-metadata", "https://a.example/c.json?v=1"] {
            location(good).unwrap();
        }
        for bad in [
            "https://claude.ai",
            "https://claude.ai/",
            "http://claude.ai/a",
            "https://claude.ai:8443/a",
            "https://u@claude.ai/a",
            "https://claude.ai/a#b",
            "https://claude.ai/a/../b",
            "https://claude.ai/%2e%2e/b",
            "https://localhost/a",
            "https://127.0.0.1/a",
            "https://[::1]/a",
            "https://169.254.169.254/latest",
            "https://10.0.0.1/a",
            "https://2130706433/a",
            "https://0x7f.1/a",
            "https://intranet/a",
            "https://a.example\\@b/a",
            "https://claude.ai./a",
            "https://[::ffff:127.0.0.1]/a",
        ] {
            location(bad).unwrap_err();
        }
    }

    #[test]
    fn a_document_is_about_its_own_url_and_odd_members_do_no_harm() {
        let id = "https://a.example/c.json";
        let document = json!({
            "client_id": id,
            "client_name": "An (app)\n",
            "redirect_uris": ["https://a.example/cb", 7, "javascript:alert(1)", "http://127.0.0.1/callback"],
            "token_endpoint_auth_method": "private_key_jwt",
            "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
            "logo_uri": null,
        });
        let (name, uris) = read_document(id, &document).unwrap();
        assert_eq!(name, "An (app)");
        assert_eq!(uris, ["https://a.example/cb", "http://127.0.0.1/callback"]);
        read_document("https://a.example/other.json", &document).unwrap_err();
        for broken in
            [json!([]), json!({"client_id": id}), json!({"client_id": id, "client_name": "a", "redirect_uris": "x"})]
        {
            read_document(id, &broken).unwrap_err();
        }
    }

    #[test]
    fn a_copy_is_good_for_a_while_whatever_its_server_says() {
        let fresh = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CACHE_CONTROL, value.parse().unwrap());
            freshness(&headers).as_secs()
        };
        assert_eq!(fresh("public, max-age=7200"), 7200);
        assert_eq!(fresh("no-store"), USUALLY_FRESH);
        assert_eq!(fresh("max-age=0"), 300);
        assert_eq!(fresh("max-age=99999999"), 86_400);
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_not_asked() {
        let found = PublicOnly.resolve("localhost".parse().unwrap()).await;
        assert!(found.is_err());
        let documents = Documents::new(None).unwrap();
        let problem = documents.read("https://127.0.0.1/a").await.unwrap_err();
        assert_eq!(problem, Unread::Gone("its id must be on the public internet".to_owned()));
    }
}
