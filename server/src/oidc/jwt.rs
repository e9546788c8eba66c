use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, errors::ErrorKind};
use serde::Deserialize;
use serde_json::Value;

use super::{Claims, Issuer, Rejection, keys::Keys};

/// The longest token that is looked at, in bytes.
const TOKEN_BYTES: usize = 16 << 10;
/// How far the issuer's clock may be from ours, in seconds.
const LEEWAY: u64 = 60;

/// What is wrong with a token. The texts are for whoever sent it, and hold nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtProblem {
    /// It is no JWT.
    #[error("The access token can't be read: it is no signed JWT.")]
    Malformed,
    /// It is signed in a way that is not accepted, or not at all.
    #[error("The access token is not signed in an accepted way: RS256, PS256, ES256 or EdDSA.")]
    Algorithm,
    /// It asks for something to be understood that is not.
    #[error("The access token has a `crit` header, which is not supported.")]
    Critical,
    /// It is a token for something else, such as an ID token.
    #[error("The token is of another type than an access token.")]
    Type,
    /// The issuer has no such key.
    #[error("The access token is signed with a key that its issuer does not have.")]
    Key,
    /// Its signature is wrong.
    #[error("The signature of the access token is wrong.")]
    Signature,
    /// Its time is over.
    #[error("The access token has expired.")]
    Expired,
    /// Its time has not come.
    #[error("The access token is not valid yet.")]
    NotYet,
    /// It is of another issuer.
    #[error("The access token is of another issuer.")]
    Issuer,
    /// It is for another server.
    #[error("The access token is for another server: its audience is not this one.")]
    Audience,
    /// A claim that must be there is missing or malformed.
    #[error("The access token lacks a claim: iss, sub, aud and exp must be there.")]
    Claim,
    /// It says of nobody whom it is for.
    #[error("The access token does not say in `sub` whose it is.")]
    Subject,
    /// It answers another question than ours.
    #[error("The ID token is not the answer to this sign-in.")]
    Nonce,
}

/// What of the header matters; everything else in it is not to be trusted (RFC 8725 section 3.10).
#[derive(Deserialize)]
struct Header {
    alg: String,
    typ: Option<String>,
    kid: Option<String>,
    crit: Option<Value>,
}

/// Whether a text is worth the work: three parts, and what begins like an object in Base64.
pub(super) fn looks_like_jwt(text: &str) -> bool {
    text.starts_with('e') && text.bytes().filter(|byte| *byte == b'.').count() == 2
}

impl Issuer {
    /// The claims of a token that the issuer signed: for one of these audiences, at this time, of one of
    /// these types, or of none.
    ///
    /// What is cheap to check comes first, and no key is looked up for what is refused anyway.
    pub(super) async fn claims_of(&self, token: &str, audiences: &[&str], types: &[&str]) -> Result<Claims, Rejection> {
        let header = header_of(token).ok_or(JwtProblem::Malformed)?;
        let algorithm = accepted(&header.alg).ok_or(JwtProblem::Algorithm)?;
        if header.crit.is_some() {
            return Err(JwtProblem::Critical.into());
        }
        if let Some(given) = &header.typ {
            let given = given.to_ascii_lowercase();
            if !types.contains(&given.strip_prefix("application/").unwrap_or(&given)) {
                return Err(JwtProblem::Type.into());
            }
        }
        let keys = self.keys_for(header.kid.as_deref(), algorithm).await?;
        let validation = self.validation(algorithm, audiences);
        let mut problem = JwtProblem::Key;
        for key in keys.for_token(header.kid.as_deref(), algorithm) {
            match self.checked(token, key, &validation) {
                // Another key may be the right one.
                Err(JwtProblem::Signature) => problem = JwtProblem::Signature,
                other => return Ok(other?),
            }
        }
        Err(problem.into())
    }

    /// Keys among which there is one for such a token, if the issuer has any.
    async fn keys_for(&self, id: Option<&str>, algorithm: Algorithm) -> Result<Arc<Keys>, Rejection> {
        let keys = self.keys().await?;
        if keys.for_token(id, algorithm).is_empty() {
            return Ok(self.newer_keys(&keys).await?);
        }
        Ok(keys)
    }

    fn validation(&self, algorithm: Algorithm, audiences: &[&str]) -> Validation {
        let mut validation = Validation::new(algorithm);
        validation.leeway = LEEWAY;
        validation.validate_nbf = true;
        validation.set_audience(audiences);
        validation.set_issuer(&[&self.config.issuer]);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation
    }

    fn checked(&self, token: &str, key: &DecodingKey, validation: &Validation) -> Result<Claims, JwtProblem> {
        let claims = decode::<Claims>(token, key, validation).map_err(|error| problem_of(error.kind()))?.claims;
        // The library takes a list of issuers, too.
        if claims.get("iss").and_then(Value::as_str) != Some(&self.config.issuer) {
            return Err(JwtProblem::Issuer);
        }
        Ok(claims)
    }
}

fn header_of(token: &str) -> Option<Header> {
    if token.len() > TOKEN_BYTES || !looks_like_jwt(token) {
        return None;
    }
    let header = token.split('.').next()?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()
}

/// The algorithms of public keys that authorization servers use. Never `none`, and never one of shared
/// secrets, for which a public key would pass.
fn accepted(name: &str) -> Option<Algorithm> {
    match name {
        "RS256" => Some(Algorithm::RS256),
        "PS256" => Some(Algorithm::PS256),
        "ES256" => Some(Algorithm::ES256),
        "EdDSA" => Some(Algorithm::EdDSA),
        _ => None,
    }
}

fn problem_of(error: &ErrorKind) -> JwtProblem {
    match error {
        ErrorKind::ExpiredSignature => JwtProblem::Expired,
        ErrorKind::ImmatureSignature => JwtProblem::NotYet,
        ErrorKind::InvalidIssuer => JwtProblem::Issuer,
        ErrorKind::InvalidAudience => JwtProblem::Audience,
        ErrorKind::MissingRequiredClaim(claim) if claim == "sub" => JwtProblem::Subject,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => JwtProblem::Claim,
        ErrorKind::InvalidSignature
        | ErrorKind::InvalidRsaKey(_)
        | ErrorKind::InvalidEcdsaKey
        | ErrorKind::InvalidEddsaKey
        | ErrorKind::InvalidKeyFormat => JwtProblem::Signature,
        _ => JwtProblem::Malformed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_the_form_of_a_signed_token_is_one() {
        assert!(looks_like_jwt("eyJhbGciOiJSUzI1NiJ9.e30.c2ln"));
        for other in ["", "eyJ", "pmn_AbCd", "a.b.c", "eyJhbGciOiJSUzI1NiJ9.e30", "eyJhbGciOiJSUzI1NiJ9.e30.c2ln.x.y"] {
            assert!(!looks_like_jwt(other), "{other}");
        }
    }

    #[test]
    fn neither_none_nor_a_shared_secret_is_accepted_whatever_the_case() {
        for name in ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "hs256", "rs256", "ES384", "RS1"] {
            assert_eq!(accepted(name), None, "{name}");
        }
    }
}
