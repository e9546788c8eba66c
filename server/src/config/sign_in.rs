use std::{collections::BTreeSet, net::IpAddr};

use sha2::{Digest, Sha256};
use url::{Host, Url};

use super::{AccessConfig, Authority, ConfigError, NetworkConfig, OidcConfig, Secret, Settings, list};

/// How a person signs in to the web app.
#[derive(Debug, Clone)]
pub enum SignInConfig {
    /// At GitHub, or at a GitHub Enterprise server.
    GitHub(GitHubConfig),
    /// At the authorization server that clients get their tokens from, too.
    Oidc(OidcConfig),
    /// By a link that works once and that only this machine can open, as the user of this name.
    Link {
        /// The user that stdio works for too.
        user: String,
    },
    /// Nobody can: the server is open to others, and no identity provider is set.
    Closed,
}

/// The identity provider.
#[derive(Debug, Clone)]
pub struct GitHubConfig {
    /// The id of the OAuth app registered there.
    pub client_id: String,
    /// Its secret.
    pub client_secret: Secret,
    /// Where people sign in, without a slash at the end: `https://github.com`. The issuer of identities.
    pub url: String,
    /// Where its REST API is, without a slash at the end: `https://api.github.com`.
    pub api_url: String,
    /// Whether that is a program on this machine, as in tests: only then is plain HTTP allowed.
    pub is_on_this_machine: bool,
    /// Who may sign in; everyone with an account there when `None`.
    pub allowed: Option<AllowedLogins>,
}

/// Who may sign in. Names are in lower case, as GitHub compares them without regard to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowedLogins {
    /// These people.
    pub people: BTreeSet<String>,
    /// And the members of these organisations.
    pub organisations: BTreeSet<String>,
}

const ID: &str = "POLYMNEMO_GITHUB_CLIENT_ID";
const SECRET: &str = "POLYMNEMO_GITHUB_CLIENT_SECRET";
const URL: &str = "POLYMNEMO_GITHUB_URL";
pub(super) const ALLOWED: &str = "POLYMNEMO_ALLOWED_LOGINS";
/// What sets GitHub as identity provider.
pub(super) const GITHUB: [&str; 3] = [ID, SECRET, URL];

impl SignInConfig {
    pub(super) fn from_settings(
        settings: &Settings,
        network: &NetworkConfig,
        access: &AccessConfig,
    ) -> Result<Self, ConfigError> {
        if let Some(oidc) = OidcConfig::from_settings(settings, network)? {
            return Ok(Self::Oidc(oidc));
        }
        let (client_id, client_secret) = match (settings.get(ID), settings.get(SECRET)) {
            (Some(id), Some(secret)) => (id.to_owned(), Secret::new(secret)),
            (Some(_), None) => return Err(missing(SECRET, ID)),
            (None, Some(_)) => return Err(missing(ID, SECRET)),
            (None, None) => {
                if let Some(useless) = [URL, ALLOWED].into_iter().find(|name| settings.get(name).is_some()) {
                    return Err(missing(ID, useless));
                }
                return Ok(Self::without_provider(network, access));
            }
        };
        if !client_id.chars().all(|character| character.is_ascii_graphic()) {
            return Err(ConfigError::new(ID, "not the id of an OAuth app; copy it from the app's page at GitHub"));
        }
        check_transport(network)?;
        let url = github_url(settings.get(URL).unwrap_or("https://github.com"))?;
        Ok(Self::GitHub(GitHubConfig {
            client_id,
            client_secret,
            api_url: api_url(&url),
            is_on_this_machine: url.scheme() == "http",
            url: url.origin().ascii_serialization(),
            allowed: settings.get(ALLOWED).map(allowed_logins).transpose()?,
        }))
    }

    /// The rules for who may sign in, as a text that is the same as long as they are. Someone who got in by other rules
    /// might not by these.
    pub(crate) fn rules(&self) -> String {
        let rules = match self {
            Self::GitHub(GitHubConfig { url, allowed, .. }) => format!("{url} {allowed:?}"),
            Self::Oidc(oidc) => format!("{} {:?} {:?}", oidc.issuer, oidc.client_id, oidc.subject_prefix),
            Self::Link { user } => format!("link {user:?}"),
            Self::Closed => "closed".to_owned(),
        };
        let mut digest = hex::encode(Sha256::digest(rules));
        digest.truncate(32);
        digest
    }

    fn without_provider(network: &NetworkConfig, access: &AccessConfig) -> Self {
        match access.stdio_user() {
            Ok(user) if network.is_for_this_machine_only() => Self::Link { user: user.to_owned() },
            _ => Self::Closed,
        }
    }
}

