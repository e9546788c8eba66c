//! Asks GitHub who someone is.

use std::borrow::Cow;

use http::{HeaderValue, StatusCode, header};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet,
    PkceCodeChallenge, PkceCodeVerifier, RequestTokenError, Scope, TokenResponse as _, TokenUrl,
    basic::{BasicClient, BasicRequestTokenError},
};
use polymnemo_memory::Identity;
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    people::Proof,
    provider::{Attempt, Refusal, STATE_BYTES, plain, redirect_url, trouble},
};
use crate::{
    Error,
    config::{AllowedLogins, GitHubConfig},
    outbound::{Outbound, OutboundError},
};

/// The longest login that is shown, in characters; GitHub's are shorter.
const LOGIN_CHARS: usize = 100;

type Client = BasicClient<EndpointSet, EndpointNotSet, EndpointNotSet, EndpointNotSet, EndpointSet>;

/// GitHub, or a GitHub Enterprise server, as identity provider.
pub(super) struct GitHub {
    oauth: Client,
    http: Outbound,
    url: String,
    host: String,
    api_url: String,
    allowed: Option<AllowedLogins>,
}

/// Who someone is at GitHub.
struct GitHubUser {
    /// Stays the same for ever.
    id: u64,
    /// Can change, and be taken by someone else later. For people to read.
    login: String,
}

impl GitHub {
    pub(super) fn new(config: &GitHubConfig) -> Result<Self, Error> {
        let url = &config.url;
        let failed = |error: String| Error::Failed(format!("sign-in with GitHub can't be prepared: {error}"));
        let authorize =
            AuthUrl::new(format!("{url}/login/oauth/authorize")).map_err(|error| failed(error.to_string()))?;
        let token =
            TokenUrl::new(format!("{url}/login/oauth/access_token")).map_err(|error| failed(error.to_string()))?;
        let oauth = BasicClient::new(ClientId::new(config.client_id.clone()))
            .set_client_secret(ClientSecret::new(config.client_secret.expose().to_owned()))
            .set_auth_uri(authorize)
            .set_token_uri(token)
            .set_auth_type(AuthType::RequestBody);
        let http = Outbound::new(config.is_on_this_machine).map_err(|error| failed(error.to_string()))?;
        let host = url.split_once("://").map_or(url.as_str(), |(_, host)| host).to_owned();
        Ok(Self {
            oauth,
            http,
            host,
            url: url.clone(),
            api_url: config.api_url.clone(),
            allowed: config.allowed.clone(),
        })
    }

    /// Its host, for people to read.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Begins a sign-in that comes back to the address `redirect`. Who someone is, GitHub tells
    /// without any permission; only membership of organisations needs one.
    pub(super) fn begin(&self, redirect: String) -> Result<Attempt, Refusal> {
        let redirect = redirect_url(redirect)?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let mut request = self
            .oauth
            .authorize_url(|| CsrfToken::new_random_len(STATE_BYTES))
            .set_pkce_challenge(challenge)
            .set_redirect_uri(Cow::Owned(redirect));
        if self.allowed.as_ref().is_some_and(|allowed| !allowed.organisations.is_empty()) {
            request = request.add_scope(Scope::new("read:org".to_owned()));
        }
        let (address, state) = request.url();
        Ok(Attempt {
            address: address.into(),
            state: state.into_secret(),
            verifier: verifier.into_secret(),
            nonce: None,
        })
    }

    /// Completes a sign-in: exchanges the code, asks who it is and whether they may sign in. The
    /// access token is used for that only and dropped here.
    pub(super) async fn complete(&self, code: String, verifier: String, redirect: String) -> Result<Proof, Refusal> {
        let redirect = redirect_url(redirect)?;
        let token = self
            .oauth
            .exchange_code(AuthorizationCode::new(code))
            .set_pkce_verifier(PkceCodeVerifier::new(verifier))
            .set_redirect_uri(Cow::Owned(redirect))
            .request_async(&self.http)
            .await
            .map_err(|error| refusal_of(&error))?;
        let token = token.access_token().secret();
        let user: UserAnswer =
            self.ask("user", token).await?.ok_or_else(|| trouble("it knows no user of its own token"))?;
        let login: String = user.login.chars().filter(|character| !character.is_control()).take(LOGIN_CHARS).collect();
        let user = GitHubUser { id: user.id, login };
        if !self.may_sign_in(&user, token).await? {
            return Err(Refusal::NotAllowed);
        }
        let identity = Identity { issuer: self.url.clone(), subject: user.id.to_string() };
        Ok(Proof { identity, name: user.login })
    }

    async fn may_sign_in(&self, user: &GitHubUser, token: &str) -> Result<bool, Refusal> {
        let Some(allowed) = &self.allowed else { return Ok(true) };
        if allowed.people.contains(&user.login.to_ascii_lowercase()) {
            return Ok(true);
        }
        for organisation in &allowed.organisations {
            let membership: Option<MembershipAnswer> =
                self.ask(&format!("user/memberships/orgs/{organisation}"), token).await?;
            // An invitation that was not accepted is pending.
            if membership.is_some_and(|membership| membership.state == "active") {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Reads from the REST API; `None` where there is no such thing, or it is not to be seen.
    async fn ask<T: DeserializeOwned>(&self, path: &str, token: &str) -> Result<Option<T>, Refusal> {
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| trouble("its access token does not fit into a header"))?;
        authorization.set_sensitive(true);
        let request = http::Request::get(format!("{}/{path}", self.api_url))
            .header(header::ACCEPT, "application/vnd.github+json")
            .header("x-github-api-version", "2022-11-28")
            .header(header::AUTHORIZATION, authorization)
            .body(Vec::new())
            .map_err(|error| trouble(&error.to_string()))?;
        let response = self.http.send(request).await.map_err(|error| trouble(&error.to_string()))?;
        match response.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::FORBIDDEN => return Ok(None),
            status => return Err(trouble(&format!("it answers {status} to {path}"))),
        }
        let answer = serde_json::from_slice(response.body());
        answer.map(Some).map_err(|_| trouble(&format!("its answer to {path} can't be read")))
    }
}

#[derive(Deserialize)]
struct UserAnswer {
    id: u64,
    login: String,
}

#[derive(Deserialize)]
struct MembershipAnswer {
    state: String,
}

/// GitHub tells of a code that is wrong, used or too old with the status 200 and another body, which
/// the library can't read.
fn refusal_of(error: &BasicRequestTokenError<OutboundError>) -> Refusal {
    #[derive(Deserialize)]
    struct Answer {
        error: String,
    }
    let code = match error {
        RequestTokenError::ServerResponse(answer) => Some(answer.error().to_string()),
        RequestTokenError::Parse(_, body) => serde_json::from_slice::<Answer>(body).ok().map(|answer| answer.error),
        RequestTokenError::Request(error) => return trouble(&error.to_string()),
        RequestTokenError::Other(_) => None,
    };
    match code {
        Some(code) => Refusal::Code(plain(&code)),
        None => trouble("its answer to the code can't be read"),
    }
}
