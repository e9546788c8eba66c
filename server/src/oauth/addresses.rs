//! Which addresses a client may have its document at: those of the public internet.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is one that everyone on the internet reaches: none of this machine, of the networks that it is in, or of
/// the services that clouds offer their machines (the IANA registries of special-purpose addresses, RFC 6890).
#[must_use]
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Shared by the customers of a provider (RFC 6598), protocol assignments, benchmarks, the old 6to4 relays.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 88 && c == 99);
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    // An IPv4 address in the clothes of an IPv6 one is judged as what it is: mapped, and translated (NAT64, 6to4).
    if let Some(inner) = address.to_ipv4_mapped() {
        return is_public_v4(inner);
    }
    if address.segments().starts_with(&[0x64, 0xff9b, 0, 0, 0, 0]) {
        let [.., high, low] = address.segments();
        return is_public_v4(Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low)));
    }
    // Only 2000::/3 is in use on the internet; of that, some is set aside.
    let is_global = first & 0xe000 == 0x2000;
    // Teredo, ORCHID and benchmarks; documentation, twice; 6to4.
    let is_special = match first {
        0x2001 => second < 0x200 || second == 0xdb8,
        0x2002 => true,
        0x3fff => second < 0x1000,
        _ => false,
    };
    is_global && !is_special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for public in
            ["93.184.216.34", "1.1.1.1", "160.79.104.10", "2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::101:101"]
        {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
        for special in [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "192.88.99.1",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "fe80::1",
            "fc00::1",
            "fd00:ec2::254",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "2002:7f00:1::",
            "::127.0.0.1",
            "3fff::1",
        ] {
            assert!(!is_public(special.parse().unwrap()), "{special}");
        }
    }
}
