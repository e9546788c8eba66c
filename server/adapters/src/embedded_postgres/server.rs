//! The server process: found where it runs already, started where it does not, and stopped.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Seek as _, SeekFrom},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::ExitStatus,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use tokio::process::Child;

use super::{
    Durability,
    account::Account,
    cluster::{Cluster, Programs},
    endpoint::Endpoint,
    error::{Doing as _, Error, Result},
};

/// How long to wait before looking again whether the server has come up or gone.
const POLL: Duration = Duration::from_millis(20);

/// How often to look whether a server that another process started is still alive.
const WATCH: Duration = Duration::from_secs(1);

/// How long the server may take to close its connections and write everything down.
const SHUTDOWN: Duration = Duration::from_secs(30);

/// The log is put aside when it is longer than this at a start, in bytes.
const LOG_BYTES: u64 = 8 << 20;

/// How often to try while processes of a server that was killed are still on their way out.
const ATTEMPTS: u32 = 20;

/// Everything that is needed to start the server.
pub(super) struct Server {
    pub(super) programs: Programs,
    pub(super) cluster: Cluster,
    pub(super) account: Option<Account>,
    pub(super) durability: Durability,
    pub(super) log: PathBuf,
}

/// A server that accepts connections.
#[derive(Debug)]
pub(super) struct Running {
    /// Its first process.
    pid: Pid,
    /// The handle of that process, where this process started it.
    child: Option<Child>,
    /// Where it listens.
    pub(super) endpoint: Endpoint,
}

impl Running {
    /// Whether another process started it.
    pub(super) fn is_attached(&self) -> bool {
        self.child.is_none()
    }

    /// Returns when the server has ended.
    pub(super) async fn ended(&mut self, cluster: &Path) {
        match &mut self.child {
            Some(child) => {
                // Should waiting fail, then because there is no such process any more.
                let _ = child.wait().await;
            }
            None => {
                while is_postmaster(self.pid, cluster) {
                    tokio::time::sleep(WATCH).await;
                }
            }
        }
    }

    /// Stops the server: connections are closed, what they have committed is safe.
    pub(super) async fn stop(self, cluster: &Path) -> Result<()> {
        // The second signal skips writing down what the write-ahead log holds anyway.
        for signal in [Signal::INT, Signal::QUIT] {
            if kill_process(self.pid, signal).is_err() {
                return Ok(());
            }
            let gone = async {
                while is_postmaster(self.pid, cluster) {
                    tokio::time::sleep(POLL).await;
                }
            };
            if tokio::time::timeout(SHUTDOWN, gone).await.is_ok() {
                return Ok(());
            }
        }
        Err(Error::Stop(self.pid.as_raw_nonzero().get()))
    }
}

