//! The real server with the fixtures of the MCP conformance suite behind its MCP endpoint.
//!
//! The suite calls tools, prompts and resources that it prescribes. They are mounted here on the
//! server's own router, middleware, transport configuration, authentication and database, so that
//! what passes is our stack and not a demonstration. `end2end/conformance/run.sh` starts it.
//!
//! Settings are those of the server (`POLYMNEMO_PORT`, `POLYMNEMO_DATA_DIR`, `POLYMNEMO_API_KEYS` ...).

#![expect(
    deprecated,
    reason = "the suite also tests what 2026-07-28 deprecates: logging, sampling, subscriptions to resources"
)]

mod content;
mod fixtures;
mod input_required;
mod prompts;
mod resources;
mod tasks;
mod tools;

use std::process::ExitCode;

use polymnemo_app::Site;
use polymnemo_server::{Parts, Server, auth::StaticKeys, config::Config};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::fixtures::Fixtures;

fn main() -> ExitCode {
    // As in the server: the first use of TLS would panic without a choice.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let outcome = tokio::runtime::Runtime::new().map_err(Into::into).and_then(|runtime| runtime.block_on(serve()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the conformance server stopped");
            ExitCode::FAILURE
        }
    }
}

async fn serve() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::WARN).init();
    let config = Config::load()?;
    let listener = TcpListener::bind(config.network.address()).await?;
    let port = listener.local_addr()?.port();
    let parts = Parts::start(&config).await?;
    let keys = StaticKeys::new(&config.access.api_keys);
    let site = Site::load(&config.directories.site)?;
    let server = Server::with_handler(&parts, keys, &config, port, site, Fixtures::default())?;

    let (halt, at_once) = (CancellationToken::new(), CancellationToken::new());
    tokio::spawn({
        let halt = halt.clone();
        async move {
            let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            halt.cancel();
            std::io::Result::Ok(())
        }
    });
    server.run(listener, halt, at_once).await?;
    parts.stop().await;
    Ok(())
}
