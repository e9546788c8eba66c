//! Asks an OpenID Connect provider who someone is.

use std::{borrow::Cow, fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, Client, ClientId, ClientSecret, CsrfToken, EndpointNotSet, EndpointSet,
    ExtraTokenFields, PkceCodeChallenge, PkceCodeVerifier, RequestTokenError, Scope, StandardErrorResponse,
    StandardRevocableToken, StandardTokenResponse, TokenUrl,
    basic::{
        BasicErrorResponse, BasicErrorResponseType, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
        BasicTokenType,
    },
};
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{
    people::Proof,
    provider::{Answer, Attempt, Refusal, STATE_BYTES, plain, redirect_url, trouble},
};
use crate::{
    oidc::{Issuer, Metadata},
    outbound::OutboundError,
};

/// What is asked for: who it is, and what to call them.
const SCOPES: [&str; 3] = ["openid", "profile", "email"];

/// The issuer as identity provider.
pub(super) struct Oidc {
    issuer: Arc<Issuer>,
    host: String,
}

type TokenAnswer = StandardTokenResponse<IdToken, BasicTokenType>;
type OidcClient = Client<
    BasicErrorResponse,
    TokenAnswer,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// What the token endpoint gives beside what OAuth knows.
#[derive(Serialize, Deserialize)]
struct IdToken {
    id_token: String,
}

impl ExtraTokenFields for IdToken {}

impl fmt::Debug for IdToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("IdToken(hidden)")
    }
}

impl Oidc {
    pub(super) fn new(issuer: Arc<Issuer>) -> Self {
        let url = &issuer.config().issuer;
        let host = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let host = host.split('/').next().unwrap_or(host).to_owned();
        Self { issuer, host }
    }

    /// Its host, for people to read.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Begins a sign-in that comes back to the address `redirect`.
    pub(super) async fn begin(&self, redirect: String) -> Result<Attempt, Refusal> {
        let redirect = redirect_url(redirect)?;
        let client = self.client().await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let nonce = URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; STATE_BYTES as usize]>());
        let request = client
            .authorize_url(|| CsrfToken::new_random_len(STATE_BYTES))
            .add_scopes(SCOPES.map(|scope| Scope::new(scope.to_owned())))
            .add_extra_param("nonce", &nonce)
            .set_pkce_challenge(challenge)
            .set_redirect_uri(Cow::Owned(redirect));
        let (address, state) = request.url();
        Ok(Attempt {
            address: address.into(),
            state: state.into_secret(),
            verifier: verifier.into_secret(),
            nonce: Some(nonce),
        })
    }

    /// Completes a sign-in: exchanges the code for an ID token. The access token beside it is dropped
    /// here.
    pub(super) async fn complete(&self, answer: Answer) -> Result<Proof, Refusal> {
        let metadata = self.metadata().await?;
        let config = self.issuer.config();
        // Another server's answer must not pass for this one's (RFC 9207 section 2.4).
        let is_its_answer = match &answer.issuer {
            Some(issuer) => *issuer == config.issuer,
            None => !metadata.names_itself,
        };
        if !is_its_answer {
            return Err(Refusal::Code("another server sent the browser back".to_owned()));
        }
        let nonce = answer.nonce.ok_or_else(|| trouble("the sign-in has no nonce"))?;
        let redirect = redirect_url(answer.redirect)?;
        let client = self.client().await?;
        let token = client
            .exchange_code(AuthorizationCode::new(answer.code))
            .set_pkce_verifier(PkceCodeVerifier::new(answer.verifier))
            .set_redirect_uri(Cow::Owned(redirect))
            .request_async(self.issuer.http())
            .await
            .map_err(|error| refusal_of(&error))?;
        let subject = self.issuer.id_token(&token.extra_fields().id_token, &nonce).await;
        let subject = subject.map_err(|rejection| Refusal::Trouble(rejection.to_string()))?;
        Ok(Proof { identity: subject.identity, name: subject.name })
    }

    async fn metadata(&self) -> Result<Arc<Metadata>, Refusal> {
        self.issuer.metadata().await.map_err(|error| Refusal::Trouble(error.to_string()))
    }

    async fn client(&self) -> Result<OidcClient, Refusal> {
        let metadata = self.metadata().await?;
        let endpoints = metadata.endpoints.as_ref();
        let endpoints = endpoints.ok_or_else(|| trouble("its metadata does not say where people sign in"))?;
        let wrong = |_| trouble("its metadata has an address that is none");
        let config = self.issuer.config();
        let client = Client::new(ClientId::new(config.client_id.clone()))
            .set_auth_uri(AuthUrl::new(endpoints.authorization.clone()).map_err(wrong)?)
            .set_token_uri(TokenUrl::new(endpoints.token.clone()).map_err(wrong)?);
        let client = match &config.client_secret {
            Some(secret) => client.set_client_secret(ClientSecret::new(secret.expose().to_owned())),
            None => client,
        };
        let in_body = metadata.takes_secrets_in_bodies_only;
        Ok(client.set_auth_type(if in_body { AuthType::RequestBody } else { AuthType::BasicAuth }))
    }
}

fn refusal_of(error: &RequestTokenError<OutboundError, StandardErrorResponse<BasicErrorResponseType>>) -> Refusal {
    match error {
        RequestTokenError::ServerResponse(answer) if *answer.error() == BasicErrorResponseType::InvalidGrant => {
            Refusal::Code(plain(answer.error().as_ref()))
        }
        RequestTokenError::ServerResponse(answer) => {
            Refusal::Trouble(format!("it does not exchange the code: {}", plain(answer.error().as_ref())))
        }
        RequestTokenError::Request(error) => trouble(&error.to_string()),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            trouble("its answer to the code can't be read, or has no ID token")
        }
    }
}
