use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use http::HeaderMap;
use url::{Host, Url};

use super::{AuthorizationServer, ConfigError, Settings, list, parse};

/// Where the server listens and how clients call it.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// The address to listen on.
    pub host: IpAddr,
    /// The port to listen on; 0 takes any free one.
    pub port: u16,
    /// The origin under which clients reach the server, if it is fixed: `https://memory.example.com`.
    pub public_url: Option<String>,
    /// The path of the MCP endpoint, without a slash at its end: `/mcp`.
    pub mcp_path: String,
    /// The names under which the server may be called.
    pub allowed_hosts: Vec<AllowedHost>,
    /// The web origins whose pages may call the server.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// Who gives out access tokens for the endpoint.
    pub authorization_server: AuthorizationServer,
}

/// A host and, if any was given, a port, as in a `Host` header or an origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// A name in lower case, or an address; IPv6 without brackets.
    pub host: String,
    /// The port.
    pub port: Option<u16>,
}

/// A name under which the server may be called. Without a port, any port will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHost(pub Authority);

/// A web origin whose pages may call the server. Without a port, any port will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedOrigin {
    /// `http`, `https`, or an extension's own scheme.
    pub scheme: String,
    /// Host and port.
    pub authority: Authority,
}

/// The names by which a program calls its own machine.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

impl NetworkConfig {
    pub(super) fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let loopback = IpAddr::from([127, 0, 0, 1]);
        let host = match settings.get("POLYMNEMO_HOST") {
            // The only name that means the same everywhere; others are looked up, with as many answers as they like.
            None | Some("localhost") => loopback,
            Some(address) => address.parse().map_err(|_| {
                let expected = "give 127.0.0.1 for this machine only or 0.0.0.0 for every interface";
                ConfigError::new("POLYMNEMO_HOST", format!("`{address}` is not an IP address; {expected}"))
            })?,
        };
        let port_variable = if settings.get("POLYMNEMO_PORT").is_some() { "POLYMNEMO_PORT" } else { "PORT" };
        let port = parse(settings, port_variable, "a port; give a number from 1 to 65535")?.unwrap_or(8000);
        let public = settings.get("POLYMNEMO_PUBLIC_URL").map(public_url).transpose()?;

        let mut allowed_hosts: Vec<AllowedHost> = ["localhost", "127.0.0.1", "::1"]
            .map(|host| AllowedHost(Authority { host: host.into(), port: None }))
            .into();
        if !host.is_unspecified() && !host.is_loopback() {
            allowed_hosts.push(AllowedHost(Authority { host: host.to_string(), port: None }));
        }
        let variable = "POLYMNEMO_ALLOWED_HOSTS";
        for given in list(settings.get(variable).unwrap_or_default()) {
            allowed_hosts.push(AllowedHost(Authority::parse(&given).ok_or_else(|| {
                ConfigError::new(
                    variable,
                    format!("`{given}` is not a host; give a name or name:port, without a scheme or path"),
                )
            })?));
        }
        // The pages of an allowed host are the server's own, over TLS or not: a proxy may end it.
        let mut allowed_origins: Vec<AllowedOrigin> = allowed_hosts
            .iter()
            .flat_map(|AllowedHost(authority)| {
                ["http", "https"].map(|scheme| AllowedOrigin { scheme: scheme.into(), authority: authority.clone() })
            })
            .collect();
        if let Some(url) = &public {
            let origin = AllowedOrigin::of(url);
            allowed_hosts.push(AllowedHost(Authority { port: url.port(), ..origin.authority.clone() }));
            allowed_origins.push(origin);
        }
        let variable = "POLYMNEMO_ALLOWED_ORIGINS";
        for given in list(settings.get(variable).unwrap_or_default()) {
            allowed_origins.push(AllowedOrigin::parse_allowed(&given).ok_or_else(|| {
                ConfigError::new(
                    variable,
                    format!("`{given}` is not an origin; give scheme and host, no path: https://app.example.com or http://localhost:*"),
                )
            })?);
        }
        Ok(Self {
            host,
            port,
            public_url: public.map(|url| url.origin().ascii_serialization()),
            mcp_path: mcp_path(settings)?,
            allowed_hosts,
            allowed_origins,
            authorization_server: AuthorizationServer::None,
        })
    }

    /// The address to listen on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.host, self.port)
    }

    /// Whether requests that call the server by anything but a loopback name are refused.
    #[must_use]
    pub fn only_loopback_names_are_allowed(&self) -> bool {
        self.allowed_hosts.iter().all(|AllowedHost(authority)| LOOPBACK_NAMES.contains(&authority.host.as_str()))
    }

    /// Whether people and clients reach the server over TLS, which a proxy in front may end.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.public_url.as_ref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Whether only programs of this machine can reach the server.
    #[must_use]
    pub fn is_for_this_machine_only(&self) -> bool {
        self.host.is_loopback() && self.public_url.is_none()
    }

    /// The origin under which this client reaches the server. Without a fixed public URL it is what
    /// the client itself called, which was checked against the allowed hosts before: clients compare
    /// it with the URL they were given, and `localhost` is not `127.0.0.1` to them.
    #[must_use]
    pub fn origin_for(&self, headers: &HeaderMap) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        match headers.get(http::header::HOST).and_then(|host| host.to_str().ok()).and_then(Authority::parse) {
            Some(authority) => format!("http://{authority}"),
            None => format!("http://{}", self.address()),
        }
    }

    /// The origin to tell a person who asks where the server is. `port` is the one it really listens on.
    #[must_use]
    pub fn origin_to_show(&self, port: u16) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        // An unspecified address is none that a client can call.
        let host = if self.host.is_unspecified() { IpAddr::from([127, 0, 0, 1]) } else { self.host };
        format!("http://{}", SocketAddr::new(host, port))
    }

    /// The allowed hosts in the syntax of rmcp: `name` or `name:port`.
    #[must_use]
    pub fn host_patterns(&self) -> Vec<String> {
        self.allowed_hosts.iter().map(|AllowedHost(authority)| authority.to_string()).collect()
    }

    /// The allowed origins in the syntax of rmcp: `scheme://name:port` or `scheme://name:*`.
    #[must_use]
    pub fn origin_patterns(&self) -> Vec<String> {
        self.allowed_origins
            .iter()
            .map(|AllowedOrigin { scheme, authority }| match authority.port {
                Some(_) => format!("{scheme}://{authority}"),
                None => format!("{scheme}://{authority}:*"),
            })
            .collect()
    }
}

