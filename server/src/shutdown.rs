//! When to halt.

use std::io;

use tokio_util::sync::CancellationToken;

/// Cancels `halt` at the first SIGTERM or SIGINT (Ctrl-C), and `at_once` at the second: whoever asks
/// twice does not want to wait.
///
/// # Errors
///
/// Where the process can't have signal handlers.
pub(crate) fn on_signals(halt: &CancellationToken, at_once: &CancellationToken) -> io::Result<()> {
    let mut signals = Signals::install()?;
    let (halt, at_once) = (halt.clone(), at_once.clone());
    tokio::spawn(async move {
        signals.next().await;
        tracing::info!("asked to halt; requests in flight finish first");
        halt.cancel();
        signals.next().await;
        tracing::info!("asked again; halting at once");
        at_once.cancel();
    });
    Ok(())
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
