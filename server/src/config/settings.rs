//! Where settings come from, and which there are: the environment first, then the file `.env` in
//! the working directory.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use super::ConfigError;

/// One setting, as it is documented.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// The name of the environment variable.
    pub name: &'static str,
    /// What it holds when it is not set, in words where there is no fixed value.
    pub default: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
}

const fn setting(name: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting { name, default, about }
}

/// Every setting there is. `deploy/env.example` lists the same, and a test holds the two together.
pub const SETTINGS: &[Setting] = &[
    setting("POLYMNEMO_HOST", "127.0.0.1", "The address to listen on; 0.0.0.0 for every interface."),
    setting("POLYMNEMO_PORT", "8000", "The port to listen on; plain PORT works too."),
    setting(
        "POLYMNEMO_PUBLIC_URL",
        "as asked by the client",
        "The URL under which clients reach the server, without a path: https://memory.example.com",
    ),
    setting("POLYMNEMO_MCP_PATH", "/mcp", "The path of the MCP endpoint."),
    setting(
        "POLYMNEMO_ALLOWED_HOSTS",
        "loopback, the host, the public URL's host",
        "Further names under which the server may be called, comma separated: name or name:port.",
    ),
    setting(
        "POLYMNEMO_ALLOWED_ORIGINS",
        "the allowed hosts",
        "Further web origins whose pages may call the server, comma separated: https://app.example.com",
    ),
    setting(
        "POLYMNEMO_API_KEYS",
        "a key is made for the user `local`",
        "Who may connect: key:user pairs, comma separated. Keys have 16 characters or more unless the server is for this machine only.",
    ),
    setting(
        "POLYMNEMO_CAPABILITY_TOKENS",
        "none",
        "For clients that can send no header: name:token pairs, comma separated, for the URL /c/TOKEN/mcp. Tokens have 32 letters, digits, - and _ or more.",
    ),
    setting(
        "POLYMNEMO_STDIO_USER",
        "the only user of the API keys, else `local`",
        "The user that `polymnemo stdio` works for, and that a sign-in link is for.",
    ),
    setting(
        "POLYMNEMO_GITHUB_CLIENT_ID",
        "sign-in by a link on this machine",
        "The id of an OAuth app at GitHub, for signing in to the web app. Its callback URL is the public URL with /sign-in/github/callback.",
    ),
    setting("POLYMNEMO_GITHUB_CLIENT_SECRET", "none", "The secret of that OAuth app."),
    setting("POLYMNEMO_GITHUB_URL", "https://github.com", "Where people sign in, for GitHub Enterprise."),
    setting(
        "POLYMNEMO_ALLOWED_LOGINS",
        "everyone with an account there",
        "Who may sign in with GitHub: logins and org:NAME for the members of an organisation, comma separated.",
    ),
    setting(
        "POLYMNEMO_OIDC_ISSUER",
        "none",
        "Instead of GitHub: an authorization server (Auth0, Keycloak, WorkOS) that clients get their tokens from and where people sign in.",
    ),
    setting(
        "POLYMNEMO_OIDC_AUDIENCE",
        "the URL of the MCP endpoint",
        "What the access tokens of the issuer for this server have as `aud`; several are comma separated.",
    ),
    setting(
        "POLYMNEMO_OIDC_CLIENT_ID",
        "none",
        "The id of a client at the issuer, for signing in to the web app. Its callback URL is the public URL with /sign-in/oidc/callback.",
    ),
    setting("POLYMNEMO_OIDC_CLIENT_SECRET", "none", "The secret of that client, unless it is a public one."),
    setting("POLYMNEMO_OIDC_SUBJECT_PREFIX", "none", "What the subjects of the issuer's users begin with here."),
    setting("POLYMNEMO_SHARED_NAMESPACES", "shared", "Namespaces that everyone may read, comma separated."),
    setting("POLYMNEMO_DEFAULT_NAMESPACE", "personal", "Where a new user's memories go when no namespace is given."),
    setting("POLYMNEMO_TIME_ZONE", "the system's", "The time zone of a new user, an IANA name: Europe/Berlin"),
    setting(
        "POLYMNEMO_DATABASE_URL",
        "an embedded PostgreSQL is run",
        "A PostgreSQL with pgvector: postgres://user:password@host:5432/database",
    ),
    setting("POLYMNEMO_DATABASE_MAX_CONNECTIONS", "10", "How many connections to the database to open at most."),
    setting(
        "POLYMNEMO_DATA_DIR",
        "~/.local/share/polymnemo, for root /var/lib/polymnemo",
        "Where the embedded database, files and the generated key are kept.",
    ),
    setting(
        "POLYMNEMO_RUNTIME_DIR",
        "`runtime` in the data directory",
        "Where `polymnemo setup` puts PostgreSQL, ONNX Runtime and the models.",
    ),
    setting(
        "POLYMNEMO_BLOB_BACKEND",
        "local",
        "Where files are kept: local (`blobs` in the data directory), s3 (a service that speaks S3), or none.",
    ),
    setting("POLYMNEMO_BLOB_MAX_BYTES", "1073741824", "The greatest length of a file, in bytes; at most 5 GiB."),
    setting(
        "POLYMNEMO_BLOB_QUOTA_BYTES",
        "50 GiB with local, no limit with s3",
        "The greatest length of all files together, in bytes.",
    ),
    setting("POLYMNEMO_BLOB_BUCKET", "none", "With s3: the bucket."),
    setting("POLYMNEMO_BLOB_REGION", "us-east-1", "With s3: the region of the bucket; `auto` for R2."),
    setting("POLYMNEMO_BLOB_ACCESS_KEY_ID", "none", "With s3: the id of an access key for the bucket."),
    setting("POLYMNEMO_BLOB_SECRET_ACCESS_KEY", "none", "With s3: the access key."),
    setting(
        "POLYMNEMO_BLOB_ENDPOINT_URL",
        "that of AWS",
        "With s3: the service, without a path: https://s3.example.com",
    ),
    setting(
        "POLYMNEMO_BLOB_PUBLIC_ENDPOINT_URL",
        "the endpoint",
        "With s3: the service as clients and browsers reach it, where that is another address.",
    ),
    setting(
        "POLYMNEMO_BLOB_PATH_STYLE",
        "true with an endpoint, else false",
        "With s3: whether the bucket is in the path of URLs instead of their host.",
    ),
    setting(
        "POLYMNEMO_BACKUP_RETENTION_DAYS",
        "no backups are made",
        "For how many days you keep backups of the database and the files. Receipts of erasures say so.",
    ),
    setting(
        "POLYMNEMO_EMBED_MODEL",
        "multilingual-e5-small",
        "The embedding model, one that `polymnemo setup` fetches.",
    ),
    setting(
        "POLYMNEMO_EMBED_MODEL_DIR",
        "the model's folder in the runtime directory",
        "A directory with an embedding model of your own and its manifest.json.",
    ),
    setting("POLYMNEMO_SITE_DIR", "target/site", "The built files of the web app."),
    setting("POLYMNEMO_LOG", "info", "What to log, as a tracing filter: info,polymnemo_store=debug"),
    setting("POLYMNEMO_LOG_FORMAT", "human on a terminal, else json", "How to log: human or json."),
];

