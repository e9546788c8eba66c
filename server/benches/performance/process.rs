use std::{
    fs::{self, File},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::{
    app::{USER, key_of},
    client::Client,
    setup::{self, Failure},
};

/// How long a start or an end may take.
const PATIENCE: Duration = Duration::from_secs(120);
const POLL: Duration = Duration::from_millis(5);

/// The real binary, serving.
pub(crate) struct ServerProcess {
    child: Child,
    port: u16,
    started: Instant,
}

impl ServerProcess {
    /// Starts the server on the data in this folder. The key is the user's of all measurements.
    pub(crate) fn start(data: &Path, model: &str) -> Result<Self, Failure> {
        let config = setup::config(data, model)?;
        fs::create_dir_all(data)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = File::create(data.join("server.log"))?;
        let started = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_polymnemo"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("POLYMNEMO_DATA_DIR", data)
            .env("POLYMNEMO_RUNTIME_DIR", &config.directories.runtime)
            .env("POLYMNEMO_EMBED_MODEL", model)
            .env("POLYMNEMO_TIME_ZONE", "UTC")
            .env("POLYMNEMO_PORT", port.to_string())
            .env("POLYMNEMO_API_KEYS", format!("{}:{USER}", key_of(USER)))
            .current_dir(data)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        Ok(Self { child, port, started })
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.port, &key_of(USER))
    }

    /// Asks until there is an answer; gives it and the time since the start.
    pub(crate) async fn first_answer(&mut self, tool: &str, arguments: Value) -> Result<(Value, Duration), Failure> {
        loop {
            // A connection of its own for each attempt, as a client that waits for the server would make.
            match self.client().call(tool, arguments.clone()).await {
                Ok(answer) => return Ok((answer, self.started.elapsed())),
                Err(error) if self.started.elapsed() > PATIENCE => return Err(error),
                Err(_) => {}
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("the server ended ({status}); server.log in its data folder tells why").into());
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Waits until a recall is answered; gives the time since the start.
    pub(crate) async fn ready(&mut self) -> Result<Duration, Failure> {
        Ok(self.first_answer("recall", json!({ "query": "where did we leave the key" })).await?.1)
    }

    /// The most memory that the process ever had resident, in MB; none where the system does not tell.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
    }

    /// Has it end in an orderly way, its database included.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        self.terminate();
        let asked = Instant::now();
        while self.child.try_wait()?.is_none() {
            if asked.elapsed() > PATIENCE {
                return Err("the server did not end".into());
            }
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    fn terminate(&self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // Where it has ended already there is nothing to do.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for ServerProcess {
    /// A measurement that failed must leave neither the server nor its database behind.
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.terminate();
            let _ = self.child.wait();
        }
    }
}
