//! Receipts of erasures: their canonical form, the key that signs them, and how anyone verifies one.
//!
//! The file of a receipt is `{"document":{…},"signature":"…"}`. The signature is Ed25519 (RFC 8032) over the bytes of the
//! document in its canonical form, in base64url without padding. Canonical is JSON without white space whose objects have
//! their members in the order of their names (by code point, no name twice), in UTF-8, with only `"`, `\` and control
//! characters escaped; all numbers in it are whole. The file as it is handed out is in that form as a whole.
//!
//! The key is published as a JWK (RFC 8037), and its id is the thumbprint of RFC 7638.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use polymnemo_types::{Receipt, ReceiptDocument};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// The longest file that is taken for a receipt, in bytes.
pub const LONGEST_RECEIPT: usize = 4 << 20;

/// The key that signs receipts.
pub struct ReceiptKey {
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl std::fmt::Debug for ReceiptKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ReceiptKey").field("public", &self.public).finish_non_exhaustive()
    }
}

impl ReceiptKey {
    /// The key that follows from these 32 random bytes.
    ///
    /// # Errors
    ///
    /// Where they are not 32.
    pub fn from_seed(seed: &[u8]) -> Result<Self> {
        let pair = Ed25519KeyPair::from_seed_unchecked(seed)
            .map_err(|_| Error::internal("the secret that signs receipts is of a wrong length"))?;
        let public = PublicKey(pair.public_key().as_ref().to_vec());
        Ok(Self { pair, public })
    }

    /// Its public half.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The receipt that says this.
    ///
    /// # Errors
    ///
    /// Where the document can't be written as JSON.
    pub fn sign(&self, document: &ReceiptDocument) -> Result<Receipt> {
        let value = serde_json::to_value(document).map_err(|error| Error::Internal(error.into()))?;
        let text = canonical(&value);
        let signature = self.pair.sign(text.as_bytes()).as_ref().to_vec();
        Ok(Receipt {
            id: document.id,
            issued_at: document.finished_at,
            document: text,
            signature,
            key_id: document.key_id.clone(),
        })
    }
}

/// The public half of a key that signs receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey(Vec<u8>);

impl PublicKey {
    /// Its id: the thumbprint of RFC 7638.
    #[must_use]
    pub fn id(&self) -> String {
        let required = json!({ "crv": "Ed25519", "kty": "OKP", "x": URL_SAFE_NO_PAD.encode(&self.0) });
        URL_SAFE_NO_PAD.encode(Sha256::digest(canonical(&required)))
    }

    /// As a JWK (RFC 8037).
    #[must_use]
    pub fn to_jwk(&self) -> Value {
        json!({
            "alg": "EdDSA",
            "crv": "Ed25519",
            "kid": self.id(),
            "kty": "OKP",
            "use": "sig",
            "x": URL_SAFE_NO_PAD.encode(&self.0),
        })
    }

    /// The key in a file that holds a JWK.
    #[must_use]
    pub fn from_jwk(text: &str) -> Option<Self> {
        let jwk: Value = serde_json::from_str(text).ok()?;
        if jwk["kty"] != "OKP" || jwk["crv"] != "Ed25519" {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(jwk["x"].as_str()?).ok()?;
        (bytes.len() == 32).then_some(Self(bytes))
    }

    /// Verifies the file of a receipt.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn verify(&self, file: &[u8]) -> Result<ReceiptDocument, ReceiptFault> {
        let (document, text, signature) = read(file)?;
        if document.key_id != self.id() {
            return Err(ReceiptFault::OtherKey { signed_with: document.key_id, given: self.id() });
        }
        UnparsedPublicKey::new(&ED25519, &self.0)
            .verify(text.as_bytes(), &signature)
            .map_err(|_| ReceiptFault::Changed)?;
        Ok(document)
    }
}

