use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::Value;

use super::Trouble;
use crate::outbound::Outbound;

/// How many keys are tried with a token that doesn't say which one it was signed with.
const MOST_TRIED: usize = 8;

/// The public keys of an issuer.
pub(super) struct Keys(Vec<Key>);

struct Key {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    key: DecodingKey,
}

/// Fetches the keys.
pub(super) async fn fetch(http: &Outbound, url: &str) -> Result<Keys, Trouble> {
    let (status, body) = http.get(url).await.map_err(|error| Trouble(error.to_string()))?;
    if !status.is_success() {
        return Err(Trouble(format!("it answers {status} where its keys should be")));
    }
    Keys::parse(&body).ok_or_else(|| Trouble("its keys can't be read".to_owned()))
}

impl Keys {
    /// Reads a JWK set. A key of a kind that isn't known is passed over (RFC 7517 section 5), and so is
    /// one that is for something else.
    fn parse(body: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(body).ok()?;
        let keys = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        Some(Self(keys.filter_map(|key: Jwk| Key::new(&key)).collect()))
    }

    /// The keys that a token of this algorithm may be signed with: the one with this id, or, where the
    /// token names none, all that fit.
    pub(super) fn for_token(&self, id: Option<&str>, algorithm: Algorithm) -> Vec<&DecodingKey> {
        let fits = |key: &&Key| key.algorithms.contains(&algorithm) && (id.is_none() || key.id.as_deref() == id);
        self.0.iter().filter(fits).map(|key| &key.key).take(MOST_TRIED).collect()
    }
}

impl Key {
    fn new(key: &Jwk) -> Option<Self> {
        let common = &key.common;
        let is_to_sign = common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
        let operations = common.key_operations.as_ref();
        if !is_to_sign || operations.is_some_and(|operations| !operations.contains(&KeyOperations::Verify)) {
            return None;
        }
        // What a key is good for follows from the key, so that a token can't choose (RFC 8725 section 3.1).
        let algorithms: &[(Algorithm, KeyAlgorithm)] = match &key.algorithm {
            AlgorithmParameters::RSA(_) => {
                &[(Algorithm::RS256, KeyAlgorithm::RS256), (Algorithm::PS256, KeyAlgorithm::PS256)]
            }
            AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => {
                &[(Algorithm::ES256, KeyAlgorithm::ES256)]
            }
            AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
                &[(Algorithm::EdDSA, KeyAlgorithm::EdDSA)]
            }
            _ => return None,
        };
        let named = common.key_algorithm;
        let algorithms = algorithms.iter().filter(|(_, algorithm)| named.is_none_or(|named| named == *algorithm));
        Some(Self {
            id: common.key_id.clone(),
            algorithms: algorithms.map(|(algorithm, _)| *algorithm).collect(),
            key: DecodingKey::from_jwk(key).ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_is_good_for_what_it_is_and_says() {
        let rsa = |more: Value| {
            let mut key = json!({ "kty": "RSA", "kid": "a", "n": "AQAB", "e": "AQAB" });
            key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            key
        };
        let good_for = |key: Value| {
            let keys = Keys::parse(json!({ "keys": [key] }).to_string().as_bytes()).unwrap();
            let all = [Algorithm::RS256, Algorithm::PS256, Algorithm::ES256, Algorithm::EdDSA, Algorithm::HS256];
            all.into_iter().filter(|algorithm| !keys.for_token(Some("a"), *algorithm).is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(good_for(rsa(json!({}))), [Algorithm::RS256, Algorithm::PS256]);
        assert_eq!(good_for(rsa(json!({ "alg": "PS256", "use": "sig" }))), [Algorithm::PS256]);
        assert_eq!(good_for(rsa(json!({ "key_ops": ["verify"] }))).len(), 2);
        let point = json!({ "kty": "EC", "crv": "P-256", "kid": "a", "x": "AQAB", "y": "AQAB" });
        assert_eq!(good_for(point), [Algorithm::ES256]);
        assert_eq!(good_for(json!({ "kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "AQAB" })), [Algorithm::EdDSA]);
        for useless in [
            rsa(json!({ "use": "enc" })),
            rsa(json!({ "key_ops": ["encrypt"] })),
            rsa(json!({ "alg": "RS512" })),
            rsa(json!({ "alg": "RSA-OAEP" })),
            rsa(json!({ "kid": "b" })),
            json!({ "kty": "EC", "crv": "P-384", "kid": "a", "x": "AQAB", "y": "AQAB" }),
            json!({ "kty": "oct", "kid": "a", "k": "AQAB" }),
            json!({ "kty": "AKP", "kid": "a", "alg": "ML-DSA-44", "pub": "AQAB" }),
            json!("no key at all"),
        ] {
            assert_eq!(good_for(useless.clone()), [], "{useless}");
        }
    }

    #[test]
    fn one_key_that_can_not_be_read_spoils_no_other() {
        let keys = json!({ "keys": [{ "kty": "RSA" }, { "kty": "RSA", "n": "AQAB", "e": "AQAB" }] }).to_string();
        let keys = Keys::parse(keys.as_bytes()).unwrap();
        assert_eq!(keys.for_token(None, Algorithm::RS256).len(), 1);
        assert_eq!(keys.for_token(Some("a"), Algorithm::RS256).len(), 0);
        for broken in ["", "[]", "{}", "<html>"] {
            assert!(Keys::parse(broken.as_bytes()).is_none(), "{broken}");
        }
    }
}
