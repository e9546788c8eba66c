use std::fmt;

use async_trait::async_trait;
use polymnemo_memory::Result;
use sea_orm::Value;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tower_sessions_core::{
    SessionStore,
    session::{Id, Record},
    session_store,
};

use crate::{
    PgStore,
    transaction::{Scope, get},
};

/// The sessions of browsers, for `tower-sessions`. Cheap to clone.
///
/// A session's id is known to its browser only: the database has its SHA-256. Expired sessions are
/// never loaded, and are deleted when a new one begins.
#[derive(Clone)]
pub struct BrowserSessions {
    store: PgStore,
}

impl fmt::Debug for BrowserSessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BrowserSessions").finish_non_exhaustive()
    }
}

impl PgStore {
    /// The sessions of browsers in this database.
    #[must_use]
    pub fn browser_sessions(&self) -> BrowserSessions {
        BrowserSessions { store: self.clone() }
    }
}

impl BrowserSessions {
    async fn insert(&self, record: &Record) -> Result<bool> {
        let transaction = self.store.begin(Scope::Background).await?;
        transaction.run("delete from browser_sessions where expires_at <= now()", vec![]).await?;
        let inserted = transaction
            .run(
                "insert into browser_sessions (hash, data, expires_at) values ($1, $2, $3) on conflict do nothing",
                values(record)?,
            )
            .await?;
        transaction.commit().await?;
        Ok(inserted == 1)
    }

    /// Only an update: a request that is still under way when its session ends must not bring it back.
    async fn update(&self, record: &Record) -> Result<()> {
        let transaction = self.store.begin(Scope::Background).await?;
        transaction
            .run("update browser_sessions set data = $2, expires_at = $3 where hash = $1", values(record)?)
            .await?;
        transaction.commit().await
    }

    async fn find(&self, id: Id) -> Result<Option<Record>> {
        let transaction = self.store.begin(Scope::Background).await?;
        let sql = "select data, expires_at from browser_sessions where hash = $1 and expires_at > now()";
        let row = transaction.one(sql, vec![hash(id)]).await?;
        transaction.commit().await?;
        let Some(row) = row else { return Ok(None) };
        let data: serde_json::Value = get(&row, "data")?;
        let data = serde_json::from_value(data)
            .map_err(|_| polymnemo_memory::Error::internal("a browser session in the database can't be read"))?;
        Ok(Some(Record { id, data, expiry_date: get(&row, "expires_at")? }))
    }

    async fn remove(&self, id: Id) -> Result<()> {
        let transaction = self.store.begin(Scope::Background).await?;
        transaction.run("delete from browser_sessions where hash = $1", vec![hash(id)]).await?;
        transaction.commit().await
    }
}

#[async_trait]
impl SessionStore for BrowserSessions {
    async fn create(&self, record: &mut Record) -> session_store::Result<()> {
        while !self.insert(record).await.map_err(failed)? {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> session_store::Result<()> {
        self.update(record).await.map_err(failed)
    }

    async fn load(&self, id: &Id) -> session_store::Result<Option<Record>> {
        self.find(*id).await.map_err(failed)
    }

    async fn delete(&self, id: &Id) -> session_store::Result<()> {
        self.remove(*id).await.map_err(failed)
    }
}

fn values(record: &Record) -> Result<Vec<Value>> {
    let data = serde_json::to_value(&record.data)
        .map_err(|_| polymnemo_memory::Error::internal("a browser session can't be written as JSON"))?;
    let expires_at: OffsetDateTime = record.expiry_date;
    Ok(vec![hash(record.id), data.into(), expires_at.into()])
}

fn hash(id: Id) -> Value {
    Sha256::digest(id.0.to_le_bytes()).to_vec().into()
}

/// The library keeps texts only; the cause is for the log, which it writes.
fn failed(error: polymnemo_memory::Error) -> session_store::Error {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
    session_store::Error::Backend(format!("{error}{cause}"))
}
