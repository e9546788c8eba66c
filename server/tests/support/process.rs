use std::{
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::{key_of, runtime_dir};

/// How long a start or an end may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder for a server's data. Where root runs the tests, the account that the embedded database
/// runs as must be able to pass through.
pub fn data_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    folder
}

/// The real binary, running.
pub struct ServerProcess {
    child: Child,
    /// The port it listens on.
    pub port: u16,
}

impl ServerProcess {
    /// The binary with an empty environment but for what finds its parts, in this folder.
    pub fn command(folder: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_polymnemo"));
        command
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("POLYMNEMO_RUNTIME_DIR", runtime_dir())
            .env("POLYMNEMO_DATA_DIR", folder.join("data"))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary to its end.
    pub fn run(folder: &Path, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
        Self::command(folder, arguments).envs(settings.iter().copied()).output().expect("the binary runs")
    }

    /// Serves on a free port, with a key for alice, and waits until it listens.
    pub fn serve(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = Self::command(folder, &["serve"]);
        command
            .env("POLYMNEMO_API_KEYS", format!("{}:alice", key_of("alice")))
            .env("POLYMNEMO_PORT", "0")
            .env("POLYMNEMO_LOG_FORMAT", "json")
            .env("POLYMNEMO_LOG", "warn,polymnemo_server::commands=info")
            .stdout(Stdio::null())
            .envs(settings.iter().copied());
        let mut child = command.spawn().expect("the binary runs");
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut seen = String::new();
        let port = loop {
            let mut line = String::new();
            assert!(log.read_line(&mut line).unwrap() > 0, "the server ended before it listened: {seen}");
            if let Some(port) = listening_port(&line) {
                break port;
            }
            seen.push_str(&line);
        };
        // The pipe must not fill up, and what comes is of use when a test fails.
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                eprintln!("server: {line}");
            }
        });
        Self { child, port }
    }

    /// The process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Sends SIGKILL, as a crash would be.
    pub fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits for the end.
    pub fn wait(&mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "the server did not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for ServerProcess {
    /// A test that failed must not leave a server behind. It gets the chance to stop its database.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.terminate();
            let started = Instant::now();
            while self.child.try_wait().is_ok_and(|status| status.is_none()) && started.elapsed() < PATIENCE {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn listening_port(line: &str) -> Option<u16> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    (event["message"] == "listening").then(|| event["address"].as_str()?.rsplit(':').next()?.parse().ok()).flatten()
}
