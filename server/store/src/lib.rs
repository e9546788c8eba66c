//! The store: PostgreSQL and pgvector behind the port that the memory service names.
//!
//! Each method is one transaction that begins by saying for whom it works, so that row-level
//! security stands as a second wall behind the conditions in the queries (`transaction`).
//! Nothing outlives a transaction on the connection, so any pooler may hand the next transaction to another one
//! ([`PgOptions::keep_statements`] is for where there is none).
//!
//! One file for each noun or verb; the two that matter most are `index`, which keeps the search
//! index true to the memories, and `search`, which reads it.

mod accounts;
mod apps;
mod apps_port;
mod browser_sessions;
mod change;
mod erase;
mod error;
mod export;
mod export_port;
mod exports;
mod facets;
mod imports;
mod index;
mod insert;
mod keywords;
mod media;
mod media_port;
mod memories;
mod models;
mod namespaces;
mod oauth;
mod objects;
mod one_time_secrets;
mod pending;
mod relabel;
mod restore;
mod revisions;
mod search;
mod server_secrets;
mod sessions;
mod settings;
mod sightings;
mod statistics;
mod tokens;
mod transaction;
mod trash;
mod uploads;
mod users;

use std::{
    collections::HashMap,
    str::FromStr as _,
    sync::{Arc, RwLock, atomic::AtomicBool},
    time::Duration,
};

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Identity, Result, User, UserDefaults,
    ports::{
        Changed, ContentHash, Duplicate, EarlierLabels, Filter, Inserted, MemoryChange, Model, Neighbour, NewChunk,
        NewMemory, PendingChunk, Place, RecallSteps, Relabelling, Search, Store, StoredChunk, StoredMemory,
    },
};
use polymnemo_migrations::Migrator;
use polymnemo_types::{Erased, Facets, Memory, MemoryId, NamespaceSummary, Page, Revision};
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, TransactionTrait as _,
    sqlx::{self, Connection as _},
};
use sea_orm_migration::MigratorTrait as _;

use crate::{error::from_db, transaction::Scope};

pub use browser_sessions::BrowserSessions;
pub use one_time_secrets::OneTimeSecrets;

/// How the store works, apart from where the database is.
#[derive(Debug, Clone)]
pub struct PgOptions {
    /// The most connections held at once.
    pub max_connections: u32,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// Up to this many passages are scanned exactly; the approximate index serves greater collections.
    pub exact_up_to: u32,
    /// Prepare each statement once a connection instead of each time. Only where no pooler stands in between, which
    /// would hand a statement to a connection that does not know it.
    pub keep_statements: bool,
}

impl Default for PgOptions {
    fn default() -> Self {
        Self {
            max_connections: 16,
            connect_timeout: Duration::from_secs(10),
            exact_up_to: 3_000,
            keep_statements: false,
        }
    }
}

/// The store on PostgreSQL. Cheap to clone.
#[derive(Clone)]
pub struct PgStore {
    db: DatabaseConnection,
    options: PgOptions,
    /// The role that each transaction takes on, where the one we connect as would be exempt from row-level security.
    role: Option<&'static str>,
    /// The database's numbers for the models seen so far.
    models: Arc<RwLock<HashMap<String, i16>>>,
    /// The names of the namespaces that the settings share.
    shared: Arc<RwLock<Vec<String>>>,
    /// Whether this process has seen to it that the database knows how much it holds.
    counted: Arc<AtomicBool>,
}

impl std::fmt::Debug for PgStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("PgStore").field("options", &self.options).finish_non_exhaustive()
    }
}

/// How many statements a connection keeps where it may: more than there are, the usual filters included.
const KEPT_STATEMENTS: usize = 200;

/// The role without rights of its own that row-level security holds for.
const RESTRICTED_ROLE: &str = "polymnemo_app";

/// Any number that no other program uses for its advisory locks in this database.
const MIGRATION_LOCK: i64 = 0x706f_6c79_6d6e_656d;

impl PgStore {
    /// Connects, brings the schema up to date and looks after row-level security.
    ///
    /// # Errors
    ///
    /// [`polymnemo_memory::Error::Unavailable`] where the database can't be reached.
    pub async fn connect(url: &str, options: PgOptions) -> Result<Self> {
        let db = Self::open(url, &options).await?;
        let mut store =
            Self { db, options, role: None, models: Arc::default(), shared: Arc::default(), counted: Arc::default() };
        store.migrate().await?;
        store.role = store.restricted_role().await?;
        Ok(store)
    }

