//! What the database knows of how much it holds.

use std::sync::atomic::Ordering;

use polymnemo_memory::Result;
use sea_orm::{ConnectionTrait as _, DbBackend, Statement, TransactionTrait as _};

use crate::{PgStore, error::from_db, transaction::get};

/// The tables that a search reads.
const SEARCHED: &str = "namespaces, memories, tags, chunks, vectors, terms, postings";

impl PgStore {
    /// Has the database count its rows if it does not know of this many passages. It does so by itself, but only after a
    /// minute; until then it takes what came in for next to nothing, and reads all of it where an index would do. Looked
    /// into once, since later it is never so far behind; nobody waits for it.
    pub(crate) fn count_once(&self, passages: u64) {
        if self.counted.swap(true, Ordering::Relaxed) {
            return;
        }
        let store = self.clone();
        tokio::spawn(async move {
            if let Err(error) = store.count(passages).await {
                tracing::warn!(%error, "the database's rows could not be counted, so searches may take longer for a minute");
            }
        });
    }

    /// Only the tables' owner may, so this does not take on the restricted role.
    async fn count(&self, passages: u64) -> Result<()> {
        let known = "select reltuples::bigint as vectors from pg_class where oid = 'vectors'::regclass";
        let row = self.db.query_one_raw(Statement::from_string(DbBackend::Postgres, known)).await.map_err(from_db)?;
        let known: i64 = row.map_or(Ok(0), |row| get(&row, "vectors"))?;
        if u64::try_from(known).unwrap_or_default() >= passages / 2 {
            return Ok(());
        }
        let transaction = self.db.begin().await.map_err(from_db)?;
        transaction
            .execute_unprepared(&format!("set local client_min_messages = error; analyze {SEARCHED}"))
            .await
            .map_err(from_db)?;
        transaction.commit().await.map_err(from_db)
    }
}
