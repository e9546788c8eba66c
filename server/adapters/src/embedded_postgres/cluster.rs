//! The cluster: the directory in which PostgreSQL keeps everything, and the passwords to it.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use tokio::process::Command;

use super::{
    Durability, SUPERUSER,
    account::Account,
    error::{Doing as _, Error, Result},
};

/// The programs of PostgreSQL.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// The programs in a runtime directory, which must hold those that are needed.
    pub(super) fn find(runtime_dir: &Path) -> Result<Self> {
        let programs = Self { directory: runtime_dir.join("postgres/bin") };
        for name in ["postgres", "initdb"] {
            let path = programs.directory.join(name);
            if !path.is_file() {
                return Err(Error::RuntimeMissing(path));
            }
        }
        Ok(programs)
    }

    /// A call of one of the programs under the account, in a directory that the account must be able to enter.
    ///
    /// The environment is emptied: variables such as `PGDATA` or `PGOPTIONS`, set for other
    /// databases of this person, would change what the programs do.
    pub(super) fn command(&self, name: &str, directory: &Path, account: Option<&Account>) -> Command {
        let mut command = Command::new(self.directory.join(name));
        command
            .env_clear()
            .envs([("LC_ALL", "C"), ("TZ", "UTC"), ("PATH", "/usr/bin:/bin")])
            .current_dir(directory)
            .stdin(Stdio::null());
        if let Some(account) = account {
            account.run(&mut command);
        }
        command
    }

    /// The major version, such as `18`. Asking for it shows also that the account gets to the programs and to the data.
    pub(super) async fn major_version(&self, data_dir: &Path, account: Option<&Account>) -> Result<String> {
        let output = match self.command("postgres", data_dir, account).arg("--version").output().await {
            Ok(output) => output,
            Err(error) => {
                let obstacle = account.and_then(|account| account.obstacle(&[&self.directory, data_dir]));
                return Err(obstacle.unwrap_or_else(|| Error::RuntimeBroken(error.to_string())));
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        text.rsplit(' ')
            .next()
            .and_then(|version| version.split('.').next())
            .filter(|major| output.status.success() && major.parse::<u32>().is_ok())
            .map(str::to_owned)
            .ok_or_else(|| Error::RuntimeBroken(what_it_said(&output)))
    }
}

/// The passwords of the two roles. They never appear in logs or on a command line.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Credentials {
    /// Of the superuser.
    pub(super) superuser: String,
    /// Of the role that owns the database.
    pub(super) owner: String,
}

impl Credentials {
    fn generate() -> Self {
        let password = || format!("{:032x}{:032x}", rand::rng().random::<u128>(), rand::rng().random::<u128>());
        Self { superuser: password(), owner: password() }
    }
}

/// A cluster that is complete.
pub(super) struct Cluster {
    /// The directory, an absolute path without symbolic links.
    pub(super) directory: PathBuf,
    /// The passwords to it.
    pub(super) credentials: Credentials,
}

impl Cluster {
    /// Where the cluster of a data directory lies.
    pub(super) fn directory(data_dir: &Path) -> PathBuf {
        data_dir.join("cluster")
    }

    /// Opens the cluster of a data directory; makes one where there is none.
    pub(super) async fn open(
        programs: &Programs,
        data_dir: &Path,
        account: Option<&Account>,
        durability: Durability,
    ) -> Result<Self> {
        let version = programs.major_version(data_dir, account).await?;
        let directory = Self::directory(data_dir);
        if !directory.exists() {
            create(programs, data_dir, account, durability).await?;
        }
        let made_by = directory.join("PG_VERSION");
        let made_by = fs::read_to_string(&made_by).doing(|| format!("read {}", made_by.display()))?;
        if made_by.trim() != version {
            return Err(Error::OtherVersion { directory, cluster: made_by.trim().to_owned(), server: version });
        }
        let credentials = read_credentials(&directory.join(CREDENTIALS))?;
        Ok(Self { directory, credentials })
    }
}

/// The file with the passwords. It lies within the cluster so that neither is ever without the other.
const CREDENTIALS: &str = "polymnemo.json";

fn read_credentials(file: &Path) -> Result<Credentials> {
    let unreadable = |reason: String| Error::Credentials { file: file.to_owned(), reason };
    let text = fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    // The parser's own message could quote the content.
    serde_json::from_str(&text).map_err(|error| unreadable(format!("no valid JSON at line {}", error.line())))
}

/// Makes a cluster beside its final place and moves it there when it is complete, so that an interruption leaves
/// nothing half-done.
async fn create(programs: &Programs, data_dir: &Path, account: Option<&Account>, durability: Durability) -> Result<()> {
    tracing::info!(database.directory = %data_dir.display(), "making a new database");
    let (draft, password_file) = (data_dir.join("cluster.new"), data_dir.join("cluster.new.password"));
    if draft.exists() {
        fs::remove_dir_all(&draft).doing(|| format!("remove the unfinished {}", draft.display()))?;
    }
    fs::DirBuilder::new().mode(0o700).create(&draft).doing(|| format!("make {}", draft.display()))?;
    let credentials = Credentials::generate();
    write_private(&password_file, credentials.superuser.as_bytes())?;
    if let Some(account) = account {
        account.give(&draft)?;
        account.give(&password_file)?;
    }

    let mut initdb = programs.command("initdb", data_dir, account);
    initdb
        .args(["--username", SUPERUSER, "--auth", "scram-sha-256", "--encoding", "UTF8"])
        // The same order and the same letters on every machine, and Chinese ones count as letters for trigrams.
        .args(["--locale-provider", "builtin", "--builtin-locale", "C.UTF-8", "--locale", LOCALE])
        .arg("--pwfile")
        .arg(&password_file)
        .arg("--pgdata")
        .arg(&draft)
        .kill_on_drop(true);
    if durability == Durability::TestOnly {
        initdb.arg("--no-sync");
    }
    let output = initdb.output().await;
    fs::remove_file(&password_file).doing(|| format!("remove {}", password_file.display()))?;
    let output = output.map_err(|error| Error::Initialise(error.to_string()))?;
    if !output.status.success() {
        return Err(Error::Initialise(what_it_said(&output)));
    }

    let json = serde_json::to_vec(&credentials).map_err(|error| Error::Initialise(error.to_string()))?;
    write_private(&draft.join(CREDENTIALS), &json)?;
    let cluster = Cluster::directory(data_dir);
    fs::rename(&draft, &cluster)
        .and_then(|()| fs::File::open(data_dir)?.sync_all())
        .doing(|| format!("move the new database to {}", cluster.display()))
}

/// macOS lacks the locale `C.UTF-8`; the built-in one does the work, this one only classifies letters for extensions.
const LOCALE: &str = if cfg!(target_os = "macos") { "en_US.UTF-8" } else { "C.UTF-8" };

/// Writes a file that only its owner may read, down to the disk.
fn write_private(path: &Path, content: &[u8]) -> Result<()> {
    // A file left behind by an interrupted attempt may belong to another account.
    let _ = fs::remove_file(path);
    fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| {
            file.write_all(content)?;
            file.sync_all()
        })
        .doing(|| format!("write {}", path.display()))
}

/// The end of what a program said, in one line.
fn what_it_said(output: &Output) -> String {
    let text = String::from_utf8_lossy(if output.stderr.is_empty() { &output.stdout } else { &output.stderr });
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.len().saturating_sub(4);
    format!("{}: {}", output.status, lines.get(last..).unwrap_or_default().join("; "))
}
