use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{ConfigError, Settings};

/// The folders on disk. All of them are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryConfig {
    /// What must not be lost: the embedded database and the generated key.
    pub data: PathBuf,
    /// What set-up fetches and can fetch again.
    pub runtime: PathBuf,
    /// The built files of the web app.
    pub site: PathBuf,
}

impl DirectoryConfig {
    /// Makes the data directory where there is none, for its owner only. Where root runs the server,
    /// the account that the embedded database runs as must be able to pass through.
    ///
    /// # Errors
    ///
    /// Where it can't be made.
    pub fn make_data(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, if is_root() { 0o711 } else { 0o700 });
        builder.create(&self.data)
    }

    pub(super) fn from_settings(settings: &Settings) -> Result<Self, ConfigError> {
        let variable = "POLYMNEMO_DATA_DIR";
        let data = match settings.get(variable) {
            Some(path) => absolute(variable, Path::new(path))?,
            None => default_data_directory().ok_or_else(|| {
                ConfigError::new(variable, "there is no home directory to keep data in; set this to a folder")
            })?,
        };
        let variable = "POLYMNEMO_RUNTIME_DIR";
        let runtime = match settings.get(variable) {
            Some(path) => absolute(variable, Path::new(path))?,
            None => data.join("runtime"),
        };
        let variable = "POLYMNEMO_SITE_DIR";
        let site = absolute(variable, Path::new(settings.get(variable).unwrap_or("target/site")))?;
        Ok(Self { data, runtime, site })
    }
}

fn absolute(variable: &str, path: &Path) -> Result<PathBuf, ConfigError> {
    std::path::absolute(path)
        .map_err(|error| ConfigError::new(variable, format!("can't be made an absolute path: {error}")))
}

fn is_root() -> bool {
    cfg!(unix) && rustix::process::geteuid().is_root()
}

/// The user's own data directory. Root has one outside its home: PostgreSQL refuses to run as
/// root, and the user it runs as instead can't enter root's home.
fn default_data_directory() -> Option<PathBuf> {
    if is_root() {
        return Some(PathBuf::from("/var/lib/polymnemo"));
    }
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if cfg!(target_os = "macos") {
        return Some(set("HOME")?.join("Library/Application Support/polymnemo"));
    }
    Some(match set("XDG_DATA_HOME") {
        Some(data) => data.join("polymnemo"),
        None => set("HOME")?.join(".local/share/polymnemo"),
    })
}
