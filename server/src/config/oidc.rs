use url::Url;

use super::{ConfigError, NetworkConfig, Secret, Settings, list, sign_in};

/// Identity from elsewhere: an authorization server of someone else's, whose access tokens clients
/// bring, and where people sign in to the web app.
#[derive(Debug, Clone)]
pub struct OidcConfig {
    /// Its issuer identifier, byte for byte as it is written in its tokens and metadata.
    pub issuer: String,
    /// What `aud` of an access token must name, one of these: this server.
    pub audiences: Vec<String>,
    /// The id of the client registered there for the web app.
    pub client_id: String,
    /// Its secret; a public client has none.
    pub client_secret: Option<Secret>,
    /// What the subjects of its users begin with here.
    pub subject_prefix: String,
    /// Whether that is a program on this machine, as in tests: only then is plain HTTP allowed.
    pub is_on_this_machine: bool,
}

/// Who gives out access tokens for the MCP endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum AuthorizationServer {
    /// Nobody; keys and API tokens are given out by hand.
    #[default]
    None,
    /// This server itself, to apps that people let in.
    Own,
    /// The one with this issuer identifier.
    External(String),
}

pub(super) const ISSUER: &str = "POLYMNEMO_OIDC_ISSUER";
const AUDIENCE: &str = "POLYMNEMO_OIDC_AUDIENCE";
const ID: &str = "POLYMNEMO_OIDC_CLIENT_ID";
const SECRET: &str = "POLYMNEMO_OIDC_CLIENT_SECRET";
const PREFIX: &str = "POLYMNEMO_OIDC_SUBJECT_PREFIX";

/// The greatest length of the prefix, in characters.
const PREFIX_CHARS: usize = 100;

