use std::{
    io::{BufRead, BufReader, Read},
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    sync::{Arc, Mutex},
    thread::JoinHandle,
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
    log: Arc<Mutex<String>>,
    output: Option<JoinHandle<String>>,
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

    /// Serves on a free port, with a key for alice.
    pub fn serve(folder: &Path, settings: &[(&str, &str)]) -> Self {
        let mut command = Self::command(folder, &["serve"]);
        command.env("POLYMNEMO_API_KEYS", format!("{}:alice", key_of("alice"))).envs(settings.iter().copied());
        Self::start(command)
    }

    /// Starts a command that serves, on a free port where none is set, and waits until it listens.
    pub fn start(mut command: Command) -> Self {
        if command.get_envs().all(|(name, _)| name != "POLYMNEMO_PORT") {
            command.env("POLYMNEMO_PORT", "0");
        }
        command.env("POLYMNEMO_LOG_FORMAT", "json");
        let mut child = command.spawn().expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let log = Arc::new(Mutex::new(String::new()));
        let port = loop {
            let mut line = String::new();
            let seen = &mut *log.lock().unwrap();
            assert!(lines.read_line(&mut line).unwrap() > 0, "the server ended before it listened: {seen}");
            seen.push_str(&line);
            if let Some(port) = listening_port(&line) {
                break port;
            }
        };
        // The pipes must not fill up.
        let further = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                further.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        let mut stdout = child.stdout.take().unwrap();
        let output = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.read_to_string(&mut text).unwrap();
            text
        });
        Self { child, port, log, output: Some(output) }
    }

    /// What was logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Ends the server and gives all that it printed on standard output.
    pub fn finish(mut self) -> String {
        self.terminate();
        assert_eq!(self.wait().code(), Some(0), "{}", self.log());
        self.output.take().unwrap().join().unwrap()
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
        if std::thread::panicking() {
            eprintln!("the server's log:\n{}", self.log());
        }
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
