use std::io::{self, IsTerminal};

use polymnemo_app::Site;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    Error, Parts, Server, SignInLinks,
    auth::{LocalKey, StaticKeys},
    cli::say,
    config::{ApiKey, Config, ConfigError, LOCAL_USER, NetworkConfig, Secret, SignInConfig},
    error::in_one_line,
    shutdown,
};

/// The command line of `serve`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Print how to connect, key included, even where standard output is not a terminal
    #[arg(long)]
    show_connection: bool,
}

/// Serves until a signal asks to halt.
pub(crate) async fn run(config: Config, options: Options) -> Result<(), Error> {
    // The port is taken first, so that clients who come early wait instead of being turned away, and
    // a port in use is told before a database is started.
    let listener = listen(&config.network).await?;
    let address = listener.local_addr().map_err(|error| Error::Failed(format!("the socket does not work: {error}")))?;
    let (halt, at_once) = (CancellationToken::new(), CancellationToken::new());
    shutdown::on_signals(&halt, &at_once)
        .map_err(|error| Error::Failed(format!("signals can't be handled: {error}")))?;

    let (keys, local_key) = keys(&config)?;
    let site = Site::load(&config.directories.site).map_err(|error| {
        let folder = config.directories.site.display();
        ConfigError::new("POLYMNEMO_SITE_DIR", format!("{folder} can't be read: {error}"))
    })?;
    let Some(parts) = halt.run_until_cancelled(Parts::start(&config)).await.transpose()? else { return Ok(()) };
    if !site.hydrates() || !site.styled() {
        let folder = config.directories.site.display();
        tracing::warn!(%folder, "the built files of the web app are missing; pages work, but plainly");
    }
    let server = match Server::new(&parts, keys, &config, address.port(), site) {
        Ok(server) => server,
        Err(error) => {
            parts.stop().await;
            return Err(error);
        }
    };
    if matches!(&config.sign_in, SignInConfig::GitHub(github) if github.allowed.is_none()) {
        tracing::warn!(
            "everyone with an account at GitHub may sign in; POLYMNEMO_ALLOWED_LOGINS can name those who may"
        );
    }
    if config.network.only_loopback_names_are_allowed() && !config.network.host.is_loopback() {
        tracing::warn!(
            "the server listens to other machines but answers to loopback names only; \
             set POLYMNEMO_PUBLIC_URL or POLYMNEMO_ALLOWED_HOSTS to the name that they call it by"
        );
    }
    let origin = config.network.origin_to_show(address.port());
    let mcp_url = format!("{origin}{}", config.network.mcp_path);
    let show_connection = options.show_connection || io::stdout().is_terminal();
    if let Some(local_key) = local_key.as_ref().filter(|_| !show_connection) {
        let file = local_key.path.display();
        tracing::info!(%file, user = LOCAL_USER, "no keys are set; a generated one is in the file");
    }
    let link = sign_in_link(&config, &parts, &origin, show_connection).await;
    tracing::info!(%address, mcp_url, version = env!("CARGO_PKG_VERSION"), "listening");
    if show_connection {
        say(&connection(&origin, &mcp_url, local_key.as_ref()));
    }
    if let Some(link) = link {
        say(&format!("Sign in:      {} (once, for {} minutes)", link.expose(), SignInLinks::MINUTES));
    }

    let outcome = server.run(listener, halt, at_once).await;
    parts.stop().await;
    tracing::info!("halted");
    outcome.map_err(|error| Error::Failed(format!("the server stopped: {error}")))
}

/// A link that signs in, where the server takes such and there is somewhere to print it: it is a
/// secret, so not in the log.
async fn sign_in_link(config: &Config, parts: &Parts, origin: &str, show: bool) -> Option<Secret> {
    let SignInConfig::Link { user } = &config.sign_in else { return None };
    if !show {
        tracing::info!(user, "`polymnemo sign-in-link` prints a link that signs in to the web page");
        return None;
    }
    match parts.sign_in_links().make(origin).await {
        Ok(link) => Some(link),
        Err(error) => {
            tracing::warn!(error = in_one_line(&error), "a sign-in link could not be made");
            None
        }
    }
}

async fn listen(network: &NetworkConfig) -> Result<TcpListener, ConfigError> {
    let address = network.address();
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ConfigError::new(
            "POLYMNEMO_PORT",
            format!("{address} is in use already; stop what listens there or set another port"),
        ),
        io::ErrorKind::PermissionDenied => {
            ConfigError::new("POLYMNEMO_PORT", format!("{address} may not be listened on; choose a port above 1023"))
        }
        _ => ConfigError::new("POLYMNEMO_HOST", format!("{address} can't be listened on: {error}")),
    })
}

/// The keys from the settings, or one that was generated for this machine.
fn keys(config: &Config) -> Result<(StaticKeys, Option<LocalKey>), ConfigError> {
    if !config.access.api_keys.is_empty() {
        return Ok((StaticKeys::new(&config.access.api_keys), None));
    }
    let data = &config.directories.data;
    let local = config.directories.make_data().and_then(|()| LocalKey::load_or_create(data)).map_err(|error| {
        ConfigError::new("POLYMNEMO_DATA_DIR", format!("the key can't be kept in {}: {error}", data.display()))
    })?;
    let pair = ApiKey { key: local.key.clone(), user: LOCAL_USER.to_owned() };
    Ok((StaticKeys::new(&[pair]), Some(local)))
}

/// How to connect, for a person to read and copy. A key from the settings is not repeated: whoever
/// set it has it, and a terminal keeps what it shows.
fn connection(origin: &str, mcp_url: &str, local_key: Option<&LocalKey>) -> String {
    let key = local_key.map_or("YOUR_KEY", |local| local.key.expose());
    // Both are put in as JSON texts; written out like this, the parts come in the order people know.
    let (url, authorization) = (json!(mcp_url), json!(format!("Bearer {key}")));
    format!(
        r#"
Connect an MCP client with this snippet:

{{
  "mcpServers": {{
    "polymnemo": {{
      "type": "http",
      "url": {url},
      "headers": {{ "Authorization": {authorization} }}
    }}
  }}
}}

MCP endpoint: {mcp_url}
Web page:     {origin}/"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snippet_is_valid_json_with_a_working_key() {
        let key = LocalKey { key: Secret::new("polymnemo_secret"), path: "/data/api-key".into() };
        let text = connection("http://127.0.0.1:8000", "http://127.0.0.1:8000/mcp", Some(&key));
        let snippet = text.split("\n\n").find(|part| part.starts_with('{')).unwrap();
        let snippet: serde_json::Value = serde_json::from_str(snippet).unwrap();
        let server = &snippet["mcpServers"]["polymnemo"];
        assert_eq!(server["url"], "http://127.0.0.1:8000/mcp");
        assert_eq!(server["headers"]["Authorization"], "Bearer polymnemo_secret");
        assert!(text.ends_with("MCP endpoint: http://127.0.0.1:8000/mcp\nWeb page:     http://127.0.0.1:8000/"));
    }
}
