use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use polymnemo_app::Site;
use polymnemo_memory::{Ctx, Door, Grants, Identity, MemoryService, ports::Embedder, testing::FakeEmbedder};
use polymnemo_server::{
    Error, Parts, Server, SignInLinks,
    auth::StaticKeys,
    config::{Config, Settings},
};
use reqwest::{Method, RequestBuilder};
use rmcp::ServerHandler;
use sea_orm::DatabaseConnection;
use tempfile::TempDir;
use tokio::{net::TcpListener, runtime::Runtime, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    AUDIENCE, CLIENT_ID, CLIENT_SECRET, GitHub, Issuer, McpClient, TestDatabase, WEB_CLIENT, WEB_SECRET, runtime_dir,
};

/// Who has a key.
const USERS: [&str; 3] = ["alice", "bob", "carol"];

/// The key of a test user.
pub fn key_of(user: &str) -> String {
    format!("test-key-of-{user}-0123456789")
}

/// A running server with a database of its own.
pub struct TestApp {
    service: MemoryService,
    sign_in_links: SignInLinks,
    base: String,
    mcp_path: String,
    client: reqwest::Client,
    halt: CancellationToken,
    running: Option<JoinHandle<std::io::Result<()>>>,
    /// The server's own threads. A test's single thread can't serve while the test itself blocks, and
    /// a connection that is left half open keeps the database from being dropped.
    runtime: Option<Runtime>,
    settings: BTreeMap<String, String>,
    /// Where files are kept, by all replicas.
    data: Arc<TempDir>,
    // Dropped last: the database goes when nobody uses it any more.
    database: Arc<TestDatabase>,
}

/// A server to be started.
#[derive(Default)]
pub struct Builder {
    settings: BTreeMap<String, String>,
    embedder: Option<Arc<dyn Embedder>>,
    real_embedder: bool,
    make_server: Option<MakeServer>,
}

/// Makes the server of its parts; there is one kind for each MCP handler.
type MakeServer = Box<dyn FnOnce(&Parts, StaticKeys, &Config, u16, Site) -> Result<Server, Error> + Send>;

impl Builder {
    /// With this setting. The users' keys, the database and the port are the harness's.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// With the model of the settings.
    pub fn real_embedder(mut self) -> Self {
        self.real_embedder = true;
        self
    }

    /// With an embedder of the test's own.
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// With another MCP handler behind the router.
    pub fn handler(mut self, handler: impl ServerHandler + Clone) -> Self {
        self.make_server = Some(Box::new(|parts, keys, config, port, site| {
            Server::with_handler(parts, keys, config, port, site, handler)
        }));
        self
    }

    /// With sign-in at this GitHub.
    pub fn github(self, github: &GitHub) -> Self {
        self.setting("POLYMNEMO_GITHUB_CLIENT_ID", CLIENT_ID)
            .setting("POLYMNEMO_GITHUB_CLIENT_SECRET", CLIENT_SECRET)
            .setting("POLYMNEMO_GITHUB_URL", github.url())
    }

    /// With access tokens of this issuer, and sign-in there.
    pub fn issuer(self, issuer: &Issuer) -> Self {
        self.setting("POLYMNEMO_OIDC_ISSUER", issuer.url())
            .setting("POLYMNEMO_OIDC_AUDIENCE", AUDIENCE)
            .setting("POLYMNEMO_OIDC_CLIENT_ID", WEB_CLIENT)
            .setting("POLYMNEMO_OIDC_CLIENT_SECRET", WEB_SECRET)
    }

    /// Starts the server.
    pub async fn start(self) -> TestApp {
        let data = Arc::new(tempfile::tempdir().unwrap());
        self.start_on(Arc::new(TestDatabase::create().await), data).await
    }

