use std::collections::HashMap;

use polymnemo_memory::{
    Ctx, Result,
    ports::{Changed, ChunkTerms, MemoryChange, Reindex},
};
use polymnemo_types::MemoryId;
use uuid::Uuid;

use crate::{
    PgStore, index,
    memories::to_sql,
    transaction::{Scope, Transaction, get, unsigned},
};

impl PgStore {
    pub(crate) async fn change_memory(&self, ctx: &Ctx, change: MemoryChange) -> Result<Changed> {
        let model_number = match &change.reindex {
            Reindex::Text { model, .. } => self.model_number(model).await?,
            Reindex::Labels(_) => 0,
        };
        let state = &change.state;
        let id = change.id;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let old_namespace = transaction
            .one(
                "select namespace_id from memories where id = $1 and user_id = $2 and forgotten_at is null",
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        let Some(row) = old_namespace else { return Ok(Changed::NotFound) };
        let old_namespace: i32 = get(&row, "namespace_id")?;
        let namespace = self.own_or_new_namespace(&transaction, ctx, &state.namespace).await?;
        transaction.lock_namespaces(&[old_namespace, namespace]).await?;

        let current = transaction
            .one(
                "select revision, namespace_id from memories where id = $1 and forgotten_at is null for update",
                vec![id.0.into()],
            )
            .await?;
        let Some(row) = current else { return Ok(Changed::NotFound) };
        let revision: u32 = unsigned(get::<i32>(&row, "revision")?)?;
        if revision != change.from_revision || get::<i32>(&row, "namespace_id")? != old_namespace {
            return Ok(Changed::Conflict(revision));
        }
        if let Some(other) = transaction.twin(id, namespace, &state.hash).await? {
            return Ok(Changed::SameAs(other));
        }

        transaction.keep_revisions(vec![id.0]).await?;
        transaction
            .run(
                "update memories set namespace_id = $2, content = $3, content_hash = $4, tags = $5, source = $6,
                     occurred_at = $7, updated_at = $8, changed_by = $9, revision = revision + 1
                 where id = $1",
                vec![
                    id.0.into(),
                    namespace.into(),
                    state.content.clone().into(),
                    state.hash.to_vec().into(),
                    state.tags.clone().into(),
                    state.source.clone().into(),
                    to_sql(state.occurred_at),
                    to_sql(change.at),
                    ctx.client.clone().into(),
                ],
            )
            .await?;
        match &change.reindex {
            Reindex::Text { model, chunks } => {
                let unused = index::remove(&transaction, &[id]).await?;
                let indexed = index::Indexed {
                    memory: id,
                    namespace,
                    content: &state.content,
                    tags: &state.tags,
                    chunks,
                    first_ordinal: 0,
                    message: None,
                };
                index::add(&transaction, (model, model_number), &[indexed]).await?;
                index::drop_unused(&transaction, unused).await?;
            }
            Reindex::Labels(chunks) => {
                let stored = index::lock_chunks(&transaction, &[id]).await?;
                if !is_all_of(chunks, stored.get(&id)) {
                    return Ok(Changed::Conflict(revision));
                }
                let relabelled = index::Relabelled { memory: id, old_namespace, namespace, tags: &state.tags, chunks };
                index::relabel(&transaction, &[relabelled]).await?;
            }
        }
        transaction.commit().await?;
        Ok(Changed::Done(revision + 1))
    }
}

impl PgStore {
    /// The caller's own namespace of this name, made when it is new. It is not locked where it is there already.
    pub(crate) async fn own_or_new_namespace(&self, transaction: &Transaction, ctx: &Ctx, name: &str) -> Result<i32> {
        match transaction.own_namespace(ctx, name).await? {
            Some(namespace) => Ok(namespace),
            None => transaction.lock_own_namespace(ctx, name, self.shared_by_setting(name)).await,
        }
    }
}

/// Whether these are the passages that a memory has.
pub(crate) fn is_all_of(chunks: &[ChunkTerms], stored: Option<&Vec<i64>>) -> bool {
    stored.is_some_and(|stored| stored.iter().eq(chunks.iter().map(|chunk| &chunk.chunk)))
}

impl Transaction {
    async fn own_namespace(&self, ctx: &Ctx, name: &str) -> Result<Option<i32>> {
        let row = self
            .one(
                "select id from namespaces where user_id = $1 and name = $2",
                vec![ctx.user.id.0.into(), name.to_owned().into()],
            )
            .await?;
        row.map(|row| get(&row, "id")).transpose()
    }

    /// Another live, current memory of this namespace with this text.
    async fn twin(&self, id: MemoryId, namespace: i32, hash: &[u8]) -> Result<Option<MemoryId>> {
        let row = self
            .one(
                "select other.id from memories other, memories this
                 where this.id = $1 and this.superseded_by is null
                   and other.namespace_id = $2 and other.content_hash = $3 and other.id <> $1
                   and other.forgotten_at is null and other.superseded_by is null",
                vec![id.0.into(), namespace.into(), hash.to_vec().into()],
            )
            .await?;
        row.map(|row| Ok(MemoryId(get(&row, "id")?))).transpose()
    }

    /// For each of these memories, which are to be current in the namespace beside it, the other one that says the
    /// same there.
    pub(crate) async fn twins(&self, memories: &[(MemoryId, i32)]) -> Result<HashMap<MemoryId, MemoryId>> {
        let (ids, namespaces): (Vec<Uuid>, Vec<i32>) = memories.iter().map(|&(id, place)| (id.0, place)).unzip();
        let rows = self
            .all(
                "select this.id, other.id as twin
                 from unnest($1::uuid[], $2::int[]) as asked (id, namespace_id)
                 join memories this on this.id = asked.id
                 join memories other on other.namespace_id = asked.namespace_id
                     and other.content_hash = this.content_hash and other.id <> this.id
                 where this.superseded_by is null and other.forgotten_at is null and other.superseded_by is null",
                vec![ids.into(), namespaces.into()],
            )
            .await?;
        rows.iter().map(|row| Ok((MemoryId(get(row, "id")?), MemoryId(get(row, "twin")?)))).collect()
    }
}
