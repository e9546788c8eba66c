use super::{ApiKey, ConfigError, Secret, Settings, access::check_user, list};

const VARIABLE: &str = "POLYMNEMO_CAPABILITY_TOKENS";

/// The least length of a token, in characters. A URL is copied, kept in histories and seen over
/// shoulders, so at least nobody shall guess one.
const TOKEN_CHARS: usize = 32;
/// The greatest: what the path of a request can hold with ease.
const MOST_TOKEN_CHARS: usize = 200;

/// Reads `name:token` pairs. The messages tell a pair by its place, never by its token.
pub(super) fn capability_tokens(settings: &Settings) -> Result<Vec<ApiKey>, ConfigError> {
    let mut pairs: Vec<ApiKey> = Vec::new();
    for (index, pair) in list(settings.get(VARIABLE).unwrap_or_default()).enumerate() {
        let place = index + 1;
        let wrong = |problem: &str| ConfigError::new(VARIABLE, format!("pair {place} {problem}"));
        // A name may hold a colon, a token can't.
        let (user, token) = pair.rsplit_once(':').ok_or_else(|| wrong("is not name:token"))?;
        let (user, token) = (user.trim(), token.trim());
        if user.is_empty() || token.is_empty() {
            return Err(wrong("is not name:token, one of the two is empty"));
        }
        if !token.chars().all(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_')) {
            return Err(wrong("has a token with other characters than letters, digits, - and _"));
        }
        if token.len() < TOKEN_CHARS {
            return Err(wrong(&format!(
                "has a token shorter than {TOKEN_CHARS} characters, too easy to guess; make one with `openssl rand -hex 24`"
            )));
        }
        if token.len() > MOST_TOKEN_CHARS {
            return Err(wrong(&format!("has a token longer than {MOST_TOKEN_CHARS} characters")));
        }
        check_user(VARIABLE, user)?;
        if pairs.iter().any(|earlier| earlier.key.expose() == token) {
            return Err(wrong("repeats the token of an earlier pair; each token belongs to one user"));
        }
        pairs.push(ApiKey { key: Secret::new(token), user: user.to_owned() });
    }
    if pairs.is_empty() && settings.get(VARIABLE).is_some() {
        return Err(ConfigError::new(VARIABLE, "holds no name:token pair"));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    const GOOD: &str = "0123456789abcdef-0123456789_ABCD";

    fn read(value: &str) -> Result<Vec<(String, String)>, String> {
        let settings = [(OsString::from(VARIABLE), OsString::from(value))];
        let settings = Settings::from_sources(settings, std::path::Path::new("/nonexistent")).unwrap();
        let pairs = capability_tokens(&settings).map_err(|error| error.to_string())?;
        Ok(pairs.into_iter().map(|pair| (pair.user, pair.key.expose().to_owned())).collect())
    }

    #[test]
    fn each_pair_names_the_user_first() {
        let both = read(&format!("alice:{GOOD}, team:bob:{GOOD}2")).unwrap();
        assert_eq!(both, [("alice".to_owned(), GOOD.to_owned()), ("team:bob".to_owned(), format!("{GOOD}2"))]);
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn a_token_that_can_be_guessed_or_does_not_fit_into_a_url_is_refused_and_not_repeated() {
        for wrong in [
            GOOD.to_owned(),
            format!(":{GOOD}"),
            "alice:".to_owned(),
            "alice:hunter2".to_owned(),
            format!("alice:hunter2/{GOOD}"),
            format!("alice:hunter2%20{GOOD}"),
            format!("alice:hunter2é{GOOD}"),
            format!("alice:{}", "hunter2".repeat(30)),
            format!("alice:{GOOD},bob:{GOOD}"),
            ",".to_owned(),
        ] {
            let message = read(&wrong).unwrap_err();
            assert!(message.starts_with("POLYMNEMO_CAPABILITY_TOKENS: "), "{message}");
            assert!(!message.contains("hunter2") && !message.contains(GOOD), "{message}");
        }
    }
}
