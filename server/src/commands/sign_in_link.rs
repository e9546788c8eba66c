use std::io::{self, Write as _};

use crate::{
    Error, SignInLinks,
    cli::say,
    compose::Database,
    config::{Config, ConfigError, SignInConfig},
    error::in_one_line,
};

/// Prints a new link that signs in to the web app of the server on this machine. On standard output
/// there is nothing but the link.
pub(crate) async fn run(config: Config) -> Result<(), Error> {
    check(&config)?;
    let database = Database::open(&config).await?;
    let link = SignInLinks::new(database.secrets()).make(&config.network.origin_to_show(config.network.port)).await;
    database.close().await;
    let link = link.map_err(|error| Error::Database(in_one_line(&error)))?;
    say(link.expose());
    let _ = writeln!(io::stderr(), "It works once, on this machine, for {} minutes.", SignInLinks::MINUTES);
    Ok(())
}

/// Refuses where the server takes no links.
fn check(config: &Config) -> Result<(), ConfigError> {
    match &config.sign_in {
        SignInConfig::Link { .. } => {}
        SignInConfig::GitHub(_) => {
            return Err(ConfigError::new(
                "POLYMNEMO_GITHUB_CLIENT_ID",
                "set, so people sign in with GitHub and not by a link; open the web page instead",
            ));
        }
        SignInConfig::Oidc(_) => {
            return Err(ConfigError::new(
                "POLYMNEMO_OIDC_ISSUER",
                "set, so people sign in there and not by a link; open the web page instead",
            ));
        }
        SignInConfig::Closed => {
            config.access.stdio_user()?;
            return Err(ConfigError::new(
                "POLYMNEMO_GITHUB_CLIENT_ID",
                "not set, and others can reach the server, so nobody signs in; links are for servers of this machine only",
            ));
        }
    }
    if config.network.port == 0 {
        return Err(ConfigError::new(
            "POLYMNEMO_PORT",
            "0 takes any free port, so the address of the server is not known; set a port",
        ));
    }
    Ok(())
}
