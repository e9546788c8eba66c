//! A database for each test, copied from a template that has the schema already.
//!
//! The databases live in one cluster that all test processes share: the one that
//! `POLYMNEMO_TEST_DATABASE_URL` names (for a role that may create databases), else an embedded one
//! in a fixed folder, which the first test starts and the others find. It is left running,
//! so that the next run need not wait for it.
//!
//! The file stands on its own, so that the tests of other crates can include it by its path.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use polymnemo_adapters::embedded_postgres::{Durability, EmbeddedPostgres, Options};
use polymnemo_store::{PgOptions, PgStore};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, Statement};
use sha2::{Digest, Sha256};
use url::Url;

/// The prefix of everything that the tests make in the cluster.
const PREFIX: &str = "polymnemo_test";
/// Databases older than this were left behind by a test that was killed.
const STALE: Duration = Duration::from_secs(2 * 3600);
/// Held while the template is looked for or made. Any number that nothing else locks.
const TEMPLATE_LOCK: i64 = 0x7465_6d70_6c61_7465;

static COUNTER: AtomicU32 = AtomicU32::new(0);

/// An empty database with the current schema. It is dropped with this value.
pub struct TestDatabase {
    url: String,
    name: String,
    cluster: Cluster,
}

impl TestDatabase {
    /// Makes one.
    pub async fn create() -> Self {
        let cluster = Cluster::find().await;
        let admin = cluster.connect("postgres").await;
        let template = template(&cluster, &admin).await;
        let name = format!(
            "{PREFIX}_{}_{}_{}",
            seconds_since_epoch(),
            std::process::id(),
            COUNTER.fetch_add(1, Ordering::Relaxed)
        );
        run(&admin, &format!("create database {name} template {template} owner {}", cluster.owner)).await;
        admin.close().await.unwrap();
        Self { url: cluster.url(&cluster.user, &name), name, cluster }
    }

    /// The URL for the role that the server connects as. It holds a password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Ends all connections and lets no new ones in, as if the database were gone.
    pub async fn cut_off(&self) {
        let admin = self.cluster.connect("postgres").await;
        let name = &self.name;
        run(&admin, &format!("alter database {name} with allow_connections false")).await;
        run(&admin, &format!("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{name}'"))
            .await;
    }

    /// A connection past all row-level security, to look at what is really stored.
    pub async fn connect_as_superuser(&self) -> DatabaseConnection {
        self.cluster.connect(&self.name).await
    }
}

impl Drop for TestDatabase {
    /// Drops the database, with connections that are still open. The runtime of the test may be
    /// gone by now, so it happens on a thread with one of its own.
    fn drop(&mut self) {
        let (cluster, name) = (self.cluster.clone(), self.name.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let admin = cluster.connect("postgres").await;
                run(&admin, &format!("drop database if exists {name} with (force)")).await;
            });
        });
        if dropping.join().is_err() {
            eprintln!("the database {} could not be dropped; a later run sweeps it up", self.name);
        }
    }
}

/// Where databases are made.
#[derive(Clone)]
struct Cluster {
    admin: Url,
    /// The URL as which the server connects; its database is replaced.
    user: Url,
    /// The role of `user`.
    owner: String,
}

impl Cluster {
    async fn find() -> Self {
        if let Ok(url) = std::env::var("POLYMNEMO_TEST_DATABASE_URL") {
            let admin: Url = url.parse().expect("POLYMNEMO_TEST_DATABASE_URL is not a URL");
            let owner = admin.username().to_owned();
            return Self { user: admin.clone(), admin, owner };
        }
        let embedded = EmbeddedPostgres::start(Options {
            runtime_dir: runtime_dir(),
            data_dir: shared_folder(),
            durability: Durability::TestOnly,
        })
        .await
        .expect("the embedded PostgreSQL for the tests");
        let admin: Url = embedded.admin_url().parse().unwrap();
        let user: Url = embedded.url().parse().unwrap();
        let owner = user.username().to_owned();
        // Without `stop` it goes on running, for the tests beside and after this one.
        drop(embedded);
        Self { admin, user, owner }
    }

    fn url(&self, role: &Url, database: &str) -> String {
        let mut url = role.clone();
        url.set_path(database);
        url.to_string()
    }

