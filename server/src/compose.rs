//! The composition root: the only place that names implementations.

use std::{path::PathBuf, sync::Arc};

use polymnemo_adapters::{
    blobs::{LocalBlobs, S3Blobs, S3Options},
    embedded_postgres::{self, Durability, EmbeddedPostgres},
    embedder::FastEmbedder,
};
use polymnemo_memory::{
    ExportPlace, MemoryService,
    ports::{BlobStore, Embedder, Erasures as _, Files, Origin, Store, SystemClock},
    receipt::{PublicKey, ReceiptKey},
};
use polymnemo_store::{BrowserSessions, OneTimeSecrets, PgOptions, PgStore};

use crate::{
    Error, SignInLinks,
    config::{Config, FileStorageConfig},
    error::in_one_line,
};

/// The running parts of a server, with what must be stopped in the end.
pub struct Parts {
    /// The memory service over the parts.
    pub service: MemoryService,
    /// Where the web app keeps who is signed in.
    pub(crate) sessions: BrowserSessions,
    /// Where what works once is kept: sign-ins under way, and links that sign in.
    pub(crate) secrets: OneTimeSecrets,
    /// The address that links lead to; to be set as soon as it is known.
    pub(crate) origin: Origin,
    /// The storage for files whose URLs this server answers itself.
    pub(crate) blobs: Option<LocalBlobs>,
    database: Database,
}

/// Where files are kept.
pub(crate) struct Storage {
    pub(crate) store: Arc<dyn BlobStore>,
    /// The same, where its URLs are ours to answer.
    local: Option<LocalBlobs>,
}

impl Parts {
    /// The users of this name, or of this id.
    pub(crate) async fn users_named(&self, name: &str) -> polymnemo_memory::Result<Vec<polymnemo_memory::User>> {
        self.database.store().users_named(name).await
    }

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
        let origin = Origin::new(config.network.origin_to_show(config.network.port));
        let prepared = async {
            let service = service(config, &database, embedder).await?;
            let secret = database.store.server_secret(BLOB_SECRET, rand::random()).await;
            let secret = secret
                .map_err(|error| Error::Database(format!("the database can't be prepared: {}", cause(&error))))?;
            let storage = storage(config, &origin, &secret).await?;
            let exports_only = local_storage(config.directories.data.join("exports"), &origin, &secret)?;
            Ok((service, storage, exports_only))
        };
        match prepared.await {
            Ok((service, storage, exports_only)) => {
                let blobs = match &storage {
                    Some(storage) => storage.local.clone(),
                    // Exports need a place all the same.
                    None => Some(exports_only.clone()),
                };
                let store: Arc<dyn BlobStore> = match &storage {
                    Some(storage) => storage.store.clone(),
                    None => Arc::new(exports_only),
                };
                let folder = config.directories.data.join("exports");
                let service = service.with_exports(ExportPlace { store, folder });
                let service = match storage {
                    Some(storage) => service.with_files(Files {
                        store: storage.store,
                        max_bytes: config.files.max_bytes,
                        quota_bytes: config.files.quota_bytes,
                        origin: origin.clone(),
                    }),
                    None => service,
                };
                let (sessions, secrets) = (database.store.browser_sessions(), database.secrets());
                Ok(Self { service, sessions, secrets, origin, blobs, database })
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
        let Self { service, sessions, secrets, database, .. } = self;
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
    let service = MemoryService::new(store, embedder, Arc::new(SystemClock), config.memory.user_defaults.clone());
    Ok(service.with_import_folder(&config.directories.data.join(IMPORTS)).with_backups_for(config.erasing.backup_days))
}

/// The storage for files of the settings. Nobody is asked about it yet: where it can't be reached, all else works.
/// `secret` signs the URLs that are ours to answer.
pub(crate) async fn storage(config: &Config, origin: &Origin, secret: &[u8]) -> Result<Option<Storage>, Error> {
    let failed = files_not_kept;
    match &config.files.storage {
        FileStorageConfig::None => Ok(None),
        FileStorageConfig::Local(folder) => {
            let local = local_storage(folder.clone(), origin, secret)?;
            Ok(Some(Storage { store: Arc::new(local.clone()), local: Some(local) }))
        }
        FileStorageConfig::S3(s3) => {
            let options = S3Options {
                bucket: s3.bucket.clone(),
                region: s3.region.clone(),
                endpoint_url: s3.endpoint_url.clone(),
                public_endpoint_url: s3.public_endpoint_url.clone(),
                access_key_id: s3.access_key_id.expose().to_owned(),
                secret_access_key: s3.secret_access_key.expose().to_owned(),
                path_style: s3.path_style,
            };
            let s3 = S3Blobs::new(&options).await.map_err(failed)?;
            Ok(Some(Storage { store: Arc::new(s3), local: None }))
        }
    }
}

/// The folder in the data directory in which files to import wait that come from a browser.
const IMPORTS: &str = "imports";
fn local_storage(folder: PathBuf, origin: &Origin, secret: &[u8]) -> Result<LocalBlobs, Error> {
    LocalBlobs::new(folder, secret, origin.clone(), Arc::new(SystemClock)).map_err(files_not_kept)
}

fn files_not_kept(error: polymnemo_memory::Error) -> Error {
    Error::Failed(format!("files can't be kept: {}", cause(&error)))
}

/// What the secret is called that signs the URLs of the local storage.
const BLOB_SECRET: &str = "blob urls";

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
        let embedded = start_embedded(config).await?;
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

    /// The store, for commands that need nothing but it.
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(self.store.clone())
    }