/// Why the file of a receipt is not to be believed. The text is for whoever wants to know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReceiptFault {
    /// It ends before its end.
    #[error("The file is cut off: it ends in the middle of the receipt. Download it again.")]
    Cut,
    /// It is no receipt.
    #[error("The file is not a receipt of an erasure: {0}.")]
    NotAReceipt(String),
    /// It was changed.
    #[error("The receipt was changed after it was signed, or never signed with this key: the signature does not fit.")]
    Changed,
    /// It says that another key signed it.
    #[error(
        "The receipt says that it was signed with the key {signed_with}; the key that it was checked with is {given}. Give the key of that server."
    )]
    OtherKey {
        /// The key that it names.
        signed_with: String,
        /// The key to verify with.
        given: String,
    },
}

/// The document in the file of a receipt, the same in its canonical form, and its signature.
fn read(file: &[u8]) -> Result<(ReceiptDocument, String, Vec<u8>), ReceiptFault> {
    let not = |why: &str| ReceiptFault::NotAReceipt(why.to_owned());
    if file.len() > LONGEST_RECEIPT {
        return Err(not("it is far too long"));
    }
    let text = std::str::from_utf8(file).map_err(|_| not("it is not a text in UTF-8"))?;
    let value: Value = serde_json::from_str(text).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => ReceiptFault::Cut,
        _ => not("it is not JSON"),
    })?;
    // Each reader must see the same: no name twice, nothing beside what is signed.
    if without_space(text) != canonical(&value) {
        return Err(ReceiptFault::Changed);
    }
    let Value::Object(mut members) = value else { return Err(not("it is not a JSON object")) };
    let (Some(document), Some(Value::String(signature))) = (members.remove("document"), members.remove("signature"))
    else {
        return Err(not("it lacks the document or the signature"));
    };
    if !members.is_empty() {
        return Err(not("it has members that no receipt has"));
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| ReceiptFault::Changed)?;
    let text = canonical(&document);
    match serde_json::from_value::<ReceiptDocument>(document) {
        Ok(document) if document.document_type == ReceiptDocument::TYPE => Ok((document, text, signature)),
        Ok(_) => Err(not("it is of another type or version")),
        Err(_) => Err(not("its document does not say what a receipt says")),
    }
}

