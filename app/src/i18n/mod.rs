//! The languages of the web app, and everything it says in them.
//!
//! A language is chosen once per page load: by the settings of who is signed in, else by the cookie
//! that [`choose_language`] sets, else by what the browser prefers, else English. The server writes it into `<html lang>`, and there the
//! browser reads it back, so that both render the same text.
//!
//! To add a message, give `Messages` a field; to add a language, give [`Language`] a variant
//! and write its messages. The compiler then asks for everything that is missing.
//!
//! [`choose_language`]: crate::api::language::choose_language

mod amounts;
#[cfg(feature = "ssr")]
mod apps;
mod chinese;
#[cfg(feature = "ssr")]
mod connect;
#[cfg(feature = "ssr")]
pub mod connection_test;
#[cfg(feature = "ssr")]
mod consent;
#[cfg(feature = "ssr")]
pub(crate) mod dead_ends;
mod english;
#[cfg(feature = "ssr")]
mod erase;
mod errors;
#[cfg(feature = "ssr")]
mod exports;
#[cfg(feature = "ssr")]
mod first_steps;
#[cfg(feature = "ssr")]
mod history;
#[cfg(feature = "ssr")]
mod imports;
#[cfg(feature = "ssr")]
mod kept_form;
#[cfg(feature = "ssr")]
mod media;
mod memories;
#[cfg(feature = "ssr")]
mod memory;
mod messages;
#[cfg(feature = "ssr")]
mod namespaces;
#[cfg(feature = "ssr")]
mod navigation;
mod notices;
#[cfg(feature = "ssr")]
mod on_server;
#[cfg(feature = "ssr")]
mod pager;
#[cfg(feature = "ssr")]
mod sessions;
#[cfg(feature = "ssr")]
mod settings;
#[cfg(feature = "ssr")]
mod sign_in;
#[cfg(feature = "ssr")]
mod tokens;
#[cfg(feature = "ssr")]
mod trash;
mod trouble;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

pub(crate) use self::{
    amounts::{grouped, since, size},
    errors::explain,
    messages::Messages,
};

#[cfg(feature = "hydrate")]
pub(crate) use self::amounts::since_in;
#[cfg(feature = "ssr")]
pub(crate) use self::connect::Steps;

/// A language that the web app speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Chinese, in simplified characters.
    #[serde(rename = "zh")]
    Chinese,
}

impl Language {
    /// The name of the cookie that keeps a person's choice.
    #[cfg(feature = "ssr")]
    pub(crate) const COOKIE: &'static str = "polymnemo_language";

