use polymnemo_memory::{Ctx, NamespaceGrant, Result, ports::NamespaceChanged};
use polymnemo_types::{NamespaceDetails, NamespaceSummary, Page};
use sea_orm::{QueryResult, Value};

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

/// The names that the grant covers, where all are meant null, and all but the others when the first one is empty, which
/// is no name.
fn granted(ctx: &Ctx) -> Value {
    match &ctx.grants.namespaces {
        NamespaceGrant::All => Value::from(None::<Vec<String>>),
        NamespaceGrant::Only(names) => names.clone().into(),
        NamespaceGrant::AllBut(names) => [String::new()].iter().chain(names).cloned().collect::<Vec<_>>().into(),
    }
}

/// The condition on namespaces to be readable for the caller; its values are the first three ([`readable_values`]).
pub(crate) const READABLE: &str = "(user_id = $1 or shared) and erasure_id is null
    and ($2::text is null or name = $2) and ($3::text[] is null or (name = any($3)) <> ('' = any($3)))";

/// The values of [`READABLE`]; with `name` only namespaces of this name.
pub(crate) fn readable_values(ctx: &Ctx, name: Option<&str>) -> Vec<Value> {
    vec![ctx.user.id.0.into(), name.map(str::to_owned).into(), granted(ctx)]
}

impl Transaction {
    /// The namespaces that the caller may read: their own and the shared ones that the grant covers; with `name`
    /// only those of this name (one's own, and those that others share under the same name).
    pub(crate) async fn readable(&self, ctx: &Ctx, name: Option<&str>) -> Result<Vec<Readable>> {
        let rows = self
            .all(
                &format!("select id, chunk_count from namespaces where {READABLE} order by id"),
                readable_values(ctx, name),
            )
            .await?;
        rows.iter()
            .map(|row| Ok(Readable { id: get(row, "id")?, chunks: unsigned(get::<i64>(row, "chunk_count")?)? }))
            .collect()
    }

    /// The ids of [`Self::readable`].
    pub(crate) async fn readable_ids(&self, ctx: &Ctx, name: Option<&str>) -> Result<Vec<i32>> {
        Ok(self.readable(ctx, name).await?.iter().map(|namespace| namespace.id).collect())
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

    /// Makes the caller's own namespace of this name; false where they have one.
    async fn reserve_name(&self, ctx: &Ctx, name: &str, shared: bool) -> Result<bool> {
        let made = self
            .run(
                "insert into namespaces (user_id, name, shared_by_setting) values ($1, $2, $3) on conflict do nothing",
                vec![ctx.user.id.0.into(), name.to_owned().into(), shared.into()],
            )
            .await?;
        Ok(made > 0)
    }

    /// Locks the caller's own namespace of this name if there is one.
    async fn lock_existing(&self, ctx: &Ctx, name: &str) -> Result<Option<i32>> {
        let row = self
            .one(
                "select id from namespaces where user_id = $1 and name = $2 for update",
                vec![ctx.user.id.0.into(), name.to_owned().into()],
            )
            .await?;
        row.map(|row| get(&row, "id")).transpose()
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
                 where (n.user_id = $1 or (n.shared and c.memories > 0)) and n.erasure_id is null
                   and ($2::text[] is null or (n.name = any($2)) <> ('' = any($2)))
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

    pub(crate) async fn list_own_namespaces(
        &self,
        ctx: &Ctx,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Page<NamespaceDetails>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let counted = transaction
            .one(
                "select count(*) from namespaces where user_id = $1 and erasure_id is null",
                vec![ctx.user.id.0.into()],
            )
            .await?;
        let total: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;
        let page = "select * from namespaces where user_id = $1 and erasure_id is null and ($2::text is null or name > $2) order by name limit $3";
        let rows = transaction
            .all(&details(page), vec![ctx.user.id.0.into(), after.map(str::to_owned).into(), i64::from(limit).into()])
            .await?;
        transaction.commit().await?;
        let items = rows.iter().map(namespace_details).collect::<Result<_>>()?;
        Ok(Page { items, total: unsigned(total)?, next_cursor: None })
    }

    pub(crate) async fn get_own_namespace(&self, ctx: &Ctx, name: &str) -> Result<Option<NamespaceDetails>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                &details("select * from namespaces where user_id = $1 and name = $2"),
                vec![ctx.user.id.0.into(), name.to_owned().into()],
            )
            .await?;
        transaction.commit().await?;
        row.as_ref().map(namespace_details).transpose()
    }

