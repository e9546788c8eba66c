use std::collections::HashMap;

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Changed, Model, NewChunk},
};
use polymnemo_types::{Erased, MemoryId};
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    index::{self, Indexed},
    memories::to_sql,
    transaction::{Scope, Transaction, get, unsigned},
};

/// A memory in the trash.
struct InTrash {
    namespace: i32,
    content: String,
    hash: Vec<u8>,
    tags: Vec<String>,
    revision: u32,
    /// Whether no other memory corrects it.
    is_current: bool,
}

fn in_trash(row: &QueryResult) -> Result<InTrash> {
    Ok(InTrash {
        namespace: get(row, "namespace_id")?,
        content: get(row, "content")?,
        hash: get(row, "content_hash")?,
        tags: get(row, "tags")?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        is_current: get(row, "is_current")?,
    })
}

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

    pub(crate) async fn restore_memories(
        &self,
        ctx: &Ctx,
        model: &Model,
        memories: &[(MemoryId, Vec<NewChunk>)],
    ) -> Result<Vec<Changed>> {
        let model_number = self.model_number(model).await?;
        let uuids: Vec<Uuid> = memories.iter().map(|(id, _)| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select distinct namespace_id from memories
                 where id = any($1) and user_id = $2 and forgotten_at is not null",
                vec![uuids.clone().into(), ctx.user.id.0.into()],
            )
            .await?;
        let namespaces = rows.iter().map(|row| get::<i32>(row, "namespace_id")).collect::<Result<Vec<_>>>()?;
        transaction.lock_namespaces(&namespaces).await?;
        let rows = transaction
            .all(
                "select id, namespace_id, content, content_hash, tags, revision, superseded_by is null as is_current
                 from memories where id = any($1) and user_id = $2 and forgotten_at is not null
                 order by id for update",
                vec![uuids.into(), ctx.user.id.0.into()],
            )
            .await?;
        let mut forgotten: HashMap<MemoryId, InTrash> = HashMap::with_capacity(rows.len());
        for row in &rows {
            forgotten.insert(MemoryId(get(row, "id")?), in_trash(row)?);
        }
        let asked: Vec<(MemoryId, i32)> = forgotten.iter().map(|(&id, memory)| (id, memory.namespace)).collect();
        let mut twins = transaction.twins(&asked).await?;
        twins.extend(transaction.sessions_of_the_same_name(&asked).await?);
        // Two of these memories may say the same; the first of them comes back.
        let mut taken: HashMap<(i32, &[u8]), MemoryId> = HashMap::new();
        let mut restored: Vec<Indexed<'_>> = Vec::with_capacity(memories.len());
        let mut outcomes = Vec::with_capacity(memories.len());
        for (id, chunks) in memories {
            let Some(memory) = forgotten.get(id) else {
                outcomes.push(Changed::NotFound);
                continue;
            };
            let place = (memory.namespace, memory.hash.as_slice());
            let same = twins.get(id).or_else(|| taken.get(&place).filter(|_| memory.is_current)).copied();
            if let Some(other) = same {
                outcomes.push(Changed::SameAs(other));
                continue;
            }
            if memory.is_current {
                taken.insert(place, *id);
            }
            restored.push(Indexed {
                memory: *id,
                namespace: memory.namespace,
                content: &memory.content,
                tags: &memory.tags,
                chunks,
                first_ordinal: 0,
                message: None,
            });
            outcomes.push(Changed::Done(memory.revision));
        }
        if !restored.is_empty() {
            transaction.take_out_of_trash(restored.iter().map(|memory| memory.memory.0).collect()).await?;
            index::add(&transaction, (model, model_number), &restored).await?;
            transaction.commit().await?;
        }
        Ok(outcomes)
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
    async fn take_out_of_trash(&self, ids: Vec<Uuid>) -> Result<()> {
        // A retry with its idempotency key may have stored another memory since; the key stays with that one. Of several
        // that were forgotten one after the other it stays with the first.
        self.run(
            "update memories m set forgotten_at = null, idempotency_key = case when exists (
                 select from memories other where other.user_id = m.user_id
                   and other.idempotency_key = m.idempotency_key and other.id <> m.id
                   and (other.forgotten_at is null or other.id = any($1) and other.id < m.id)
             ) then null else idempotency_key end
             where id = any($1)",
            vec![ids.clone().into()],
        )
        .await?;
        // The passages of their messages are made anew, in the background.
        self.run("update messages set indexed = false where memory_id = any($1)", vec![ids.clone().into()]).await?;
        self.run(
            "update memories old set superseded_by = new.id, superseded_at = now()
             from memories new
             where new.id = any($1) and old.id = any(new.supersedes) and old.user_id = new.user_id
               and old.superseded_by is null",
            vec![ids.into()],
        )
        .await?;
        Ok(())
    }

    /// For each of these memories that is a session the one in the store that the client calls the same.
    async fn sessions_of_the_same_name(&self, memories: &[(MemoryId, i32)]) -> Result<HashMap<MemoryId, MemoryId>> {
        let ids: Vec<Uuid> = memories.iter().map(|(id, _)| id.0).collect();
        let rows = self
            .all(
                "select this.memory_id as id, other.memory_id as twin
                 from sessions this join sessions other on other.user_id = this.user_id and other.key = this.key
                 join memories m on m.id = other.memory_id and m.forgotten_at is null
                 where this.memory_id = any($1)",
                vec![ids.into()],
            )
            .await?;
        rows.iter().map(|row| Ok((MemoryId(get(row, "id")?), MemoryId(get(row, "twin")?)))).collect()
    }

    /// What memories corrected that are in the trash now is current again. Of several that say the same in one
    /// namespace only one can be: one that is current already, else the last one stored. It takes the place of the
    /// correction for the others.
    pub(crate) async fn make_current(&self, corrections: Vec<Uuid>) -> Result<()> {
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
    pub(crate) async fn forget_corrections_of(&self, gone: Vec<Uuid>) -> Result<()> {
        self.run(
            "update memories set supersedes = array(select id from unnest(supersedes) as id where id <> all($1))
             where supersedes <> '{}' and supersedes && $1",
            vec![gone.into()],
        )
        .await?;
        Ok(())
    }
}
