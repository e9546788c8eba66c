//! Deleting memories, a bounded number with each transaction.

use polymnemo_memory::{Result, ports::ErasureStep};
use polymnemo_types::{ErasedCounts, ErasedStore, ErasureId, UserId};
use sea_orm::Value;
use uuid::Uuid;

use crate::{
    PgStore, index,
    transaction::{Scope, Transaction, get},
};

/// The most memories and passages that one transaction deletes.
const MEMORIES: i64 = 200;
const PASSAGES: usize = 3_000;

/// An erasure under way, its row locked.
pub(super) struct Locked {
    pub(super) id: ErasureId,
    pub(super) user: UserId,
    pub(super) subject: polymnemo_types::ErasureSubject,
}

impl PgStore {
    pub(super) async fn delete_batch(&self, id: ErasureId) -> Result<ErasureStep> {
        let transaction = self.begin(Scope::Background).await?;
        let Some(locked) = transaction.lock_erasure(id).await? else { return Ok(ErasureStep::Busy) };
        let deleted = transaction.delete_some(&locked).await?;
        // Also where nothing was deleted: a rollback would hold the row a moment longer, and the next step find it locked.
        transaction.commit().await?;
        Ok(if deleted { ErasureStep::More } else { ErasureStep::Through })
    }
}

impl Transaction {
    /// Locks the row of an erasure that is under way; nothing where someone else has it, or it is done.
    pub(super) async fn lock_erasure(&self, id: ErasureId) -> Result<Option<Locked>> {
        self.locked(id, " skip locked").await
    }

    /// The same, but waits for whoever has it.
    pub(super) async fn wait_for_erasure(&self, id: ErasureId) -> Result<Option<Locked>> {
        self.locked(id, "").await
    }

    async fn locked(&self, id: ErasureId, skip: &str) -> Result<Option<Locked>> {
        let row = self
            .one(
                &format!("select user_id, target from erasures where id = $1 and state = 'running' for update{skip}"),
                vec![id.0.into()],
            )
            .await?;
        row.map(|row| {
            Ok(Locked {
                id,
                user: UserId(get(&row, "user_id")?),
                subject: super::records::subject_from_sql(get(&row, "target")?)?,
            })
        })
        .transpose()
    }

    /// Deletes some of the memories of an erasure; false where there are none left.
    pub(super) async fn delete_some(&self, locked: &Locked) -> Result<bool> {
        // Each half has an index of its own.
        let rows = self
            .all(
                "with apart as materialized (select id from namespaces where erasure_id = $1)
                 select id from (
                     (select m.id from memories m where m.namespace_id in (select id from apart)
                          and m.forgotten_at is null limit $2)
                     union all
                     (select m.id from memories m where m.namespace_id in (select id from apart)
                          and m.forgotten_at is not null limit $2)
                 ) some_of_them limit $2",
                vec![locked.id.0.into(), MEMORIES.into()],
            )
            .await?;
        let ids = rows.iter().map(|row| get(row, "id")).collect::<Result<Vec<Uuid>>>()?;
        if ids.is_empty() {
            return Ok(false);
        }
        self.delete_these(locked, ids).await?;
        Ok(true)
    }

    /// Deletes memories with everything that hangs on them; of those with very many passages some of these first.
    pub(super) async fn delete_these(&self, locked: &Locked, ids: Vec<Uuid>) -> Result<()> {
        let these = || -> Vec<Value> { vec![ids.clone().into()] };
        let rows = self
            .all(
                "select namespace_id from chunks where memory_id = any($1)
                 union select namespace_id from sessions where memory_id = any($1)
                 union select namespace_id from memories where id = any($1)
                 union select namespace_id from memories where superseded_by = any($1)",
                these(),
            )
            .await?;
        let namespaces = rows.iter().map(|row| get(row, "namespace_id")).collect::<Result<Vec<i32>>>()?;
        self.lock_namespaces(&namespaces).await?;
        let rows = self
            .all(
                &format!("select id from chunks where memory_id = any($1) order by id limit {}", PASSAGES + 1),
                these(),
            )
            .await?;
        let mut passages = rows.iter().map(|row| get(row, "id")).collect::<Result<Vec<i64>>>()?;
        let are_too_many = passages.len() > PASSAGES;
        passages.truncate(PASSAGES);
        let mut counts = self.delete_passages(locked, passages).await?;
        if !are_too_many {
            counts.add(&self.delete_rows(locked, &ids).await?);
        }
        self.note_erased(locked.id, &counts).await
    }

    async fn delete_passages(&self, locked: &Locked, passages: Vec<i64>) -> Result<ErasedCounts> {
        if passages.is_empty() {
            return Ok(ErasedCounts::default());
        }
        let counts = self.count_passages("c.id = any($1)", vec![passages.clone().into()]).await?;
        self.run(
            "insert into erased_passages (erasure_id, chunk_id) select $1, unnest($2::bigint[]) on conflict do nothing",
            vec![locked.id.0.into(), passages.clone().into()],
        )
        .await?;
        let unused = index::remove_passages(self, passages).await?;
        index::drop_unused(self, unused).await?;
        Ok(counts)
    }

    async fn delete_rows(&self, locked: &Locked, ids: &[Uuid]) -> Result<ErasedCounts> {
        let these = || -> Vec<Value> { vec![ids.to_vec().into()] };
        let with_erasure = || -> Vec<Value> { vec![locked.id.0.into(), ids.to_vec().into()] };
        let (counts, _) = self.count_rows("m.id = any($1)", these()).await?;
        self.run(
            "insert into erased_memories (erasure_id, memory_id) select $1, unnest($2::uuid[]) on conflict do nothing",
            with_erasure(),
        )
        .await?;
        self.run(
            "insert into erased_objects (erasure_id, object_key)
             select $1, key from media, unnest(array[object_key, thumbnail_key]) as key
             where memory_id = any($2) and key is not null
             on conflict do nothing",
            with_erasure(),
        )
        .await?;
        for table in ["revisions", "tags"] {
            self.run(&format!("delete from {table} where memory_id = any($1)"), these()).await?;
        }
        self.run("delete from memories where id = any($1)", these()).await?;
        self.make_current(ids.to_vec()).await?;
        self.forget_corrections_of(ids.to_vec()).await?;
        Ok(counts)
    }

    /// Notes what was deleted in the row of the erasure, which is locked.
    pub(super) async fn note_erased(&self, id: ErasureId, further: &ErasedCounts) -> Result<()> {
        let row = self.one("select erased from erasures where id = $1", vec![id.0.into()]).await?;
        let Some(row) = row else { return Ok(()) };
        let mut counts = super::records::counts_from_sql(get(&row, "erased")?)?;
        counts.add(further);
        let counts = serde_json::to_value(&counts).map_err(|error| polymnemo_memory::Error::Internal(error.into()))?;
        self.run("update erasures set erased = $2 where id = $1", vec![id.0.into(), counts.into()]).await?;
        Ok(())
    }

    /// The same for one store.
    pub(super) async fn add_erased(&self, id: ErasureId, store: ErasedStore, count: u64) -> Result<()> {
        self.note_erased(id, &ErasedCounts([(store, count)].into())).await
    }
}
