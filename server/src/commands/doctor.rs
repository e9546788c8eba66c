use std::{fmt, io, net::SocketAddr, path::Path, process::ExitCode, time::Duration};

use futures::StreamExt as _;
use polymnemo_app::{
    Site,
    i18n::{Language, connection_test},
};
use polymnemo_memory::ports::{BlobStore, Origin, Promise};
use polymnemo_types::{ConnectionOutcome, ConnectionReport};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::{
    Error,
    cli::say,
    compose,
    config::{Config, DirectoryConfig, FileStorageConfig, NetworkConfig, SignInConfig},
    connector::{self, at_terminal::AtTerminal},
    error::in_one_line,
};

/// How long something that listens on our port may take to say who it is.
const PATIENCE: Duration = Duration::from_secs(3);

/// What to check.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Test the connection to the MCP endpoint at this URL instead, step by step, as AI apps make it
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

/// Checks every part on its own and prints a line for each: that it passes, or how to mend it.
pub(crate) async fn run(options: Options) -> Result<ExitCode, Error> {
    let mut report = Report { failed: false };
    if let Some(url) = options.url {
        test_connection(&url, &mut report).await?;
        return Ok(report.exit_code());
    }
    let config = match Config::load() {
        Ok(config) => config,
        Err(error) => {
            report.fail("settings", error);
            return Ok(report.exit_code());
        }
    };
    report.pass("settings", who_may_connect(&config));
    report.pass("sign-in", who_may_sign_in(&config));
    report.check("data directory", writable(&config.directories));
    report.check("runtime library", runtime_library(&config));
    report.check("model", model(&config).await);
    report.check("database", database(&config).await);
    for outcome in files(&config).await {
        report.check("files", outcome);
    }
    report.check("web app", web_app(&config.directories.site));
    report.check("port", port(&config.network).await);
    Ok(report.exit_code())
}

/// Takes the steps of an AI app, from wherever this runs; the person at the terminal lets it in.
async fn test_connection(url: &str, report: &mut Report) -> Result<(), Error> {
    let address = url::Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(address) = address.filter(|address| address.path() != "/") else {
        report.fail("address", "give the URL that you give to AI apps, with its path: https://memory.example.com/mcp");
        return Ok(());
    };
    let failed = |error: String| Error::Failed(format!("the test can't begin: {error}"));
    let person = AtTerminal::new().await.map_err(|error| failed(error.to_string()))?;
    let test = connector::Test::new(address.as_str(), person).map_err(|error| failed(error.to_string()))?;
    for ConnectionReport { step, outcome } in test.run().await {
        let step = connection_test::step(Language::English, step);
        match outcome {
            ConnectionOutcome::Passed => say(&format!("pass  {step}")),
            ConnectionOutcome::Skipped => say(&format!("skip  {step}")),
            ConnectionOutcome::Failed { problem, seen } => {
                let fix = connection_test::fix(Language::English, problem).replace('`', "");
                report.fail(step, if seen.is_empty() { fix } else { format!("{fix} (seen: {seen})") });
            }
        }
    }
    Ok(())
}

struct Report {
    failed: bool,
}

impl Report {
    fn check(&mut self, part: &str, outcome: Result<String, String>) {
        match outcome {
            Ok(found) => self.pass(part, found),
            Err(fix) => self.fail(part, fix),
        }
    }

    fn pass(&mut self, part: &str, found: impl fmt::Display) {
        say(&format!("pass  {part}: {found}"));
    }

    fn fail(&mut self, part: &str, fix: impl fmt::Display) {
        self.failed = true;
        say(&format!("FAIL  {part}: {fix}"));
    }

