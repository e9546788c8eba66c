//! Letting apps in: requests, consent, codes and tokens (RFC 6749 with PKCE; RFC 9700 for the rotation).
//!
//! The tokens of one letting in are a family. Each refresh makes the next pair, and the one before is of no use from then on,
//! except for a short while to whoever uses it at the same time: clients of several processes, or with an answer lost on the
//! way, would else lock themselves out. For that the next pair must be known again, though only digests are kept: it is
//! derived from the token presented and the family's secret, so that neither of the two is enough by itself.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use polymnemo_types::{AuthorizationRequest, Consent, limits};
use rand::RngExt as _;
use sha2::{Digest as _, Sha256};

use super::{MemoryService, apps::app_grants, tokens::hash, validate};
use crate::{
    ACCESS_TOKEN_PREFIX, AppAccess, CODE_PREFIX, Ctx, Error, GrantRefusal, IssuedTokens, OauthClient,
    REFRESH_TOKEN_PREFIX, Result, TokenRefusal,
    ports::{Family, NewAuthorization, PresentedRefresh, RedeemedCode, Refreshed, TokenPair},
};

/// How long a person may take to decide.
const REQUEST_LIFETIME: Duration = Duration::from_secs(1800);
/// How long a code is good.
const CODE_LIFETIME: SignedDuration = SignedDuration::from_secs(60);
/// How long an access token is good.
const ACCESS_LIFETIME: SignedDuration = SignedDuration::from_hours(1);
/// How long a refresh token is good that nobody uses.
const REFRESH_LIFETIME: SignedDuration = SignedDuration::from_hours(30 * 24);
/// How long a further use of a refresh token counts as the same one.
const GRACE: SignedDuration = SignedDuration::from_secs(60);
/// How many clients are kept that nobody ever let in.
const MOST_UNUSED_CLIENTS: u32 = 10_000;
/// For how long.
const UNUSED_LIFETIME: SignedDuration = SignedDuration::from_hours(24);
/// How long it is kept what apps did.
const CALLS_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// The letters and digits after the prefix of a token: 256 bits in base64url.
const SECRET_CHARS: usize = 43;