fn missing(missing: &str, given: &str) -> ConfigError {
    ConfigError::new(missing, format!("not set, but {given} is; sign-in with GitHub needs both, or neither"))
}

/// A session is as good as a password, so it crosses a network encrypted or not at all.
pub(super) fn check_transport(network: &NetworkConfig) -> Result<(), ConfigError> {
    let variable = "POLYMNEMO_PUBLIC_URL";
    match &network.public_url {
        Some(url) if url.starts_with("https://") || Url::parse(url).is_ok_and(|url| is_loopback(&url)) => Ok(()),
        Some(url) => Err(ConfigError::new(
            variable,
            format!("`{url}` is not encrypted; signing in needs https, unless the server is called by a loopback name"),
        )),
        None if network.host.is_loopback() && network.only_loopback_names_are_allowed() => Ok(()),
        None => Err(ConfigError::new(
            variable,
            "not set; signing in to a server that others can call needs the URL that browsers come back to: https://memory.example.com",
        )),
    }
}

pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl Authority {
    /// Whether this is a name by which a program calls its own machine.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

fn github_url(text: &str) -> Result<Url, ConfigError> {
    // Not quoted before it is known to hold no password.
    let wrong =
        |problem: &str| ConfigError::new(URL, format!("{problem}; give scheme and host: https://github.example.com"));
    let url = Url::parse(text).map_err(|_| wrong("not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a user name or password"));
    }
    let crosses_no_network = || url.scheme() == "http" && is_loopback(&url);
    if url.scheme() != "https" && !crosses_no_network() {
        return Err(wrong("not an https URL"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has a path"));
    }
    Ok(url)
}

/// Where the REST API of a GitHub is: github.com and its sovereign clouds (`*.ghe.com`) have a host
/// of their own for it, an Enterprise server a path.
fn api_url(url: &Url) -> String {
    match url.host_str() {
        Some(host) if host == "github.com" || host.ends_with(".ghe.com") => format!("https://api.{host}"),
        _ => format!("{}/api/v3", url.origin().ascii_serialization()),
    }
}

fn allowed_logins(text: &str) -> Result<AllowedLogins, ConfigError> {
    let mut allowed = AllowedLogins::default();
    for entry in list(text) {
        let (names, name) = match entry.split_once(':') {
            None => (&mut allowed.people, entry.as_str()),
            Some(("org", name)) => (&mut allowed.organisations, name.trim()),
            Some(_) => return Err(ConfigError::new(ALLOWED, format!("`{entry}` is neither a login nor org:NAME"))),
        };
        let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
        if name.is_empty() || name.len() > 100 || !name.chars().all(is_plain) {
            return Err(ConfigError::new(
                ALLOWED,
                format!(
                    "`{entry}` is no name at GitHub; give logins and org:NAME, comma separated: octocat,org:github"
                ),
            ));
        }
        names.insert(name.to_ascii_lowercase());
    }
    if allowed == AllowedLogins::default() {
        return Err(ConfigError::new(
            ALLOWED,
            "holds no login; take the setting away to let everyone in who has an account",
        ));
    }
    Ok(allowed)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::config::Config;

    fn read(settings: &[(&str, &str)]) -> Result<SignInConfig, String> {
        let settings = settings.iter().chain(&[("POLYMNEMO_DATA_DIR", "/tmp/polymnemo-data")]);
        let settings = settings.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::from_sources(settings, std::path::Path::new("/nonexistent")).unwrap();
        Config::from_settings(&settings).map(|config| config.sign_in).map_err(|error| error.to_string())
    }

    fn github(more: &[(&str, &str)]) -> Result<GitHubConfig, String> {
        let settings = [&[(ID, "Iv1.0123"), (SECRET, "hunter2")], more].concat();
        read(&settings).map(|config| match config {
            SignInConfig::GitHub(github) => github,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn half_a_provider_stops_the_start_and_the_missing_half_is_named() {
        for (given, missing) in [(ID, SECRET), (SECRET, ID), (URL, ID), (ALLOWED, ID)] {
            let message = read(&[(given, "hunter2")]).unwrap_err();
            assert!(message.starts_with(&format!("{missing}: not set, but {given} is")), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn each_kind_of_github_has_its_api_where_github_puts_it() {
        for (url, api) in [
            ("https://github.com", "https://api.github.com"),
            ("https://octocorp.ghe.com", "https://api.octocorp.ghe.com"),
            ("https://github.example.com/", "https://github.example.com/api/v3"),
            ("http://127.0.0.1:4000", "http://127.0.0.1:4000/api/v3"),
        ] {
            let github = github(&[(URL, url)]).unwrap();
            assert_eq!(github.api_url, api);
            assert_eq!(github.url, url.trim_end_matches('/'));
            assert_eq!(github.is_on_this_machine, url.starts_with("http:"));
        }
        assert_eq!(github(&[]).unwrap().url, "https://github.com");
    }

    #[test]
    fn a_provider_that_can_be_listened_to_is_refused() {
        for url in [
            "http://github.example.com",
            "ftp://github.com",
            "github.com",
            "https://me:hunter2@github.com",
            "https://github.com/login",
            "https://github.com?a=b",
        ] {
            let message = github(&[(URL, url)]).unwrap_err();
            assert!(message.starts_with("POLYMNEMO_GITHUB_URL: ") && !message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn a_session_crosses_no_network_in_the_clear() {
        let public = |url: &str| github(&[("POLYMNEMO_PUBLIC_URL", url)]);
        assert!(public("https://memory.example.com").is_ok());
        assert!(public("http://localhost:8000").is_ok());
        assert!(public("http://memory.example.com").unwrap_err().starts_with("POLYMNEMO_PUBLIC_URL: "));
        for open in [("POLYMNEMO_HOST", "0.0.0.0"), ("POLYMNEMO_ALLOWED_HOSTS", "nas.local")] {
            let message = github(&[open]).unwrap_err();
            assert!(message.starts_with("POLYMNEMO_PUBLIC_URL: not set"), "{message}");
        }
    }

    #[test]
    fn people_and_organisations_can_be_allowed() {
        let allowed = |text: &str| github(&[(ALLOWED, text)]).map(|github| github.allowed.unwrap());
        let both = allowed("Octocat, hubot_corp,org:GitHub").unwrap();
        assert_eq!(both.people, ["hubot_corp".to_owned(), "octocat".to_owned()].into());
        assert_eq!(both.organisations, ["github".to_owned()].into());
        for wrong in ["a b", "team:x", "org:", "me@example.com", ",", "org:a/b"] {
            let message = allowed(wrong).unwrap_err();
            assert!(message.starts_with("POLYMNEMO_ALLOWED_LOGINS: "), "{message}");
        }
        assert!(github(&[]).unwrap().allowed.is_none());
    }

    #[test]
    fn without_a_provider_only_a_server_for_this_machine_lets_its_one_user_in() {
        let link = |settings: &[(&str, &str)]| match read(settings).unwrap() {
            SignInConfig::Link { user } => Some(user),
            SignInConfig::Closed => None,
            SignInConfig::GitHub(_) | SignInConfig::Oidc(_) => panic!("there is no provider"),
        };
        assert_eq!(link(&[]).unwrap(), "local");
        assert_eq!(link(&[("POLYMNEMO_API_KEYS", "k:alice")]).unwrap(), "alice");
        let two = ("POLYMNEMO_API_KEYS", "k1:alice,k2:bob");
        assert_eq!(link(&[two]), None);
        assert_eq!(link(&[two, ("POLYMNEMO_STDIO_USER", "bob")]).unwrap(), "bob");
        assert_eq!(link(&[("POLYMNEMO_HOST", "0.0.0.0")]), None);
        assert_eq!(link(&[("POLYMNEMO_PUBLIC_URL", "http://localhost:8000")]), None);
    }

    #[test]
    fn the_rules_are_others_when_anything_changes_about_who_may_sign_in() {
        let github = [(ID, "Iv1.0123"), (SECRET, "hunter2")];
        let of = |more: &[(&str, &str)]| read(&[&github, more].concat()).unwrap().rules();
        let all = [
            of(&[]),
            of(&[(URL, "https://github.example.com")]),
            of(&[(ALLOWED, "octocat")]),
            of(&[(ALLOWED, "octocat,hubot")]),
            of(&[(ALLOWED, "org:octocat")]),
            read(&[]).unwrap().rules(),
            read(&[("POLYMNEMO_API_KEYS", "k:alice")]).unwrap().rules(),
            read(&[("POLYMNEMO_HOST", "0.0.0.0")]).unwrap().rules(),
        ];
        assert_eq!(BTreeSet::from(all.clone()).len(), all.len());
        assert_eq!(of(&[(ALLOWED, "hubot, Octocat")]), of(&[(ALLOWED, "octocat,hubot")]));
        // A new secret of the app, or another port of the server, is no reason to sign anyone out.
        assert_eq!(of(&[("POLYMNEMO_PORT", "9000")]), of(&[]));
    }

    #[test]
    fn the_secret_is_not_printed() {
        assert!(!format!("{:?}", github(&[]).unwrap()).contains("hunter2"));
    }
}
