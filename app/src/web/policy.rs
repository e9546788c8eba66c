//! What browsers let a page do (Content-Security-Policy, level 3).

use http::{HeaderValue, header};
use leptos::{
    nonce::{Nonce, use_nonce},
    prelude::use_context,
};
use leptos_axum::ResponseOptions;
use url::{Host, Url};

use super::WebContext;

/// What a page needs that not all of them do.
#[derive(Default)]
pub(super) struct Needs<'a> {
    /// The address that the answer to a form leads to.
    answer_leads_to: Option<&'a str>,
    /// The origin of the files of people, where that is not this server.
    files_are_at: Option<&'a str>,
    /// Whether it shows a document in a frame.
    documents: bool,
}

/// The policy of every page of this app.
pub(super) fn of_any_page(web: &WebContext, nonce: &Nonce) -> HeaderValue {
    let files = files_origin(web);
    content_security_policy(nonce, &Needs { files_are_at: files.as_deref(), ..Needs::default() })
}

/// What a page may load and run: its own files, and the inline scripts of this very response. Styles
/// are never inline, and no other site may frame the page or take its forms, but for where the answer to one leads.
/// Images, sound and videos also come from where the files of people are kept, and there they are sent.
pub(super) fn content_security_policy(nonce: &Nonce, needs: &Needs<'_>) -> HeaderValue {
    let added = |address: Option<&str>| address.and_then(source).map(|source| format!(" {source}")).unwrap_or_default();
    let (elsewhere, files) = (added(needs.answer_leads_to), added(needs.files_are_at));
    let documents = if needs.documents { format!("frame-src 'self'{files}; ") } else { String::new() };
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; style-src 'self'; \
         img-src 'self'{files}; media-src 'self'{files}; connect-src 'self'{files}; {documents}\
         form-action 'self'{elsewhere}; base-uri 'none'; frame-ancestors 'none'"
    );
    // The nonce is base64url, so this is always a valid header; the fallback allows nothing.
    HeaderValue::try_from(policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

/// Lets the answer to a form of this page lead to this address: browsers hold redirects after a form to what the page
/// with the form may send forms to.
pub(crate) fn lead_forms_to(address: &str) {
    need(&Needs { answer_leads_to: Some(address), ..Needs::default() });
}

/// Lets this page show a document of the person's in a frame.
pub(crate) fn show_documents() {
    need(&Needs { documents: true, ..Needs::default() });
}

fn need(needs: &Needs<'_>) {
    if let (Some(response), Some(nonce), Some(web)) =
        (use_context::<ResponseOptions>(), use_nonce(), use_context::<WebContext>())
    {
        let files = files_origin(&web);
        let needs = Needs { files_are_at: files.as_deref(), ..*needs };
        response.insert_header(header::CONTENT_SECURITY_POLICY, content_security_policy(&nonce, &needs));
    }
}

/// Where browsers get files and send them, where that is not this server.
fn files_origin(web: &WebContext) -> Option<String> {
    web.service.file_storage().origin
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
        let own = content_security_policy(&nonce, &Needs::default());
        let further = content_security_policy(
            &nonce,
            &Needs { answer_leads_to: Some("http://127.0.0.1:1234/callback"), ..Needs::default() },
        );
        let own = own.to_str().expect("a policy of ASCII");
        assert!(own.contains("; form-action 'self'; "));
        let widened = own.replace("form-action 'self'", "form-action 'self' http://127.0.0.1:1234");
        assert_eq!(further.to_str().expect("a policy of ASCII"), widened);
    }

    #[test]
    fn files_come_from_where_they_are_kept_and_nothing_else_does() {
        let nonce = Nonce::default();
        let own = content_security_policy(&nonce, &Needs::default());
        let files_are_at = Some("https://files.example:8443");
        let further = content_security_policy(&nonce, &Needs { files_are_at, ..Needs::default() });
        let mut widened = own.to_str().expect("a policy of ASCII").to_owned();
        for kind in ["img-src", "media-src", "connect-src"] {
            let narrow = format!("; {kind} 'self'; ");
            assert!(widened.contains(&narrow), "{kind}");
            widened = widened.replace(&narrow, &format!("; {kind} 'self' https://files.example:8443; "));
        }
        assert_eq!(further.to_str().expect("a policy of ASCII"), widened);
        assert!(!widened.contains("frame-src"));
        let documents = content_security_policy(&nonce, &Needs { files_are_at, documents: true, ..Needs::default() });
        let documents = documents.to_str().expect("a policy of ASCII");
        assert!(documents.contains("; frame-src 'self' https://files.example:8443; form-action"), "{documents}");
    }
}