impl MemoryService {
    /// Keeps a client that registered itself, or whose document was read.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn save_client(&self, client: &OauthClient) -> Result<()> {
        self.store.save_client(client, self.now(), MOST_UNUSED_CLIENTS).await
    }

    /// The client of this id.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn oauth_client(&self, id: &str) -> Result<Option<OauthClient>> {
        self.store.client(id).await
    }

    /// Removes clients that nobody ever let in, and what is known of apps for longer than it is kept; gives the number.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn sweep_apps(&self) -> Result<u64> {
        let now = self.now();
        self.store.sweep(now - UNUSED_LIFETIME, now - CALLS_LIFETIME, now).await
    }

    /// Keeps what an app asks for until a person decides; gives the id of the request. The browser that brought it has to
    /// show `browser` with every further step: else someone could begin a request and have another person end it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn begin_authorization(&self, mut request: AuthorizationRequest, browser: &str) -> Result<String> {
        let id = random();
        request.browser = digest_of_browser(browser);
        self.store.keep_request(&hash(&id), &request, REQUEST_LIFETIME).await?;
        Ok(id)
    }

    /// A request that this browser brought and that nobody has answered.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn authorization_request(&self, id: &str, browser: &str) -> Result<Option<AuthorizationRequest>> {
        let request = self.store.request(&hash(id), false).await?;
        Ok(request.filter(|request| request.browser == digest_of_browser(browser)))
    }

    /// Takes a request, which nobody can answer any more then.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn end_authorization(&self, id: &str, browser: &str) -> Result<Option<AuthorizationRequest>> {
        // Whoever is in another browser must not end it either.
        if self.authorization_request(id, browser).await?.is_none() {
            return Ok(None);
        }
        self.store.request(&hash(id), true).await
    }

    /// Lets an app in, as the person decided; gives the code for it. A decision about an app that was let in before replaces
    /// the one before, for all of its tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a choice that is none; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn authorize(&self, ctx: &Ctx, request: AuthorizationRequest, consent: &Consent) -> Result<String> {
        ctx.check_person()?;
        let mut grants = app_grants(&consent.grants)?;
        grants.can_write &= request.wants_write;
        if !(1..=limits::APP_DAYS).contains(&consent.days) {
            return Err(Error::Invalid(format!("`days` must be from 1 to {}.", limits::APP_DAYS)));
        }
        let now = self.now();
        let code = format!("{CODE_PREFIX}{}", random());
        let new = NewAuthorization {
            request,
            grants,
            at: now,
            ends_at: now + SignedDuration::from_hours(24 * i64::from(consent.days)),
            code: hash(&code),
            code_expires_at: now + CODE_LIFETIME,
            secret: rand::rng().random(),
        };
        self.store.authorize(ctx, &new).await?;
        Ok(code)
    }

    /// The first tokens, for a code (RFC 6749 section 4.1.3, RFC 7636 section 4.6, RFC 8707 section 2.2).
    /// `resource` is the canonical one where the client named any.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn redeem_code(
        &self,
        client_id: &str,
        code: &str,
        redirect_uri: Option<&str>,
        verifier: &str,
        resource: Option<&str>,
    ) -> Result<Result<IssuedTokens, GrantRefusal>> {
        if !is_secret(code, CODE_PREFIX) {
            return Ok(Err(GrantRefusal::Unknown));
        }
        let now = self.now();
        let refusal_of = |code: &RedeemedCode| refusal_of(code, client_id, redirect_uri, verifier, resource);
        let decide = |redeemed: &RedeemedCode| {
            refusal_of(redeemed).is_none().then(|| next_tokens(&redeemed.family, code, now).0)
        };
        let Some(redeemed) = self.store.redeem(&hash(code), now, &decide).await? else {
            return Ok(Err(GrantRefusal::Unknown));
        };
        Ok(match refusal_of(&redeemed) {
            Some(refusal) => Err(refusal),
            None => Ok(next_tokens(&redeemed.family, code, now).1),
        })
    }

    /// The next tokens, for a refresh token.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn refresh_tokens(
        &self,
        client_id: &str,
        token: &str,
        resource: Option<&str>,
    ) -> Result<Result<IssuedTokens, GrantRefusal>> {
        if !is_secret(token, REFRESH_TOKEN_PREFIX) {
            return Ok(Err(GrantRefusal::Unknown));
        }
        let now = self.now();
        let refusal_of = |presented: &PresentedRefresh| {
            if presented.client_id != client_id {
                Some(GrantRefusal::OtherClient)
            } else if resource.is_some_and(|resource| resource != presented.resource) {
                Some(GrantRefusal::OtherResource)
            } else if presented.expires_at <= now || presented.family.ends_at <= now {
                Some(GrantRefusal::Expired)
            } else {
                None
            }
        };
        let decide = |presented: &PresentedRefresh| {
            refusal_of(presented).is_none().then(|| next_tokens(&presented.family, token, now).0)
        };
        Ok(match self.store.refresh(&hash(token), now - GRACE, &decide).await? {
            Refreshed::Issued(presented) => Ok(next_tokens(&presented.family, token, now).1),
            Refreshed::Unknown => Err(GrantRefusal::Unknown),
            Refreshed::Reused => Err(GrantRefusal::Reused),
            Refreshed::Refused(presented) => Err(refusal_of(&presented).unwrap_or(GrantRefusal::Unknown)),
        })
    }

    /// Revokes a token and all that it is related to (RFC 7009); one that is not this client's stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn revoke_oauth_token(&self, token: &str, client_id: Option<&str>) -> Result<()> {
        if is_secret(token, ACCESS_TOKEN_PREFIX) || is_secret(token, REFRESH_TOKEN_PREFIX) {
            self.store.revoke_oauth_token(&hash(token), client_id, self.now()).await?;
        }
        Ok(())
    }

    /// Whose access token this is, and what it may do.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn authenticate_access_token(&self, token: &str) -> Result<Result<AppAccess, TokenRefusal>> {
        if !is_secret(token, ACCESS_TOKEN_PREFIX) {
            return Ok(Err(TokenRefusal::AppUnknown));
        }
        let now = self.now();
        let Some(access) = self.store.use_access_token(&hash(token), now).await? else {
            return Ok(Err(TokenRefusal::AppUnknown));
        };
        let is_over = |at: Timestamp| at <= now;
        if is_over(access.expires_at) || access.app_expires_at.is_some_and(is_over) {
            return Ok(Err(TokenRefusal::AppExpired));
        }
        if access.paused_at.is_some() {
            return Ok(Err(TokenRefusal::Paused));
        }
        Ok(Ok(access))
    }
}

/// Why a code gives no tokens, if it doesn't.
fn refusal_of(
    redeemed: &RedeemedCode,
    client_id: &str,
    redirect_uri: Option<&str>,
    verifier: &str,
    resource: Option<&str>,
) -> Option<GrantRefusal> {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    if !redeemed.is_fresh {
        Some(GrantRefusal::Reused)
    } else if !redeemed.is_in_time {
        Some(GrantRefusal::Expired)
    // It was part of the request, and must be the same here where it is given (OAuth 2.1 asks for it no longer).
    } else if redeemed.client_id != client_id || redirect_uri.is_some_and(|uri| uri != redeemed.redirect_uri) {
        Some(GrantRefusal::OtherClient)
    } else if challenge != redeemed.challenge {
        Some(GrantRefusal::Verifier)
    } else if resource.is_some_and(|resource| resource != redeemed.resource) {
        Some(GrantRefusal::OtherResource)
    } else {
        None
    }
}

