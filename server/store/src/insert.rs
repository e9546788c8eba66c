use polymnemo_memory::{
    Ctx, Result,
    ports::{ContentHash, Duplicate, Inserted, NewMemory},
};
use polymnemo_types::MemoryId;
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore, index,
    memories::{kind_to_sql, to_sql},
    transaction::{Scope, Transaction, get, to_int, unsigned},
};

impl PgStore {
    pub(crate) async fn duplicate_of(
        &self,
        ctx: &Ctx,
        namespace: &str,
        hash: &ContentHash,
        idempotency_key: Option<&str>,
    ) -> Result<Option<Duplicate>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let found = transaction.duplicate(ctx, namespace, hash, idempotency_key).await?;
        transaction.commit().await?;
        Ok(found)
    }

    pub(crate) async fn insert_memory(&self, ctx: &Ctx, new: NewMemory) -> Result<Inserted> {
        let model_number = self.model_number(&new.model).await?;
        let state = &new.state;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let shared = self.shared_by_setting(&state.namespace);
        let Some(namespace) = transaction.insert_row(ctx, &new, shared).await? else {
            // There is one like it, stored at the same moment perhaps.
            drop(transaction);
            let key = new.idempotency_key.as_deref();
            return match self.duplicate_of(ctx, &state.namespace, &state.hash, key).await? {
                Some(duplicate) => Ok(Inserted::Existing(duplicate)),
                None => Err(polymnemo_memory::Error::internal("a memory collided with one that is not there")),
            };
        };
        if let Some(missing) = transaction.supersede(ctx, &new).await? {
            return Ok(Inserted::NoSuch(missing));
        }
        transaction.index_row(&new, model_number, namespace).await?;
        transaction.commit().await?;
        Ok(Inserted::New)
    }
}

impl Transaction {
    /// Inserts the row of a new memory into its namespace, which is made when it is new; gives the namespace. Nothing where
    /// there is one like it.
    pub(crate) async fn insert_row(&self, ctx: &Ctx, new: &NewMemory, shared: bool) -> Result<Option<i32>> {
        let state = &new.state;
        // Writers of one namespace queue here, by its row.
        let row = self
            .one(
                "with own as (
                     insert into namespaces (user_id, name, shared_by_setting) values ($2, $13, $14)
                     on conflict (user_id, name) do update set name = excluded.name
                     returning id
                 )
                 insert into memories (id, user_id, namespace_id, kind, content, content_hash, tags, source, client,
                     changed_by, occurred_at, created_at, updated_at, supersedes, idempotency_key, origin_message, app_id)
                 select $1, $2, own.id, $3, $4, $5, $6, $7, $8, $8, $9, $10, $10, $11, $12,
                     (select id from messages where memory_id = $15 and number = $16), $17
                 from own
                 on conflict do nothing
                 returning namespace_id",
                vec![
                    new.id.0.into(),
                    ctx.user.id.0.into(),
                    kind_to_sql(new.kind),
                    state.content.clone().into(),
                    state.hash.to_vec().into(),
                    state.tags.clone().into(),
                    state.source.clone().into(),
                    ctx.client.clone().into(),
                    to_sql(state.occurred_at),
                    to_sql(new.created_at),
                    new.supersedes.iter().map(|id| id.0).collect::<Vec<_>>().into(),
                    new.idempotency_key.clone().into(),
                    state.namespace.clone().into(),
                    shared.into(),
                    new.origin.map(|origin| origin.session.0).into(),
                    new.origin.map(|origin| to_int(origin.number)).into(),
                    ctx.app.map(|app| app.0).into(),
                ],
            )
            .await?;
        row.map(|row| get(&row, "namespace_id")).transpose()
    }

    /// Indexes a memory just inserted.
    pub(crate) async fn index_row(&self, new: &NewMemory, model_number: i16, namespace: i32) -> Result<()> {
        let indexed = index::Indexed {
            memory: new.id,
            namespace,
            content: &new.state.content,
            tags: &new.state.tags,
            chunks: &new.chunks,
            first_ordinal: 0,
            message: None,
        };
        index::add(self, (&new.model, model_number), &[indexed]).await
    }

    /// The live memory with this idempotency key, else the one with this text in the caller's namespace. The key belongs
    /// to the text that came with it, whatever the memory was changed to since.
    async fn duplicate(
        &self,
        ctx: &Ctx,
        namespace: &str,
        hash: &ContentHash,
        idempotency_key: Option<&str>,
    ) -> Result<Option<Duplicate>> {
        let row = self
            .one(
                "select m.id, n.name as namespace, m.revision, m.content_hash = $3 or exists (
                     select from revisions first
                     where first.memory_id = m.id and first.revision = 1
                       and sha256(convert_to(first.content, 'UTF8')) = $3
                 ) as same_content
                 from memories m join namespaces n on n.id = m.namespace_id
                 where m.user_id = $1 and m.forgotten_at is null and m.idempotency_key = $4
                 union all
                 select m.id, n.name, m.revision, true
                 from memories m join namespaces n on n.id = m.namespace_id
                 where n.user_id = $1 and n.name = $2 and m.content_hash = $3
                   and m.forgotten_at is null and m.superseded_by is null
                 limit 1",
                vec![
                    ctx.user.id.0.into(),
                    namespace.to_owned().into(),
                    hash.to_vec().into(),
                    idempotency_key.map(str::to_owned).into(),
                ],
            )
            .await?;
        row.as_ref().map(duplicate).transpose()
    }

    /// Marks what a new memory corrects; gives the first one that is not there.
    async fn supersede(&self, ctx: &Ctx, new: &NewMemory) -> Result<Option<MemoryId>> {
        if new.supersedes.is_empty() {
            return Ok(None);
        }
        let ids: Vec<Uuid> = new.supersedes.iter().map(|id| id.0).collect();
        let rows = self
            .all(
                "select m.id, n.name from memories m join namespaces n on n.id = m.namespace_id
                 where m.id = any($1) and m.user_id = $2 and m.forgotten_at is null
                 order by m.id for update of m",
                vec![ids.clone().into(), ctx.user.id.0.into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            if ctx.covers(&get::<String>(row, "name")?) {
                found.push(MemoryId(get(row, "id")?));
            }
        }
        if let Some(missing) = new.supersedes.iter().find(|id| !found.contains(id)) {
            return Ok(Some(*missing));
        }
        self.run(
            "update memories set superseded_by = $1, superseded_at = $2
             where id = any($3) and superseded_by is null",
            vec![new.id.0.into(), to_sql(new.created_at), ids.into()],
        )
        .await?;
        Ok(None)
    }
}

fn duplicate(row: &QueryResult) -> Result<Duplicate> {
    Ok(Duplicate {
        id: MemoryId(get(row, "id")?),
        namespace: get(row, "namespace")?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        same_content: get(row, "same_content")?,
    })
}