    /// As whom all of it can be read: of an embedded database as its superuser.
    pub(crate) fn url_for_dump(&self, config: &Config) -> String {
        match (&self.embedded, &config.database.url) {
            (Some(embedded), _) => admin_of(embedded),
            (None, Some(url)) => url.expose().to_owned(),
            (None, None) => String::new(),
        }
    }

    /// The next objects that files refer to, by key, each with its type; those after `after`.
    pub(crate) async fn objects(&self, after: &str) -> polymnemo_memory::Result<Vec<(String, String)>> {
        self.store.objects_of_files(after).await
    }

    /// Lets go of exports whose files did not come along.
    pub(crate) async fn forget_exports(&self) -> polymnemo_memory::Result<()> {
        self.store.forget_exports().await
    }

    /// The name and version of the database.
    pub(crate) async fn describe(&self) -> polymnemo_memory::Result<String> {
        self.store.describe().await
    }

    /// The key that receipts of erasures are verified with.
    pub(crate) async fn receipt_key(&self) -> polymnemo_memory::Result<PublicKey> {
        let seed = self.store.receipt_seed(rand::random()).await?;
        Ok(ReceiptKey::from_seed(&seed)?.public().clone())
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

async fn start_embedded(config: &Config) -> Result<EmbeddedPostgres, Error> {
    let embedded = EmbeddedPostgres::start(embedded_postgres::Options {
        runtime_dir: config.directories.runtime.clone(),
        data_dir: config.directories.data.clone(),
        durability: Durability::Durable,
    });
    embedded.await.map_err(|error| Error::Database(in_one_line(&error)))
}

/// The URL of the embedded database for its superuser.
fn admin_of(embedded: &EmbeddedPostgres) -> String {
    let database = url::Url::parse(embedded.url()).map(|url| url.path().to_owned());
    match (url::Url::parse(embedded.admin_url()), database) {
        (Ok(mut admin), Ok(database)) => {
            admin.set_path(&database);
            admin.into()
        }
        _ => embedded.url().to_owned(),
    }
}

/// A database whose schema is left as it is: to be filled from a backup.
pub(crate) struct BareDatabase {
    url: String,
    embedded: Option<EmbeddedPostgres>,
}

impl BareDatabase {
    /// Finds the database of the settings, or starts the embedded one.
    pub(crate) async fn open(config: &Config) -> Result<Self, Error> {
        if let Some(url) = &config.database.url {
            return Ok(Self { url: url.expose().to_owned(), embedded: None });
        }
        let embedded = start_embedded(config).await?;
        Ok(Self { url: embedded.url().to_owned(), embedded: Some(embedded) })
    }

    /// The URL as which the server connects.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// How many tables there are, once the extension is there.
    pub(crate) async fn tables(&self) -> Result<u64, Error> {
        polymnemo_store::prepare_empty(&self.url)
            .await
            .map_err(|error| Error::Database(format!("the database can't be used: {}", cause(&error))))
    }

    pub(crate) async fn close(self) {
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
pub(crate) fn cause(error: &polymnemo_memory::Error) -> String {
    match error {
        polymnemo_memory::Error::Unavailable { source, .. } | polymnemo_memory::Error::Internal(source) => {
            in_one_line(source.as_ref())
        }
        other => in_one_line(other),
    }
}