    async fn start_on(self, database: Arc<TestDatabase>, data: Arc<TempDir>) -> TestApp {
        let keys: Vec<String> = USERS.iter().map(|user| format!("{}:{user}", key_of(user))).collect();
        let mut settings = self.settings;
        settings.entry("POLYMNEMO_TIME_ZONE".into()).or_insert_with(|| "Europe/Berlin".into());
        settings.insert("POLYMNEMO_API_KEYS".into(), keys.join(","));
        settings.insert("POLYMNEMO_DATABASE_URL".into(), database.url().to_owned());
        settings.insert("POLYMNEMO_RUNTIME_DIR".into(), runtime_dir().to_string_lossy().into_owned());
        settings.insert("POLYMNEMO_PORT".into(), "0".into());
        settings.insert("POLYMNEMO_DATA_DIR".into(), data.path().to_string_lossy().into_owned());
        for name in ["POLYMNEMO_EMBED_MODEL", "POLYMNEMO_EMBED_MODEL_DIR"] {
            if let Ok(value) = std::env::var(name) {
                settings.entry(name.into()).or_insert(value);
            }
        }
        let kept = settings.clone();
        let settings = settings.into_iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let settings = Settings::from_sources(settings, Path::new("/nonexistent")).unwrap();
        let config = Config::from_settings(&settings).unwrap();

        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let starting = runtime.spawn(async move {
            let parts = if self.real_embedder {
                Parts::start(&config).await
            } else {
                let embedder = self.embedder.unwrap_or_else(|| Arc::new(FakeEmbedder::default()));
                Parts::start_with(&config, embedder).await
            };
            let parts = parts.expect("the parts of the test server");
            (parts, TcpListener::bind(config.network.address()).await.unwrap(), config)
        });
        let (parts, listener, config) = starting.await.unwrap();
        let address = listener.local_addr().unwrap();
        let site = Site::load(Path::new("/nonexistent")).unwrap();
        let mcp_path = config.network.mcp_path.clone();
        let keys = StaticKeys::new(&config.access.api_keys);
        let make_server = self.make_server.unwrap_or_else(|| Box::new(Server::new));
        let server = make_server(&parts, keys, &config, address.port(), site).unwrap();
        let halt = CancellationToken::new();
        let running = runtime.spawn(server.run(listener, halt.clone(), CancellationToken::new()));
        TestApp {
            service: parts.service.clone(),
            sign_in_links: parts.sign_in_links(),
            base: format!("http://{address}"),
            mcp_path,
            client: reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap(),
            halt,
            running: Some(running),
            runtime: Some(runtime),
            settings: kept,
            data,
            database,
        }
    }
}

impl TestApp {
    /// A server whose embedder knows words only.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// A server to be adapted.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Another server with the same settings over the same database.
    pub async fn replica(&self) -> Self {
        let builder = Builder { settings: self.settings.clone(), ..Builder::default() };
        builder.start_on(self.database.clone(), self.data.clone()).await
    }

    /// Where the server keeps files.
    pub fn blobs(&self) -> PathBuf {
        self.data.path().join("blobs")
    }

    /// The address of the server, without a slash at the end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The address of the MCP endpoint.
    pub fn mcp_url(&self) -> String {
        format!("{}{}", self.base, self.mcp_path)
    }

    /// An MCP client with this user's key.
    pub fn mcp(&self, user: &str) -> McpClient {
        McpClient::new(self.client.clone(), self.mcp_url(), key_of(user))
    }

    /// An MCP client with this credential.
    pub fn mcp_with(&self, credential: &str) -> McpClient {
        McpClient::new(self.client.clone(), self.mcp_url(), credential.to_owned())
    }

    /// The HTTP client of the tests, which follows no redirect.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// A bare HTTP request to this path.
    pub fn http(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.base))
    }

    /// A new link that signs in, as `polymnemo sign-in-link` prints it.
    pub async fn sign_in_link(&self) -> String {
        self.sign_in_links.make(&self.base).await.unwrap().expose().to_owned()
    }

    /// The service behind the doors.
    pub fn service(&self) -> &MemoryService {
        &self.service
    }

    /// What the service is told of a request that this user sends from the web app.
    pub async fn person(&self, user: &str) -> Ctx {
        Ctx::of_person(self.service.user(&Identity::named(user)).await.unwrap())
    }

    /// What the service is told of a request that a client of this user sends.
    pub async fn ctx(&self, user: &str) -> Ctx {
        let user = self.service.user(&Identity::named(user)).await.unwrap();
        Ctx { user, door: Door::StaticKey, client: None, app: None, grants: Grants::full() }
    }

    /// The URL of the database, for another process. It holds a password.
    pub fn database_url(&self) -> &str {
        self.database.url()
    }

    /// A connection past all row-level security, to look at what is really stored.
    pub async fn database(&self) -> DatabaseConnection {
        self.database.connect_as_superuser().await
    }

    /// Takes the database away from the server.
    pub async fn cut_off_database(&self) {
        self.database.cut_off().await;
    }

    /// Asks the server to halt; the handle ends when it has.
    pub fn halt(&mut self) -> JoinHandle<std::io::Result<()>> {
        self.halt.cancel();
        self.running.take().expect("the server was halted already")
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
