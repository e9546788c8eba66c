use serde::Deserialize;
use url::Url;

use super::{Trouble, plain};
use crate::{config::OidcConfig, outbound::Outbound};

/// What the issuer tells of itself, as far as it concerns us.
#[derive(Debug)]
pub(crate) struct Metadata {
    /// Where its keys are.
    pub(super) jwks_uri: String,
    /// Where people sign in, and where codes are exchanged.
    pub(crate) endpoints: Option<Endpoints>,
    /// Whether it wants the secret of a client in the body of a request, not in a header.
    pub(crate) takes_secrets_in_bodies_only: bool,
    /// Whether it says who it is when it sends a browser back (RFC 9207).
    pub(crate) names_itself: bool,
}

/// Where people sign in.
#[derive(Debug)]
pub(crate) struct Endpoints {
    pub(crate) authorization: String,
    pub(crate) token: String,
}

/// The document, with members that are not there or null as `None`.
#[derive(Deserialize)]
struct Document {
    issuer: String,
    jwks_uri: Option<String>,
    authorization_endpoint: Option<String>,
    token_endpoint: Option<String>,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    authorization_response_iss_parameter_supported: Option<bool>,
}

/// Fetches the metadata: where RFC 8414 puts it, else where OpenID Connect does.
pub(super) async fn discover(http: &Outbound, config: &OidcConfig) -> Result<Metadata, Trouble> {
    let mut problem = String::new();
    for url in places(&config.issuer) {
        let (status, body) = http.get(&url).await.map_err(|error| Trouble(error.to_string()))?;
        // A page in place of a document, as servers give that know one page only, is as good as none.
        let Some(document) = status.is_success().then(|| serde_json::from_slice::<Document>(&body).ok()).flatten()
        else {
            problem = format!("there is no metadata at {url} (status {})", status.as_u16());
            continue;
        };
        if document.issuer != config.issuer {
            return Err(Trouble(format!(
                "its metadata at {url} names the issuer `{}`, but POLYMNEMO_OIDC_ISSUER is `{}`; the two must be the same \
                 to the last slash",
                plain(&document.issuer),
                config.issuer
            )));
        }
        match metadata(document, config.is_on_this_machine) {
            Some(metadata) => return Ok(metadata),
            None => problem = format!("its metadata at {url} does not say where its keys are (jwks_uri)"),
        }
    }
    Err(Trouble(problem))
}

/// RFC 8414 section 3.1 puts the well-known part between host and path, OpenID Connect Discovery section
/// 4 after both; a slash at the end of the issuer goes before.
fn places(issuer: &str) -> [String; 2] {
    let issuer = issuer.strip_suffix('/').unwrap_or(issuer);
    let host_ends = issuer.find("://").map_or(0, |at| at + 3);
    let (origin, path) = match issuer.get(host_ends..).and_then(|rest| rest.find('/')) {
        Some(at) => issuer.split_at(host_ends + at),
        None => (issuer, ""),
    };
    [
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{issuer}/.well-known/openid-configuration"),
    ]
}

fn metadata(document: Document, is_on_this_machine: bool) -> Option<Metadata> {
    let usable = |url: &String| Url::parse(url).is_ok_and(|url| url.scheme() == "https" || is_on_this_machine);
    let authorization = document.authorization_endpoint.filter(usable);
    let token = document.token_endpoint.filter(usable);
    let endpoints = authorization.zip(token).map(|(authorization, token)| Endpoints { authorization, token });
    // Without the member it is the header (RFC 8414 section 2).
    let methods = document.token_endpoint_auth_methods_supported;
    let takes = |method: &str| methods.as_ref().is_some_and(|methods| methods.iter().any(|given| given == method));
    Some(Metadata {
        jwks_uri: document.jwks_uri.filter(usable)?,
        endpoints,
        takes_secrets_in_bodies_only: takes("client_secret_post") && !takes("client_secret_basic"),
        names_itself: document.authorization_response_iss_parameter_supported.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_are_where_the_standards_put_them() {
        for (issuer, oauth, openid) in [
            (
                "https://id.example.com",
                "https://id.example.com/.well-known/oauth-authorization-server",
                "https://id.example.com/.well-known/openid-configuration",
            ),
            (
                "https://tenant.auth0.com/",
                "https://tenant.auth0.com/.well-known/oauth-authorization-server",
                "https://tenant.auth0.com/.well-known/openid-configuration",
            ),
            (
                "https://id.example.com:8443/realms/home",
                "https://id.example.com:8443/.well-known/oauth-authorization-server/realms/home",
                "https://id.example.com:8443/realms/home/.well-known/openid-configuration",
            ),
        ] {
            assert_eq!(places(issuer), [oauth, openid]);
        }
    }

    #[test]
    fn addresses_that_can_be_listened_to_are_as_good_as_none() {
        let read = |keys: &str, token: &str| {
            let document = serde_json::json!({
                "issuer": "https://id.example.com",
                "jwks_uri": keys,
                "authorization_endpoint": "https://id.example.com/authorize",
                "token_endpoint": token,
                "token_endpoint_auth_methods_supported": null,
            });
            metadata(serde_json::from_value(document).unwrap(), false)
        };
        assert!(read("https://id.example.com/keys", "https://id.example.com/token").unwrap().endpoints.is_some());
        assert!(read("https://id.example.com/keys", "http://id.example.com/token").unwrap().endpoints.is_none());
        assert!(read("http://id.example.com/keys", "https://id.example.com/token").is_none());
    }
}