/// Names that the project's own tests read. The server ignores them, so that it starts in a shell
/// where they are set.
const TEST_ONLY: &[&str] = &["POLYMNEMO_CLIENT_DOCUMENTS_URL", "POLYMNEMO_EVAL_DATA", "POLYMNEMO_TEST_DATABASE_URL"];

/// Names that are planned and do nothing yet. To set one and have it ignored would be worse than
/// to be told: someone who limits a rate relies on it.
const NOT_YET: &[&str] = &["POLYMNEMO_EXTRACTION_MODE", "POLYMNEMO_RATELIMIT_", "POLYMNEMO_RSP_CONFIG"];

/// The settings that are set, by name. An empty value counts as not set, because that is what
/// `NAME=${NAME:-}` in a compose file gives.
#[derive(Debug, Default)]
pub struct Settings {
    values: BTreeMap<String, super::Secret>,
}

impl Settings {
    /// Reads the environment of this process and `.env` in the working directory. The environment
    /// wins, and is not changed.
    ///
    /// # Errors
    ///
    /// Where `.env` can't be read, a value is not UTF-8, or a `POLYMNEMO_*` name is not a setting.
    pub fn load() -> Result<Self, ConfigError> {
        Self::from_sources(std::env::vars_os(), Path::new(".env"))
    }

