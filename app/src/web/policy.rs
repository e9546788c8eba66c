//! What browsers let a page do (Content-Security-Policy, level 3).

use http::{HeaderValue, header};
use leptos::{
    nonce::{Nonce, use_nonce},
    prelude::use_context,
};
use leptos_axum::ResponseOptions;
use url::{Host, Url};

/// What a page may load and run: its own files, and the inline scripts of this very response. Styles
/// are never inline, and no other site may frame the page or take its forms, but for where the answer to one leads.
pub(super) fn content_security_policy(nonce: &Nonce, answer_leads_to: Option<&str>) -> HeaderValue {
    let elsewhere = answer_leads_to.and_then(source).map(|source| format!(" {source}")).unwrap_or_default();
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; \
         connect-src 'self'; form-action 'self'{elsewhere}; base-uri 'none'; frame-ancestors 'none'"
    );
    // The nonce is base64url, so this is always a valid header; the fallback allows nothing.
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

/// Lets the answer to a form of this page lead to this address: browsers hold redirects after a form to what the page
/// with the form may send forms to.
pub(crate) fn lead_forms_to(address: &str) {
    if let (Some(response), Some(nonce)) = (use_context::<ResponseOptions>(), use_nonce()) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, content_security_policy(&nonce, Some(address)));
    }
}

/// The source that an address belongs to: its origin, or its scheme where it has none, or none that a policy can name.
///
/// A host that was parsed may still hold what means something in a policy (`;`, `,`, `*`, `'`), so of the address
/// nothing gets into the header but letters, digits and the few signs of names.
fn source(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let scheme = url.scheme();
    match (scheme, url.host()) {
        ("http" | "https", Some(Host::Domain(host))) if host.bytes().all(is_of_name) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            Some(format!("{scheme}://{host}{port}"))
        }
        ("http" | "https", Some(Host::Ipv4(host))) => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            Some(format!("{scheme}://{host}{port}"))
        }
        // The grammar of policies has no place for these addresses.
        ("http" | "https", Some(Host::Ipv6(_))) => Some(format!("{scheme}:")),
        ("http" | "https" | "javascript" | "data" | "blob" | "file" | "filesystem" | "about", _) => None,
        // What has no authority is named by its scheme; that holds nothing else than what `is_of_name` and `+` allow.
        (scheme, _) => scheme.bytes().all(|byte| is_of_name(byte) || byte == b'+').then(|| format!("{scheme}:")),
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_named_by_its_origin_or_its_scheme() {
        for (address, expected) in [
            ("https://claude.ai/api/mcp/auth_callback?a=b", "https://claude.ai"),
            ("https://App.Example:8443/back", "https://app.example:8443"),
            ("https://app.example:443/back", "https://app.example"),
            ("http://127.0.0.1:33418/callback", "http://127.0.0.1:33418"),
            ("http://localhost:1455/callback", "http://localhost:1455"),
            ("http://[::1]:33418/callback", "http:"),
            ("https://bücher.example/", "https://xn--bcher-kva.example"),
            ("cursor://anysphere.cursor-retrieval/oauth/callback", "cursor:"),
            ("com.example.app:/back", "com.example.app:"),
        ] {
            assert_eq!(source(address).as_deref(), Some(expected), "{address}");
        }
    }

    #[test]
    fn what_a_client_says_adds_nothing_else_to_the_policy() {
        for address in [
            "",
            "/back",
            "not a url",
            "https://*/",
            "https://*.example/",
            "https://a;script-src/",
            "https://a,b/",
            "https://a'unsafe-inline'/",
            "https://a b/",
            "javascript:alert(1)",
            "data:text/html,a",
            "blob:https://a.example/b",
            "file:///etc/passwd",
        ] {
            assert_eq!(source(address), None, "{address}");
        }
        // What is around the host stays out, whatever it is.
        for address in ["https://a.example/;script-src *", "https://u;p@a.example/?b;c#d 'none'"] {
            assert_eq!(source(address).as_deref(), Some("https://a.example"), "{address}");
        }
    }

    #[test]
    fn only_the_forms_of_the_page_lead_further() {
        let nonce = Nonce::default();
        let own = content_security_policy(&nonce, None);
        let further = content_security_policy(&nonce, Some("http://127.0.0.1:1234/callback"));
        let own = own.to_str().expect("a policy of ASCII");
        assert!(own.contains("; form-action 'self'; "));
        let widened = own.replace("form-action 'self'", "form-action 'self' http://127.0.0.1:1234");
        assert_eq!(further.to_str().expect("a policy of ASCII"), widened);
    }
}
