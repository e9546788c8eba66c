//! Asks as clients do: without following redirects, and without more patience than theirs.

use http::{HeaderMap, HeaderName, Method, StatusCode, header};
use polymnemo_types::ConnectionProblem as Problem;
use reqwest::RequestBuilder;
use serde_json::Value;

use super::PATIENCE;

/// The longest answer that is read, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// How much of what was seen is shown, in characters.
const SEEN_CHARS: usize = 160;

pub(super) struct Asker(reqwest::Client);

/// What was answered.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    pub(super) text: String,
}

/// Why a step failed, and what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) problem: Problem,
    pub(super) seen: String,
}

impl Failure {
    pub(super) fn new(problem: Problem, seen: &str) -> Self {
        Self { problem, seen: seen.chars().filter(|character| !character.is_control()).take(SEEN_CHARS).collect() }
    }
}

impl Answer {
    pub(super) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(super) fn headers(&self, name: HeaderName) -> impl Iterator<Item = &str> {
        self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok())
    }

    pub(super) fn json(&self) -> Result<Value, Failure> {
        serde_json::from_str(&self.text).map_err(|_| self.failure(Problem::NotRouted))
    }

    /// A failure with what was seen: the status, the kind of the body, where a redirect leads, and an error in its words. Tokens
    /// are in none of these.
    pub(super) fn failure(&self, problem: Problem) -> Failure {
        let kind = self.header(header::CONTENT_TYPE).unwrap_or("no body");
        let leads = self.header(header::LOCATION).map(|to| format!(" → {}", to.split('?').next().unwrap_or_default()));
        let said = serde_json::from_str::<Value>(&self.text).ok().filter(|_| !self.status.is_success());
        let said = said.and_then(|body| Some(format!(": {}", body["error_description"].as_str()?)));
        let seen = format!("{} {kind}{}{}", self.status.as_u16(), leads.unwrap_or_default(), said.unwrap_or_default());
        Failure::new(problem, &seen)
    }
}

impl Asker {
    pub(super) fn new() -> reqwest::Result<Self> {
        let builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .user_agent(concat!("polymnemo-connection-test/", env!("CARGO_PKG_VERSION")));
        Ok(Self(builder.build()?))
    }

    pub(super) async fn get(&self, url: &str) -> Result<Answer, Failure> {
        send(self.0.get(url).header(header::ACCEPT, "application/json, text/event-stream")).await
    }

    /// A document that must be there, in JSON, and readable from everywhere.
    pub(super) async fn document(&self, url: &str) -> Result<Value, Failure> {
        let answer = send(self.0.get(url).header(header::ACCEPT, "application/json")).await?;
        if answer.status.is_redirection() {
            return Err(answer.failure(Problem::Redirected));
        }
        let is_json = answer.header(header::CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
        if answer.status != StatusCode::OK || !is_json {
            return Err(answer.failure(Problem::NotRouted));
        }
        answer.json()
    }

    pub(super) async fn preflight(&self, url: &str) -> Result<Answer, Failure> {
        let request = self.0.request(Method::OPTIONS, url);
        let request = request.header(header::ORIGIN, "https://client.example");
        let request = request.header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST");
        send(request.header(header::ACCESS_CONTROL_REQUEST_HEADERS, "content-type")).await
    }

    pub(super) async fn post_json(&self, url: &str, token: Option<&str>, body: &Value) -> Result<Answer, Failure> {
        let request = self.0.post(url).header(header::ACCEPT, "application/json, text/event-stream").json(body);
        send(match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        })
        .await
    }

    pub(super) async fn post_form(&self, url: &str, form: &[(&str, &str)]) -> Result<Answer, Failure> {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
        send(self.0.post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body(body)).await
    }
}

async fn send(request: RequestBuilder) -> Result<Answer, Failure> {
    let failure = |error: reqwest::Error| {
        let problem = if error.is_timeout() { Problem::TooSlow } else { Problem::Unreachable };
        Failure::new(problem, &crate::error::in_one_line(&error.without_url()))
    };
    let mut response = request.send().await.map_err(failure)?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failure)? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_BYTES {
            break;
        }
    }
    Ok(Answer {
        status: response.status(),
        headers: response.headers().clone(),
        text: String::from_utf8_lossy(&body).into_owned(),
    })
}
