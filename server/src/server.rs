//! A server that is ready to answer: its routes, and how it comes to a halt.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, serve::ListenerExt};
use polymnemo_app::{Site, WebContext};
use polymnemo_mcp::{Caller, McpServer, Toolset};
use polymnemo_memory::MemoryService;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Error, Parts,
    auth::{Authenticator, StaticKeys},
    config::{AuthorizationServer as Issues, Config, SignInConfig},
    connector, jobs,
    oauth::AuthorizationServer,
    oidc::Issuer,
    router::{self, Doors},
    web::{self, SignIn},
};

/// How long requests in flight may take to finish once the server is to halt.
const GRACE: Duration = Duration::from_secs(30);
/// How long connections and jobs may take to end after that.
const LAST_GRACE: Duration = Duration::from_secs(3);

/// The HTTP server over a memory service.
pub struct Server {
    router: Router,
    service: MemoryService,
    requests: TaskTracker,
    streams: CancellationToken,
}

impl Server {
    /// Puts the doors before the service. `port` is the one that is listened on.
    ///
    /// # Errors
    ///
    /// Where what the settings ask for can't be prepared.
    pub fn new(parts: &Parts, keys: StaticKeys, config: &Config, port: u16, site: Site) -> Result<Self, Error> {
        let handler = McpServer::new(parts.service.clone(), Caller::FromRequest, Toolset::Default);
        Self::with_handler(parts, keys, config, port, site, handler)
    }

    /// [`Server::new`] with another MCP handler, so that a conformance suite can bring its fixtures
    /// and still meet everything that stands before ours.
    ///
    /// # Errors
    ///
    /// As [`Server::new`].
    pub fn with_handler(
        parts: &Parts,
        keys: StaticKeys,
        config: &Config,
        port: u16,
        site: Site,
        handler: impl ServerHandler + Clone,
    ) -> Result<Self, Error> {
        let service = parts.service.clone();
        let network = Arc::new(config.network.clone());
        let requests = TaskTracker::new();
        let streams = CancellationToken::new();
        let transport = polymnemo_mcp::streamable_http_with(
            handler,
            network.host_patterns(),
            network.origin_patterns(),
            streams.clone(),
        );
        let origin = network.origin_to_show(port);
        parts.origin.set(&origin);
        let issuer = match &config.sign_in {
            SignInConfig::Oidc(oidc) => Some(Arc::new(Issuer::new(oidc)?)),
            _ => None,
        };
        let sign_in = SignIn::new(
            &config.sign_in,
            network.clone(),
            service.clone(),
            parts.sessions.clone(),
            parts.secrets.clone(),
            issuer.clone(),
            port,
        )?;
        let mcp_url = format!("{origin}{}", network.mcp_path);
        let web = WebContext {
            service: service.clone(),
            sign_in: sign_in.offer(),
            site,
            connection_test: connector::on_behalf::tests(service.clone(), origin.clone(), mcp_url.clone()),
            mcp_url,
            public_url: origin,
        };
        let apps = match network.authorization_server {
            Issues::Own => {
                Some(AuthorizationServer::new(&config.oauth, service.clone(), network.clone(), web.site.clone())?)
            }
            Issues::None | Issues::External(_) => None,
        };
        let (pages, forms) = web::routes(sign_in, web.clone(), apps.as_ref());
        let router = router::router(Doors {
            authenticator: Arc::new(Authenticator::new(keys, service.clone(), network.clone()).with_issuer(issuer)),
            capabilities: StaticKeys::new(&config.access.capability_tokens),
            mcp: router::mount(&network.mcp_path, transport),
            service: service.clone(),
            site: web.site.clone(),
            web: polymnemo_app::files(&web.site).merge(pages),
            file_forms: forms,
            blobs: parts.blobs.clone(),
            apps,
            network,
            requests: requests.clone(),
        });
        Ok(Self { router, service, requests, streams })
    }

    /// Answers requests and does its jobs until `halt` is cancelled; then lets the requests in flight
    /// finish, ends event streams, and returns. `at_once` cuts the waiting short.
    ///
    /// # Errors
    ///
    /// Where the socket fails.
    pub async fn run(
        self,
        listener: TcpListener,
        halt: CancellationToken,
        at_once: CancellationToken,
    ) -> io::Result<()> {
        let Self { router, service, requests, streams } = self;
        let jobs = jobs::spawn(&service, &halt);
        // A client may keep an event stream open for as long as it likes, and a connection counts as
        // busy meanwhile. So streams end as soon as no request is left that has not been answered.
        let ending = tokio::spawn({
            let (halt, at_once, streams) = (halt.clone(), at_once.clone(), streams.clone());
            async move {
                halt.cancelled().await;
                requests.close();
                let grace = tokio::time::timeout(GRACE, requests.wait());
                if let Some(Err(_)) = at_once.run_until_cancelled(grace).await {
                    tracing::warn!("requests were still running after {GRACE:?} and are cut off");
                }
                streams.cancel();
            }
        });
        // An answer must not wait for a full packet.
        let listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                tracing::debug!(%error, "a connection can't be told to send at once");
            }
        });
        // Handlers learn the address of the other side.
        let router = router.into_make_service_with_connect_info::<SocketAddr>();
        let serving = axum::serve(listener, router).with_graceful_shutdown(halt.clone().cancelled_owned());
        let forced = async {
            streams.cancelled().await;
            tokio::time::sleep(LAST_GRACE).await;
        };
        tokio::select! {
            outcome = serving.into_future() => outcome?,
            () = forced => tracing::warn!("connections that did not close were cut off"),
        }
        ending.abort();
        if tokio::time::timeout(LAST_GRACE, jobs.wait()).await.is_err() {
            tracing::warn!("a background job did not end in time");
        }
        Ok(())
    }
}
