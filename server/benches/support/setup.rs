use std::{
    env,
    error::Error,
    fs::Permissions,
    io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use polymnemo_server::config::{Config, Settings};
use tempfile::TempDir;

/// What a measurement fails with.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// The settings of a server with its data in this folder and with this model; all others are the defaults, whatever
/// the environment holds. The files that set-up fetched are where the environment says.
pub(crate) fn config(data: &Path, model: &str) -> Result<Config, Failure> {
    let nowhere = Path::new("/nonexistent");
    let wanted = ["POLYMNEMO_RUNTIME_DIR", "POLYMNEMO_DATA_DIR"];
    let environment = env::vars_os().filter(|(name, _)| wanted.iter().any(|wanted| name == wanted));
    let runtime = Config::from_settings(&Settings::from_sources(environment, nowhere)?)?.directories.runtime;
    let settings = [
        ("POLYMNEMO_RUNTIME_DIR", runtime.into_os_string()),
        ("POLYMNEMO_DATA_DIR", data.as_os_str().to_owned()),
        ("POLYMNEMO_EMBED_MODEL", model.into()),
        ("POLYMNEMO_TIME_ZONE", "UTC".into()),
        ("POLYMNEMO_STDIO_USER", "bench".into()),
    ];
    let settings = settings.map(|(name, value)| (name.into(), value));
    Ok(Config::from_settings(&Settings::from_sources(settings, nowhere)?)?)
}

/// A folder for data that is gone afterwards.
pub(crate) fn temporary_folder() -> io::Result<(TempDir, PathBuf)> {
    // Where root runs this, the account of the embedded database must be able to pass through.
    let folder =
        tempfile::Builder::new().prefix("polymnemo-bench-").permissions(Permissions::from_mode(0o711)).tempdir()?;
    let path = folder.path().join("data");
    Ok((folder, path))
}