    /// The tag for `lang` attributes (BCP 47).
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }

    /// The short code used in the cookie and in forms.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    /// What the language calls itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The language to offer to someone who reads this one.
    pub(crate) fn other(self) -> Self {
        match self {
            Self::English => Self::Chinese,
            Self::Chinese => Self::English,
        }
    }

    /// What the app says in it.
    pub(crate) fn messages(self) -> &'static Messages {
        match self {
            Self::English => &english::MESSAGES,
            Self::Chinese => &chinese::MESSAGES,
        }
    }

    /// The language of a tag such as `en`, `zh-Hans` or `zh-TW`; only the first part counts.
    fn from_tag(tag: &str) -> Option<Self> {
        let primary = tag.trim().split(['-', '_']).next().unwrap_or_default();
        [Self::English, Self::Chinese].into_iter().find(|language| language.code().eq_ignore_ascii_case(primary))
    }

    /// The language of the page that is being rendered or hydrated.
    pub(crate) fn of_page() -> Self {
        #[cfg(feature = "ssr")]
        {
            use_context::<http::request::Parts>().map(|parts| Self::of_parts(&parts)).unwrap_or_default()
        }
        #[cfg(not(feature = "ssr"))]
        {
            document()
                .document_element()
                .and_then(|html| html.get_attribute("lang"))
                .as_deref()
                .and_then(Self::from_tag)
                .unwrap_or_default()
        }
    }

    /// The language for a request: what the person who is signed in has chosen, else what the
    /// request asks for.
    #[cfg(feature = "ssr")]
    pub(crate) fn of_parts(parts: &http::request::Parts) -> Self {
        use polymnemo_types::LanguageSetting;

        match parts.extensions.get::<polymnemo_memory::Account>().map(|account| account.language) {
            Some(LanguageSetting::English) => Self::English,
            Some(LanguageSetting::Chinese) => Self::Chinese,
            Some(LanguageSetting::Browser) | None => Self::of_request(&parts.headers),
        }
    }

    /// The language that a request asks for.
    #[cfg(feature = "ssr")]
    pub(crate) fn of_request(headers: &http::HeaderMap) -> Self {
        let cookie = headers
            .get_all(http::header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == Self::COOKIE)
            .and_then(|(_, code)| Self::from_tag(code));
        let accepted = || {
            headers.get(http::header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).and_then(Self::preferred)
        };
        cookie.or_else(accepted).unwrap_or_default()
    }

    /// The best of the languages in an `Accept-Language` header (RFC 9110, section 12.5.4) that we
    /// speak: the highest weight wins, and the earlier one among equals.
    #[cfg(feature = "ssr")]
    fn preferred(accept_language: &str) -> Option<Self> {
        let mut best = None;
        let mut best_weight = 0.0;
        for entry in accept_language.split(',') {
            let (tag, parameter) = entry.split_once(';').unwrap_or((entry, ""));
            let weight = match parameter.trim().strip_prefix("q=") {
                Some(weight) => weight.trim().parse().unwrap_or(0.0),
                None => 1.0,
            };
            if let Some(language) = Self::from_tag(tag)
                && weight > best_weight
            {
                best = Some(language);
                best_weight = weight;
            }
        }
        best
    }
}

/// The language of the page, for components below [`App`](crate::App).
pub(crate) fn language() -> Language {
    use_context().unwrap_or_default()
}

/// What the app says, in the language of the page.
pub(crate) fn messages() -> &'static Messages {
    language().messages()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use http::{HeaderMap, HeaderValue, header};

    use super::Language;

    fn language_of(accept: Option<&'static str>, cookie: Option<&'static str>) -> Language {
        let mut headers = HeaderMap::new();
        for (name, value) in [(header::ACCEPT_LANGUAGE, accept), (header::COOKIE, cookie)] {
            if let Some(value) = value {
                headers.append(name, HeaderValue::from_static(value));
            }
        }
        Language::of_request(&headers)
    }

    #[test]
    fn the_first_visit_follows_the_browser() {
        for (accept, expected) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("zh-TW", Language::Chinese),
            ("en-US,en;q=0.5", Language::English),
            ("de,zh;q=0.3,en;q=0.7", Language::English),
            ("en;q=0.2, zh;q=0.8", Language::Chinese),
            ("zh;q=0, en;q=0.1", Language::English),
            ("ZH", Language::Chinese),
            ("fr", Language::English),
            ("*", Language::English),
            ("zh;q=much", Language::English),
            ("", Language::English),
        ] {
            assert_eq!(language_of(Some(accept), None), expected, "Accept-Language: {accept}");
        }
        assert_eq!(language_of(None, None), Language::English);
    }

    #[test]
    fn a_choice_wins_over_the_browser() {
        assert_eq!(language_of(Some("en"), Some("a=b; polymnemo_language=zh")), Language::Chinese);
        assert_eq!(language_of(Some("zh"), Some("polymnemo_language=en; a=b")), Language::English);
        assert_eq!(language_of(Some("zh"), Some("polymnemo_language=tlh")), Language::Chinese);
    }

    #[test]
    fn tags_and_codes_read_back() {
        for language in [Language::English, Language::Chinese] {
            assert_eq!(Language::from_tag(language.tag()), Some(language));
            assert_eq!(Language::from_tag(language.code()), Some(language));
            assert_ne!(language.other(), language);
        }
    }
}
