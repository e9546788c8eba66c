use polymnemo_memory::{Error, Result};

use crate::{
    PgStore,
    transaction::{Scope, get},
};

impl PgStore {
    /// Random bytes that the server signs with, made when they are first asked for: the same for every process over this
    /// database, and after every restart. `fresh` are those to keep where there are none.
    ///
    /// # Errors
    ///
    /// Where the database can't be reached.
    pub async fn server_secret(&self, name: &str, fresh: [u8; 32]) -> Result<Vec<u8>> {
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run(
                "insert into server_secrets (name, secret) values ($1, $2) on conflict do nothing",
                vec![name.into(), fresh.to_vec().into()],
            )
            .await?;
        let row = transaction.one("select secret from server_secrets where name = $1", vec![name.into()]).await?;
        transaction.commit().await?;
        let row = row.ok_or_else(|| Error::internal("a secret just made is not there"))?;
        get(&row, "secret")
    }
}
