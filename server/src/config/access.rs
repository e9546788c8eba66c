use std::collections::BTreeSet;

use super::{ConfigError, Secret, Settings, capabilities::capability_tokens, list};

/// The user of the generated key, and of `stdio` when no keys are set.
pub const LOCAL_USER: &str = "local";

/// The least length of a key that a server open to others accepts, in characters.
const KEY_CHARS: usize = 16;
/// The greatest length of a user's name, in characters.
const USER_CHARS: usize = 100;

/// Who may connect.
#[derive(Debug, Clone)]
pub struct AccessConfig {
    /// The keys from the settings; when there are none, one is generated for [`LOCAL_USER`].
    pub api_keys: Vec<ApiKey>,
    /// The tokens from the settings that are used as a part of a URL.
    pub capability_tokens: Vec<ApiKey>,
    /// The user that the stdio door works for.
    pub stdio_user: StdioUser,
}

/// A key and whom it belongs to.
#[derive(Debug, Clone)]
pub struct ApiKey {
    /// The key that a client sends.
    pub key: Secret,
    /// The user's name.
    pub user: String,
}

/// The user that the stdio door works for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StdioUser {
    /// This one.
    Named(String),
    /// The keys belong to several users, and none was chosen.
    Unclear,
}

impl AccessConfig {
    pub(super) fn from_settings(settings: &Settings, for_this_machine_only: bool) -> Result<Self, ConfigError> {
        let api_keys = api_keys(settings, for_this_machine_only)?;
        let variable = "POLYMNEMO_STDIO_USER";
        let stdio_user = match settings.get(variable) {
            Some(user) => {
                check_user(variable, user)?;
                StdioUser::Named(user.to_owned())
            }
            None => {
                let users: BTreeSet<&str> = api_keys.iter().map(|pair| pair.user.as_str()).collect();
                match (users.first(), users.len()) {
                    (None, _) => StdioUser::Named(LOCAL_USER.to_owned()),
                    (Some(only), 1) => StdioUser::Named((*only).to_owned()),
                    (Some(_), _) => StdioUser::Unclear,
                }
            }
        };
        Ok(Self { api_keys, capability_tokens: capability_tokens(settings)?, stdio_user })
    }

    /// The user that the stdio door works for.
    ///
    /// # Errors
    ///
    /// Where the keys belong to several users and the setting does not choose one.
    pub fn stdio_user(&self) -> Result<&str, ConfigError> {
        match &self.stdio_user {
            StdioUser::Named(user) => Ok(user),
            StdioUser::Unclear => Err(ConfigError::new(
                "POLYMNEMO_STDIO_USER",
                "POLYMNEMO_API_KEYS names several users; set this to the one that stdio is to work for",
            )),
        }
    }
}

/// Reads `key:user` pairs. The messages tell a pair by its place, never by its key.
fn api_keys(settings: &Settings, for_this_machine_only: bool) -> Result<Vec<ApiKey>, ConfigError> {
    let variable = "POLYMNEMO_API_KEYS";
    let mut pairs: Vec<ApiKey> = Vec::new();
    for (index, pair) in list(settings.get(variable).unwrap_or_default()).enumerate() {
        let place = index + 1;
        let wrong = |problem: &str| ConfigError::new(variable, format!("pair {place} {problem}"));
        let (key, user) = pair.split_once(':').ok_or_else(|| wrong("is not key:user"))?;
        let (key, user) = (key.trim(), user.trim());
        if key.is_empty() || user.is_empty() {
            return Err(wrong("is not key:user, one of the two is empty"));
        }
        if !key.chars().all(|character| character.is_ascii_graphic()) {
            return Err(wrong(
                "has a key that an HTTP header can't carry; use letters, digits and signs without spaces",
            ));
        }
        if key.len() < KEY_CHARS && !for_this_machine_only {
            return Err(wrong(&format!(
                "has a key shorter than {KEY_CHARS} characters, too easy to guess for a server that others can reach; \
                 make one with `openssl rand -hex 24`"
            )));
        }
        check_user(variable, user)?;
        if pairs.iter().any(|earlier| earlier.key.expose() == key) {
            return Err(wrong("repeats the key of an earlier pair; each key belongs to one user"));
        }
        pairs.push(ApiKey { key: Secret::new(key), user: user.to_owned() });
    }
    if pairs.is_empty() && settings.get(variable).is_some() {
        return Err(ConfigError::new(variable, "holds no key:user pair"));
    }
    Ok(pairs)
}

pub(super) fn check_user(variable: &str, user: &str) -> Result<(), ConfigError> {
    if user.chars().count() > USER_CHARS || user.chars().any(char::is_control) {
        return Err(ConfigError::new(
            variable,
            format!("a user's name has at most {USER_CHARS} characters and no control characters"),
        ));
    }
    Ok(())
}
