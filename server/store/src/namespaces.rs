use polymnemo_memory::{Ctx, NamespaceGrant, Result};
use polymnemo_types::NamespaceSummary;
use sea_orm::Value;

use crate::{
    PgStore,
    transaction::{Scope, Transaction, get, unsigned},
};

/// A namespace that the caller may read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Readable {
    pub(crate) id: i32,
    /// The number of its passages.
    pub(crate) chunks: u64,
}

/// The names that the grant covers; all when `None`.
fn granted(ctx: &Ctx) -> Value {
    match &ctx.grants.namespaces {
        NamespaceGrant::All => Value::from(None::<Vec<String>>),
        NamespaceGrant::Only(names) => names.clone().into(),
    }
}

impl Transaction {
    /// The namespaces that the caller may read: their own and the shared ones that the grant covers; with `name`
    /// only those of this name (one's own, and those that others share under the same name).
    pub(crate) async fn readable(&self, ctx: &Ctx, name: Option<&str>) -> Result<Vec<Readable>> {
        let rows = self
            .all(
                "select id, chunk_count from namespaces
                 where (user_id = $1 or shared)
                   and ($2::text is null or name = $2)
                   and ($3::text[] is null or name = any($3))
                 order by id",
                vec![ctx.user.id.0.into(), name.map(str::to_owned).into(), granted(ctx)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok(Readable { id: get(row, "id")?, chunks: unsigned(get::<i64>(row, "chunk_count")?)? }))
            .collect()
    }

    /// Locks the caller's own namespace of this name, making it when it is new. Writers of one namespace queue here.
    pub(crate) async fn lock_own_namespace(&self, ctx: &Ctx, name: &str, shared: bool) -> Result<i32> {
        let row = self
            .one(
                "insert into namespaces (user_id, name, shared_by_setting) values ($1, $2, $3)
                 on conflict (user_id, name) do update set name = excluded.name
                 returning id",
                vec![ctx.user.id.0.into(), name.to_owned().into(), shared.into()],
            )
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a namespace just made is not there"))?;
        get(&row, "id")
    }

    /// Locks namespaces, always in the same order so that no two writers wait for each other.
    pub(crate) async fn lock_namespaces(&self, ids: &[i32]) -> Result<()> {
        self.run("select id from namespaces where id = any($1) order by id for update", vec![ids.to_vec().into()])
            .await?;
        Ok(())
    }
}

impl PgStore {
    pub(crate) async fn list_namespaces(&self, ctx: &Ctx, prefix: &str, limit: u32) -> Result<Vec<NamespaceSummary>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select n.name, bool_or(n.shared) as shared, sum(c.memories)::bigint as memories
                 from namespaces n
                 cross join lateral (
                     select count(*) as memories from memories m
                     where m.namespace_id = n.id and m.forgotten_at is null
                 ) c
                 where (n.user_id = $1 or (n.shared and c.memories > 0))
                   and ($2::text[] is null or n.name = any($2))
                   and starts_with(n.name, $3)
                 group by n.name order by n.name limit $4",
                vec![
                    ctx.user.id.0.into(),
                    granted(ctx),
                    prefix.replace('\0', "\u{FFFD}").into(),
                    i64::from(limit).into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(NamespaceSummary {
                    name: get(row, "name")?,
                    shared: get(row, "shared")?,
                    memories: unsigned(get::<i64>(row, "memories")?)?,
                })
            })
            .collect()
    }

    pub(crate) async fn share_namespaces(&self, names: &[String]) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run(
                "update namespaces set shared_by_setting = (name = any($1))
                 where shared_by_setting <> (name = any($1))",
                vec![names.to_vec().into()],
            )
            .await?;
        transaction.commit().await?;
        *self.shared.write().unwrap_or_else(std::sync::PoisonError::into_inner) = names.to_vec();
        Ok(())
    }

    /// Whether the settings share namespaces of this name.
    pub(crate) fn shared_by_setting(&self, name: &str) -> bool {
        self.shared.read().unwrap_or_else(std::sync::PoisonError::into_inner).iter().any(|shared| shared == name)
    }
}
