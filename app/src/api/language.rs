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
    leptos_axum::redirect(crate::paths::path_of_this_site(&back).unwrap_or("/"));
    Ok(())
}
