//! The settings, read once at the start: a small struct per concern.
//!
//! To add a setting: give it a line in [`settings::SETTINGS`] and in `deploy/env.example`, a field
//! in the struct it belongs to, and read it there. What is malformed stops the start with one line
//! that names the variable; nothing is ignored and nothing is guessed.

mod access;
mod capabilities;
mod directories;
mod erasing;
mod files;
mod network;
mod oauth;
mod oidc;
mod secret;
pub mod settings;
mod sign_in;

use std::{fmt, str::FromStr};

use jiff::tz::TimeZone;
use polymnemo_memory::UserDefaults;
use polymnemo_types::limits;

pub use access::{AccessConfig, ApiKey, LOCAL_USER};
pub use directories::DirectoryConfig;
pub use erasing::ErasingConfig;
pub use files::{FileStorageConfig, FilesConfig, S3Config};
pub use network::{AllowedHost, AllowedOrigin, Authority, NetworkConfig};
pub use oauth::OauthConfig;
pub use oidc::{AuthorizationServer, OidcConfig};
pub use secret::Secret;
pub use settings::Settings;
pub use sign_in::{AllowedLogins, GitHubConfig, SignInConfig};

/// A setting that can't be used. Its text is one line that names the variable and the way out, and
/// never holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {problem}")]
pub struct ConfigError {
    variable: String,
    problem: String,
}

impl ConfigError {
    /// A problem with one variable, or with the file `.env`.
    pub fn new(variable: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { variable: variable.into(), problem: problem.into() }
    }
}

/// All settings.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the server listens and how clients call it.
    pub network: NetworkConfig,
    /// Who may connect.
    pub access: AccessConfig,
    /// How a person signs in to the web app.
    pub sign_in: SignInConfig,
    /// How apps are let in.
    pub oauth: OauthConfig,
    /// What new users start with, and what everyone shares.
    pub memory: MemoryConfig,
    /// The database.
    pub database: DatabaseConfig,
    /// The folders on disk.
    pub directories: DirectoryConfig,
    /// Where files are kept.
    pub files: FilesConfig,
    /// What receipts of erasures say.
    pub erasing: ErasingConfig,
    /// The embedding model.
    pub embedder: EmbedderConfig,
    /// What is logged, and how.
    pub log: LogConfig,
}

/// What new users start with, and what everyone shares.
#[derive(Debug, Clone)]
pub struct MemoryConfig {
    /// The namespaces that everyone may read.
    pub shared_namespaces: Vec<String>,
    /// The first namespace and the time zone of a new user.
    pub user_defaults: UserDefaults,
}

/// The database.
#[derive(Debug, Clone)]
pub struct DatabaseConfig {
    /// Its URL; without one the server runs its own.
    pub url: Option<Secret>,
    /// The most connections to open.
    pub max_connections: u32,
}

/// The embedding model.
#[derive(Debug, Clone)]
pub struct EmbedderConfig {
    /// The model's name: one that set-up fetches.
    pub model: String,
    /// The folder with its files and manifest.
    pub model_dir: std::path::PathBuf,
    /// Whether that folder is set-up's, not one of the user's own.
    pub is_from_setup: bool,
    /// The ONNX Runtime library.
    pub runtime_library: std::path::PathBuf,
}

/// What is logged, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// A filter in the syntax of `tracing`.
    pub filter: String,
    /// The format of each line; `None` leaves it to what standard error is.
    pub format: Option<LogFormat>,
}

/// The format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For a person at a terminal.
    Human,
    /// One JSON object a line.
    Json,
}

impl Config {
    /// Reads all settings from the environment and `.env`.
    ///
    /// # Errors
    ///
    /// The first setting that can't be used.
    pub fn load() -> Result<Self, ConfigError> {
        Self::from_settings(&Settings::load()?)
    }

    /// Reads all settings from these.
    ///
    /// # Errors
    ///
    /// The first setting that can't be used.
    pub fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let mut network = NetworkConfig::from_settings(settings)?;
        let access = AccessConfig::from_settings(settings, network.is_for_this_machine_only())?;
        let directories = DirectoryConfig::from_settings(settings)?;
        let sign_in = SignInConfig::from_settings(settings, &network, &access)?;
        network.authorization_server = match &sign_in {
            SignInConfig::Oidc(oidc) => AuthorizationServer::External(oidc.issuer.clone()),
            // Letting an app in takes someone who can sign in.
            SignInConfig::Closed => AuthorizationServer::None,
            SignInConfig::GitHub(_) | SignInConfig::Link { .. } => AuthorizationServer::Own,
        };
        Ok(Self {
            memory: MemoryConfig::from_settings(settings)?,
            oauth: OauthConfig::from_settings(settings)?,
            database: DatabaseConfig::from_settings(settings)?,
            embedder: EmbedderConfig::from_settings(settings, &directories)?,
            files: FilesConfig::from_settings(settings, &directories)?,
            erasing: ErasingConfig::from_settings(settings)?,
            log: LogConfig::from_settings(settings)?,
            sign_in,
            network,
            access,
            directories,
        })
    }
}

impl MemoryConfig {
    fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let variable = "POLYMNEMO_SHARED_NAMESPACES";
        let shared_namespaces: Vec<String> = list(settings.get(variable).unwrap_or("shared")).collect();
        for name in &shared_namespaces {
            check_namespace(variable, name)?;
        }
        let variable = "POLYMNEMO_DEFAULT_NAMESPACE";
        let namespace = settings.get(variable).unwrap_or("personal").to_owned();
        check_namespace(variable, &namespace)?;
        if shared_namespaces.contains(&namespace) {
            return Err(ConfigError::new(
                variable,
                format!("`{namespace}` is a shared namespace; what nobody said where to put must stay the user's own"),
            ));
        }
        Ok(Self { shared_namespaces, user_defaults: UserDefaults { namespace, time_zone: time_zone(settings)? } })
    }
}