    pub(crate) async fn insert_namespace(&self, ctx: &Ctx, name: &str) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let made = transaction.reserve_name(ctx, name, self.shared_by_setting(name)).await?;
        transaction.commit().await?;
        Ok(made)
    }

    pub(crate) async fn change_name_of_namespace(
        &self,
        ctx: &Ctx,
        name: &str,
        new_name: &str,
    ) -> Result<NamespaceChanged> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let Some(id) = transaction.lock_existing(ctx, name).await? else { return Ok(NamespaceChanged::Missing) };
        if self.shared_by_setting(new_name) {
            return Ok(NamespaceChanged::NameIsShared);
        }
        // Whoever makes a namespace of the new name at the same moment waits for the reservation, and then finds this one.
        if !transaction.reserve_name(ctx, new_name, false).await? {
            return Ok(NamespaceChanged::NameTaken);
        }
        let names = || vec![ctx.user.id.0.into(), name.to_owned().into(), new_name.to_owned().into()];
        transaction
            .run(
                "delete from namespaces where user_id = $1 and name = $2",
                vec![ctx.user.id.0.into(), new_name.to_owned().into()],
            )
            .await?;
        transaction
            .run(
                "update namespaces set name = $2, shared_by_setting = false where id = $1",
                vec![id.into(), new_name.to_owned().into()],
            )
            .await?;
        for statement in [
            "update users set default_namespace = $3 where id = $1 and default_namespace = $2",
            "update uploads set namespace = $3 where user_id = $1 and namespace = $2",
            "update revisions set namespace = $3 where user_id = $1 and namespace = $2",
            "update api_tokens set namespaces = array_replace(namespaces, $2, $3) where user_id = $1 and $2 = any(namespaces)",
            "update apps set namespaces = array_replace(namespaces, $2, $3) where user_id = $1 and $2 = any(namespaces)",
        ] {
            transaction.run(statement, names()).await?;
        }
        transaction.commit().await?;
        Ok(NamespaceChanged::Done)
    }

    pub(crate) async fn change_sharing_of_namespace(
        &self,
        ctx: &Ctx,
        name: &str,
        shared: bool,
    ) -> Result<NamespaceChanged> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let Some(id) = transaction.lock_existing(ctx, name).await? else { return Ok(NamespaceChanged::Missing) };
        let changed = transaction
            .run(
                "update namespaces n set shared_by_owner = $2 from users u
                 where n.id = $1 and u.id = n.user_id and not ($2 and u.default_namespace = n.name)",
                vec![id.into(), shared.into()],
            )
            .await?;
        transaction.commit().await?;
        Ok(if changed > 0 { NamespaceChanged::Done } else { NamespaceChanged::IsDefault })
    }

    pub(crate) async fn delete_empty_namespace(&self, ctx: &Ctx, name: &str) -> Result<NamespaceChanged> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let Some(id) = transaction.lock_existing(ctx, name).await? else { return Ok(NamespaceChanged::Missing) };
        let row = transaction
            .one(
                "select (select default_namespace from users where id = $1) = $2 as is_default,
                     count(*) filter (where forgotten_at is null) as memories,
                     count(*) filter (where forgotten_at is not null) as forgotten
                 from memories where namespace_id = $3",
                vec![ctx.user.id.0.into(), name.to_owned().into(), id.into()],
            )
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a count without a row"))?;
        let (memories, forgotten): (i64, i64) = (get(&row, "memories")?, get(&row, "forgotten")?);
        if memories + forgotten > 0 {
            return Ok(NamespaceChanged::NotEmpty { memories: unsigned(memories)?, forgotten: unsigned(forgotten)? });
        }
        if get::<Option<bool>>(&row, "is_default")?.unwrap_or_default() {
            return Ok(NamespaceChanged::IsDefault);
        }
        transaction.run("delete from namespaces where id = $1", vec![id.into()]).await?;
        transaction.commit().await?;
        Ok(NamespaceChanged::Done)
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

    pub(crate) async fn is_shared_namespace(&self, ctx: &Ctx, name: &str) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "select shared from namespaces where user_id = $1 and name = $2",
                vec![ctx.user.id.0.into(), name.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map_or(Ok(self.shared_by_setting(name)), |row| get(&row, "shared"))
    }

    /// Whether the settings share namespaces of this name.
    pub(crate) fn shared_by_setting(&self, name: &str) -> bool {
        self.shared.read().unwrap_or_else(std::sync::PoisonError::into_inner).iter().any(|shared| shared == name)
    }
}

/// The query for what [`namespace_details`] reads of these namespaces of the user `$1`. Each count is read from an index
/// of its own, without the memories.
fn details(namespaces: &str) -> String {
    format!(
        "select n.name, n.shared_by_owner, n.shared_by_setting, n.name = u.default_namespace as is_default,
             (select count(*) from memories m
              where m.namespace_id = n.id and m.forgotten_at is null and m.superseded_by is null) as memories,
             (select count(*) from memories m
              where m.namespace_id = n.id and m.forgotten_at is null and m.superseded_by is not null) as superseded,
             (select count(*) from memories m
              where m.namespace_id = n.id and m.forgotten_at is not null) as forgotten
         from ({namespaces}) n join users u on u.id = n.user_id
         order by n.name"
    )
}

fn namespace_details(row: &QueryResult) -> Result<NamespaceDetails> {
    Ok(NamespaceDetails {
        name: get(row, "name")?,
        default: get(row, "is_default")?,
        shared_by_owner: get(row, "shared_by_owner")?,
        shared_by_setting: get(row, "shared_by_setting")?,
        memories: unsigned(get::<i64>(row, "memories")?)?,
        superseded: unsigned(get::<i64>(row, "superseded")?)?,
        forgotten: unsigned(get::<i64>(row, "forgotten")?)?,
    })
}
