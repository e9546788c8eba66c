use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};

use crate::config::ApiKey;

/// The keys from the settings, kept as digests only.
pub struct StaticKeys {
    keys: Vec<([u8; 32], String)>,
}

impl StaticKeys {
    /// Takes over the keys.
    #[must_use]
    pub fn new(keys: &[ApiKey]) -> Self {
        Self { keys: keys.iter().map(|pair| (digest(pair.key.expose()), pair.user.clone())).collect() }
    }

    /// The user whose key this is.
    ///
    /// The time it takes tells nothing about the keys: digests hide how long and how alike two keys
    /// are, each comparison takes the same time whatever it finds, and all keys are compared even
    /// after the right one.
    #[must_use]
    pub fn user_of(&self, presented: &str) -> Option<&str> {
        let presented = digest(presented);
        let mut found = Choice::from(0);
        let mut place = 0_u64;
        for (index, (key, _)) in (0_u64..).zip(&self.keys) {
            let same = key.as_slice().ct_eq(presented.as_slice());
            place.conditional_assign(&index, same);
            found |= same;
        }
        let place = usize::try_from(place).ok()?;
        if bool::from(found) { self.keys.get(place).map(|(_, user)| user.as_str()) } else { None }
    }
}

fn digest(key: &str) -> [u8; 32] {
    Sha256::digest(key.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[test]
    fn each_key_finds_its_user_and_nothing_else_does() {
        let pair = |key: &str, user: &str| ApiKey { key: Secret::new(key), user: user.to_owned() };
        let keys = StaticKeys::new(&[pair("key-a", "alice"), pair("key-b", "bob"), pair("key-a2", "alice")]);
        assert_eq!(keys.user_of("key-a"), Some("alice"));
        assert_eq!(keys.user_of("key-b"), Some("bob"));
        assert_eq!(keys.user_of("key-a2"), Some("alice"));
        for wrong in ["", "key", "key-a ", "KEY-A", "key-a22", "alice"] {
            assert_eq!(keys.user_of(wrong), None, "{wrong}");
        }
        assert_eq!(StaticKeys::new(&[]).user_of(""), None);
    }
}