    /// The same from a given environment and file, which need not exist.
    ///
    /// # Errors
    ///
    /// As [`Settings::load`].
    pub fn from_sources(
        environment: impl IntoIterator<Item = (OsString, OsString)>,
        file: &Path,
    ) -> Result<Self, ConfigError> {
        let mut values: BTreeMap<String, super::Secret> = BTreeMap::new();
        for (name, value) in read_file(file)? {
            if is_ours(&name) {
                values.insert(name, super::Secret::new(value));
            }
        }
        for (name, value) in environment {
            let Some(name) = name.to_str().filter(|name| is_ours(name)) else { continue };
            let Some(value) = value.to_str() else {
                return Err(ConfigError::new(name, "the value is not UTF-8 text"));
            };
            values.insert(name.to_owned(), super::Secret::new(value));
        }
        values.retain(|_, value| !value.expose().trim().is_empty());
        for name in values.keys() {
            check_name(name)?;
        }
        Ok(Self { values })
    }

    /// The value of a setting, without white space around it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        debug_assert!(
            name == "PORT" || TEST_ONLY.contains(&name) || SETTINGS.iter().any(|setting| setting.name == name),
            "{name} is read, but it is not in the table of settings"
        );
        self.values.get(name).map(|value| value.expose().trim())
    }
}

fn is_ours(name: &str) -> bool {
    name.starts_with("POLYMNEMO_") || name == "PORT"
}

fn check_name(name: &str) -> Result<(), ConfigError> {
    let known = |name: &str| name == "PORT" || SETTINGS.iter().any(|setting| setting.name == name);
    if known(name) || TEST_ONLY.contains(&name) {
        return Ok(());
    }
    if NOT_YET.iter().any(|start| name.starts_with(start)) {
        return Err(ConfigError::new(name, "not supported by this version of polymnemo; take the setting away"));
    }
    let nearest = SETTINGS
        .iter()
        .map(|setting| (strsim::damerau_levenshtein(setting.name, name), setting.name))
        .min()
        // More than a few slips apart, a suggestion would only mislead.
        .filter(|(distance, _)| *distance <= 4);
    Err(match nearest {
        Some((_, nearest)) => ConfigError::new(name, format!("there is no such setting; did you mean {nearest}?")),
        None => ConfigError::new(name, "there is no such setting; `polymnemo --help` lists all"),
    })
}

fn read_file(path: &Path) -> Result<Vec<(String, String)>, ConfigError> {
    let name = path.display().to_string();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(ConfigError::new(&name, format!("the file can't be read: {error}"))),
    };
    dotenvy::from_read_iter(text.as_bytes()).collect::<Result<_, _>>().map_err(|error| match error {
        // The library quotes the line or its end, which may hold a secret, and doesn't know its number.
        dotenvy::Error::LineParse(rest, _) => {
            let rest = rest.lines().next().unwrap_or_default().trim();
            let number = text.lines().position(|line| !rest.is_empty() && line.contains(rest));
            let place = number.map_or_else(|| "a line".to_owned(), |number| format!("line {}", number + 1));
            ConfigError::new(&name, format!("{place} is not NAME=value; put a value with spaces or quotes into '...'"))
        }
        _ => ConfigError::new(&name, "the file can't be read"),
    })
}
