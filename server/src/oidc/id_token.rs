use serde_json::Value;
use subtle::ConstantTimeEq;

use super::{Claims, Issuer, JwtProblem, Rejection, Subject};

/// ID tokens have no type of their own.
const TYPES: &[&str] = &["jwt"];

impl Issuer {
    /// Whom an ID token vouches for, in answer to the sign-in with this nonce (OpenID Connect Core
    /// section 3.1.3.7).
    ///
    /// # Errors
    ///
    /// Where it isn't a good one for the client of this server, or that can't be told now.
    pub(crate) async fn id_token(&self, token: &str, nonce: &str) -> Result<Subject, Rejection> {
        let client = self.config.client_id.as_str();
        let claims = self.claims_of(token, &[client], TYPES).await?;
        if !is_for(&claims, client) {
            return Err(JwtProblem::Audience.into());
        }
        let given = claims.get("nonce").and_then(Value::as_str).unwrap_or_default();
        if !bool::from(given.as_bytes().ct_eq(nonce.as_bytes())) {
            return Err(JwtProblem::Nonce.into());
        }
        Ok(self.subject_of(&claims)?)
    }
}

/// Whether the client is the one that the token was given to, where there are several audiences.
fn is_for(claims: &Claims, client: &str) -> bool {
    match claims.get("azp") {
        Some(party) => party.as_str() == Some(client),
        None => claims.get("aud").and_then(Value::as_array).is_none_or(|audiences| audiences.len() <= 1),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_several_audiences_one_is_the_party() {
        let check = |claims: Value| is_for(claims.as_object().unwrap(), "web");
        assert!(check(json!({ "aud": "web" })) && check(json!({ "aud": ["web"] })));
        assert!(check(json!({ "aud": ["web", "api"], "azp": "web" })));
        assert!(!check(json!({ "aud": ["web", "api"] })));
        assert!(!check(json!({ "aud": ["web", "api"], "azp": "api" })));
        assert!(!check(json!({ "aud": "web", "azp": null })));
    }
}
