//! Where the server listens: on a Unix socket, or on the loopback interface where sockets are impossible.

use std::{
    fmt::Write as _,
    fs,
    net::{Ipv4Addr, TcpListener},
    os::unix::{
        fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::{
    account::Account,
    error::{Doing as _, Error, Result},
};

/// The port's number is part of the name of the socket; on a socket of our own any number will do.
const SOCKET_PORT: u16 = 5432;

/// The longest path of a socket that every system accepts, in bytes (macOS: 104 with the final zero).
const SOCKET_PATH_BYTES: usize = 103;

/// Where the server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// On a Unix socket in this directory.
    Socket {
        /// The directory.
        directory: PathBuf,
        /// Part of the socket's name.
        port: u16,
    },
    /// On this port of the loopback interface.
    Loopback(u16),
}

impl Endpoint {
    /// Finds a place to listen at: a socket in the data directory; where its path would be too long or its file
    /// system has no sockets, one below `/tmp`; else a free port.
    pub(super) fn choose(data_dir: &Path, account: Option<&Account>) -> Result<Self> {
        let hash: String = Sha256::digest(data_dir.as_os_str().as_encoded_bytes()).iter().take(8).fold(
            String::new(),
            |mut hash, byte| {
                // Writing to a string does not fail.
                let _ = write!(hash, "{byte:02x}");
                hash
            },
        );
        for directory in [data_dir.join("run"), PathBuf::from(format!("/tmp/polymnemo-{hash}"))] {
            if private_directory(&directory, account)? && can_hold_socket(&directory) {
                return Ok(Self::Socket { directory, port: SOCKET_PORT });
            }
        }
        Self::loopback()
    }

    /// A free port.
    pub(super) fn loopback() -> Result<Self> {
        let probe = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .and_then(|listener| listener.local_addr())
            .doing(|| "find a free port".into())?;
        Ok(Self::Loopback(probe.port()))
    }

    /// Takes away what a server that was killed has left here. The place is for the server of one cluster, so when
    /// that does not run, nobody else does.
    pub(super) fn clear(&self) {
        if let Self::Socket { directory, port } = self {
            // Usually there is nothing.
            let _ = fs::remove_file(directory.join(format!(".s.PGSQL.{port}.lock")));
        }
    }

    /// Takes away the directory of the socket, which after a proper end is empty.
    pub(super) fn remove(&self) {
        if let Self::Socket { directory, .. } = self {
            // One that is not empty stays, which does no harm.
            let _ = fs::remove_dir(directory);
        }
    }

    /// The server's settings for listening here.
    pub(super) fn settings(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Socket { directory, port } => vec![
                ("listen_addresses", String::new()),
                ("port", port.to_string()),
                // The setting is a list; quotes keep a comma in the path from dividing it.
                ("unix_socket_directories", format!("\"{}\"", directory.display().to_string().replace('"', "\"\""))),
                ("unix_socket_permissions", "0700".into()),
            ],
            Self::Loopback(port) => vec![
                ("listen_addresses", Ipv4Addr::LOCALHOST.to_string()),
                ("port", port.to_string()),
                ("unix_socket_directories", String::new()),
            ],
        }
    }

    /// The URL for connecting to a database. Role, password and database must consist of letters, digits and underscores.
    pub(super) fn url(&self, role: &str, password: &str, database: &str) -> String {
        match self {
            Self::Socket { directory, port } => {
                let directory = percent_encode(directory);
                format!("postgres://{role}:{password}@localhost:{port}/{database}?host={directory}&sslmode=disable")
            }
            Self::Loopback(port) => {
                format!("postgres://{role}:{password}@{}:{port}/{database}?sslmode=disable", Ipv4Addr::LOCALHOST)
            }
        }
    }
}

/// Sees to it that there is such a directory for the account's eyes only; false where its path is too long.
///
/// A directory below `/tmp` could have been put there by anybody, so its owner is checked.
fn private_directory(directory: &Path, account: Option<&Account>) -> Result<bool> {
    let socket = directory.join(format!(".s.PGSQL.{SOCKET_PORT}"));
    if socket.as_os_str().len() > SOCKET_PATH_BYTES {
        return Ok(false);
    }
    let doing = || format!("make the directory {} for the database's socket", directory.display());
    let this_process = rustix::process::geteuid().as_raw();
    match fs::DirBuilder::new().mode(0o700).create(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(error).doing(doing),
        _ => {}
    }
    let found = fs::symlink_metadata(directory).doing(doing)?;
    match account {
        _ if !found.is_dir() => return Err(taken(doing())),
        Some(account) if found.uid() == this_process => account.give(directory)?,
        Some(account) if found.uid() == account.uid() => {}
        None if found.uid() == this_process => {}
        _ => return Err(taken(doing())),
    }
    if found.mode() & 0o777 != 0o700 {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700)).doing(doing)?;
    }
    Ok(true)
}

fn taken(doing: String) -> Error {
    Error::Io { doing, source: std::io::Error::other("it is there already and belongs to someone else; remove it") }
}

/// Whether the file system has sockets: those of some virtual machines and networks do not.
fn can_hold_socket(directory: &Path) -> bool {
    let probe = directory.join("probe");
    // What an interrupted start left behind would be in the way.
    let _ = fs::remove_file(&probe);
    let works = UnixListener::bind(&probe).is_ok();
    let _ = fs::remove_file(&probe);
    works
}

fn percent_encode(path: &Path) -> String {
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
        encoded
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_lies_in_the_data_directory() {
        let base = tempfile::tempdir_in("/tmp").expect("a directory");
        let endpoint = Endpoint::choose(base.path(), None).expect("an endpoint");
        assert_eq!(endpoint, Endpoint::Socket { directory: base.path().join("run"), port: SOCKET_PORT });
        assert_eq!(fs::metadata(base.path().join("run")).expect("it is there").mode() & 0o777, 0o700);
    }

    #[test]
    fn a_long_path_makes_way_for_a_private_directory_below_tmp() {
        let base = tempfile::tempdir_in("/tmp").expect("a directory");
        let long = base.path().join("x".repeat(120));
        fs::create_dir(&long).expect("a directory");
        let Endpoint::Socket { directory, .. } = Endpoint::choose(&long, None).expect("an endpoint") else {
            panic!("no socket");
        };
        assert!(directory.starts_with("/tmp"), "{}", directory.display());
        assert_eq!(
            Endpoint::choose(&long, None).expect("again"),
            Endpoint::Socket { directory: directory.clone(), port: SOCKET_PORT }
        );
        fs::remove_dir(&directory).expect("the directory is empty");

        std::os::unix::fs::symlink("/etc", &directory).expect("a trap");
        let refused = Endpoint::choose(&long, None);
        fs::remove_file(&directory).expect("the trap is removed");
        assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
    }

    #[test]
    fn paths_are_encoded_in_urls() {
        let endpoint = Endpoint::Socket { directory: "/home/ada/my data/ö".into(), port: 5432 };
        assert_eq!(
            endpoint.url("polymnemo", "secret", "polymnemo"),
            "postgres://polymnemo:secret@localhost:5432/polymnemo?host=%2Fhome%2Fada%2Fmy%20data%2F%C3%B6&sslmode=disable"
        );
        assert_eq!(Endpoint::Loopback(6000).url("a", "b", "c"), "postgres://a:b@127.0.0.1:6000/c?sslmode=disable");
    }
}
