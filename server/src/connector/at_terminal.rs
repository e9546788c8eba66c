use std::time::Duration;

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpListener,
};

use super::Person;
use crate::cli::say;

/// How long the person may take.
const PATIENCE: Duration = Duration::from_secs(300);

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n\
    The test goes on in the terminal. You can close this page.\n";

/// A person at a terminal, who opens a link in their browser.
pub(crate) struct AtTerminal {
    listener: TcpListener,
    port: u16,
}

impl AtTerminal {
    /// Listens for the browser to come back.
    ///
    /// # Errors
    ///
    /// Where no port is free.
    pub(crate) async fn new() -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The path and query with which the browser comes back; other requests, such as for an icon, are passed over.
    async fn next_answer(&self) -> std::io::Result<String> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let mut stream = BufReader::new(stream);
            let mut line = String::new();
            stream.read_line(&mut line).await?;
            let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
            stream.write_all(ANSWER.as_bytes()).await?;
            stream.shutdown().await?;
            if path.starts_with("/callback?") {
                return Ok(path);
            }
        }
    }
}

impl Person for AtTerminal {
    fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}/callback", self.port)
    }

    async fn decide(&mut self, address: &str) -> Option<String> {
        say("Open this link in a browser on this machine, sign in and let the test in; it waits five minutes:");
        say(&format!("  {address}"));
        let path = tokio::time::timeout(PATIENCE, self.next_answer()).await.ok()?.ok()?;
        Some(format!("http://127.0.0.1:{}{path}", self.port))
    }
}
