//! A PostgreSQL of our own, for everyone who has none: a real server, run as a child process.
//!
//! [`EmbeddedPostgres::start`] makes a database where there is none, starts the server or attaches to
//! the one that runs, and says under which URL it is reached. In the data directory are
//!
//! - `cluster/`, the database, with the passwords to it in `cluster/polymnemo.json`,
//! - `run/`, with the socket on which the server listens (below `/tmp` where the path would be too long),
//! - `postgres.log`, and `users.lock` and `turn.lock`, by which several processes share the server.
//!
//! The server is never orphaned twice: when our process is killed, the server goes on, and the next start finds
//! and uses it. When the server is killed, it is started again, and connection pools reconnect. The last process
//! to call [`EmbeddedPostgres::stop`] stops it.
//!
//! PostgreSQL refuses to run as root. Started by root, we give the cluster to an ordinary account and run the server under
//! it: the cluster's owner, else the caller of `sudo`, else `postgres`, else `nobody`.

mod account;
mod cluster;
mod endpoint;
mod error;
mod locks;
mod server;

use std::{
    fmt, fs,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    str::FromStr as _,
    sync::Arc,
    time::Duration,
};

use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection, postgres::PgConnectOptions};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use self::error::{Error, Result};
use self::{
    account::Account,
    cluster::{Cluster, Programs},
    error::Doing as _,
    locks::{Turn, UserLock},
    server::{Running, Server},
};

/// The name of the role that owns the database, and of the database. Row-level security holds for the role.
const OWNER: &str = "polymnemo";

/// The name of the superuser.
const SUPERUSER: &str = "postgres";

/// The extensions that the database needs and only a superuser may create.
const EXTENSIONS: [&str; 2] = ["vector", "pg_trgm"];

/// How often a server that ran already is asked before it counts as broken, and the pause in between.
const ATTEMPTS: u32 = 5;
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);

/// The pauses between attempts to start a server again that has ended by itself.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How carefully the server writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// What is committed survives a loss of power.
    #[default]
    Durable,
    /// Fast, for tests: a crash of the machine may destroy everything.
    TestOnly,
}

/// What the server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The directory with the fetched files; PostgreSQL's are in `postgres/{bin,lib,share}` below it.
    pub runtime_dir: PathBuf,
    /// The directory for the database and everything about it; made where there is none.
    pub data_dir: PathBuf,
    /// How carefully to write. Without effect where the server runs already.
    pub durability: Durability,
}

/// A running PostgreSQL that this process uses, perhaps among others.
///
/// Call [`EmbeddedPostgres::stop`] at the end. Dropped without that, it leaves the server running,
/// and the next start attaches to it.
pub struct EmbeddedPostgres {
    server: Arc<Server>,
    data_dir: PathBuf,
    user: UserLock,
    url: String,
    admin_url: String,
    attached: bool,
    stopping: watch::Sender<bool>,
    supervisor: AbortOnDropHandle<()>,
}

impl fmt::Debug for EmbeddedPostgres {
    /// Shows no password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EmbeddedPostgres")
            .field("data_dir", &self.data_dir)
            .field("attached", &self.attached)
            .finish_non_exhaustive()
    }
}

impl EmbeddedPostgres {
    /// Starts the server, or attaches to it where it runs already. The first start takes some seconds.
    ///
    /// # Errors
    ///
    /// An [`Error`] that says what to do about it. Nothing is left half-done: the call can be repeated.
    pub async fn start(options: Options) -> Result<Self> {
        let programs = Programs::find(&options.runtime_dir)?;
        let data_dir = make_data_dir(&options.data_dir)?;
        let turn = Turn::take(&data_dir).await?;
        let account = Account::choose(&Cluster::directory(&data_dir))?;
        let cluster = Cluster::open(&programs, &data_dir, account.as_ref(), options.durability).await?;
        let log = data_dir.join("postgres.log");
        let server = Arc::new(Server { programs, cluster, account, durability: options.durability, log });
        let user = UserLock::enter(&data_dir, &turn)?;
        let credentials = &server.cluster.credentials;
        let mut attempts = 1;
        let (running, url, admin_url) = loop {
            let running = server.ensure_running(&data_dir, None).await?;
            let url = running.endpoint.url(OWNER, &credentials.owner, OWNER);
            let admin_url = running.endpoint.url(SUPERUSER, &credentials.superuser, "postgres");
            let extensions_url = running.endpoint.url(SUPERUSER, &credentials.superuser, OWNER);
            match prepare(&admin_url, &extensions_url, &credentials.owner).await {
                Ok(()) => break (running, url, admin_url),
                // The one that ran already may have been dying: then the next one is our own.
                Err(error) if running.is_attached() && attempts < ATTEMPTS => {
                    tracing::info!(%error, "the database that ran already does not answer as it should; looking again");
                    attempts += 1;
                    tokio::time::sleep(BETWEEN_ATTEMPTS).await;
                }
                Err(error) => {
                    if !running.is_attached()
                        && let Err(also) = running.stop(&server.cluster.directory).await
                    {
                        tracing::warn!(error = %also, "the database that could not be set up goes on running");
                    }
                    return Err(error);
                }
            }
        };
        let attached = running.is_attached();
        drop(turn);

        let (stopping, stop) = watch::channel(false);
        let supervisor =
            AbortOnDropHandle::new(tokio::spawn(supervise(Arc::clone(&server), data_dir.clone(), running, stop)));
        Ok(Self { server, data_dir, user, url, admin_url, attached, stopping, supervisor })
    }

