//! Transactions, which is where each request says for whom it works.
//!
//! sqlx prepares every statement under a name. Behind a pooler in transaction mode the next
//! transaction may run on another server connection, where that name is unknown, or taken by
//! someone else's. So a transaction begins with a clean slate and leaves one behind: it
//! deallocates all prepared statements at its beginning (they may be left over from one that
//! failed) and at its end. Settings are made with `set local` only.

use polymnemo_memory::{Error, Result};
use polymnemo_types::UserId;
use sea_orm::{
    ConnectionTrait as _, DatabaseTransaction, DbBackend, QueryResult, Statement, TransactionTrait as _, Value,
};

use crate::{PgStore, error::from_db};

/// For whom a transaction works.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scope {
    /// For a user: row-level security shows their rows, and those that others share.
    User(UserId),
    /// For everyone: the jobs in the background, and the look-up of a user by identity.
    Background,
}

/// An open transaction. Dropping it rolls it back.
pub(crate) struct Transaction(DatabaseTransaction);

impl PgStore {
    /// Begins a transaction.
    ///
    /// Whoever asked may be gone at any moment, and their request is dropped where it waits. sqlx knows
    /// nothing yet of a transaction whose `BEGIN` is under way then, so the connection would go back to the
    /// pool with the transaction open. It is therefore begun in a task, which nobody interrupts; from then on
    /// dropping it rolls it back.
    pub(crate) async fn begin(&self, scope: Scope) -> Result<Transaction> {
        let db = self.db.clone();
        let beginning = tokio::spawn(async move { db.begin().await });
        let transaction =
            beginning.await.map_err(|_| Error::internal("beginning a transaction panicked"))?.map_err(from_db)?;
        let mut settings = String::from("deallocate all");
        match scope {
            Scope::User(user) => settings.push_str(&format!("; set local polymnemo.user_id = '{user}'")),
            Scope::Background => settings.push_str("; set local polymnemo.background = 'on'"),
        }
        if let Some(role) = self.role {
            settings.push_str(&format!("; set local role {role}"));
        }
        transaction.execute_unprepared(&settings).await.map_err(from_db)?;
        Ok(Transaction(transaction))
    }
}

impl Transaction {
    /// Commits. Only after this may anything be reported as done.
    pub(crate) async fn commit(self) -> Result<()> {
        self.0.execute_unprepared("deallocate all").await.map_err(from_db)?;
        self.0.commit().await.map_err(from_db)
    }

    /// Runs a statement; gives the number of rows it affected.
    pub(crate) async fn run(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        let done = self.0.execute_raw(statement(sql, values)).await.map_err(from_db)?;
        Ok(done.rows_affected())
    }

    /// Runs statements without parameters.
    pub(crate) async fn run_unprepared(&self, sql: &str) -> Result<()> {
        self.0.execute_unprepared(sql).await.map_err(from_db)?;
        Ok(())
    }

    /// The first row of a query.
    pub(crate) async fn one(&self, sql: &str, values: Vec<Value>) -> Result<Option<QueryResult>> {
        self.0.query_one_raw(statement(sql, values)).await.map_err(from_db)
    }

    /// All rows of a query.
    pub(crate) async fn all(&self, sql: &str, values: Vec<Value>) -> Result<Vec<QueryResult>> {
        self.0.query_all_raw(statement(sql, values)).await.map_err(from_db)
    }
}

fn statement(sql: &str, values: Vec<Value>) -> Statement {
    Statement::from_sql_and_values(DbBackend::Postgres, sql, values)
}

/// A column of a row, by name.
pub(crate) fn get<T: sea_orm::TryGetable>(row: &QueryResult, column: &str) -> Result<T> {
    row.try_get_by(column).map_err(from_db)
}

/// A count from the database, which knows no unsigned numbers.
pub(crate) fn unsigned<T, U>(number: T) -> Result<U>
where
    U: TryFrom<T>,
{
    U::try_from(number).map_err(|_| Error::internal("the database holds a number that is out of range"))
}
