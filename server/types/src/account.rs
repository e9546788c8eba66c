use serde::{Deserialize, Serialize};

/// The language in which a person wants the web app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum LanguageSetting {
    /// What the browser prefers.
    #[default]
    #[serde(rename = "browser")]
    Browser,
    /// English.
    #[serde(rename = "en")]
    English,
    /// Chinese, in simplified characters.
    #[serde(rename = "zh")]
    Chinese,
}

/// Whether a person wants the web app light or dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// As the system is set.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

/// What a user has chosen for themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserSettings {
    /// The name shown to the user and beside what they share. The provider of their identity gives it.
    pub name: String,
    /// The zone in which dates are read and times are shown, an IANA name.
    pub time_zone: String,
    /// The language of the web app.
    pub language: LanguageSetting,
    /// Light or dark.
    pub theme: Theme,
    /// Where `remember` stores when no namespace is given.
    pub default_namespace: String,
}

/// Change settings. Absent fields stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SettingsChange {
    /// The new time zone, an IANA name.
    pub time_zone: Option<String>,
    /// The new language.
    pub language: Option<LanguageSetting>,
    /// Light or dark from now on.
    pub theme: Option<Theme>,
    /// The new default namespace; made when it is new.
    pub default_namespace: Option<String>,
}
