use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;

/// Headers that proxies add. A request that a program on this machine makes itself has none.
const FORWARDED: [&str; 7] =
    ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server", "x-real-ip"];

/// Whether a proxy passed the request on.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    FORWARDED.iter().any(|name| headers.contains_key(*name))
}

/// The network that a request comes from, for limits: an IPv4 address, or the /64 of an IPv6 one,
/// which is what one subscriber has.
///
/// Behind a proxy on a private address it is the client that this proxy names: the last entry of
/// `X-Forwarded-For`, the only one that the client can't write itself. A client that reaches the
/// server from a private network without a proxy could claim any address; the limit on all clients
/// together holds for it nevertheless.
pub(crate) fn network_of(peer: SocketAddr, headers: &HeaderMap) -> IpAddr {
    let peer = peer.ip().to_canonical();
    let named = || {
        let last = headers.get_all("x-forwarded-for").iter().next_back()?;
        let last = last.to_str().ok()?.rsplit(',').next()?.trim();
        let address = last.parse::<IpAddr>().ok().or_else(|| last.parse::<SocketAddr>().ok().map(|last| last.ip()))?;
        Some(address.to_canonical())
    };
    let client = if is_private(peer) { named().unwrap_or(peer) } else { peer };
    match client {
        IpAddr::V4(_) => client,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64)).into(),
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(peer: &str, forwarded_for: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded_for {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        network_of(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn a_client_on_the_internet_is_who_it_is() {
        assert_eq!(network("203.0.113.7:1", &[]), "203.0.113.7");
        assert_eq!(network("203.0.113.7:1", &["198.51.100.1"]), "203.0.113.7");
        assert_eq!(network("[::ffff:203.0.113.7]:1", &[]), "203.0.113.7");
        assert_eq!(network("[2001:db8:1:2:3:4:5:6]:1", &[]), "2001:db8:1:2::");
    }

    #[test]
    fn a_proxy_names_its_client_and_what_the_client_says_of_itself_is_not_heard() {
        assert_eq!(network("10.0.0.1:1", &["198.51.100.1, 203.0.113.7"]), "203.0.113.7");
        assert_eq!(network("127.0.0.1:1", &["198.51.100.1", "203.0.113.7"]), "203.0.113.7");
        assert_eq!(network("[::1]:1", &["2001:db8::1"]), "2001:db8::");
        assert_eq!(network("10.0.0.1:1", &["203.0.113.7:4711"]), "203.0.113.7");
        assert_eq!(network("10.0.0.1:1", &["unknown"]), "10.0.0.1");
        assert_eq!(network("127.0.0.1:1", &[]), "127.0.0.1");
    }

    #[test]
    fn a_forwarded_request_is_known_by_any_of_the_headers() {
        assert!(!is_forwarded(&HeaderMap::new()));
        for name in FORWARDED {
            let mut headers = HeaderMap::new();
            headers.insert(name, "x".parse().unwrap());
            assert!(is_forwarded(&headers), "{name}");
        }
    }
}