    fn exit_code(&self) -> ExitCode {
        if self.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn who_may_connect(config: &Config) -> String {
    match config.access.api_keys.len() {
        0 => "good; a generated key is used, since POLYMNEMO_API_KEYS is not set".to_owned(),
        1 => "good; one key may connect".to_owned(),
        keys => format!("good; {keys} keys may connect"),
    }
}

fn who_may_sign_in(config: &Config) -> String {
    match &config.sign_in {
        SignInConfig::GitHub(github) => {
            let who = if github.allowed.is_some() { "those in POLYMNEMO_ALLOWED_LOGINS" } else { "everyone" };
            format!("{who} with an account at {}", github.url)
        }
        SignInConfig::Oidc(oidc) => format!("everyone with an account at {}", oidc.issuer),
        SignInConfig::Link { user } => format!("{user}, with a link that `polymnemo sign-in-link` prints"),
        SignInConfig::Closed if config.network.is_for_this_machine_only() => {
            "nobody; POLYMNEMO_API_KEYS names several users, and POLYMNEMO_STDIO_USER chooses none".to_owned()
        }
        SignInConfig::Closed => {
            "nobody; others can reach the server, and neither POLYMNEMO_GITHUB_CLIENT_ID nor POLYMNEMO_OIDC_ISSUER is set"
                .to_owned()
        }
    }
}

fn writable(directories: &DirectoryConfig) -> Result<String, String> {
    let folder = &directories.data;
    match directories.make_data().and_then(|()| tempfile::tempfile_in(folder)) {
        Ok(_) => Ok(format!("{} can be written", folder.display())),
        Err(error) => Err(format!(
            "{} can't be written ({error}); correct its permissions, or set POLYMNEMO_DATA_DIR to another folder",
            folder.display()
        )),
    }
}

fn runtime_library(config: &Config) -> Result<String, String> {
    let library = config.embedder.runtime_library.display();
    if config.embedder.runtime_library.is_file() {
        return Ok(format!("{library} is there"));
    }
    Err(format!("{library} is missing; run `polymnemo setup`"))
}

/// Loads the model and embeds a word: nothing less shows that it works.
async fn model(config: &Config) -> Result<String, String> {
    let embedder = compose::embedder(config).map_err(|error| error.to_string())?;
    let vector = embedder.embed_query("memory").await.map_err(|error| in_one_line(&error))?;
    let model = embedder.model();
    if vector.len() != model.dimension as usize {
        return Err(format!(
            "{} gave {} numbers where its manifest says {}; run `polymnemo setup`, or correct the manifest of your own model",
            model.id,
            vector.len(),
            model.dimension
        ));
    }
    Ok(format!("{} works, {} dimensions", model.id, model.dimension))
}

/// Keeps a file and deletes it again; asks a service that browsers send files to whether it lets them.
async fn files(config: &Config) -> Vec<Result<String, String>> {
    let origin = config.network.origin_to_show(config.network.port);
    let storage = match compose::storage(config, &Origin::new(&origin), &rand::random::<[u8; 32]>()).await {
        Ok(Some(storage)) => storage.store,
        Ok(None) => return vec![Ok("none are kept, as POLYMNEMO_BLOB_BACKEND says".to_owned())],
        Err(error) => return vec![Err(error.to_string())],
    };
    let place = match &config.files.storage {
        FileStorageConfig::None => String::new(),
        FileStorageConfig::Local(folder) => folder.display().to_string(),
        FileStorageConfig::S3(s3) => format!("the bucket {}", s3.bucket),
    };
    let kept = match keep_and_delete(storage.as_ref()).await {
        Ok(()) => Ok(format!("{place} keeps, gives back and deletes files")),
        Err(error) => Err(format!(
            "{place} does not keep files ({}); correct its permissions, or the settings POLYMNEMO_BLOB_*",
            in_one_line(&error)
        )),
    };
    if kept.is_err() || storage.origin().is_none() {
        return vec![kept];
    }
    vec![kept, lets_browsers_in(storage.as_ref(), &origin).await]
}

/// A key that nothing else has.
fn key_of_test() -> String {
    hex::encode(rand::random::<[u8; 20]>())
}

async fn keep_and_delete(storage: &dyn BlobStore) -> polymnemo_memory::Result<()> {
    const FILE: &[u8] = b"a test of polymnemo doctor";
    let key = key_of_test();
    storage.put(&key, "text/plain", bytes::Bytes::from_static(FILE)).await?;
    let read = async {
        let mut read = Vec::new();
        if let Some(mut chunks) = storage.read(&key, None).await? {
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| polymnemo_memory::Error::Internal(error.into()))?;
                read.extend_from_slice(&chunk);
            }
        }
        Ok::<_, polymnemo_memory::Error>(read)
    };
    let read = read.await;
    storage.delete(&key).await?;
    if read? == FILE { Ok(()) } else { Err(polymnemo_memory::Error::internal("other bytes came back than were sent")) }
}