    async fn open(url: &str, options: &PgOptions) -> Result<DatabaseConnection> {
        probe(url, options.connect_timeout).await?;
        let kept = if options.keep_statements { KEPT_STATEMENTS } else { 0 };
        let mut connect = ConnectOptions::new(url);
        connect
            .max_connections(options.max_connections)
            .min_connections(0)
            .connect_timeout(options.connect_timeout)
            .acquire_timeout(options.connect_timeout)
            .test_before_acquire_if_idle_for(Duration::from_secs(1))
            .sqlx_logging(false)
            .map_sqlx_postgres_opts(move |options| options.statement_cache_capacity(kept));
        Database::connect(connect).await.map_err(from_db)
    }

    /// Runs the pending migrations: all or none, one process at a time.
    async fn migrate(&self) -> Result<()> {
        let transaction = self.db.begin().await.map_err(from_db)?;
        transaction
            .execute_unprepared(&format!(
                "deallocate all; select pg_advisory_xact_lock({MIGRATION_LOCK}); set local client_min_messages = warning"
            ))
            .await
            .map_err(from_db)?;
        Migrator::up(&transaction, None).await.map_err(from_db)?;
        transaction.execute_unprepared("deallocate all").await.map_err(from_db)?;
        transaction.commit().await.map_err(from_db)
    }

    /// Superusers and roles with `BYPASSRLS` pass through every policy, and managed databases often hand out such a
    /// role. Then each transaction takes on a restricted one.
    async fn restricted_role(&self) -> Result<Option<&'static str>> {
        let transaction = self.begin(Scope::Background).await?;
        let exempt: bool = transaction
            .one("select rolsuper or rolbypassrls from pg_roles where rolname = current_user", vec![])
            .await?
            .map(|row| row.try_get_by(0))
            .transpose()
            .map_err(from_db)?
            .unwrap_or_default();
        transaction.commit().await?;
        if !exempt {
            return Ok(None);
        }
        let made = self
            .db
            .execute_unprepared(&format!(
                "do $$ begin
                    perform pg_advisory_xact_lock({MIGRATION_LOCK});
                    if not exists (select from pg_roles where rolname = '{RESTRICTED_ROLE}') then
                        create role {RESTRICTED_ROLE} nologin;
                    end if;
                    execute format('grant {RESTRICTED_ROLE} to %I', current_user);
                    execute format('grant usage on schema %I to {RESTRICTED_ROLE}', current_schema());
                    execute format('grant select, insert, update, delete on all tables in schema %I to {RESTRICTED_ROLE}',
                        current_schema());
                    execute format('grant usage on all sequences in schema %I to {RESTRICTED_ROLE}', current_schema());
                end $$"
            ))
            .await;
        match made {
            Ok(_) => Ok(Some(RESTRICTED_ROLE)),
            Err(error) => {
                tracing::warn!(
                    cause = %error,
                    "the database role is exempt from row-level security and may not make the role {RESTRICTED_ROLE}; \
                     users are kept apart by the queries alone. Connect as an ordinary role that owns the database."
                );
                Ok(None)
            }
        }
    }
}

/// Connects once and disconnects: a pool would go on trying until its time is over and then report only that.
async fn probe(url: &str, patience: Duration) -> Result<()> {
    let unavailable = |source| polymnemo_memory::Error::Unavailable { part: "database", source };
    let options = sqlx::postgres::PgConnectOptions::from_str(url).map_err(|error| unavailable(error.into()))?;
    let connection = tokio::time::timeout(patience, sqlx::PgConnection::connect_with(&options))
        .await
        .map_err(|_| unavailable(format!("no answer within {} seconds", patience.as_secs()).into()))?
        .map_err(|error| unavailable(error.into()))?;
    // The server may be gone again by now, which the next attempt will tell.
    let _ = connection.close().await;
    Ok(())
}

/// Prepares a database for being filled from a backup: the extension that its tables need. Gives how many tables there are.
///
/// # Errors
///
/// [`polymnemo_memory::Error::Unavailable`] where it can't be reached; where the extension is neither there nor may be made.
pub async fn prepare_empty(url: &str) -> Result<u64> {
    let options = PgOptions { max_connections: 1, ..PgOptions::default() };
    let db = PgStore::open(url, &options).await?;
    db.execute_unprepared("set client_min_messages = warning; create extension if not exists vector")
        .await
        .map_err(from_db)?;
    let count = "select count(*) from information_schema.tables where table_schema = current_schema()";
    let row = db
        .query_one_raw(sea_orm::Statement::from_string(db.get_database_backend(), count))
        .await
        .map_err(from_db)?
        .ok_or_else(|| polymnemo_memory::Error::internal("counting gave nothing"))?;
    let tables: i64 = row.try_get_by(0).map_err(from_db)?;
    db.close().await.map_err(from_db)?;
    transaction::unsigned(tables)
}

