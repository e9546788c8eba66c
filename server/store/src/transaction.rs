//! Transactions, which is where each request says for whom it works.
//!
//! Behind a pooler in transaction mode the next transaction may run on another server connection. So nothing is left
//! behind on one: statements are prepared without a name, which lasts until the next one, and settings are made with
//! `set local` only. That is why this is not sea-orm's transaction, which gives every statement a name.
//!
//! Without a pooler a connection keeps its statements ([`PgOptions::keep_statements`]), which spares preparing and planning:
//! under row-level security that takes longer than most of them run.
//!
//! Parameters and columns are of PostgreSQL's own types only; vectors travel as `real[]`. sqlx would ask the database for the
//! number of any other type, by a statement with a name.
//!
//! [`PgOptions::keep_statements`]: crate::PgOptions::keep_statements

use polymnemo_memory::{Error, Result};
use polymnemo_types::UserId;
use sea_orm::{
    QueryResult, Value,
    sea_query::Values,
    sqlx::{self, AssertSqlSafe, Executor as _, IntoArguments as _, Postgres, postgres::PgArguments, query::Query},
};
use sea_query_sqlx::SqlxValues;
use tokio::sync::Mutex;

use crate::{
    PgStore,
    error::{from_db, from_sqlx},
};

/// For whom a transaction works.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope {
    /// For a user: row-level security shows their rows, and those that others share.
    User(UserId),
    /// For everyone: the jobs in the background, and the look-up of a user by identity.
    Background,
}

/// An open transaction. Dropping it rolls it back.
pub(crate) struct Transaction {
    open: Mutex<sqlx::Transaction<'static, Postgres>>,
    keep_statements: bool,
}

impl PgStore {
    /// Begins a transaction.
    ///
    /// Whoever asked may be gone at any moment, and their request is dropped where it waits. A transaction whose
    /// beginning is under way then would go back to the pool open. It is therefore begun in a task, which nobody
    /// interrupts; from then on dropping it rolls it back.
    pub(crate) async fn begin(&self, scope: Scope) -> Result<Transaction> {
        self.begin_with(scope, "").await
    }

    /// Begins a transaction with further settings, `set local ...`.
    pub(crate) async fn begin_with(&self, scope: Scope, settings: &str) -> Result<Transaction> {
        let mut sql = String::from("begin");
        match scope {
            Scope::User(user) => sql.push_str(&format!("; set local polymnemo.user_id = '{user}'")),
            Scope::Background => sql.push_str("; set local polymnemo.background = 'on'"),
        }
        if let Some(role) = self.role {
            sql.push_str(&format!("; set local role {role}"));
        }
        let keep_statements = self.options.keep_statements;
        if keep_statements {
            // Plans that hold for any values are made once.
            sql.push_str("; set local plan_cache_mode = force_generic_plan");
        }
        if !settings.is_empty() {
            sql.push_str("; ");
            sql.push_str(settings);
        }
        let pool = self.db.get_postgres_connection_pool().clone();
        let beginning = tokio::spawn(async move { pool.begin_with(AssertSqlSafe(sql)).await });
        let open =
            beginning.await.map_err(|_| Error::internal("beginning a transaction panicked"))?.map_err(from_sqlx)?;
        Ok(Transaction { open: Mutex::new(open), keep_statements })
    }
}

impl Transaction {
    /// Commits. Only after this may anything be reported as done.
    pub(crate) async fn commit(self) -> Result<()> {
        self.open.into_inner().commit().await.map_err(from_sqlx)
    }

    /// Ends a transaction that only read, for which nobody has to wait.
    pub(crate) fn leave(self) {
        tokio::spawn(async move {
            if let Err(error) = self.commit().await {
                tracing::warn!(%error, "a transaction that only read did not end as it should");
            }
        });
    }

    /// Runs a statement; gives the number of rows it affected.
    pub(crate) async fn run(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        let done = self.open.lock().await.as_mut().execute(self.statement(sql, values)).await.map_err(from_sqlx)?;
        Ok(done.rows_affected())
    }

    /// Runs statements without parameters.
    pub(crate) async fn run_unprepared(&self, sql: &str) -> Result<()> {
        self.open.lock().await.as_mut().execute(AssertSqlSafe(sql.to_owned())).await.map_err(from_sqlx)?;
        Ok(())
    }

    /// The first row of a query.
    pub(crate) async fn one(&self, sql: &str, values: Vec<Value>) -> Result<Option<QueryResult>> {
        let row =
            self.open.lock().await.as_mut().fetch_optional(self.statement(sql, values)).await.map_err(from_sqlx)?;
        Ok(row.map(QueryResult::from))
    }

    /// All rows of a query.
    pub(crate) async fn all(&self, sql: &str, values: Vec<Value>) -> Result<Vec<QueryResult>> {
        let rows = self.open.lock().await.as_mut().fetch_all(self.statement(sql, values)).await.map_err(from_sqlx)?;
        Ok(rows.into_iter().map(QueryResult::from).collect())
    }

    /// A statement of ours. Whatever comes from outside is among the values, never in the text.
    fn statement(&self, sql: &str, values: Vec<Value>) -> Query<'static, Postgres, PgArguments> {
        let values = SqlxValues(Values(values)).into_arguments();
        sqlx::query_with(AssertSqlSafe(sql.to_owned()), values).persistent(self.keep_statements)
    }
}

/// A column of a row, by name.
pub(crate) fn get<T: sea_orm::TryGetable>(row: &QueryResult, column: &str) -> Result<T> {
    row.try_get_by(column).map_err(from_db)
}

/// A number as the database takes it; what is greater than it knows is the greatest that it knows.
pub(crate) fn to_int<T>(number: T) -> i32
where
    i32: TryFrom<T>,
{
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// A count from the database, which knows no unsigned numbers.
pub(crate) fn unsigned<T, U>(number: T) -> Result<U>
where
    U: TryFrom<T>,
{
    U::try_from(number).map_err(|_| Error::internal("the database holds a number that is out of range"))
}
