//! Takes requests that change something from our own pages only.
//!
//! A foreign page can send a form to this server, and the browser may add the person's cookie to it.
//! Such a request is told from one of our own by what the browser says of it and no page can change:
//!
//! - `Origin` names the page that sent it. Browsers send it with every request but GET and HEAD. It
//!   must be there, once, and be the origin under which the request calls this server: another port
//!   of the same host is another origin, although cookies and `SameSite` don't know that.
//! - `Sec-Fetch-Site`, where the browser sends it, must not say that another site, or another origin
//!   of this site, is behind the request. It stands even where a proxy changed the `Origin`.
//!
//! So a request without an `Origin` is refused, whoever sent it: programs have the MCP endpoint. This
//! rule needs nothing in the forms, holds for server functions and forms alike, for signing in as
//! for everything after, and can't be forgotten on a new one. A token in each form would defend
//! against the same requests, by a secret that every page then has to carry. What the rule rests on
//! is kept elsewhere: GET changes nothing (links that sign in prove themselves by a secret), the
//! session cookie is `SameSite=Lax` and for this host only, and `Referrer-Policy` lets our own
//! pages say their origin.

use std::sync::Arc;

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, StatusCode, Uri, header};

use crate::{
    config::{AllowedOrigin, Authority, NetworkConfig},
    http::callers::called_host,
};

/// Refuses what would change something and does not come from one of our own pages.
pub(super) async fn require(State(network): State<Arc<NetworkConfig>>, request: Request, next: Next) -> Response {
    // Where nothing is, nothing changes either, and programs that look for something want to hear just that.
    let is_nowhere = request.extensions().get::<MatchedPath>().is_none();
    let only_reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS | Method::TRACE);
    if only_reads || is_nowhere || is_from_own_page(&network, request.uri(), request.headers()) {
        return next.run(request).await;
    }
    let reason = "This did not come from a page of this server, so nothing was changed. Open the page in the \
                  browser and try again there. Programs use the MCP endpoint.\n";
    (StatusCode::FORBIDDEN, reason).into_response()
}

/// Whether a page of another site, or of another origin on this host, led to this request; as far
/// as the browser tells.
pub(super) fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get_all("sec-fetch-site").iter().any(|site| !matches!(site.as_bytes(), b"same-origin" | b"none"))
}

fn is_from_own_page(network: &NetworkConfig, uri: &Uri, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let (Some(origin), None) = (origins.next(), origins.next()) else { return false };
    let Some(origin) = origin.to_str().ok().and_then(AllowedOrigin::parse) else { return false };
    !is_from_elsewhere(headers) && is_own_origin(network, called_host(uri, headers), &origin)
}

fn is_own_origin(network: &NetworkConfig, called: Option<Authority>, origin: &AllowedOrigin) -> bool {
    let public = network.public_url.as_deref().and_then(AllowedOrigin::parse);
    if public.as_ref() == Some(origin) {
        return true;
    }
    let Some(called) = called else { return false };
    if public.is_some_and(|public| public.authority.host == called.host) {
        // Called by its public name, where scheme and port are known exactly.
        return false;
    }
    let usual_port = if origin.scheme == "https" { 443 } else { 80 };
    let is_web = matches!(origin.scheme.as_str(), "http" | "https");
    is_web && called.host == origin.authority.host && called.port.or(Some(usual_port)) == origin.authority.port
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, path::Path};

    use super::*;
    use crate::config::{Config, Settings};

    fn network(public_url: Option<&str>) -> NetworkConfig {
        let settings = [("POLYMNEMO_DATA_DIR", "/tmp/polymnemo-data"), ("POLYMNEMO_ALLOWED_HOSTS", "nas.local")];
        let settings = settings.into_iter().chain(public_url.map(|url| ("POLYMNEMO_PUBLIC_URL", url)));
        let settings = settings.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::from_sources(settings, Path::new("/nonexistent")).unwrap();
        Config::from_settings(&settings).unwrap().network
    }

    fn accepts(network: &NetworkConfig, headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        is_from_own_page(network, &Uri::from_static("/forget"), &map)
    }

    #[test]
    fn on_this_machine_the_origin_is_the_name_and_port_that_were_called() {
        let network = network(None);
        let from = |origin: &str| accepts(&network, &[("host", "localhost:8000"), ("origin", origin)]);
        assert!(from("http://localhost:8000"));
        for foreign in [
            "http://localhost:8001",
            "http://localhost",
            "http://127.0.0.1:8000",
            "http://evil.example",
            "http://localhost.evil.example:8000",
            "null",
            "",
            "file://",
            "chrome-extension://localhost:8000",
        ] {
            assert!(!from(foreign), "{foreign}");
        }
        assert!(!accepts(&network, &[("host", "localhost:8000")]), "without an origin");
        let twice =
            [("host", "localhost:8000"), ("origin", "http://localhost:8000"), ("origin", "http://evil.example")];
        assert!(!accepts(&network, &twice));
    }

    #[test]
    fn behind_a_proxy_the_origin_is_the_public_one() {
        let network = network(Some("https://memory.example.com"));
        for host in ["memory.example.com", "memory.example.com:443", "nas.local:8000"] {
            assert!(accepts(&network, &[("host", host), ("origin", "https://memory.example.com")]), "{host}");
        }
        for foreign in
            ["http://memory.example.com", "https://memory.example.com:8443", "https://x.memory.example.com", "null"]
        {
            assert!(!accepts(&network, &[("host", "memory.example.com"), ("origin", foreign)]), "{foreign}");
        }
        // By another of its names, over TLS that a proxy ends or not.
        assert!(accepts(&network, &[("host", "nas.local"), ("origin", "https://nas.local")]));
        assert!(!accepts(&network, &[("host", "nas.local"), ("origin", "https://nas.local:8443")]));
    }

    #[test]
    fn what_the_browser_says_of_the_sender_counts_even_with_the_right_origin() {
        let network = network(None);
        let with = |site: &str| {
            accepts(
                &network,
                &[("host", "localhost:8000"), ("origin", "http://localhost:8000"), ("sec-fetch-site", site)],
            )
        };
        assert!(with("same-origin") && with("none"));
        assert!(!with("same-site") && !with("cross-site") && !with("anything"));
    }
}