#[async_trait]
impl Store for PgStore {
    async fn describe(&self) -> Result<String> {
        let transaction = self.begin(Scope::Background).await?;
        let version: String = transaction
            .one(
                "select format('PostgreSQL %s, pgvector %s', current_setting('server_version'), \
                 (select extversion from pg_extension where extname = 'vector'))",
                vec![],
            )
            .await?
            .map(|row| row.try_get_by(0))
            .transpose()
            .map_err(from_db)?
            .unwrap_or_default();
        transaction.commit().await?;
        Ok(version)
    }

    async fn user(&self, identity: &Identity, defaults: &UserDefaults) -> Result<User> {
        self.user_of(identity, defaults).await
    }

    async fn register_model(&self, model: &Model) -> Result<()> {
        self.model_number(model).await.map(|_| ())
    }

    async fn set_shared_namespaces(&self, names: &[String]) -> Result<()> {
        self.share_namespaces(names).await
    }

    async fn is_shared(&self, ctx: &Ctx, name: &str) -> Result<bool> {
        self.is_shared_namespace(ctx, name).await
    }

    async fn namespaces(&self, ctx: &Ctx, prefix: &str, limit: u32) -> Result<Vec<NamespaceSummary>> {
        self.list_namespaces(ctx, prefix, limit).await
    }

    async fn find_duplicate(
        &self,
        ctx: &Ctx,
        namespace: &str,
        hash: &ContentHash,
        idempotency_key: Option<&str>,
    ) -> Result<Option<Duplicate>> {
        self.duplicate_of(ctx, namespace, hash, idempotency_key).await
    }

    async fn insert(&self, ctx: &Ctx, new: NewMemory) -> Result<Inserted> {
        self.insert_memory(ctx, new).await
    }

    async fn memory(&self, ctx: &Ctx, id: MemoryId, trash: bool) -> Result<Option<StoredMemory>> {
        self.get_memory(ctx, id, trash).await
    }

    async fn list(
        &self,
        ctx: &Ctx,
        filter: &Filter,
        trash: bool,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Memory>, Option<Place>)> {
        self.list_memories(ctx, filter, trash, after, limit).await
    }

    async fn facets(&self, ctx: &Ctx, filter: &Filter, trash: bool, limit: u32) -> Result<Facets> {
        self.count_facets(ctx, filter, trash, limit).await
    }

    async fn own_memories(&self, ctx: &Ctx, ids: &[MemoryId], trash: bool) -> Result<Vec<StoredMemory>> {
        self.get_own_memories(ctx, ids, trash).await
    }

    async fn chunks(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Vec<StoredChunk>> {
        self.chunks_of(ctx, ids).await
    }

    async fn relabel(&self, ctx: &Ctx, changes: &[Relabelling], at: Timestamp) -> Result<Vec<Changed>> {
        self.relabel_memories(ctx, changes, at).await
    }

    async fn labels_before(&self, ctx: &Ctx, changes: &[(MemoryId, u32)]) -> Result<Vec<EarlierLabels>> {
        self.list_labels_before(ctx, changes).await
    }

    async fn change(&self, ctx: &Ctx, change: MemoryChange) -> Result<Changed> {
        self.change_memory(ctx, change).await
    }

    async fn forget(&self, ctx: &Ctx, ids: &[MemoryId], at: Timestamp) -> Result<Result<Vec<MemoryId>, MemoryId>> {
        self.forget_memories(ctx, ids, at).await
    }

    async fn erase(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Result<Erased, MemoryId>> {
        self.erase_memories(ctx, ids).await
    }

    async fn restore(
        &self,
        ctx: &Ctx,
        model: &Model,
        memories: Vec<(MemoryId, Vec<NewChunk>)>,
    ) -> Result<Vec<Changed>> {
        self.restore_memories(ctx, model, &memories).await
    }

    async fn revisions(&self, ctx: &Ctx, id: MemoryId, before: Option<u32>, limit: u32) -> Result<Vec<Revision>> {
        self.list_revisions(ctx, id, before, limit).await
    }

    async fn begin_recall(&self, ctx: &Ctx, search: Search) -> Result<Box<dyn RecallSteps>> {
        self.recall(ctx, search).await
    }

    async fn nearest(&self, ctx: &Ctx, vector: &[f32], model: &Model, limit: u32) -> Result<Vec<Neighbour>> {
        self.nearest_to(ctx, vector, model, limit).await
    }

    async fn pending(&self, model: &Model, limit: u32) -> Result<Vec<PendingChunk>> {
        self.pending_chunks(model, limit).await
    }

    async fn embed(&self, model: &Model, vectors: Vec<(i64, Vec<f32>)>) -> Result<()> {
        self.store_vectors(model, vectors).await
    }

    async fn empty_trash(&self, before: Timestamp) -> Result<u64> {
        self.delete_forgotten(before).await
    }
}
