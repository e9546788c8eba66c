//! Behind pgbouncer in transaction mode each transaction may run on another server connection.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use futures::future::join_all;
use polymnemo_memory::{
    Ctx, Door, Grants, Identity, MemoryService, UserDefaults,
    ports::{Store, SystemClock},
    testing::FakeEmbedder,
};
use polymnemo_store::{PgOptions, PgStore};
use polymnemo_types::{ListRequest, RecallRequest, RememberRequest};
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database};
use url::Url;

use crate::support::TestDatabase;

/// A pgbouncer before a database; it ends with this value.
struct Pooler {
    process: Child,
    folder: tempfile::TempDir,
}

impl Pooler {
    /// Nothing where no pgbouncer is installed.
    async fn start(database: &Url) -> Option<Self> {
        let program =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
                .into_iter()
                .find(|path| Path::new(path).exists())?;
        let folder = tempfile::Builder::new().prefix("pm").tempdir_in("/tmp").unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let query =
            |name: &str| database.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        let host = query("host").or_else(|| database.host_str().map(str::to_owned)).unwrap();
        let port = database.port().or_else(|| query("port")?.parse().ok()).unwrap_or(5432);
        let settings = format!(
            "[databases]\n* = host={host} port={port} user={user} password={password}\n\
             [pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = {folder}\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 200\nlogfile = {folder}/log\n\
             ignore_startup_parameters = extra_float_digits\n",
            user = database.username(),
            password = database.password().unwrap_or_default(),
            folder = folder.path().display(),
        );
        let file = folder.path().join("pgbouncer.ini");
        fs::write(&file, settings).unwrap();
        let mut command = Command::new(program);
        if rustix::process::geteuid().is_root() {
            // It refuses to run as root, and the database's socket is its owner's alone.
            command.args(["-u", &owner(Path::new(&host)).unwrap_or_else(|| "nobody".into())]);
        }
        let process = command.arg(file).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self { process, folder };
        let socket = pooler.folder.path().join(".s.PGSQL.6432");
        for _ in 0..100 {
            if socket.exists() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let log = fs::read_to_string(pooler.folder.path().join("log")).unwrap_or_default();
        assert!(socket.exists(), "pgbouncer did not start: {log}");
        Some(pooler)
    }

    fn url(&self, database: &Url) -> String {
        let name = database.path().trim_start_matches('/');
        format!("postgres://someone@localhost:6432/{name}?host={}", self.folder.path().display())
    }
}

/// The name of the user who owns a folder.
fn owner(folder: &Path) -> Option<String> {
    let uid = fs::metadata(folder).ok()?.uid().to_string();
    let users = fs::read_to_string("/etc/passwd").ok()?;
    let of_uid = users.lines().find(|line| line.split(':').nth(2) == Some(&uid))?;
    of_uid.split(':').next().map(str::to_owned)
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pooler_may_hand_each_transaction_to_another_connection() {
    let database = TestDatabase::create().await;
    let direct: Url = database.url().parse().unwrap();
    let Some(pooler) = Pooler::start(&direct).await else {
        eprintln!("pgbouncer is not installed: this story was not told");
        return;
    };
    let url = pooler.url(&direct);
    let store = PgStore::connect(&url, PgOptions { max_connections: 20, ..PgOptions::default() }).await.unwrap();
    let defaults = UserDefaults { namespace: "personal".into(), time_zone: "UTC".into() };
    let service = MemoryService::new(
        Arc::new(store) as Arc<dyn Store>,
        Arc::new(FakeEmbedder::default()),
        Arc::new(SystemClock),
        defaults,
    );

    // Many users at once, so that settings that stay behind would show one what is another's.
    join_all((0..12).map(|number| {
        let service = service.clone();
        async move {
            let user = service.user(&Identity::named(&format!("user{number}"))).await.unwrap();
            let ctx = Ctx { user, door: Door::StaticKey, client: None, app: None, grants: Grants::full() };
            for round in 0..6 {
                let content = format!("Tea of user {number}, cup {round}.");
                service.remember(&ctx, RememberRequest { content, ..RememberRequest::default() }).await.unwrap();
                let request = RecallRequest { query: "tea".into(), limit: Some(50), ..RecallRequest::default() };
                let found = service.recall(&ctx, request).await.unwrap();
                assert_eq!(found.hits.len(), round + 1);
                let listed = service.list_memories(&ctx, ListRequest::default()).await.unwrap();
                assert_eq!(listed.total, round as u64 + 1);
                assert!(listed.items.iter().all(|memory| memory.preview.contains(&format!("user {number},"))));
            }
        }
    }))
    .await;

    // Nothing is left behind on any of the server connections. `do` needs no prepared statement of its own.
    let mut options = ConnectOptions::new(url);
    options.max_connections(10).sqlx_logging(false);
    let connections = Database::connect(options).await.unwrap();
    let check = "do $$ begin
        if exists (select from pg_prepared_statements) then raise exception 'statements are left'; end if;
        if coalesce(current_setting('polymnemo.user_id', true), '') <> '' then raise exception 'a user is left'; end if;
        perform pg_sleep(0.02);
    end $$";
    for outcome in join_all((0..30).map(|_| connections.execute_unprepared(check))).await {
        outcome.unwrap();
    }
}
