//! What a person has chosen for themselves.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{LanguageSetting, Theme, UserSettings};

use super::WebError;

/// The caller's settings.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "current_settings", input = GetUrl)]
pub async fn current_settings() -> Result<UserSettings, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.settings(&ctx).await?)
}

/// Changes the caller's settings; what is not named stays as it is.
///
/// # Errors
///
/// Those of the service: a time zone or a namespace that is none.
#[server(endpoint = "change_settings")]
pub async fn change_settings(
    /// The new time zone, an IANA name.
    #[server(default)]
    time_zone: Option<String>,
    /// The new language.
    #[server(default)]
    language: Option<LanguageSetting>,
    /// Light or dark from now on.
    #[server(default)]
    theme: Option<Theme>,
    /// The new default namespace; made when it is new.
    #[server(default)]
    default_namespace: Option<String>,
) -> Result<(), WebError> {
    use polymnemo_types::SettingsChange;

    use super::language::keep;
    use crate::i18n::Language;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.change_settings(&ctx, SettingsChange { time_zone, language, theme, default_namespace }).await?;
    // The pages that one sees before signing in speak the same language.
    match language {
        Some(LanguageSetting::Browser) => keep(None),
        Some(LanguageSetting::English) => keep(Some(Language::English)),
        Some(LanguageSetting::Chinese) => keep(Some(Language::Chinese)),
        None => {}
    }
    Ok(())
}

/// The names of all time zones, in alphabetical order.
///
/// # Errors
///
/// Only those of the way to the server.
#[server(endpoint = "time_zones", input = GetUrl)]
pub async fn time_zones() -> Result<Vec<String>, WebError> {
    Ok(polymnemo_memory::MemoryService::time_zones())
}
