use polymnemo_memory::{Ctx, Result, ports::EarlierLabels};
use polymnemo_types::{MemoryId, Revision};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::from_sql,
    transaction::{Scope, get, to_int, unsigned},
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

    pub(crate) async fn list_labels_before(
        &self,
        ctx: &Ctx,
        changes: &[(MemoryId, u32)],
    ) -> Result<Vec<EarlierLabels>> {
        let (ids, revisions): (Vec<Uuid>, Vec<i32>) =
            changes.iter().map(|&(id, revision)| (id.0, to_int(revision))).unzip();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select asked.id, asked.revision, r.tags, r.namespace
                 from unnest($1::uuid[], $2::int[]) as asked (id, revision)
                 join revisions r on r.memory_id = asked.id and r.revision = asked.revision - 1
                 where r.user_id = $3",
                vec![ids.into(), revisions.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(EarlierLabels {
                    id: MemoryId(get(row, "id")?),
                    revision: unsigned(get::<i32>(row, "revision")?)?,
                    tags: get(row, "tags")?,
                    namespace: get(row, "namespace")?,
                })
            })
            .collect()
    }
}