    async fn connect(&self, database: &str) -> DatabaseConnection {
        let mut options = ConnectOptions::new(self.url(&self.admin, database));
        options.max_connections(1).sqlx_logging(false);
        Database::connect(options).await.expect("the test cluster can't be reached")
    }
}

/// The folder that `polymnemo setup` fills, by the same rule as the server's.
pub fn runtime_dir() -> PathBuf {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(runtime) = set("POLYMNEMO_RUNTIME_DIR") {
        return runtime;
    }
    let settings = polymnemo_server::config::Settings::from_sources([], Path::new("/nonexistent")).unwrap();
    polymnemo_server::config::Config::from_settings(&settings).unwrap().directories.runtime
}

/// A folder that the account of the embedded PostgreSQL can enter, one for each user of the machine.
///
/// It is in memory where the system has a place there with room enough: making a database means making hundreds of files,
/// which takes most of the time of most tests on a disk.
fn shared_folder() -> PathBuf {
    const IN_MEMORY: &str = "/dev/shm";
    const ROOM: u64 = 4 << 30;
    let has_room = rustix::fs::statvfs(IN_MEMORY).is_ok_and(|place| place.f_blocks * place.f_frsize >= ROOM);
    let place = if has_room { PathBuf::from(IN_MEMORY) } else { std::env::temp_dir() };
    place.join(format!("{PREFIX}-{}", rustix::process::geteuid().as_raw()))
}

/// The name of the template for the current schema; made by the first test that needs it.
async fn template(cluster: &Cluster, admin: &DatabaseConnection) -> String {
    let template = format!("{PREFIX}_template_{}", fingerprint_of_migrations());
    run(admin, &format!("select pg_advisory_lock({TEMPLATE_LOCK})")).await;
    if !databases(admin).await.contains(&template) {
        sweep(admin).await;
        // It gets its name when it is complete, so that an interrupted attempt never passes for one.
        let draft = format!("{template}_draft");
        run(admin, &format!("drop database if exists {draft} with (force)")).await;
        run(admin, &format!("create database {draft} owner {}", cluster.owner)).await;
        let connection = cluster.connect(&draft).await;
        run(&connection, "create extension vector").await;
        run(&connection, "create extension pg_trgm").await;
        connection.close().await.unwrap();
        let options = PgOptions { max_connections: 2, ..PgOptions::default() };
        drop(PgStore::connect(&cluster.url(&cluster.user, &draft), options).await.expect("the migrations"));
        let leftover =
            format!("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{draft}'");
        run(admin, &leftover).await;
        run(admin, &format!("alter database {draft} rename to {template}")).await;
    }
    run(admin, &format!("select pg_advisory_unlock({TEMPLATE_LOCK})")).await;
    template
}

/// Drops databases that killed tests left behind, and templates of other schemas.
async fn sweep(admin: &DatabaseConnection) {
    let newest_stale = seconds_since_epoch().saturating_sub(STALE.as_secs());
    for name in databases(admin).await {
        let made = name.strip_prefix(PREFIX).and_then(|rest| rest.split('_').nth(1)?.parse::<u64>().ok());
        let is_template = name.starts_with(&format!("{PREFIX}_template_"));
        if is_template || made.is_some_and(|made| made < newest_stale) {
            run(admin, &format!("drop database if exists {name} with (force)")).await;
        }
    }
}

async fn databases(admin: &DatabaseConnection) -> Vec<String> {
    let sql = format!("select datname from pg_database where datname like '{PREFIX}%'");
    let rows = admin.query_all_raw(Statement::from_string(admin.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

async fn run(connection: &DatabaseConnection, sql: &str) {
    if let Err(error) = connection.execute_unprepared(sql).await {
        panic!("the test cluster refused `{sql}`: {error}");
    }
}

/// A fingerprint of the sources of the migrations, so that one edited during development gets a new template.
fn fingerprint_of_migrations() -> String {
    let mut folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    while !folder.join("migrations/src").is_dir() {
        assert!(folder.pop(), "the folder of the migrations was not found");
    }
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder.join("migrations/src")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        hash.update(fs::read(file).unwrap());
    }
    hex::encode(hash.finalize()).split_at(12).0.to_owned()
}

fn seconds_since_epoch() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}
