use url::Url;

use super::{ConfigError, Settings};

const DOCUMENTS: &str = "POLYMNEMO_CLIENT_DOCUMENTS_URL";

/// The authorization server.
#[derive(Debug, Clone, Default)]
pub struct OauthConfig {
    /// Where the documents of clients are read instead of where they are, by host and path below it: a program on this machine,
    /// for tests that have no internet.
    pub client_documents_url: Option<Url>,
}

impl OauthConfig {
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let client_documents_url = settings.get(DOCUMENTS).map(|text| {
            let mut url = Url::parse(text).ok().filter(|url| {
                url.scheme() == "http" && matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost"))
            });
            if let Some(url) = url.as_mut().filter(|url| !url.path().ends_with('/')) {
                url.set_path(&format!("{}/", url.path()));
            }
            let expected = "not the URL of a program on this machine; it is for tests, leave it out";
            url.ok_or_else(|| ConfigError::new(DOCUMENTS, expected))
        });
        Ok(Self { client_documents_url: client_documents_url.transpose()? })
    }
}
