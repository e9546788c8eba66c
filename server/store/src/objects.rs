//! Objects of the storage that nothing refers to.

use jiff::Timestamp;
use polymnemo_memory::{Ctx, Result, ports::ObjectToDelete};

use crate::{
    PgStore,
    memories::to_sql,
    transaction::{Scope, Transaction, get},
};

impl PgStore {
    pub(crate) async fn insert_object(
        &self,
        ctx: &Ctx,
        key: &str,
        handle: Option<&str>,
        due_at: Timestamp,
    ) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction
            .run(
                "insert into objects_to_delete (object_key, user_id, parts_handle, due_at) values ($1, $2, $3, $4)
                 on conflict (object_key) do update set parts_handle = excluded.parts_handle, due_at = excluded.due_at",
                vec![key.into(), ctx.user.id.0.into(), handle.map(str::to_owned).into(), to_sql(due_at)],
            )
            .await?;
        transaction.commit().await
    }

    pub(crate) async fn set_object_due(&self, ctx: &Ctx, key: &str, at: Timestamp) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction
            .run(
                "update objects_to_delete set due_at = $3 where object_key = $1 and user_id = $2",
                vec![key.into(), ctx.user.id.0.into(), to_sql(at)],
            )
            .await?;
        transaction.commit().await
    }

    pub(crate) async fn take_due_objects(
        &self,
        now: Timestamp,
        again: Timestamp,
        limit: u32,
    ) -> Result<Vec<ObjectToDelete>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "update objects_to_delete set taken_at = $1
                 where object_key in (
                     select object_key from objects_to_delete
                     where due_at <= $1 and (taken_at is null or taken_at < $2)
                     order by due_at limit $3 for update skip locked
                 )
                 returning object_key, parts_handle",
                vec![to_sql(now), to_sql(again), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| Ok(ObjectToDelete { key: get(row, "object_key")?, parts_handle: get(row, "parts_handle")? }))
            .collect()
    }

    pub(crate) async fn delete_objects(&self, deleted: &[String], left: &[String]) -> Result<()> {
        if deleted.is_empty() && left.is_empty() {
            return Ok(());
        }
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run("delete from objects_to_delete where object_key = any($1)", vec![deleted.to_vec().into()])
            .await?;
        // Some of them may be half deleted, so nobody can claim them any more.
        transaction
            .run(
                "update objects_to_delete set taken_at = 'epoch' where object_key = any($1)",
                vec![left.to_vec().into()],
            )
            .await?;
        transaction.commit().await
    }
}

impl Transaction {
    /// Takes an object out of the list of those to be deleted. False where it is not there, or someone is deleting it.
    pub(crate) async fn claim_object(&self, ctx: &Ctx, key: &str) -> Result<bool> {
        let claimed = self
            .run(
                "delete from objects_to_delete where object_key = $1 and user_id = $2 and taken_at is null",
                vec![key.into(), ctx.user.id.0.into()],
            )
            .await?;
        Ok(claimed > 0)
    }
}
