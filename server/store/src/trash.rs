use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Changed, Model, NewChunk},
};
use polymnemo_types::MemoryId;
use uuid::Uuid;

use crate::{
    PgStore, index,
    memories::to_sql,
    transaction::{Scope, get, unsigned},
};

impl PgStore {
    pub(crate) async fn forget_memories(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        at: Timestamp,
    ) -> Result<Result<(), MemoryId>> {
        let uuids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select m.id, m.namespace_id, n.name from memories m join namespaces n on n.id = m.namespace_id
                 where m.id = any($1) and m.user_id = $2",
                vec![uuids.clone().into(), ctx.user.id.0.into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        let mut namespaces: Vec<i32> = Vec::new();
        for row in &rows {
            if ctx.covers(&get::<String>(row, "name")?) {
                found.push(MemoryId(get(row, "id")?));
                namespaces.push(get(row, "namespace_id")?);
            }
        }
        if let Some(missing) = ids.iter().find(|id| !found.contains(id)) {
            return Ok(Err(*missing));
        }
        transaction.lock_namespaces(&namespaces).await?;
        let newly = transaction
            .all(
                "update memories set forgotten_at = $2 where id = any($1) and forgotten_at is null returning id",
                vec![uuids.clone().into(), to_sql(at)],
            )
            .await?;
        let newly = newly.iter().map(|row| Ok(MemoryId(get(row, "id")?))).collect::<Result<Vec<_>>>()?;
        // What they corrected is current again, unless its text was remembered anew in the meantime.
        transaction
            .run(
                "update memories old set superseded_by = null, superseded_at = null
                 where old.superseded_by = any($1) and not exists (
                     select from memories other
                     where other.namespace_id = old.namespace_id and other.content_hash = old.content_hash
                       and other.id <> old.id and other.forgotten_at is null and other.superseded_by is null
                 )",
                vec![uuids.into()],
            )
            .await?;
        index::remove(&transaction, &newly).await?;
        transaction.commit().await?;
        Ok(Ok(()))
    }

    pub(crate) async fn restore_memory(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        model: &Model,
        chunks: Vec<NewChunk>,
    ) -> Result<Changed> {
        let model_number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "select namespace_id, content, content_hash, tags, revision from memories
                 where id = $1 and user_id = $2 and forgotten_at is not null",
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        let Some(row) = row else { return Ok(Changed::NotFound) };
        let namespace: i32 = get(&row, "namespace_id")?;
        let revision: u32 = unsigned(get::<i32>(&row, "revision")?)?;
        transaction.lock_namespaces(&[namespace]).await?;
        if let Some(other) = transaction.twin(id, namespace, &get::<Vec<u8>>(&row, "content_hash")?).await? {
            return Ok(Changed::SameAs(other));
        }
        // A retry with its idempotency key may have stored another memory since; the key stays with that one.
        let restored = transaction
            .run(
                "update memories m set forgotten_at = null, idempotency_key = case when exists (
                     select from memories other where other.user_id = m.user_id
                       and other.idempotency_key = m.idempotency_key and other.forgotten_at is null
                 ) then null else idempotency_key end
                 where id = $1 and forgotten_at is not null",
                vec![id.0.into()],
            )
            .await?;
        if restored == 0 {
            return Ok(Changed::NotFound);
        }
        transaction
            .run(
                "update memories old set superseded_by = new.id, superseded_at = now()
                 from memories new
                 where new.id = $1 and old.id = any(new.supersedes) and old.user_id = new.user_id
                   and old.superseded_by is null",
                vec![id.0.into()],
            )
            .await?;
        let (content, tags): (String, Vec<String>) = (get(&row, "content")?, get(&row, "tags")?);
        let place = index::Indexed { memory: id, namespace, content: &content, tags: &tags, model, model_number };
        index::add(&transaction, place, &chunks).await?;
        transaction.commit().await?;
        Ok(Changed::Done(revision))
    }

    pub(crate) async fn delete_forgotten(&self, before: Timestamp) -> Result<u64> {
        let transaction = self.begin(Scope::Background).await?;
        let deleted = transaction.run("delete from memories where forgotten_at < $1", vec![to_sql(before)]).await?;
        transaction.commit().await?;
        Ok(deleted)
    }
}
