use polymnemo_memory::{
    Ctx, Result,
    ports::{Changed, MemoryChange},
};
use polymnemo_types::MemoryId;

use crate::{
    PgStore, index,
    memories::to_sql,
    transaction::{Scope, Transaction, get, unsigned},
};

impl PgStore {
    pub(crate) async fn change_memory(&self, ctx: &Ctx, change: MemoryChange) -> Result<Changed> {
        let model_number = self.model_number(&change.model).await?;
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
        let namespace = match transaction.own_namespace(ctx, &state.namespace).await? {
            Some(namespace) => namespace,
            None => {
                let shared = self.shared_by_setting(&state.namespace);
                transaction.lock_own_namespace(ctx, &state.namespace, shared).await?
            }
        };
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

        transaction
            .run(
                "insert into revisions (memory_id, revision, user_id, namespace, content, tags, source, client, occurred_at, created_at)
                 select m.id, m.revision, m.user_id, n.name, m.content, m.tags, m.source, m.client, m.occurred_at, m.updated_at
                 from memories m join namespaces n on n.id = m.namespace_id where m.id = $1",
                vec![id.0.into()],
            )
            .await?;
        index::remove(&transaction, &[id]).await?;
        transaction
            .run(
                "update memories set namespace_id = $2, content = $3, content_hash = $4, tags = $5, source = $6,
                     occurred_at = $7, updated_at = $8, client = $9, revision = revision + 1
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
        let place = index::Indexed {
            memory: id,
            namespace,
            content: &state.content,
            tags: &state.tags,
            model: &change.model,
            model_number,
        };
        index::add(&transaction, place, &change.chunks).await?;
        transaction.commit().await?;
        Ok(Changed::Done(revision + 1))
    }
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

    /// Another live, current memory of this namespace with the same text.
    pub(crate) async fn twin(&self, id: MemoryId, namespace: i32, hash: &[u8]) -> Result<Option<MemoryId>> {
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
}