/// Asks as a browser does before a page sends a file somewhere else.
async fn lets_browsers_in(storage: &dyn BlobStore, origin: &str) -> Result<String, String> {
    let promise = Promise { content_type: "image/png".to_owned(), size: 1, sha256: None };
    let expires_at = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(60);
    let signed = storage.sign_put(&key_of_test(), &promise, expires_at).await.map_err(|error| in_one_line(&error))?;
    let client = reqwest::Client::builder().timeout(PATIENCE).build().map_err(|error| in_one_line(&error))?;
    let answer = client
        .request(reqwest::Method::OPTIONS, &signed.url)
        .header("origin", origin)
        .header("access-control-request-method", "PUT")
        .header("access-control-request-headers", "content-type")
        .send()
        .await
        // The URL is a secret.
        .map_err(|error| {
            format!("the storage can't be reached where browsers reach it: {}", in_one_line(&error.without_url()))
        })?;
    let says = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let lets_origin =
        matches!(says("access-control-allow-origin"), "*") || says("access-control-allow-origin") == origin;
    let lets_method =
        says("access-control-allow-methods").split(',').any(|method| matches!(method.trim(), "PUT" | "*"));
    if answer.status().is_success() && lets_origin && lets_method {
        return Ok(format!("pages of {origin} may send files to the storage"));
    }
    Err(format!(
        "the storage does not let pages of {origin} send files to it; allow that origin GET, HEAD and PUT with the header \
         Content-Type in the CORS rules of the bucket"
    ))
}

async fn database(config: &Config) -> Result<String, String> {
    let database = compose::Database::open(config).await.map_err(|error| error.to_string())?;
    let described = database.describe().await;
    database.close().await;
    let kind = if config.database.url.is_some() { "of POLYMNEMO_DATABASE_URL" } else { "embedded" };
    described.map(|described| format!("{described}, {kind}")).map_err(|error| in_one_line(&error))
}

fn web_app(folder: &Path) -> Result<String, String> {
    match Site::load(folder) {
        Ok(site) if site.styled() && site.hydrates() => Ok(format!("its files are in {}", folder.display())),
        // Not a failure: every page works without them.
        Ok(_) => Ok(format!("its files are not in {}, so pages are plain; `make run` builds them", folder.display())),
        Err(error) => Err(format!("{} can't be read ({error}); correct its permissions", folder.display())),
    }
}

/// The port is free, or it is our own server that has it.
async fn port(network: &NetworkConfig) -> Result<String, String> {
    let address = network.address();
    match TcpListener::bind(address).await {
        Ok(_) => Ok(format!("{address} is free")),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let asked = tokio::time::timeout(PATIENCE, is_polymnemo(network)).await;
            if matches!(asked, Ok(Ok(true))) {
                return Ok(format!("{address} is served by polymnemo"));
            }
            Err(format!("{address} is taken by another program; stop it, or set POLYMNEMO_PORT to another port"))
        }
        Err(error) => {
            Err(format!("{address} can't be listened on ({error}); correct POLYMNEMO_HOST or POLYMNEMO_PORT"))
        }
    }
}

async fn is_polymnemo(network: &NetworkConfig) -> io::Result<bool> {
    let host = if network.host.is_unspecified() { [127, 0, 0, 1].into() } else { network.host };
    let mut stream = TcpStream::connect(SocketAddr::new(host, network.port)).await?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.take(4096).read_to_string(&mut answer).await?;
    Ok(answer.contains(r#""status":"alive""#))
}
