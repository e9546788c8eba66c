use std::{path::Path, sync::Arc};

use polymnemo_app::Site;
use polymnemo_memory::{Ctx, Door, Grants, Identity, MemoryService, ports::Embedder};
use polymnemo_server::{
    Parts, Server,
    auth::StaticKeys,
    config::{ApiKey, Config, Secret},
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::{client::Client, setup::Failure};

/// The user that everything is measured for.
pub(crate) const USER: &str = "bench";

/// The server, in this process, behind a real TCP port.
pub(crate) struct App {
    parts: Parts,
    port: u16,
    halt: CancellationToken,
    running: JoinHandle<std::io::Result<()>>,
}

impl App {
    pub(crate) async fn start(config: &Config, embedder: Arc<dyn Embedder>) -> Result<Self, Failure> {
        let parts = Parts::start_with(config, embedder).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let site = Site::load(Path::new("/nonexistent"))?;
        let pair = ApiKey { key: Secret::new(key_of(USER)), user: USER.to_owned() };
        let server = Server::new(&parts, StaticKeys::new(&[pair]), config, port, site)?;
        let halt = CancellationToken::new();
        let running = tokio::spawn(server.run(listener, halt.clone(), CancellationToken::new()));
        Ok(Self { parts, port, halt, running })
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.port, &key_of(USER))
    }

    /// Where the pages are.
    pub(crate) fn base(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// A link that signs the user in.
    pub(crate) async fn sign_in_link(&self) -> Result<String, Failure> {
        let link = self.parts.sign_in_links().make(&self.base()).await.map_err(|error| error.to_string())?;
        Ok(link.expose().to_owned())
    }

    pub(crate) fn service(&self) -> &MemoryService {
        &self.parts.service
    }

    /// What the service is told of a request of the user.
    pub(crate) async fn ctx(&self) -> Result<Ctx, Failure> {
        let user = self.parts.service.user(&Identity::named(USER)).await?;
        Ok(Ctx { user, door: Door::StaticKey, client: None, app: None, grants: Grants::full() })
    }

    pub(crate) async fn stop(self) -> Result<(), Failure> {
        self.halt.cancel();
        self.running.await??;
        self.parts.stop().await;
        Ok(())
    }
}

/// The key of a user.
pub(crate) fn key_of(user: &str) -> String {
    format!("key-of-{user}-0123456789")
}
