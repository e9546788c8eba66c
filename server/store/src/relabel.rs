use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Changed, Relabelling},
};
use polymnemo_types::MemoryId;
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    change::is_all_of,
    index::{self, Relabelled},
    memories::to_sql,
    transaction::{Scope, Transaction, get, unsigned},
};

/// A memory as it is before the change, locked.
struct Before {
    revision: u32,
    namespace: i32,
    hash: Vec<u8>,
    /// Whether no other memory corrects it.
    is_current: bool,
}

impl PgStore {
    pub(crate) async fn relabel_memories(
        &self,
        ctx: &Ctx,
        changes: &[Relabelling],
        at: Timestamp,
    ) -> Result<Vec<Changed>> {
        let ids: Vec<MemoryId> = changes.iter().map(|change| change.id).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let old_namespaces = transaction.namespaces_of(ctx, &ids).await?;
        let mut targets: HashMap<&str, i32> = HashMap::new();
        for change in changes {
            if !targets.contains_key(change.namespace.as_str()) {
                let id = self.own_or_new_namespace(&transaction, ctx, &change.namespace).await?;
                targets.insert(&change.namespace, id);
            }
        }
        let namespaces: BTreeSet<i32> = old_namespaces.values().chain(targets.values()).copied().collect();
        transaction.lock_namespaces(&namespaces.into_iter().collect::<Vec<_>>()).await?;

        let before = transaction.lock_memories(&ids).await?;
        let chunks = index::lock_chunks(&transaction, &ids).await?;
        let target = |change: &Relabelling| targets.get(change.namespace.as_str()).copied().unwrap_or_default();
        let asked: Vec<(MemoryId, i32)> = changes.iter().map(|change| (change.id, target(change))).collect();
        let twins = transaction.twins(&asked).await?;
        // Two of these memories may say the same and go to the same place; the first of them goes.
        let mut taken: HashMap<(i32, &[u8]), MemoryId> = HashMap::new();
        let mut accepted: Vec<Relabelled<'_>> = Vec::with_capacity(changes.len());
        let mut outcomes = Vec::with_capacity(changes.len());
        for change in changes {
            let (Some(memory), Some(&old_namespace)) = (before.get(&change.id), old_namespaces.get(&change.id)) else {
                outcomes.push(Changed::NotFound);
                continue;
            };
            let is_as_read = memory.revision == change.from_revision
                && memory.namespace == old_namespace
                && is_all_of(&change.chunks, chunks.get(&change.id));
            let namespace = target(change);
            let twin = twins.get(&change.id).copied();
            let outcome = if !is_as_read {
                Changed::Conflict(memory.revision)
            } else if let Some(twin) = twin {
                Changed::SameAs(twin)
            } else if let Some(&first) = taken.get(&(namespace, memory.hash.as_slice())).filter(|_| memory.is_current) {
                Changed::SameAs(first)
            } else {
                if memory.is_current {
                    taken.insert((namespace, &memory.hash), change.id);
                }
                accepted.push(Relabelled {
                    memory: change.id,
                    old_namespace,
                    namespace,
                    tags: &change.tags,
                    chunks: &change.chunks,
                });
                Changed::Done(memory.revision + 1)
            };
            outcomes.push(outcome);
        }
        if !accepted.is_empty() {
            transaction.write_labels(ctx, &accepted, at).await?;
            index::relabel(&transaction, &accepted).await?;
            transaction.commit().await?;
        }
        Ok(outcomes)
    }
}

impl Transaction {
    /// The namespaces of those of these memories that are the caller's and not in the trash.
    async fn namespaces_of(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<HashMap<MemoryId, i32>> {
        let rows = self
            .all(
                "select id, namespace_id from memories where id = any($1) and user_id = $2 and forgotten_at is null",
                vec![uuids(ids).into(), ctx.user.id.0.into()],
            )
            .await?;
        rows.iter().map(|row| Ok((id(row)?, get(row, "namespace_id")?))).collect()
    }

    async fn lock_memories(&self, ids: &[MemoryId]) -> Result<HashMap<MemoryId, Before>> {
        let rows = self
            .all(
                "select id, revision, namespace_id, content_hash, superseded_by is null as is_current from memories
                 where id = any($1) and forgotten_at is null order by id for update",
                vec![uuids(ids).into()],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let before = Before {
                    revision: unsigned(get::<i32>(row, "revision")?)?,
                    namespace: get(row, "namespace_id")?,
                    hash: get(row, "content_hash")?,
                    is_current: get(row, "is_current")?,
                };
                Ok((id(row)?, before))
            })
            .collect()
    }

    async fn write_labels(&self, ctx: &Ctx, memories: &[Relabelled<'_>], at: Timestamp) -> Result<()> {
        let ids: Vec<Uuid> = memories.iter().map(|memory| memory.memory.0).collect();
        self.keep_revisions(ids.clone()).await?;
        // An array of arrays of unequal length is none; so the labels of each travel as JSON.
        let tags: Vec<String> = memories.iter().map(|memory| serde_json::json!(memory.tags).to_string()).collect();
        self.run(
            "update memories set namespace_id = new.namespace_id, updated_at = $4, changed_by = $5,
                 revision = revision + 1,
                 tags = array(select jsonb_array_elements_text(new.tags::jsonb))
             from unnest($1::uuid[], $2::int[], $3::text[]) as new (id, namespace_id, tags)
             where memories.id = new.id",
            vec![
                ids.into(),
                memories.iter().map(|memory| memory.namespace).collect::<Vec<_>>().into(),
                tags.into(),
                to_sql(at),
                ctx.client.clone().into(),
            ],
        )
        .await?;
        Ok(())
    }

    /// Keeps what memories are now as revisions, before they are changed.
    pub(crate) async fn keep_revisions(&self, ids: Vec<Uuid>) -> Result<()> {
        self.run(
            "insert into revisions (memory_id, revision, user_id, namespace, content, tags, source, client, occurred_at, created_at)
             select m.id, m.revision, m.user_id, n.name, m.content, m.tags, m.source, m.changed_by, m.occurred_at, m.updated_at
             from memories m join namespaces n on n.id = m.namespace_id where m.id = any($1)",
            vec![ids.into()],
        )
        .await?;
        Ok(())
    }
}

fn uuids(ids: &[MemoryId]) -> Vec<Uuid> {
    ids.iter().map(|id| id.0).collect()
}

fn id(row: &QueryResult) -> Result<MemoryId> {
    Ok(MemoryId(get(row, "id")?))
}
