use std::{fmt, time::Duration};

use polymnemo_memory::{Result, TokenHash};
use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    PgStore,
    transaction::{Scope, get},
};

/// Secrets that work once, each for one purpose and for a limited time, with what belongs to them.
/// Cheap to clone.
///
/// The database holds their SHA-256 only. They must therefore be random, of 128 bits or more.
#[derive(Clone)]
pub struct OneTimeSecrets {
    store: PgStore,
}

impl fmt::Debug for OneTimeSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OneTimeSecrets").finish_non_exhaustive()
    }
}

impl PgStore {
    /// The secrets that work once in this database.
    #[must_use]
    pub fn one_time_secrets(&self) -> OneTimeSecrets {
        OneTimeSecrets { store: self.clone() }
    }
}

impl OneTimeSecrets {
    /// Keeps a secret until it is taken or its time is over.
    ///
    /// # Errors
    ///
    /// Where the database can't be reached.
    pub async fn keep(&self, purpose: &str, secret: &str, data: &impl Serialize, lifetime: Duration) -> Result<()> {
        self.store.keep_secret(purpose, &hash(secret), data, lifetime).await
    }

    /// Takes a secret out, and gives what belongs to it. Of several that try at once, one succeeds;
    /// the others get nothing, as does whoever comes too late or knows no secret of this purpose.
    ///
    /// # Errors
    ///
    /// Where the database can't be reached.
    pub async fn take<T: DeserializeOwned>(&self, purpose: &str, secret: &str) -> Result<Option<T>> {
        self.store.secret(purpose, &hash(secret), true).await
    }
}

impl PgStore {
    /// [`OneTimeSecrets::keep`] for whoever has the secret's digest only.
    pub(crate) async fn keep_secret(
        &self,
        purpose: &str,
        hash: &TokenHash,
        data: &impl Serialize,
        lifetime: Duration,
    ) -> Result<()> {
        let data = serde_json::to_value(data)
            .map_err(|_| polymnemo_memory::Error::internal("the data of a one-time secret can't be written as JSON"))?;
        let transaction = self.begin(Scope::Background).await?;
        transaction.run("delete from one_time_secrets where expires_at <= now()", vec![]).await?;
        transaction
            .run(
                "insert into one_time_secrets (hash, purpose, data, expires_at)
                 values ($1, $2, $3, now() + make_interval(secs => $4))",
                vec![hash.to_vec().into(), purpose.into(), data.into(), lifetime.as_secs_f64().into()],
            )
            .await?;
        transaction.commit().await
    }

    /// What belongs to the secret with this digest; with `take` it is there no longer afterwards ([`OneTimeSecrets::take`]).
    pub(crate) async fn secret<T: DeserializeOwned>(
        &self,
        purpose: &str,
        hash: &TokenHash,
        take: bool,
    ) -> Result<Option<T>> {
        let sql = if take {
            "delete from one_time_secrets where hash = $1 and purpose = $2 and expires_at > now() returning data"
        } else {
            "select data from one_time_secrets where hash = $1 and purpose = $2 and expires_at > now()"
        };
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction.one(sql, vec![hash.to_vec().into(), purpose.into()]).await?;
        transaction.commit().await?;
        let Some(row) = row else { return Ok(None) };
        let data: serde_json::Value = get(&row, "data")?;
        serde_json::from_value(data)
            .map(Some)
            .map_err(|_| polymnemo_memory::Error::internal("the data of a one-time secret can't be read"))
    }
}

fn hash(secret: &str) -> TokenHash {
    Sha256::digest(secret.as_bytes()).into()
}
