use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Changed, Model, NewChunk},
};
use polymnemo_types::{Erased, MemoryId};
use uuid::Uuid;

use crate::{
    PgStore, index,
    memories::to_sql,
    transaction::{Scope, Transaction, get, unsigned},
};

impl PgStore {
    pub(crate) async fn forget_memories(
        &self,
        ctx: &Ctx,
        ids: &[MemoryId],
        at: Timestamp,
    ) -> Result<Result<Vec<MemoryId>, MemoryId>> {
        let uuids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select m.id, n.name from memories m join namespaces n on n.id = m.namespace_id
                 where m.id = any($1) and m.user_id = $2",
                vec![uuids.clone().into(), ctx.user.id.0.into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            if ctx.covers(&get::<String>(row, "name")?) {
                found.push(MemoryId(get(row, "id")?));
            }
        }
        if let Some(missing) = ids.iter().find(|id| !found.contains(id)) {
            return Ok(Err(*missing));
        }
        let rows = transaction
            .all(
                "select distinct namespace_id from memories where id = any($1) or superseded_by = any($1)",
                vec![uuids.clone().into()],
            )
            .await?;
        let namespaces = rows.iter().map(|row| get::<i32>(row, "namespace_id")).collect::<Result<Vec<_>>>()?;
        transaction.lock_namespaces(&namespaces).await?;
        let newly = transaction
            .all(
                "update memories set forgotten_at = $2 where id = any($1) and forgotten_at is null returning id",
                vec![uuids.clone().into(), to_sql(at)],
            )
            .await?;
        let newly = newly.iter().map(|row| Ok(MemoryId(get(row, "id")?))).collect::<Result<Vec<_>>>()?;
        transaction.make_current(uuids).await?;
        let unused = index::remove(&transaction, &newly).await?;
        index::drop_unused(&transaction, unused).await?;
        transaction.commit().await?;
        Ok(Ok(newly))
    }

    pub(crate) async fn erase_memories(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Result<Erased, MemoryId>> {
        let uuids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        // Locked, so that none of them leaves the trash meanwhile.
        let rows = transaction
            .all(
                "select m.id, n.name from memories m join namespaces n on n.id = m.namespace_id
                 where m.id = any($1) and m.user_id = $2 and m.forgotten_at is not null
                 order by m.id for update of m",
                vec![uuids.clone().into(), ctx.user.id.0.into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            if ctx.covers(&get::<String>(row, "name")?) {
                found.push(MemoryId(get(row, "id")?));
            }
        }
        if let Some(missing) = ids.iter().find(|id| !found.contains(id)) {
            return Ok(Err(*missing));
        }
        let revisions =
            transaction.run("delete from revisions where memory_id = any($1)", vec![uuids.clone().into()]).await?;
        transaction.run("delete from memories where id = any($1)", vec![uuids.clone().into()]).await?;
        transaction.forget_corrections_of(uuids).await?;
        transaction.commit().await?;
        Ok(Ok(Erased { ids: ids.to_vec(), revisions }))
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
        let rows =
            transaction.all("delete from memories where forgotten_at < $1 returning id", vec![to_sql(before)]).await?;
        let deleted = rows.iter().map(|row| get(row, "id")).collect::<Result<Vec<Uuid>>>()?;
        let count = u64::try_from(deleted.len()).unwrap_or(u64::MAX);
        if count > 0 {
            transaction.forget_corrections_of(deleted).await?;
        }
        transaction.commit().await?;
        Ok(count)
    }
}

impl Transaction {
    /// What memories corrected that are in the trash now is current again. Of several that say the same in one
    /// namespace only one can be: one that is current already, else the last one stored. It takes the place of the
    /// correction for the others.
    async fn make_current(&self, corrections: Vec<Uuid>) -> Result<()> {
        self.run(
            "update memories old set superseded_by = null, superseded_at = null
             where old.superseded_by = any($1) and (
                 old.forgotten_at is not null
                 or old.id in (
                     select distinct on (namespace_id, content_hash) id from memories
                     where superseded_by = any($1) and forgotten_at is null
                     order by namespace_id, content_hash, created_at desc, id desc
                 ) and not exists (
                     select from memories other
                     where other.namespace_id = old.namespace_id and other.content_hash = old.content_hash
                       and other.forgotten_at is null and other.superseded_by is null
                 )
             )",
            vec![corrections.clone().into()],
        )
        .await?;
        self.run(
            "update memories old set superseded_by = other.id from memories other
             where old.superseded_by = any($1)
               and other.namespace_id = old.namespace_id and other.content_hash = old.content_hash
               and other.forgotten_at is null and other.superseded_by is null",
            vec![corrections.into()],
        )
        .await?;
        Ok(())
    }

    /// Takes memories that are gone out of what others say they correct.
    async fn forget_corrections_of(&self, gone: Vec<Uuid>) -> Result<()> {
        self.run(
            "update memories set supersedes = array(select id from unnest(supersedes) as id where id <> all($1))
             where supersedes <> '{}' and supersedes && $1",
            vec![gone.into()],
        )
        .await?;
        Ok(())
    }
}
