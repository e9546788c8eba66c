use polymnemo_memory::{Ctx, Result};
use polymnemo_types::{MemoryId, Revision};

use crate::{
    PgStore,
    memories::from_sql,
    transaction::{Scope, get, unsigned},
};

impl PgStore {
    pub(crate) async fn list_revisions(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        before: Option<u32>,
        limit: u32,
    ) -> Result<Vec<Revision>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select revision, content, tags, source, namespace, occurred_at, created_at, client from revisions
                 where memory_id = $1 and user_id = $2 and revision < $3
                 order by revision desc limit $4",
                vec![
                    id.0.into(),
                    ctx.user.id.0.into(),
                    before.and_then(|before| i32::try_from(before).ok()).unwrap_or(i32::MAX).into(),
                    i64::from(limit).into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(Revision {
                    revision: unsigned(get::<i32>(row, "revision")?)?,
                    content: get(row, "content")?,
                    tags: get(row, "tags")?,
                    source: get(row, "source")?,
                    namespace: get(row, "namespace")?,
                    occurred_at: from_sql(get(row, "occurred_at")?)?,
                    created_at: from_sql(get(row, "created_at")?)?,
                    client: get(row, "client")?,
                })
            })
            .collect()
    }
}