impl OidcConfig {
    /// Reads the settings; `None` where none of them is set.
    pub(super) fn from_settings(settings: &Settings, network: &NetworkConfig) -> Result<Option<Self>, ConfigError> {
        let first_given = |names: &[&'static str]| names.iter().copied().find(|name| settings.get(name).is_some());
        if let (Some(_), None) = (settings.get(SECRET), settings.get(ID)) {
            return Err(missing(ID, SECRET, "a secret belongs to a client"));
        }
        let Some(issuer) = settings.get(ISSUER) else {
            return match first_given(&[ID, AUDIENCE, PREFIX]) {
                Some(useless) => Err(missing(ISSUER, useless, "it names whose tokens and sign-ins are accepted")),
                None => Ok(None),
            };
        };
        if let Some(other) = first_given(&sign_in::GITHUB) {
            return Err(ConfigError::new(
                other,
                format!(
                    "set together with {ISSUER}, but people sign in at one place only; take the POLYMNEMO_GITHUB_* \
                     settings away to use the issuer, or the POLYMNEMO_OIDC_* settings to use GitHub"
                ),
            ));
        }
        if let Some(useless) = first_given(&[sign_in::ALLOWED]) {
            return Err(ConfigError::new(
                useless,
                format!("is for GitHub; who may sign in by {ISSUER} is decided there, so take the setting away"),
            ));
        }
        let url = issuer_url(issuer)?;
        let client_id = settings.get(ID).ok_or_else(|| missing(ID, ISSUER, "people sign in to the web app by it"))?;
        if !client_id.chars().all(|character| character.is_ascii_graphic()) {
            return Err(ConfigError::new(ID, "not the id of a client; copy it from where the client is registered"));
        }
        let audiences = audiences(settings, network)?;
        if audiences.iter().any(|audience| audience == client_id) {
            return Err(ConfigError::new(
                AUDIENCE,
                format!(
                    "the same as {ID}, so that what only tells the web app who someone is would pass for an access token; \
                     give the identifier of the API, which is another one"
                ),
            ));
        }
        sign_in::check_transport(network)?;
        Ok(Some(Self {
            issuer: issuer.to_owned(),
            audiences,
            client_id: client_id.to_owned(),
            client_secret: settings.get(SECRET).map(Secret::new),
            subject_prefix: subject_prefix(settings)?,
            is_on_this_machine: url.scheme() == "http",
        }))
    }
}

fn missing(missing: &str, given: &str, why: &str) -> ConfigError {
    ConfigError::new(missing, format!("not set, but {given} is; {why}"))
}

/// The issuer identifier (RFC 8414 section 2). A path, and a slash at its end, are part of it.
fn issuer_url(text: &str) -> Result<Url, ConfigError> {
    // Not quoted before it is known to hold no password.
    let wrong = |problem: &str| {
        ConfigError::new(ISSUER, format!("{problem}; give the issuer as its metadata has it: https://id.example.com"))
    };
    let url = Url::parse(text).map_err(|_| wrong("not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("holds a user name or password"));
    }
    let crosses_no_network = || url.scheme() == "http" && sign_in::is_loopback(&url);
    if url.scheme() != "https" && !crosses_no_network() {
        return Err(wrong("not an https URL"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has a query or a fragment"));
    }
    // Otherwise the documents would be looked for elsewhere than it says.
    if url.as_str().trim_end_matches('/') != text.trim_end_matches('/') {
        return Err(wrong("not in the usual form, with a host in lower case and without the usual port"));
    }
    if text.contains("/.well-known/") {
        return Err(wrong("the address of a metadata document, not of the issuer"));
    }
    Ok(url)
}

fn audiences(settings: &Settings, network: &NetworkConfig) -> Result<Vec<String>, ConfigError> {
    let Some(given) = settings.get(AUDIENCE) else {
        let Some(public) = &network.public_url else {
            return Err(ConfigError::new(
                AUDIENCE,
                format!(
                    "not set, but {ISSUER} is; give what its access tokens for this server have as `aud`, or set \
                     POLYMNEMO_PUBLIC_URL, and it is the URL of the MCP endpoint"
                ),
            ));
        };
        return Ok(vec![format!("{public}{}", network.mcp_path)]);
    };
    let audiences: Vec<String> = list(given).collect();
    if audiences.is_empty() || audiences.iter().any(|audience| audience.chars().any(char::is_control)) {
        return Err(ConfigError::new(AUDIENCE, "holds no audience; give one, or several, comma separated"));
    }
    Ok(audiences)
}

fn subject_prefix(settings: &Settings) -> Result<String, ConfigError> {
    let prefix = settings.get(PREFIX).unwrap_or_default();
    if prefix.chars().count() > PREFIX_CHARS || prefix.chars().any(char::is_control) {
        return Err(ConfigError::new(
            PREFIX,
            format!("a prefix has at most {PREFIX_CHARS} characters and no control characters"),
        ));
    }
    Ok(prefix.to_owned())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::config::{Config, SignInConfig};

    const ALL: [(&str, &str); 3] =
        [(ISSUER, "https://id.example.com"), (ID, "web"), ("POLYMNEMO_PUBLIC_URL", "https://memory.example.com")];

    fn config(settings: &[(&str, &str)]) -> Result<Config, String> {
        let settings = settings.iter().chain(&[("POLYMNEMO_DATA_DIR", "/tmp/polymnemo-data")]);
        let settings = settings.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::from_sources(settings, std::path::Path::new("/nonexistent")).unwrap();
        Config::from_settings(&settings).map_err(|error| error.to_string())
    }

    fn read(settings: &[(&str, &str)]) -> Result<OidcConfig, String> {
        config(settings).map(|config| match config.sign_in {
            SignInConfig::Oidc(oidc) => oidc,
            other => panic!("{other:?}"),
        })
    }

    /// The settings with some of them replaced, or taken away where the value is empty.
    fn with(changes: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
        let kept = ALL.into_iter().filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        kept.chain(changes.iter().copied()).filter(|(_, value)| !value.is_empty()).collect()
    }

    #[test]
    fn the_audience_is_the_endpoint_unless_it_is_given() {
        assert_eq!(read(&ALL).unwrap().audiences, ["https://memory.example.com/mcp"]);
        let given = read(&with(&[(AUDIENCE, "api://memory, urn:memory")])).unwrap();
        assert_eq!(given.audiences, ["api://memory", "urn:memory"]);
    }

    #[test]
    fn half_an_issuer_stops_the_start_and_what_is_missing_is_named() {
        for (settings, missing) in [
            (vec![(ID, "web")], ISSUER),
            (vec![(AUDIENCE, "api://memory")], ISSUER),
            (vec![(PREFIX, "work:")], ISSUER),
            (vec![(SECRET, "hunter2")], ID),
            (vec![(ID, "web"), (SECRET, "hunter2")], ISSUER),
            (with(&[(ID, "")]), ID),
            (with(&[(ID, ""), (SECRET, "hunter2")]), ID),
            (with(&[("POLYMNEMO_PUBLIC_URL", "")]), AUDIENCE),
        ] {
            let message = config(&settings).unwrap_err();
            assert!(message.starts_with(&format!("{missing}: not set, but POLYMNEMO_OIDC_")), "{message}");
            assert!(!message.contains("hunter2") && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn of_two_identity_providers_one_is_to_be_taken_away() {
        for github in sign_in::GITHUB {
            let message = config(&with(&[(github, "https://github.com")])).unwrap_err();
            assert!(message.starts_with(&format!("{github}: set together with {ISSUER}")), "{message}");
            assert!(message.contains("take the POLYMNEMO_GITHUB_* settings away"), "{message}");
        }
        let message = config(&with(&[(sign_in::ALLOWED, "octocat")])).unwrap_err();
        assert!(message.starts_with(&format!("{}: is for GitHub", sign_in::ALLOWED)), "{message}");
    }

    #[test]
    fn an_issuer_is_taken_as_it_is_or_not_at_all() {
        for good in ["https://tenant.auth0.com/", "https://id.example.com/realms/home", "http://127.0.0.1:4000"] {
            let settings = [ALL[1], ALL[2], (ISSUER, good)];
            let oidc = read(&settings).unwrap();
            assert_eq!(oidc.issuer, good);
            assert_eq!(oidc.is_on_this_machine, good.starts_with("http:"));
        }
        for bad in [
            "id.example.com",
            "http://id.example.com",
            "ftp://id.example.com",
            "https://me:hunter2@id.example.com",
            "https://id.example.com?tenant=1",
            "https://id.example.com#x",
            "https://ID.example.com",
            "https://id.example.com:443",
            "https://id.example.com/a/../b",
            "https://id.example.com/.well-known/openid-configuration",
        ] {
            let message = config(&[ALL[1], ALL[2], (ISSUER, bad)]).unwrap_err();
            assert!(message.starts_with(&format!("{ISSUER}: ")) && !message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn what_tells_who_someone_is_must_not_pass_for_an_access_token() {
        let message = config(&with(&[(AUDIENCE, "web")])).unwrap_err();
        assert!(message.starts_with(&format!("{AUDIENCE}: the same as {ID}")), "{message}");
    }

    #[test]
    fn a_session_crosses_no_network_in_the_clear() {
        let message = config(&with(&[("POLYMNEMO_PUBLIC_URL", "http://memory.example.com")])).unwrap_err();
        assert!(message.starts_with("POLYMNEMO_PUBLIC_URL: "), "{message}");
    }

    #[test]
    fn clients_are_led_to_the_issuer() {
        let server = |settings: &[(&str, &str)]| config(settings).unwrap().network.authorization_server;
        assert_eq!(server(&ALL), AuthorizationServer::External("https://id.example.com".to_owned()));
        assert_eq!(server(&[]), AuthorizationServer::Own);
        assert_eq!(server(&[("POLYMNEMO_PUBLIC_URL", "https://memory.example.com")]), AuthorizationServer::None);
    }

    #[test]
    fn whoever_got_in_by_another_issuer_client_or_prefix_signs_in_again() {
        let rules = |settings: &[(&str, &str)]| config(settings).unwrap().sign_in.rules();
        for change in [(ISSUER, "https://id2.example.com"), (ID, "web2"), (PREFIX, "work:")] {
            assert_ne!(rules(&with(&[change])), rules(&ALL), "{change:?}");
        }
        assert_eq!(rules(&with(&[(SECRET, "new")])), rules(&ALL));
    }

    #[test]
    fn the_secret_is_not_printed() {
        assert!(!format!("{:?}", read(&with(&[(SECRET, "hunter2")])).unwrap()).contains("hunter2"));
    }
}
