//! Which resource a token is for (RFC 8707, RFC 9728): the MCP endpoint, by the address that people type.

use http::HeaderMap;
use url::Url;

use crate::config::{AllowedHost, AllowedOrigin, NetworkConfig};

/// The canonical name of our resource for this client: `https://memory.example.com/mcp`.
pub(crate) fn canonical(network: &NetworkConfig, headers: &HeaderMap) -> String {
    format!("{}{}", network.origin_for(headers), network.mcp_path)
}

/// Whether a client that names this resource means ours. Clients add a slash or a query, name the origin alone or write the
/// host in capitals; all of that is ours, in its canonical form.
pub(crate) fn names_ours(named: &str, network: &NetworkConfig, headers: &HeaderMap) -> bool {
    let (Ok(named), Ok(ours)) = (Url::parse(named), Url::parse(&canonical(network, headers))) else { return false };
    let path = named.path().trim_end_matches('/');
    named.origin() == ours.origin()
        && named.username().is_empty()
        && named.password().is_none()
        && named.fragment().is_none()
        && (path.is_empty() || path == ours.path())
}

/// Whether a token for this resource, in canonical form, is for ours. Where the server has no public address of its own, a
/// client may have called it by another of its names.
pub(crate) fn is_ours(resource: &str, network: &NetworkConfig, headers: &HeaderMap) -> bool {
    if resource == canonical(network, headers) {
        return true;
    }
    let Some(origin) = resource.strip_suffix(&network.mcp_path).filter(|_| network.public_url.is_none()) else {
        return false;
    };
    AllowedOrigin::parse(origin).is_some_and(|origin| {
        network.allowed_hosts.iter().any(|AllowedHost(allowed)| allowed.host == origin.authority.host)
    })
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, path::Path};

    use super::*;
    use crate::config::{Config, Settings};

    fn network(settings: &[(&str, &str)]) -> NetworkConfig {
        let settings = settings.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::from_sources(settings, Path::new("/nonexistent")).unwrap();
        Config::from_settings(&settings).unwrap().network
    }

    fn called(host: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("host", host.parse().unwrap());
        headers
    }

    #[test]
    fn the_ways_clients_write_our_resource_are_ours() {
        let network = network(&[
            ("POLYMNEMO_PUBLIC_URL", "https://Memory.example.com"),
            ("POLYMNEMO_API_KEYS", "0123456789abcdef:a"),
            ("POLYMNEMO_GITHUB_CLIENT_ID", "a"),
            ("POLYMNEMO_GITHUB_CLIENT_SECRET", "b"),
        ]);
        let headers = called("memory.example.com");
        assert_eq!(canonical(&network, &headers), "https://memory.example.com/mcp");
        for ours in [
            "https://memory.example.com/mcp",
            "https://memory.example.com/mcp/",
            "https://memory.example.com",
            "https://memory.example.com/",
            "https://MEMORY.example.com/mcp",
            "https://memory.example.com:443/mcp",
            "https://memory.example.com/mcp?x=1",
        ] {
            assert!(names_ours(ours, &network, &headers), "{ours}");
        }
        for other in [
            "",
            "mcp",
            "http://memory.example.com/mcp",
            "https://memory.example.com:8443/mcp",
            "https://example.com/mcp",
            "https://memory.example.com/mcp/x",
            "https://memory.example.com/other",
            "https://memory.example.com/mcp#x",
            "https://a@memory.example.com/mcp",
            "https://memory.example.com.evil.example/mcp",
        ] {
            assert!(!names_ours(other, &network, &headers), "{other}");
        }
        assert!(is_ours("https://memory.example.com/mcp", &network, &headers));
        assert!(!is_ours("https://memory.example.com/", &network, &headers));
        assert!(!is_ours("http://localhost:8000/mcp", &network, &headers));
    }

    #[test]
    fn on_this_machine_every_name_of_it_is_ours() {
        let network = network(&[]);
        let headers = called("localhost:8000");
        assert!(is_ours("http://localhost:8000/mcp", &network, &headers));
        assert!(is_ours("http://127.0.0.1:8000/mcp", &network, &headers));
        assert!(!is_ours("https://memory.example.com/mcp", &network, &headers));
        assert!(!is_ours("http://localhost:8000/other", &network, &headers));
    }
}