impl Server {
    /// Attaches to the server where it runs, else starts it; returns when it accepts connections. Only during a
    /// [`super::locks::Turn`].
    ///
    /// `preferred` is where the server listened before, so that those who know the address keep it.
    pub(super) async fn ensure_running(&self, data_dir: &Path, preferred: Option<&Endpoint>) -> Result<Running> {
        if let Some(running) = self.attach().await? {
            return Ok(running);
        }
        let mut attempt = 1;
        loop {
            let endpoint = match preferred {
                Some(endpoint) => endpoint.clone(),
                None => Endpoint::choose(data_dir, self.account.as_ref())?,
            };
            match self.start(endpoint).await {
                Err(Error::Start { reason, .. }) if attempt < ATTEMPTS && reason.contains(STILL_IN_USE) => {
                    attempt += 1;
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                outcome => return outcome,
            }
        }
    }

    /// The server that runs on the cluster already, be it started by another process or left by one that was killed.
    pub(super) async fn attach(&self) -> Result<Option<Running>> {
        let cluster = &self.cluster.directory;
        loop {
            let Some(pid_file) = PidFile::read(cluster) else { return Ok(None) };
            if !is_postmaster(pid_file.pid, cluster) {
                // A server that starts clears away the file of one that has died, but refuses to where the number
                // is by now some other process. Removing the file then is safe: should processes of the old
                // server be left, the new one notices by their shared memory.
                if test_kill_process(pid_file.pid).is_ok() {
                    let path = PidFile::path(cluster);
                    fs::remove_file(&path).doing(|| format!("remove the outdated {}", path.display()))?;
                }
                return Ok(None);
            }
            if let (State::Ready, Some(endpoint)) = (pid_file.state, pid_file.endpoint) {
                return Ok(Some(Running { pid: pid_file.pid, child: None, endpoint }));
            }
            // It is on its way up or down.
            tokio::time::sleep(POLL).await;
        }
    }

    /// Starts the server and waits until it accepts connections, however long it takes to recover from a crash.
    async fn start(&self, endpoint: Endpoint) -> Result<Running> {
        let (log, log_before) = self.open_log()?;
        let doing = || format!("write {}", self.log.display());
        endpoint.clear();
        let mut command = self.programs.command("postgres", &self.cluster.directory, self.account.as_ref());
        command.arg("-D").arg(&self.cluster.directory);
        for (name, value) in endpoint.settings().into_iter().chain(settings(self.durability)) {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        let mut child = command
            .stdout(log.try_clone().doing(doing)?)
            .stderr(log)
            // Ctrl-C in a terminal goes to every process of the group: the server must outlive the requests in flight.
            .process_group(0)
            .spawn()
            .map_err(|error| self.failed(error.to_string(), None))?;
        let started = Instant::now();
        let mut patience = Duration::from_secs(10);
        loop {
            if let Some(status) = child.try_wait().map_err(|error| self.failed(error.to_string(), None))? {
                return Err(self.failed(status_text(status), Some(log_before)));
            }
            // A child that is alive is the only one that can have written a file with its own number.
            if let Some(pid_file) = PidFile::read(&self.cluster.directory)
                && child.id() == u32::try_from(pid_file.pid.as_raw_nonzero().get()).ok()
                && pid_file.state == State::Ready
            {
                tracing::info!(
                    database.process = pid_file.pid.as_raw_nonzero().get(),
                    elapsed.milliseconds = started.elapsed().as_millis(),
                    "the database is up"
                );
                return Ok(Running { pid: pid_file.pid, child: Some(child), endpoint });
            }
            if started.elapsed() > patience {
                patience *= 2;
                tracing::info!("the database is still starting; after a crash it repeats what its log holds");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Opens the log for appending, and gives its length; puts aside one that has grown long.
    fn open_log(&self) -> Result<(File, u64)> {
        let doing = || format!("open {}", self.log.display());
        let mut length = fs::metadata(&self.log).map_or(0, |found| found.len());
        if length > LOG_BYTES {
            fs::rename(&self.log, self.log.with_extension("log.1")).doing(doing)?;
            length = 0;
        }
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&self.log).doing(doing)?;
        Ok((log, length))
    }

    /// The error of a failed start, with what the log has held since this length.
    fn failed(&self, mut reason: String, log_before: Option<u64>) -> Error {
        let said = log_before.and_then(|start| {
            let mut said = Vec::new();
            let mut log = File::open(&self.log).ok()?;
            log.seek(SeekFrom::Start(start)).ok()?;
            log.take(16 << 10).read_to_end(&mut said).ok()?;
            Some(String::from_utf8_lossy(&said).into_owned())
        });
        let lines: Vec<&str> = said.iter().flat_map(|said| said.lines()).collect();
        for line in lines.get(lines.len().saturating_sub(5)..).unwrap_or_default() {
            reason = format!("{reason}; {line}");
        }
        reason.push('.');
        Error::Start { reason, log: self.log.clone() }
    }
}

/// What the server says when processes of its predecessor still live.
const STILL_IN_USE: &str = "still in use";

fn status_text(status: ExitStatus) -> String {
    format!("it ended at once ({status})")
}

/// The server's settings, for one person's memory on a machine that does other things as well.
fn settings(durability: Durability) -> Vec<(&'static str, String)> {
    let mut settings = vec![
        // The name in the list of processes.
        ("cluster_name", "polymnemo"),
        // Every process of ours has a pool of its own.
        ("max_connections", "100"),
        // The indexes over some 100,000 passages stay in memory, and the vectors.
        ("shared_buffers", "512MB"),
        // What the planner may assume of the system's own cache.
        ("effective_cache_size", "1GB"),
        // Sorting the candidates of a search takes little; a hundred connections could ask for it at once.
        ("work_mem", "16MB"),
        // The vector index is built within it.
        ("maintenance_work_mem", "256MB"),
        // Parallel builds want shared memory, of which containers have little.
        ("max_parallel_maintenance_workers", "0"),
        // Solid-state disks find any page as fast as the next one.
        ("random_page_cost", "1.1"),
        // Compiling a query takes longer than running any of ours.
        ("jit", "off"),
        // What is acknowledged is on the disk.
        ("synchronous_commit", "on"),
        // The server's clock, not the machine's: each user's time zone is a setting of the user.
        ("timezone", "UTC"),
        ("log_timezone", "UTC"),
        // The log is for faults. It must not hold what people remember, so neither statements nor values.
        ("log_checkpoints", "off"),
        ("log_min_messages", "warning"),
        ("log_min_error_statement", "panic"),
        ("log_error_verbosity", "terse"),
        ("log_statement", "none"),
        ("log_parameter_max_length", "0"),
        ("log_parameter_max_length_on_error", "0"),
    ];
    if durability == Durability::TestOnly {
        settings.extend([
            ("fsync", "off"),
            ("full_page_writes", "off"),
            ("shared_buffers", "128MB"),
            // Nobody reads the log of changes again, so it stays small.
            ("wal_level", "minimal"),
            ("max_wal_senders", "0"),
            ("max_wal_size", "256MB"),
            // Every test has a pool of its own.
            ("max_connections", "300"),
        ]);
    }
    settings.into_iter().map(|(name, value)| (name, value.to_owned())).collect()
}

/// How far the server has come, by its own account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    Other,
}

/// The file by which a server says that it runs, `postmaster.pid`.
#[derive(Debug)]
struct PidFile {
    pid: Pid,
    state: State,
    endpoint: Option<Endpoint>,
}

impl PidFile {
    fn path(cluster: &Path) -> PathBuf {
        cluster.join("postmaster.pid")
    }

    fn read(cluster: &Path) -> Option<Self> {
        Self::parse(&fs::read_to_string(Self::path(cluster)).ok()?)
    }

    /// Reads the file's lines: process, data directory, start time, port, socket directory, address, shared memory,
    /// state. A server that is starting has not written all of them yet.
    fn parse(content: &str) -> Option<Self> {
        let lines: Vec<&str> = content.lines().map(str::trim).collect();
        let line = |number: usize| lines.get(number).copied().unwrap_or_default();
        let pid = Pid::from_raw(line(0).parse().ok().filter(|number| *number > 0)?)?;
        let state = if line(7) == "ready" { State::Ready } else { State::Other };
        let endpoint = line(3).parse().ok().map(|port| match line(4) {
            "" => Endpoint::Loopback(port),
            directory => Endpoint::Socket { directory: directory.into(), port },
        });
        Some(Self { pid, state, endpoint })
    }
}

/// Whether this process is the server of the cluster, and not another one that was given the same number later.
fn is_postmaster(pid: Pid, cluster: &Path) -> bool {
    // Being refused to send it a signal means that the process belongs to someone else, and we know ours.
    if test_kill_process(pid).is_err() {
        return false;
    }
    let Some(arguments) = arguments(pid) else { return false };
    let mut arguments = arguments.iter().map(String::as_str);
    let is_postgres = arguments.next().is_some_and(|program| Path::new(program).ends_with("postgres"));
    is_postgres && arguments.any(|argument| Path::new(argument) == cluster)
}

/// The command line of a process; none where it has ended.
#[cfg(target_os = "linux")]
fn arguments(pid: Pid) -> Option<Vec<String>> {
    let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).ok()?;
    Some(line.split(|byte| *byte == 0).map(|argument| String::from_utf8_lossy(argument).into_owned()).collect())
}

/// The command line of a process; none where it has ended.
#[cfg(not(target_os = "linux"))]
fn arguments(pid: Pid) -> Option<Vec<String>> {
    let pid = pid.as_raw_nonzero().to_string();
    let output = std::process::Command::new("/bin/ps").args(["-ww", "-o", "command=", "-p", &pid]).output().ok()?;
    let line = String::from_utf8_lossy(&output.stdout).into_owned();
    // Here the arguments come in one line, and paths may hold spaces: take what stands between `-D` and the settings.
    let (program, rest) = line.split_once(" -D ")?;
    let (directory, _) = rest.split_once(" -c ")?;
    Some(vec![program.to_owned(), directory.to_owned()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_file_is_read_as_far_as_it_is_written() {
        let socket = "812\n/data/cluster\n1764480000\n5432\n/data/run\n\n 5432001   32768\nready   \n";
        let file = PidFile::parse(socket).expect("it is complete");
        assert_eq!(file.pid.as_raw_nonzero().get(), 812);
        assert_eq!(file.state, State::Ready);
        assert_eq!(file.endpoint, Some(Endpoint::Socket { directory: "/data/run".into(), port: 5432 }));

        let loopback = "812\n/data/cluster\n1764480000\n6000\n\n127.0.0.1\n 5432001   32768\nstarting\n";
        let file = PidFile::parse(loopback).expect("it is complete");
        assert_eq!((file.state, file.endpoint), (State::Other, Some(Endpoint::Loopback(6000))));

        let file = PidFile::parse("812\n/data/cluster\n").expect("it has begun");
        assert_eq!((file.state, file.endpoint), (State::Other, None));
        assert!(PidFile::parse("").is_none());
        assert!(PidFile::parse("not a number\n").is_none());
        assert!(PidFile::parse("-812\n").is_none_or(|file| file.pid.as_raw_nonzero().get() != 812));
    }

    #[test]
    fn a_process_that_is_no_server_is_not_taken_for_one() {
        let ourselves = rustix::process::getpid();
        assert!(!is_postmaster(ourselves, Path::new("/data/cluster")));
    }
}