    /// The URL of the database `polymnemo`, for the role that owns it. It holds a password: don't print it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the database `postgres` for the superuser, who may create databases. It holds a password: don't print it.
    #[must_use]
    pub fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// Whether the server ran already.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.attached
    }

    /// Where the server writes its log.
    #[must_use]
    pub fn log(&self) -> &Path {
        &self.server.log
    }

    /// Stops the server, unless other processes use it. Close the connections to it before.
    ///
    /// # Errors
    ///
    /// [`Error::Stop`] where it does not end; [`Error::Io`] where the locks fail.
    pub async fn stop(self) -> Result<()> {
        let Self { server, data_dir, user, stopping, supervisor, .. } = self;
        stopping.send_replace(true);
        // A supervisor that panicked has nothing left to tell.
        let _ = supervisor.await;
        let turn = Turn::take(&data_dir).await?;
        if !user.leave(&turn)? {
            tracing::info!("the database goes on running: another process uses it");
            return Ok(());
        }
        match server.attach().await? {
            Some(running) => {
                let endpoint = running.endpoint.clone();
                running.stop(&server.cluster.directory).await?;
                endpoint.remove();
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The data directory, made where there is none, as an absolute path without symbolic links: by it the server
/// is recognised.
fn make_data_dir(path: &Path) -> Result<PathBuf> {
    // Where root drops to another account, that account must get to the cluster within.
    let mode = if rustix::process::geteuid().is_root() { 0o711 } else { 0o700 };
    fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .and_then(|()| fs::canonicalize(path))
        .doing(|| format!("make the data directory {}", path.display()))
}

/// Sees to it that role, database and extensions are there.
async fn prepare(admin_url: &str, extensions_url: &str, owner_password: &str) -> Result<()> {
    let mut postgres = connect(admin_url).await?;
    let (role, database): (bool, bool) = sqlx::query_as(
        "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), EXISTS (SELECT FROM pg_database WHERE datname = $1)",
    )
    .bind(OWNER)
    .fetch_one(&mut postgres)
    .await?;
    // Names and passwords are letters and digits, there is nothing to escape.
    if !role {
        let create = format!(
            "CREATE ROLE {OWNER} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD '{owner_password}'"
        );
        sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut postgres).await?;
    }
    if !database {
        sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {OWNER} OWNER {OWNER}"))).execute(&mut postgres).await?;
    }
    postgres.close().await?;

    let mut postgres = connect(extensions_url).await?;
    for extension in EXTENSIONS {
        // Asked first, because the statement would log a notice each time.
        let exists: bool = sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = $1)")
            .bind(extension)
            .fetch_one(&mut postgres)
            .await?;
        if !exists {
            sqlx::raw_sql(AssertSqlSafe(format!("CREATE EXTENSION {extension}"))).execute(&mut postgres).await?;
        }
    }
    postgres.close().await?;
    Ok(())
}

async fn connect(url: &str) -> Result<PgConnection> {
    // One of the statements holds a password.
    Ok(PgConnectOptions::from_str(url)?.disable_statement_logging().connect().await?)
}

/// Starts the server again whenever it ends by itself, until it is told to stop.
async fn supervise(server: Arc<Server>, data_dir: PathBuf, mut running: Running, mut stop: watch::Receiver<bool>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let since = tokio::time::Instant::now();
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            () = running.ended(&server.cluster.directory) => {}
        }
        tracing::warn!(database.log = %server.log.display(), "the database ended unexpectedly; starting it again");
        if since.elapsed() > LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        }
        let again = async {
            loop {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                // Another process that uses the server may have been quicker; then this attaches to it.
                let outcome = match Turn::take(&data_dir).await {
                    Ok(_turn) => server.ensure_running(&data_dir, Some(&running.endpoint)).await,
                    Err(error) => Err(error),
                };
                match outcome {
                    Ok(running) => return running,
                    Err(error) => tracing::error!(%error, "the database could not be started again"),
                }
            }
        };
        tokio::select! {
            _ = stop.wait_for(|stop| *stop) => return,
            restarted = again => running = restarted,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::{endpoint::Endpoint, *};
    use crate::support;

    #[tokio::test]
    async fn the_loopback_interface_does_where_there_are_no_sockets_and_a_long_log_is_put_aside() {
        let directory = tempfile::tempdir_in("/tmp").expect("a directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
        let data_dir = make_data_dir(directory.path()).expect("a data directory");
        let programs = Programs::find(&support::runtime_dir()).expect("the programs");
        let account = Account::choose(&Cluster::directory(&data_dir)).expect("an account");
        let durability = Durability::TestOnly;
        let cluster = Cluster::open(&programs, &data_dir, account.as_ref(), durability).await.expect("a cluster");
        let log = data_dir.join("postgres.log");
        fs::write(&log, vec![b'\n'; 9 << 20]).expect("a log that has grown long");
        let server = Server { programs, cluster, account, durability, log };

        let loopback = Endpoint::loopback().expect("a free port");
        let running = server.ensure_running(&data_dir, Some(&loopback)).await.expect("it starts");
        assert_eq!(running.endpoint, loopback);
        assert!(data_dir.join("postgres.log.1").exists(), "the long log was not put aside");
        assert!(fs::metadata(&server.log).expect("a new log").len() < 1 << 20);
        let attached = server.attach().await.expect("it can be looked for").expect("it runs");
        assert_eq!(attached.endpoint, loopback, "others find it by the port");
        let password = &server.cluster.credentials.superuser;
        let url = |password: &str| loopback.url(SUPERUSER, password, "postgres");
        let address: String = sqlx::query_scalar("SELECT host(inet_server_addr())")
            .fetch_one(&mut connect(&url(password)).await.expect("a connection"))
            .await
            .expect("an address");
        assert_eq!(address, "127.0.0.1");
        assert!(connect(&url("wrong")).await.is_err(), "the password is not asked for");
        running.stop(&server.cluster.directory).await.expect("it stops");
        assert!(server.attach().await.expect("it can be looked for").is_none());
    }
}