/// The tokens that follow from a code or a refresh token, always the same ones.
fn next_tokens(family: &Family, presented: &str, now: Timestamp) -> (TokenPair, IssuedTokens) {
    let access_token = format!("{ACCESS_TOKEN_PREFIX}{}", derived(&family.secret, "access", presented));
    let refresh_token = format!("{REFRESH_TOKEN_PREFIX}{}", derived(&family.secret, "refresh", presented));
    let access_expires_at = (now + ACCESS_LIFETIME).min(family.ends_at);
    let pair = TokenPair {
        access: hash(&access_token),
        refresh: hash(&refresh_token),
        at: now,
        access_expires_at,
        refresh_expires_at: (now + REFRESH_LIFETIME).min(family.ends_at),
    };
    let expires_in = access_expires_at.as_second() - now.as_second();
    (pair, IssuedTokens { access_token, refresh_token, expires_in, can_write: family.can_write })
}

/// HMAC-SHA-256 of what was presented, for one purpose.
fn derived(secret: &[u8], purpose: &str, presented: &str) -> String {
    // A key of any length will do for HMAC.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return random() };
    mac.update(purpose.as_bytes());
    mac.update(b"\0");
    mac.update(presented.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// 256 random bits.
fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::rng().random::<[u8; 32]>())
}

/// Whether it is worth asking the database.
fn is_secret(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|secret| {
        secret.len() == SECRET_CHARS && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    })
}

fn digest_of_browser(browser: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(browser.as_bytes()))
}

/// The name of a client, made fit for people to read.
#[must_use]
pub fn client_name(name: &str) -> Option<String> {
    validate::foreign_name(name, limits::APP_NAME_CHARS)
}

#[cfg(test)]
mod tests {
    use polymnemo_types::UserId;
    use uuid::Uuid;

    use super::*;

    fn family(secret: u8) -> Family {
        Family {
            id: Uuid::nil(),
            user: UserId(Uuid::nil()),
            secret: vec![secret; 32],
            ends_at: "2026-03-01T12:30:00Z".parse().expect("a time"),
            can_write: true,
        }
    }

    #[test]
    fn what_follows_from_a_token_is_always_the_same_and_known_to_nobody_else() {
        let now = "2026-03-01T12:00:00Z".parse().expect("a time");
        let (pair, tokens) = next_tokens(&family(1), "pmnr_a", now);
        assert_eq!(next_tokens(&family(1), "pmnr_a", now), (pair, tokens.clone()));
        assert_ne!(next_tokens(&family(2), "pmnr_a", now).1, tokens);
        assert_ne!(next_tokens(&family(1), "pmnr_b", now).1, tokens);
        assert!(is_secret(&tokens.access_token, ACCESS_TOKEN_PREFIX));
        assert!(is_secret(&tokens.refresh_token, REFRESH_TOKEN_PREFIX));
        assert_eq!(tokens.expires_in, 1800, "no token outlives what it belongs to");
    }

    #[test]
    fn a_code_is_for_one_client_one_address_one_verifier_and_one_resource() {
        let verifier = "v".repeat(43);
        let redeemed = RedeemedCode {
            client_id: "app".into(),
            redirect_uri: "https://app.example/back".into(),
            challenge: URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())),
            resource: "https://memory.example/mcp".into(),
            is_fresh: true,
            is_in_time: true,
            family: family(1),
        };
        let back = Some("https://app.example/back");
        let here = Some("https://memory.example/mcp");
        let refusal =
            |code: &RedeemedCode, client, uri, verifier, resource| refusal_of(code, client, uri, verifier, resource);
        assert_eq!(refusal(&redeemed, "app", back, &verifier, here), None);
        assert_eq!(refusal(&redeemed, "app", None, &verifier, None), None);
        assert_eq!(refusal(&redeemed, "other", back, &verifier, here), Some(GrantRefusal::OtherClient));
        assert_eq!(
            refusal(&redeemed, "app", Some("https://app.example/"), &verifier, here),
            Some(GrantRefusal::OtherClient)
        );
        assert_eq!(refusal(&redeemed, "app", back, "w", here), Some(GrantRefusal::Verifier));
        assert_eq!(
            refusal(&redeemed, "app", back, &verifier, Some("https://x/mcp")),
            Some(GrantRefusal::OtherResource)
        );
        let late = RedeemedCode { is_in_time: false, ..redeemed.clone() };
        assert_eq!(refusal(&late, "app", back, &verifier, here), Some(GrantRefusal::Expired));
        let used = RedeemedCode { is_fresh: false, ..redeemed };
        assert_eq!(refusal(&used, "app", back, &verifier, here), Some(GrantRefusal::Reused));
    }
}
