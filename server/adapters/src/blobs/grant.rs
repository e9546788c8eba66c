use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// What a signed URL of ours allows, all of it in the URL and under its signature. Whoever changes a letter of it has no
/// grant any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// The object.
    pub key: String,
    /// From when on the grant is refused, in seconds since 1970.
    pub until: i64,
    /// What may be done with the object.
    pub may: Permission,
}

/// What may be done with an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    /// It may be put there: bytes of this length and type, and with this SHA-256 where there is one.
    Put {
        /// Their length.
        size: u64,
        /// Their media type.
        content_type: String,
        /// Their SHA-256.
        #[serde(skip_serializing_if = "Option::is_none")]
        sha256: Option<[u8; 32]>,
    },
    /// A part of it may be put there.
    Part {
        /// The number of the part.
        number: u32,
        /// Its length.
        size: u64,
    },
    /// It may be fetched.
    Get {
        /// The name that it is handed out under.
        filename: String,
        /// The media type that is told.
        content_type: String,
        /// Whether a browser may show it.
        inline: bool,
    },
}

/// Why a URL is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It is not one that was signed here, or was changed.
    Forged,
    /// Its time is over.
    Expired,
}

/// What the signature is of, besides the grant: the secret may come to sign other things.
const PURPOSE: &[u8] = b"polymnemo file\n";

/// Signs grants and knows them again.
#[derive(Clone)]
pub(super) struct Signer(Hmac<Sha256>);

impl fmt::Debug for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Signer(..)")
    }
}

impl Signer {
    /// A signer with these random bytes.
    pub(super) fn new(secret: &[u8]) -> Option<Self> {
        let mut mac = Hmac::new_from_slice(secret).ok()?;
        mac.update(PURPOSE);
        Some(Self(mac))
    }

    /// The query of a URL that gives the grant.
    pub(super) fn sign(&self, grant: &Grant) -> serde_json::Result<String> {
        let grant = URL_SAFE_NO_PAD.encode(serde_json::to_vec(grant)?);
        let mut mac = self.0.clone();
        mac.update(grant.as_bytes());
        let signature = URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes());
        Ok(format!("grant={grant}&signature={signature}"))
    }

    /// The grant that the query of a URL gives for the object that its path names.
    pub(super) fn verify(&self, key: &str, query: &str, now: Timestamp) -> Result<Grant, Refusal> {
        let (mut grant, mut signature) = (None, None);
        for pair in query.split('&') {
            let taken = match pair.split_once('=') {
                Some(("grant", value)) => grant.replace(value),
                Some(("signature", value)) => signature.replace(value),
                _ => None,
            };
            if taken.is_some() {
                return Err(Refusal::Forged);
            }
        }
        let (Some(grant), Some(signature)) = (grant, signature) else { return Err(Refusal::Forged) };
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| Refusal::Forged)?;
        let mut mac = self.0.clone();
        mac.update(grant.as_bytes());
        mac.verify_slice(&signature).map_err(|_| Refusal::Forged)?;
        let grant = URL_SAFE_NO_PAD.decode(grant).map_err(|_| Refusal::Forged)?;
        let grant: Grant = serde_json::from_slice(&grant).map_err(|_| Refusal::Forged)?;
        if grant.key != key {
            return Err(Refusal::Forged);
        }
        if now.as_second() >= grant.until { Err(Refusal::Expired) } else { Ok(grant) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-03-01T12:00:00Z".parse().expect("a time")
    }

    fn grant() -> Grant {
        let may = Permission::Put { size: 3, content_type: "image/png".into(), sha256: Some([7; 32]) };
        Grant { key: "ab12".into(), until: now().as_second() + 60, may }
    }

    #[test]
    fn a_grant_comes_back_until_its_time_is_over() {
        let signer = Signer::new(&[1; 32]).expect("a key");
        let query = signer.sign(&grant()).expect("signed");
        assert_eq!(signer.verify("ab12", &query, now()), Ok(grant()));
        assert_eq!(signer.verify("ab12", &format!("x=y&{query}&z"), now()), Ok(grant()));
        let later = now() + jiff::SignedDuration::from_secs(60);
        assert_eq!(signer.verify("ab12", &query, later), Err(Refusal::Expired));
    }

    #[test]
    fn nothing_about_it_can_be_changed() {
        let signer = Signer::new(&[1; 32]).expect("a key");
        let query = signer.sign(&grant()).expect("signed");
        assert_eq!(signer.verify("ab13", &query, now()), Err(Refusal::Forged), "another object");
        let other = Signer::new(&[2; 32]).expect("a key");
        assert_eq!(other.verify("ab12", &query, now()), Err(Refusal::Forged), "another secret");
        let (given, signature) = query.split_once("&signature=").expect("both");
        for may in [
            Permission::Put { size: 4, content_type: "image/png".into(), sha256: Some([7; 32]) },
            Permission::Put { size: 3, content_type: "text/html".into(), sha256: Some([7; 32]) },
            Permission::Put { size: 3, content_type: "image/png".into(), sha256: None },
            Permission::Get { filename: "x".into(), content_type: "text/html".into(), inline: true },
        ] {
            let forged = URL_SAFE_NO_PAD.encode(serde_json::to_vec(&Grant { may, ..grant() }).expect("JSON"));
            let forged = format!("grant={forged}&signature={signature}");
            assert_eq!(signer.verify("ab12", &forged, now()), Err(Refusal::Forged));
        }
        for wrong in ["", given, &format!("{given}&signature="), &format!("{query}&{given}"), &format!("{query}A")] {
            assert_eq!(signer.verify("ab12", wrong, now()), Err(Refusal::Forged), "{wrong}");
        }
    }
}