fn time_zone(settings: &Settings) -> Result<String, ConfigError> {
    let variable = "POLYMNEMO_TIME_ZONE";
    let Some(name) = settings.get(variable) else {
        return Ok(TimeZone::system().iana_name().unwrap_or("UTC").to_owned());
    };
    match TimeZone::get(name) {
        // The tz database knows the zone by any case; the canonical name is what is shown.
        Ok(zone) => Ok(zone.iana_name().unwrap_or(name).to_owned()),
        Err(_) => Err(ConfigError::new(
            variable,
            format!("`{name}` is not a time zone; give an IANA name such as Europe/Berlin or Asia/Shanghai"),
        )),
    }
}

impl DatabaseConfig {
    fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let variable = "POLYMNEMO_DATABASE_URL";
        let url = settings.get(variable).map(|text| {
            // The text may hold a password, so the message doesn't quote it.
            let wrong = || {
                ConfigError::new(
                    variable,
                    "not the URL of a PostgreSQL; give postgres://user:password@host:5432/database",
                )
            };
            let url = url::Url::parse(text).map_err(|_| wrong())?;
            if !matches!(url.scheme(), "postgres" | "postgresql") || url.path().trim_matches('/').is_empty() {
                return Err(wrong());
            }
            Ok(Secret::new(text))
        });
        let variable = "POLYMNEMO_DATABASE_MAX_CONNECTIONS";
        let max_connections = parse(settings, variable, "a number from 2 to 1000")?.unwrap_or(10);
        if !(2..=1000).contains(&max_connections) {
            return Err(ConfigError::new(
                variable,
                format!("{max_connections} is out of range; give a number from 2 to 1000"),
            ));
        }
        Ok(Self { url: url.transpose()?, max_connections })
    }
}

impl EmbedderConfig {
    /// The model when nothing else is said.
    pub const DEFAULT_MODEL: &'static str = "multilingual-e5-small";

    fn from_settings(settings: &Settings, directories: &DirectoryConfig) -> Result<Self, ConfigError> {
        let variable = "POLYMNEMO_EMBED_MODEL";
        let named = settings.get(variable);
        let own = settings.get("POLYMNEMO_EMBED_MODEL_DIR");
        if named.is_some() && own.is_some() {
            return Err(ConfigError::new(
                variable,
                "set together with POLYMNEMO_EMBED_MODEL_DIR, whose manifest names the model already; set only one of the two",
            ));
        }
        let model = named.unwrap_or(Self::DEFAULT_MODEL).to_owned();
        let known = known_models();
        if !known.contains(&model) {
            return Err(ConfigError::new(
                variable,
                format!(
                    "there is no model `{model}`; give one of {}, or a directory of your own in POLYMNEMO_EMBED_MODEL_DIR",
                    known.join(", ")
                ),
            ));
        }
        let library = if cfg!(target_os = "macos") { "libonnxruntime.dylib" } else { "libonnxruntime.so" };
        Ok(Self {
            model_dir: own.map_or_else(|| directories.runtime.join("models").join(&model), Into::into),
            model,
            is_from_setup: own.is_none(),
            runtime_library: directories.runtime.join("onnxruntime").join(library),
        })
    }
}

/// The models that set-up can fetch.
fn known_models() -> Vec<String> {
    let pins: serde_json::Value = serde_json::from_str(include_str!("../setup/pins.json")).unwrap_or_default();
    let models = pins["models"].as_object().into_iter().flatten();
    models.map(|(name, _)| name.clone()).collect()
}

impl LogConfig {
    fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let variable = "POLYMNEMO_LOG";
        let filter = settings.get(variable).unwrap_or("info").to_owned();
        if let Err(error) = tracing_subscriber::EnvFilter::builder().parse(&filter) {
            return Err(ConfigError::new(
                variable,
                format!("not a filter such as info or polymnemo=debug,warn: {error}"),
            ));
        }
        let format = match settings.get("POLYMNEMO_LOG_FORMAT") {
            None => None,
            Some("human") => Some(LogFormat::Human),
            Some("json") => Some(LogFormat::Json),
            Some(other) => {
                return Err(ConfigError::new(
                    "POLYMNEMO_LOG_FORMAT",
                    format!("`{other}` is not a format; give human or json"),
                ));
            }
        };
        Ok(Self { filter, format })
    }
}

/// The parts of a comma separated value, without empty ones.
fn list(value: &str) -> impl Iterator<Item = String> {
    value.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned)
}

fn parse<T: FromStr>(
    settings: &Settings,
    variable: &str,
    expected: impl fmt::Display,
) -> Result<Option<T>, ConfigError> {
    settings
        .get(variable)
        .map(|text| text.parse().map_err(|_| ConfigError::new(variable, format!("`{text}` is not {expected}"))))
        .transpose()
}

/// The rule of the service, told at the start instead of at the first memory.
fn check_namespace(variable: &str, name: &str) -> Result<(), ConfigError> {
    let most = limits::NAMESPACE_CHARS;
    let allowed = |character: char| character.is_alphanumeric() || " -_.:/@+".contains(character);
    if name.chars().count() > most || !name.chars().all(allowed) {
        return Err(ConfigError::new(
            variable,
            format!(
                "`{name}` can't name a namespace; give 1 to {most} letters, digits, spaces or the characters - _ . : / @ +"
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
