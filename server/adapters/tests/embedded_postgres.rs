//! The embedded database, with a real PostgreSQL and real processes that are really killed.
#![cfg(unix)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    str::FromStr as _,
    time::{Duration, Instant},
};

use polymnemo_adapters::embedded_postgres::{Durability, EmbeddedPostgres, Error, Options};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use sqlx::{ConnectOptions as _, PgConnection, Row as _, postgres::PgConnectOptions};
use tempfile::TempDir;

/// A data directory that an account other than root can enter.
fn data_dir() -> TempDir {
    let directory = tempfile::tempdir_in("/tmp").expect("a directory");
    allow(directory.path(), 0o755);
    directory
}

fn allow(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

fn options(data_dir: &Path) -> Options {
    Options { runtime_dir: support::runtime_dir(), data_dir: data_dir.to_owned(), durability: Durability::TestOnly }
}

async fn start(data_dir: &Path) -> EmbeddedPostgres {
    EmbeddedPostgres::start(options(data_dir)).await.expect("the database starts")
}

async fn connect(url: &str) -> PgConnection {
    PgConnectOptions::from_str(url).expect("a valid URL").connect().await.expect("a connection")
}

async fn execute(url: &str, sql: &'static str) {
    sqlx::raw_sql(sql).execute(&mut connect(url).await).await.expect(sql);
}

async fn count(url: &str, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(&mut connect(url).await).await.expect(sql)
}

/// The process of the server, by its own account.
fn server_process(data_dir: &Path) -> Option<Pid> {
    let file = fs::read_to_string(data_dir.join("cluster/postmaster.pid")).ok()?;
    Pid::from_raw(file.lines().next()?.parse().ok()?)
}

fn kill(pid: Pid) {
    kill_process(pid, Signal::KILL).expect("the process is there");
}

/// Waits until something is the case.
async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds().await {
        assert!(Instant::now() < deadline, "still not: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

const DATA_DIR: &str = "POLYMNEMO_TEST_USER_DATA_DIR";

/// Another process that uses the database of a data directory.
struct OtherProcess {
    process: Child,
    output: BufReader<ChildStdout>,
    /// Whether it found the server running.
    attached: bool,
}

impl OtherProcess {
    fn spawn(data_dir: &Path) -> Child {
        Command::new(std::env::current_exe().expect("the test's own program"))
            .args(["--exact", "the_other_process", "--ignored", "--nocapture", "--quiet"])
            .env(DATA_DIR, data_dir)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the test's own program starts")
    }

    fn start(data_dir: &Path) -> Self {
        Self::wait_for(Self::spawn(data_dir))
    }

    fn wait_for(mut process: Child) -> Self {
        let mut output = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut line = String::new();
        while !line.contains("attached=") {
            line.clear();
            assert_ne!(output.read_line(&mut line).expect("its output"), 0, "the other process failed");
        }
        Self { process, output, attached: line.contains("attached=true") }
    }

    /// Has it stop as a server does on SIGTERM.
    fn stop(mut self) {
        self.process.stdin.take().expect("it is piped").write_all(b"stop\n").expect("it listens");
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("its output");
        assert!(self.process.wait().expect("it ends").success(), "{rest}");
    }

    fn kill(mut self) {
        self.process.kill().expect("it is there");
        self.process.wait().expect("it ends");
    }
}

// Several threads, because one waits for the input.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the other tests run it as a process of its own"]
async fn the_other_process() {
    let data_dir = PathBuf::from(std::env::var_os(DATA_DIR).expect("told by the test that runs this"));
    let postgres = start(&data_dir).await;
    println!("attached={}", postgres.is_attached());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).expect("the input");
    postgres.stop().await.expect("the database stops");
}

#[tokio::test]
async fn a_new_database_is_ready_for_use_and_keeps_what_is_committed() {
    let directory = data_dir();
    let postgres = start(directory.path()).await;
    assert!(!postgres.is_attached());
    assert!(!format!("{postgres:?}").contains("postgres://"), "the URL holds a password");

    let row = sqlx::query(
        "SELECT rolname::text, rolsuper, rolbypassrls, rolcreatedb, datdba = pg_roles.oid AS owns, datlocprovider::text, \
         datlocale, pg_encoding_to_char(encoding)::text AS encoding, current_setting('listen_addresses') AS addresses \
         FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()",
    )
    .fetch_one(&mut connect(postgres.url()).await)
    .await
    .expect("the catalogue");
    assert_eq!(row.get::<String, _>("rolname"), "polymnemo");
    for right in ["rolsuper", "rolbypassrls", "rolcreatedb"] {
        assert!(!row.get::<bool, _>(right), "{right}");
    }
    assert!(row.get::<bool, _>("owns"));
    assert_eq!(row.get::<String, _>("datlocprovider"), "b");
    assert_eq!(row.get::<String, _>("datlocale"), "C.UTF-8");
    assert_eq!(row.get::<String, _>("encoding"), "UTF8");
    assert_eq!(row.get::<String, _>("addresses"), "");

    execute(
        postgres.url(),
        "CREATE TABLE notes (text text, meaning vector(3)); INSERT INTO notes VALUES ('记忆', '[1,2,3]')",
    )
    .await;
    let trigrams = "SELECT cardinality(show_trgm('记忆宫殿'))::bigint";
    assert!(count(postgres.url(), trigrams).await > 0, "Chinese is no text to pg_trgm");
    execute(postgres.admin_url(), "CREATE DATABASE another TEMPLATE template0").await;

    let wrong_password = postgres.url().replace("polymnemo:", "polymnemo:0");
    assert!(PgConnectOptions::from_str(&wrong_password).expect("a URL").connect().await.is_err());
    let secrets = fs::metadata(directory.path().join("cluster/polymnemo.json")).expect("the passwords");
    assert_eq!(secrets.permissions().mode() & 0o077, 0);

    let process = server_process(directory.path()).expect("the server says that it runs");
    postgres.stop().await.expect("the database stops");
    assert!(test_kill_process(process).is_err() || server_process(directory.path()).is_none());
    assert!(server_process(directory.path()).is_none(), "it stopped without cleaning up");

    let started = Instant::now();
    let postgres = start(directory.path()).await;
    println!("a start on an existing database took {:?}", started.elapsed());
    assert!(!postgres.is_attached());
    assert_eq!(count(postgres.url(), "SELECT count(*) FROM notes").await, 1);
    postgres.stop().await.expect("the database stops");
}

#[tokio::test]
async fn the_path_of_the_data_may_be_long_and_odd() {
    let directory = data_dir();
    let odd = directory.path().join(format!("it's \"my\" data, 数据 {}", "x".repeat(100)));
    let postgres = start(&odd).await;
    assert_eq!(count(postgres.url(), "SELECT 1::bigint").await, 1);
    let other = OtherProcess::start(&odd);
    assert!(other.attached);
    postgres.stop().await.expect("this process leaves");
    other.stop();
    assert_eq!(server_process(&odd), None);
}

#[tokio::test]
async fn several_processes_share_one_server_and_the_last_one_stops_it() {
    let directory = data_dir();
    let here = start(directory.path()).await;
    let there = OtherProcess::start(directory.path());
    assert!(there.attached);
    let server = server_process(directory.path());

    here.stop().await.expect("this process leaves");
    assert_eq!(server_process(directory.path()), server, "it was stopped while another process uses it");
    let back = start(directory.path()).await;
    assert!(back.is_attached());
    assert_eq!(count(back.url(), "SELECT 1::bigint").await, 1);

    there.stop();
    assert_eq!(server_process(directory.path()), server);
    back.stop().await.expect("the last one stops it");
    assert_eq!(server_process(directory.path()), None);
}

#[tokio::test]
async fn processes_that_start_at_the_same_time_make_one_database() {
    let directory = data_dir();
    let starting: Vec<Child> = (0..3).map(|_| OtherProcess::spawn(directory.path())).collect();
    let users: Vec<OtherProcess> = starting.into_iter().map(OtherProcess::wait_for).collect();
    assert_eq!(users.iter().filter(|user| !user.attached).count(), 1, "exactly one must have started it");
    for user in users {
        user.stop();
    }
    assert_eq!(server_process(directory.path()), None);
}

#[tokio::test]
async fn after_a_killed_process_the_next_one_attaches_to_what_it_left() {
    let directory = data_dir();
    let first = OtherProcess::start(directory.path());
    assert!(!first.attached);
    let server = server_process(directory.path()).expect("the server says that it runs");
    first.kill();

    let postgres = start(directory.path()).await;
    assert!(postgres.is_attached());
    assert_eq!(server_process(directory.path()), Some(server));
    assert_eq!(count(postgres.url(), "SELECT 1::bigint").await, 1);
    postgres.stop().await.expect("the only user left stops it");
    assert_eq!(server_process(directory.path()), None);
}

#[tokio::test]
async fn a_server_that_is_killed_is_started_again_with_everything_committed() {
    let directory = data_dir();
    let started_it = start(directory.path()).await;
    let attached = OtherProcess::start(directory.path());
    execute(started_it.url(), "CREATE TABLE notes (text text); INSERT INTO notes VALUES ('kept')").await;
    for _ in 0..2 {
        let server = server_process(directory.path()).expect("the server says that it runs");
        kill(server);
        eventually("the server is back", async || {
            server_process(directory.path()).is_some_and(|now| now != server)
                && PgConnectOptions::from_str(started_it.url()).expect("a URL").connect().await.is_ok()
        })
        .await;
        assert_eq!(count(started_it.url(), "SELECT count(*) FROM notes").await, 1);
    }

    // The process that attached restarts it as well, when it is the only one left.
    started_it.stop().await.expect("this process leaves");
    let server = server_process(directory.path()).expect("the server says that it runs");
    kill(server);
    eventually("the server is back", async || server_process(directory.path()).is_some_and(|now| now != server)).await;
    attached.stop();
    assert_eq!(server_process(directory.path()), None);
}

#[tokio::test]
async fn a_crash_of_everything_loses_nothing_that_was_committed() {
    let directory = data_dir();
    let user = OtherProcess::start(directory.path());
    let server = server_process(directory.path()).expect("the server says that it runs");
    let second = start(directory.path()).await;
    execute(second.url(), "CREATE TABLE notes (text text); INSERT INTO notes VALUES ('kept')").await;
    drop(second);
    user.kill();
    kill(server);

    let postgres = start(directory.path()).await;
    assert!(!postgres.is_attached());
    assert_eq!(count(postgres.url(), "SELECT count(*) FROM notes").await, 1);
    postgres.stop().await.expect("the database stops");
}

#[tokio::test]
async fn what_an_interruption_left_behind_is_no_obstacle() {
    let directory = data_dir();
    fs::create_dir_all(directory.path().join("cluster.new/base")).expect("half a database");
    fs::write(directory.path().join("cluster.new.password"), "half a password").expect("a file");
    start(directory.path()).await.stop().await.expect("the database stops");
    assert!(!directory.path().join("cluster.new").exists());
    assert!(!directory.path().join("cluster.new.password").exists());

    // As after a loss of power, when the number of the server's process has been given to another one since.
    let pid_file = directory.path().join("cluster/postmaster.pid");
    let ourselves = std::process::id();
    fs::write(&pid_file, format!("{ourselves}\n{}\n1\n5432\n\n\n 1 1\nready\n", directory.path().display()))
        .expect("a file");
    let postgres = start(directory.path()).await;
    assert_eq!(count(postgres.url(), "SELECT 1::bigint").await, 1);
    postgres.stop().await.expect("the database stops");
}

#[tokio::test]
async fn a_database_of_another_version_is_left_alone() {
    let directory = data_dir();
    start(directory.path()).await.stop().await.expect("the database stops");
    let version = directory.path().join("cluster/PG_VERSION");
    fs::write(&version, "9\n").expect("another version");
    let error = EmbeddedPostgres::start(options(directory.path())).await.expect_err("it can't be opened");
    assert!(matches!(&error, Error::OtherVersion { cluster, .. } if cluster == "9"), "{error}");

    fs::write(directory.path().join("cluster/polymnemo.json"), "{").expect("a broken file");
    fs::write(&version, "18\n").expect("the version");
    let error = EmbeddedPostgres::start(options(directory.path())).await.expect_err("there is no password");
    assert!(matches!(error, Error::Credentials { .. }), "{error}");
}

#[tokio::test]
async fn what_the_server_says_against_starting_is_passed_on() {
    let directory = data_dir();
    start(directory.path()).await.stop().await.expect("the database stops");
    fs::write(directory.path().join("cluster/postgresql.auto.conf"), "no_such_setting = 1\n").expect("a setting");
    let error = EmbeddedPostgres::start(options(directory.path())).await.expect_err("it can't start").to_string();
    assert!(error.contains("no_such_setting") && error.contains("postgres.log"), "{error}");
}

#[tokio::test]
async fn missing_files_are_named_with_the_way_to_get_them() {
    let directory = data_dir();
    let options = Options { runtime_dir: directory.path().join("nothing"), ..options(directory.path()) };
    let error = EmbeddedPostgres::start(options).await.expect_err("there is no PostgreSQL").to_string();
    assert!(error.contains("polymnemo setup") && error.contains("nothing/postgres/bin"), "{error}");
}

#[tokio::test]
async fn root_drops_to_an_account_that_can_get_to_the_data() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root has privileges to drop");
        return;
    }
    let directory = data_dir();
    let closed = directory.path().join("closed");
    fs::create_dir(&closed).expect("a directory");
    allow(&closed, 0o700);
    let error = EmbeddedPostgres::start(options(&closed.join("data"))).await.expect_err("nobody may enter");
    let named = fs::canonicalize(&closed).expect("it is there");
    assert!(matches!(&error, Error::NotSearchable { directory, .. } if *directory == named), "{error}");

    allow(&closed, 0o711);
    let postgres = start(&closed.join("data")).await;
    let server = server_process(&closed.join("data")).expect("the server says that it runs");
    #[cfg(target_os = "linux")]
    {
        let status = fs::read_to_string(format!("/proc/{}/status", server.as_raw_nonzero())).expect("its status");
        let numbers = |field: &str| -> Vec<u32> {
            let line = status.lines().find(|line| line.starts_with(field)).expect(field);
            line.split_whitespace().skip(1).filter_map(|number| number.parse().ok()).collect()
        };
        assert!(numbers("Uid:").iter().all(|uid| *uid != 0), "{status}");
        assert!(numbers("Gid:").iter().all(|gid| *gid != 0), "{status}");
        assert!(!numbers("Groups:").contains(&0), "{status}");
    }
    assert!(test_kill_process(server).is_ok());
    postgres.stop().await.expect("the database stops");
}
