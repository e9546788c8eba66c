//! The language of the pages.

use leptos::prelude::*;

use super::WebError;
use crate::i18n::Language;

/// Keeps the chosen language in a cookie and goes back to the page at the path `back`; a `back`
/// that is no path of this site leads to the first page.
///
/// # Errors
///
/// A language that the app does not speak.
#[server(endpoint = "choose_language")]
pub async fn choose_language(
    /// The language to speak from now on.
    language: Language,
    /// The path to go back to.
    back: String,
) -> Result<(), WebError> {
    use http::{HeaderValue, header};

    let web = expect_context::<crate::WebContext>();
    let secure = if web.public_url.starts_with("https://") { "; Secure" } else { "" };
    let cookie =
        format!("{}={}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly{secure}", Language::COOKIE, language.code(),);
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        expect_context::<leptos_axum::ResponseOptions>().append_header(header::SET_COOKIE, cookie);
    }
    leptos_axum::redirect(path_of_this_site(&back).unwrap_or("/"));
    Ok(())
}

/// The text itself where it is a path of this site, so that following it stays here: it begins
/// with one slash, holds neither the backslashes that browsers read as slashes nor anything that
/// does not belong in a header, and is no longer than browsers make them.
#[cfg(feature = "ssr")]
fn path_of_this_site(text: &str) -> Option<&str> {
    let stays_here = text.starts_with('/') && !text.starts_with("//");
    let short = text.len() <= 2000;
    let printable = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    (stays_here && short && printable).then_some(text)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::path_of_this_site;

    #[test]
    fn only_paths_of_this_site_are_followed() {
        for path in ["/", "/memories", "/memories?q=a%20b#c"] {
            assert_eq!(path_of_this_site(path), Some(path));
        }
        for elsewhere in [
            "",
            "memories",
            "//example.org",
            "/\\example.org",
            "https://example.org",
            "/a\nSet-Cookie: b=c",
            "/\t/a",
            "/é",
        ] {
            assert_eq!(path_of_this_site(elsewhere), None, "{elsewhere:?}");
        }
        assert_eq!(path_of_this_site(&format!("/{}", "a".repeat(2000))), None);
    }
}
