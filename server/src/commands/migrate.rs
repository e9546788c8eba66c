use crate::{Error, cli::say, compose::Database, config::Config};

/// Brings the schema up to date, the embedded database's too. Opening a database does just that.
pub(crate) async fn run(config: Config) -> Result<(), Error> {
    let database = Database::open(&config).await?;
    database.close().await;
    say("The database schema is up to date.");
    Ok(())
}
