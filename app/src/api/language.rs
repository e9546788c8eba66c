//! The language of the pages.

use leptos::prelude::*;

use super::WebError;
use crate::i18n::Language;

/// Keeps the chosen language, in a cookie and in the settings of who is signed in, and goes back to the page at the path `back`; a `back`
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
    use polymnemo_types::{LanguageSetting, SettingsChange};

    if let Some(ctx) = super::signed_in() {
        let language = match language {
            Language::English => LanguageSetting::English,
            Language::Chinese => LanguageSetting::Chinese,
        };
        let service = expect_context::<crate::WebContext>().service;
        service.change_settings(&ctx, SettingsChange { language: Some(language), ..Default::default() }).await?;
    }
    keep(Some(language));
    leptos_axum::redirect(crate::paths::path_of_this_site(&back).unwrap_or("/"));
    Ok(())
}

/// Keeps a language in a cookie, or takes the cookie away.
#[cfg(feature = "ssr")]
pub(super) fn keep(language: Option<Language>) {
    use http::{HeaderValue, header};

    let web = expect_context::<crate::WebContext>();
    let secure = if web.public_url.starts_with("https://") { "; Secure" } else { "" };
    let (code, age) = language.map_or(("", 0), |language| (language.code(), 31_536_000));
    let cookie = format!("{}={code}; Path=/; Max-Age={age}; SameSite=Lax; HttpOnly{secure}", Language::COOKIE);
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        expect_context::<leptos_axum::ResponseOptions>().append_header(header::SET_COOKIE, cookie);
    }
}
