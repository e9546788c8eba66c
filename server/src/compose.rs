//! The composition root: the only place that names implementations.

use std::sync::Arc;

use polymnemo_adapters::{
    embedded_postgres::{self, Durability, EmbeddedPostgres},
    embedder::FastEmbedder,
};
use polymnemo_memory::{
    MemoryService,
    ports::{Embedder, Store, SystemClock},
};
use polymnemo_store::{BrowserSessions, OneTimeSecrets, PgOptions, PgStore};

use crate::{Error, SignInLinks, config::Config, error::in_one_line};

/// The running parts of a server, with what must be stopped in the end.
pub struct Parts {
    /// The memory service over the parts.
    pub service: MemoryService,
    /// Where the web app keeps who is signed in.
    pub(crate) sessions: BrowserSessions,
    /// Where what works once is kept: sign-ins under way, and links that sign in.
    pub(crate) secrets: OneTimeSecrets,
    database: Database,
}

impl Parts {
    /// Starts the parts that the settings choose: the database comes up and its schema is brought up
    /// to date, while the model is loaded in the background and may still be when this returns.
    ///
    /// # Errors
    ///
    /// Where the database can't be reached, or the model or its library is not there.
    pub async fn start(config: &Config) -> Result<Self, Error> {
        Self::start_with(config, embedder(config)?).await
    }

    /// [`Parts::start`] with another embedder, for tests and measurements that bring their own.
    ///
    /// # Errors
    ///
    /// Where the database can't be reached.
    pub async fn start_with(config: &Config, embedder: Arc<dyn Embedder>) -> Result<Self, Error> {
        let database = Database::open(config).await?;
        match service(config, &database, embedder).await {
            Ok(service) => {
                Ok(Self { service, sessions: database.store.browser_sessions(), secrets: database.secrets(), database })
            }
            Err(error) => {
                database.close().await;
                Err(error)
            }
        }
    }

    /// Makes links that sign in to the web app of a server for this machine only.
    #[must_use]
    pub fn sign_in_links(&self) -> SignInLinks {
        SignInLinks::new(self.secrets.clone())
    }

    /// Stops the parts; the database last.
    pub async fn stop(self) {
        let Self { service, sessions, secrets, database } = self;
        drop((service, sessions, secrets));
        database.close().await;
    }
}

async fn service(config: &Config, database: &Database, embedder: Arc<dyn Embedder>) -> Result<MemoryService, Error> {
    let store: Arc<dyn Store> = Arc::new(database.store.clone());
    let prepare = async {
        store.register_model(embedder.model()).await?;
        store.set_shared_namespaces(&config.memory.shared_namespaces).await
    };
    prepare.await.map_err(|error| Error::Database(format!("the database can't be prepared: {}", cause(&error))))?;
    Ok(MemoryService::new(store, embedder, Arc::new(SystemClock), config.memory.user_defaults.clone()))
}

/// The embedder of the settings; it begins to load its model.
pub(crate) fn embedder(config: &Config) -> Result<Arc<dyn Embedder>, Error> {
    let embedder = FastEmbedder::open(&config.embedder.model_dir, &config.embedder.runtime_library)
        .map_err(|error| Error::Model(in_one_line(&error)))?;
    Ok(embedder)
}

/// The store, and the embedded database under it if there is one.
pub(crate) struct Database {
    store: PgStore,
    embedded: Option<EmbeddedPostgres>,
}

impl Database {
    /// Connects to the database of the settings, or to an embedded one, which is started unless
    /// another process runs it already; and brings its schema up to date.
    pub(crate) async fn open(config: &Config) -> Result<Self, Error> {
        let options = PgOptions { max_connections: config.database.max_connections, ..PgOptions::default() };
        if let Some(url) = &config.database.url {
            let store = PgStore::connect(url.expose(), options).await.map_err(|error| {
                Error::Database(format!("POLYMNEMO_DATABASE_URL: the database can't be used: {}", cause(&error)))
            })?;
            return Ok(Self { store, embedded: None });
        }
        let embedded = EmbeddedPostgres::start(embedded_postgres::Options {
            runtime_dir: config.directories.runtime.clone(),
            data_dir: config.directories.data.clone(),
            durability: Durability::Durable,
        });
        let embedded = embedded.await.map_err(|error| Error::Database(in_one_line(&error)))?;
        // Nobody stands between us and our own database.
        let options = PgOptions { keep_statements: true, ..options };
        match PgStore::connect(embedded.url(), options).await {
            Ok(store) => Ok(Self { store, embedded: Some(embedded) }),
            Err(error) => {
                stop(embedded).await;
                Err(Error::Database(format!("the embedded database can't be used: {}", cause(&error))))
            }
        }
    }

    /// The name and version of the database.
    pub(crate) async fn describe(&self) -> polymnemo_memory::Result<String> {
        self.store.describe().await
    }

    /// Where what works once is kept.
    pub(crate) fn secrets(&self) -> OneTimeSecrets {
        self.store.one_time_secrets()
    }

    /// Closes all connections, then stops the embedded database, unless other processes still use it.
    pub(crate) async fn close(self) {
        drop(self.store);
        if let Some(embedded) = self.embedded {
            stop(embedded).await;
        }
    }
}

/// A database that doesn't stop goes on running, and the next start finds it: worth a line in the
/// log, not a failure.
async fn stop(embedded: EmbeddedPostgres) {
    if let Err(error) = embedded.stop().await {
        tracing::warn!(error = in_one_line(&error), "the embedded database did not stop");
    }
}

/// What went wrong with the database. The service's own words are for whoever called it; at the
/// start there is nobody to try again.
fn cause(error: &polymnemo_memory::Error) -> String {
    match error {
        polymnemo_memory::Error::Unavailable { source, .. } | polymnemo_memory::Error::Internal(source) => {
            in_one_line(source.as_ref())
        }
        other => in_one_line(other),
    }
}