impl Authority {
    /// Reads `name`, `name:port`, `[::1]` or `[::1]:port`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // A bare IPv6 address is a host as well, but ambiguous to the parser of authorities.
        if let Ok(address) = text.parse::<std::net::Ipv6Addr>() {
            return Some(Self { host: address.to_string(), port: None });
        }
        let authority: http::uri::Authority = text.parse().ok()?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return None;
        }
        let port = match authority.as_str().strip_prefix(authority.host())? {
            "" => None,
            port => Some(port.strip_prefix(':')?.parse().ok()?),
        };
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        Some(Self { host, port })
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(formatter, "[{}]", self.host)?;
        } else {
            formatter.write_str(&self.host)?;
        }
        match self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

impl AllowedHost {
    /// Whether a client that called `given` meant this host.
    #[must_use]
    pub fn admits(&self, given: &Authority) -> bool {
        self.0.host == given.host && self.0.port.is_none_or(|port| given.port == Some(port))
    }
}

impl AllowedOrigin {
    /// Reads an `Origin` header, whose port is the scheme's own when it is not given.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let mut authority = Authority::parse(authority)?;
        let scheme = scheme.to_ascii_lowercase();
        authority.port = authority.port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self { scheme, authority })
    }

    /// Reads an origin from the settings: as in a header, or with `:*` for any port.
    fn parse_allowed(text: &str) -> Option<Self> {
        match text.strip_suffix(":*") {
            Some(portless) => {
                let mut origin = Self::parse(portless)?;
                origin.authority.port = None;
                Some(origin)
            }
            None => Self::parse(text),
        }
    }

    fn of(url: &Url) -> Self {
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_ascii_lowercase(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => String::new(),
        };
        Self { scheme: url.scheme().to_owned(), authority: Authority { host, port: url.port_or_known_default() } }
    }

    /// Whether a page of the origin `given` is allowed by this.
    #[must_use]
    pub fn admits(&self, given: &Self) -> bool {
        self.scheme == given.scheme
            && self.authority.host == given.authority.host
            && self.authority.port.is_none_or(|port| given.authority.port == Some(port))
    }
}

fn public_url(text: &str) -> Result<Url, ConfigError> {
    let wrong = |problem: &str| ConfigError::new("POLYMNEMO_PUBLIC_URL", format!("`{text}` {problem}"));
    let url = Url::parse(text).map_err(|_| wrong("is not a URL; give https://memory.example.com"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(wrong("is not a web address; give https://memory.example.com"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // Not quoted: there may be a password in it.
        return Err(ConfigError::new(
            "POLYMNEMO_PUBLIC_URL",
            "holds a user name or password; give only scheme and host",
        ));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(wrong("has a path; give only scheme and host, the path of the endpoint is POLYMNEMO_MCP_PATH"));
    }
    Ok(url)
}

/// The first segments that belong to other parts of the server.
const TAKEN: &[&str] = &[
    ".well-known",
    "api",
    "assets",
    "authorize",
    "c",
    "consent",
    "healthz",
    "pkg",
    "readyz",
    "register",
    "revoke",
    "token",
];

fn mcp_path(settings: &Settings) -> Result<String, ConfigError> {
    let variable = "POLYMNEMO_MCP_PATH";
    let path = settings.get(variable).unwrap_or("/mcp");
    let wrong = |problem: &str| ConfigError::new(variable, format!("`{path}` {problem}"));
    let segments = path.strip_prefix('/').ok_or_else(|| wrong("is not a path; begin it with a slash: /mcp"))?;
    let segments = segments.strip_suffix('/').unwrap_or(segments);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.' | '~');
    let good = |segment: &str| !matches!(segment, "" | "." | "..") && segment.chars().all(is_plain);
    if !segments.split('/').all(good) {
        return Err(wrong(
            "is not a path for the endpoint; give segments of letters, digits and - _ . ~, such as /mcp",
        ));
    }
    if TAKEN.iter().any(|taken| segments.split('/').next() == Some(taken)) {
        return Err(wrong("belongs to another part of the server; choose another path, such as /mcp"));
    }
    Ok(format!("/{segments}"))
}