/// The file of a receipt, in its canonical form.
#[must_use]
pub fn file_of(receipt: &Receipt) -> String {
    format!(r#"{{"document":{},"signature":"{}"}}"#, receipt.document, URL_SAFE_NO_PAD.encode(&receipt.signature))
}

/// JSON without white space, the members of objects in the order of their names.
fn canonical(value: &Value) -> String {
    sorted(value).to_string()
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_unstable();
            let members = names.into_iter().filter_map(|name| Some((name.clone(), sorted(members.get(name)?))));
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// The text without the white space between the parts of JSON.
fn without_space(text: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    text.chars()
        .filter(|&character| {
            let keep = inside || !matches!(character, ' ' | '\t' | '\n' | '\r');
            match character {
                '"' if !escaped => inside = !inside,
                _ => {}
            }
            escaped = inside && character == '\\' && !escaped;
            keep
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use polymnemo_types::{
        BeforeAfter, Door, ErasedBy, ErasedStore, ErasureCheck, ErasureId, ErasureSubject, Survivor, SurvivorKind,
        UserId,
    };
    use uuid::Uuid;

    use super::*;

    fn key(seed: u8) -> ReceiptKey {
        ReceiptKey::from_seed(&[seed; 32]).expect("32 bytes")
    }

    fn document(key: &ReceiptKey) -> ReceiptDocument {
        let at = "2026-03-01T12:30:00.5Z".parse().expect("a time");
        ReceiptDocument {
            document_type: ReceiptDocument::TYPE.into(),
            id: ErasureId(Uuid::nil()),
            what: ErasureSubject::Namespace { number: 7, name_sha256: "ab".repeat(32), default: false },
            erased_by: ErasedBy { user_id: UserId(Uuid::nil()), door: Door::Browser, client: None },
            requested_at: at,
            finished_at: at,
            counts: [(ErasedStore::Memories, BeforeAfter { before: 3, after: 0 })].into(),
            checks: vec![ErasureCheck { path: "memories".into(), looked_for: 3, found: 0 }],
            rounds: 1,
            survives: vec![Survivor {
                what: SurvivorKind::Backups,
                until: None,
                note: "No backups, \"as stated\".".into(),
            }],
            server_version: "0.1.0".into(),
            key_id: key.public().id(),
        }
    }

    fn file(key: &ReceiptKey) -> String {
        file_of(&key.sign(&document(key)).expect("signed"))
    }

    #[test]
    fn a_receipt_is_believed_as_it_was_signed_and_also_when_it_was_spread_over_lines() {
        let key = key(1);
        let file = file(&key);
        assert_eq!(key.public().verify(file.as_bytes()), Ok(document(&key)));
        let value: Value = serde_json::from_str(&file).expect("JSON");
        assert_eq!(canonical(&value), file, "the file is in its canonical form");
        let pretty = serde_json::to_string_pretty(&value).expect("JSON");
        assert_eq!(key.public().verify(format!("{pretty}\n").as_bytes()), Ok(document(&key)));
    }

    #[test]
    fn with_any_bit_flipped_or_any_part_cut_it_is_not() {
        let key = key(1);
        let file = file(&key).into_bytes();
        for place in 0..file.len() {
            for bit in 0..8 {
                let mut flipped = file.clone();
                flipped[place] ^= 1 << bit;
                key.public().verify(&flipped).expect_err("a flipped bit");
            }
            key.public().verify(&file[..place]).expect_err("a cut file");
        }
        assert_eq!(key.public().verify(&file[..file.len() / 2]), Err(ReceiptFault::Cut));
    }

    #[test]
    fn what_it_does_not_say_itself_is_told_apart() {
        let (other, key) = (key(2), key(1));
        let file = file(&key);
        assert!(matches!(other.public().verify(file.as_bytes()), Err(ReceiptFault::OtherKey { .. })));
        // Another key under the id of this one.
        let forged = file_of(&other.sign(&document(&key)).expect("signed"));
        assert_eq!(key.public().verify(forged.as_bytes()), Err(ReceiptFault::Changed));
        let counted = file.replace("\"after\":0", "\"after\":1");
        assert_eq!(key.public().verify(counted.as_bytes()), Err(ReceiptFault::Changed));
        // A second document before the one that is signed, which some readers would see instead.
        let doubled = file.replacen('{', "{\"document\":{},", 1);
        assert_eq!(key.public().verify(doubled.as_bytes()), Err(ReceiptFault::Changed));
        for none in ["", "{}", "[1]", "null", "{\"document\":{},\"signature\":\"\"}", "PK\u{3}\u{4}", "hello"] {
            key.public().verify(none.as_bytes()).expect_err(none);
        }
    }

    #[test]
    fn the_key_is_published_as_a_jwk() {
        // The key of RFC 8037, appendix A.
        let seed = URL_SAFE_NO_PAD.decode("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A").expect("base64url");
        let key = ReceiptKey::from_seed(&seed).expect("32 bytes");
        let jwk = key.public().to_jwk();
        assert_eq!(jwk["x"], "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(jwk["kid"], "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(PublicKey::from_jwk(&jwk.to_string()).as_ref(), Some(key.public()));
        for none in ["", "{}", r#"{"kty":"OKP","crv":"X25519","x":"AA"}"#, r#"{"kty":"OKP","crv":"Ed25519","x":"AA"}"#]
        {
            assert_eq!(PublicKey::from_jwk(none), None, "{none}");
        }
        assert!(!format!("{key:?}").contains("nWGx"), "the secret half does not print");
    }
}
