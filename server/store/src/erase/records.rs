//! What is kept of erasures, and their receipts.

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{ObjectToDelete, Place, RunningErasure},
};
use polymnemo_types::{
    ErasedBy, ErasedCounts, Erasure, ErasureId, ErasureState, ErasureSubject, MemoryId, Page, Receipt, UserId,
};
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, to_sql},
    sightings::door_from_sql,
    transaction::{Scope, get, unsigned},
};

/// The columns of `erasures` that [`erasure`] reads.
const COLUMNS: &str = "id, user_id, target, state, requested_at, door, client, before, erased, uploads_until, problem,
    rounds, finished_at";

pub(super) fn subject_from_sql(target: serde_json::Value) -> Result<ErasureSubject> {
    serde_json::from_value(target).map_err(|_| Error::internal("the database holds an erasure of something unknown"))
}

pub(super) fn counts_from_sql(counts: serde_json::Value) -> Result<ErasedCounts> {
    serde_json::from_value(counts).map_err(|_| Error::internal("the database holds counts that can't be read"))
}

fn erasure(row: &QueryResult) -> Result<Erasure> {
    Ok(Erasure {
        id: ErasureId(get(row, "id")?),
        subject: subject_from_sql(get(row, "target")?)?,
        state: match get::<String>(row, "state")?.as_str() {
            "done" => ErasureState::Done,
            _ => ErasureState::Running,
        },
        requested_at: from_sql(get(row, "requested_at")?)?,
        finished_at: optional_from_sql(row, "finished_at")?,
        before: counts_from_sql(get(row, "before")?)?,
        erased: counts_from_sql(get(row, "erased")?)?,
        problem: get(row, "problem")?,
    })
}

impl PgStore {
    pub(super) async fn one_erasure(
        &self,
        scope: Scope,
        condition: &str,
        values: Vec<Value>,
    ) -> Result<Option<Erasure>> {
        let transaction = self.begin(scope).await?;
        let row = transaction.one(&format!("select {COLUMNS} from erasures where {condition}"), values).await?;
        transaction.commit().await?;
        row.as_ref().map(erasure).transpose()
    }

    pub(super) async fn list_erasures(
        &self,
        ctx: &Ctx,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Erasure>, Option<Place>)> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let counted =
            transaction.one("select count(*) from erasures where user_id = $1", vec![ctx.user.id.0.into()]).await?;
        let total: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;
        let mut values: Vec<Value> = vec![ctx.user.id.0.into(), (i64::from(limit) + 1).into()];
        let mut place = "";
        if let Some(after) = after {
            values.extend([to_sql(after.at), after.id.0.into()]);
            place = " and (requested_at, id) < ($3, $4)";
        }
        let rows = transaction
            .all(
                &format!(
                    "select {COLUMNS} from erasures where user_id = $1{place}
                     order by requested_at desc, id desc limit $2"
                ),
                values,
            )
            .await?;
        transaction.commit().await?;
        let mut items = rows.iter().map(erasure).collect::<Result<Vec<_>>>()?;
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next = items.last().filter(|_| more).map(|last| Place { at: last.requested_at, id: MemoryId(last.id.0) });
        Ok((Page { items, total: unsigned(total)?, next_cursor: None }, next))
    }

    pub(super) async fn get_receipt(&self, id: ErasureId) -> Result<Option<Receipt>> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one("select id, issued_at, document, signature, key_id from receipts where id = $1", vec![id.0.into()])
            .await?;
        transaction.commit().await?;
        row.map(|row| {
            Ok(Receipt {
                id: ErasureId(get(&row, "id")?),
                issued_at: from_sql(get(&row, "issued_at")?)?,
                document: get(&row, "document")?,
                signature: get(&row, "signature")?,
                key_id: get(&row, "key_id")?,
            })
        })
        .transpose()
    }

    pub(super) async fn next_running(&self, now: Timestamp) -> Result<Option<RunningErasure>> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one(
                &format!(
                    "select {COLUMNS} from erasures where state = 'running' and (retry_at is null or retry_at <= $1)
                     order by requested_at, id limit 1"
                ),
                vec![to_sql(now)],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| {
            Ok(RunningErasure {
                by: ErasedBy {
                    user_id: UserId(get(&row, "user_id")?),
                    door: door_from_sql(&get::<String>(&row, "door")?)?,
                    client: get(&row, "client")?,
                },
                uploads_until: optional_from_sql(&row, "uploads_until")?,
                rounds: unsigned(get::<i32>(&row, "rounds")?)?,
                erasure: erasure(&row)?,
            })
        })
        .transpose()
    }

    pub(super) async fn list_erased_objects(
        &self,
        id: ErasureId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<ObjectToDelete>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "select object_key, parts_handle from erased_objects where erasure_id = $1 and object_key > $2
                 order by object_key limit $3",
                vec![id.0.into(), after.to_owned().into(), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| Ok(ObjectToDelete { key: get(row, "object_key")?, parts_handle: get(row, "parts_handle")? }))
            .collect()
    }

    /// What is due later is left to be deleted once more then: something may be sent there until then.
    pub(super) async fn forget_due_objects(&self, keys: &[String], now: Timestamp) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run(
                "delete from objects_to_delete where object_key = any($1) and due_at <= $2",
                vec![keys.to_vec().into(), to_sql(now)],
            )
            .await?;
        transaction.commit().await
    }

    pub(super) async fn list_erased_memories(
        &self,
        id: ErasureId,
        after: Option<MemoryId>,
        limit: u32,
    ) -> Result<Vec<MemoryId>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "select memory_id from erased_memories where erasure_id = $1 and memory_id > $2
                 order by memory_id limit $3",
                vec![id.0.into(), after.map_or(Uuid::nil(), |id| id.0).into(), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| Ok(MemoryId(get(row, "memory_id")?))).collect()
    }

    pub(super) async fn keep_problem(&self, id: ErasureId, problem: &str, retry_at: Timestamp) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run(
                "update erasures set problem = $2, retry_at = $3 where id = $1 and state = 'running'",
                vec![id.0.into(), problem.to_owned().into(), to_sql(retry_at)],
            )
            .await?;
        transaction.commit().await
    }

    pub(super) async fn keep_receipt(&self, receipt: &Receipt, rounds: u32) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        let id: Value = receipt.id.0.into();
        let row = transaction
            .one("select user_id from erasures where id = $1 and state = 'running' for update", vec![id.clone()])
            .await?;
        // Another process was quicker.
        let Some(row) = row else { return Ok(()) };
        transaction
            .run(
                "insert into receipts (id, user_id, issued_at, document, signature, key_id) values ($1, $2, $3, $4, $5, $6)",
                vec![
                    id.clone(),
                    get::<Uuid>(&row, "user_id")?.into(),
                    to_sql(receipt.issued_at),
                    receipt.document.clone().into(),
                    receipt.signature.clone().into(),
                    receipt.key_id.clone().into(),
                ],
            )
            .await?;
        transaction
            .run(
                "update erasures set state = 'done', finished_at = $2, problem = null, retry_at = null, rounds = $3
                 where id = $1",
                vec![id.clone(), to_sql(receipt.issued_at), crate::transaction::to_int(rounds).into()],
            )
            .await?;
        for table in ["erased_memories", "erased_passages", "erased_objects"] {
            transaction.run(&format!("delete from {table} where erasure_id = $1"), vec![id.clone()]).await?;
        }
        transaction.commit().await
    }
}
