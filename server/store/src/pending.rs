use polymnemo_memory::{
    Result,
    ports::{Model, PendingChunk},
};
use polymnemo_types::MemoryId;

use crate::{
    PgStore, index,
    transaction::{Scope, get},
};

/// The next passages to embed. Each namespace has its turn, so that nobody waits for the long history of someone else; and in
/// each the newest passages go beside the oldest ones, so that what was just said does not wait for what was imported.
const NEXT: &str = "with recursive spaces (id) as (
        (select namespace_id from embedding_queue where model_id = $1 order by namespace_id limit 1)
        union all
        select (
            select q.namespace_id from embedding_queue q where q.model_id = $1 and q.namespace_id > s.id
            order by q.namespace_id limit 1
        )
        from spaces s where s.id is not null
    ),
    next as (
        select q.chunk_id, min(q.turn) as turn from spaces s cross join lateral (
            select chunk_id, row_number() over (order by chunk_id) as turn from (
                select chunk_id from embedding_queue where model_id = $1 and namespace_id = s.id order by chunk_id limit $2
            ) oldest
            union all
            select chunk_id, row_number() over (order by chunk_id desc) from (
                select chunk_id from embedding_queue where model_id = $1 and namespace_id = s.id
                order by chunk_id desc limit $2
            ) newest
        ) q
        group by q.chunk_id order by turn, q.chunk_id limit $2
    )
    select c.id, c.text from next join chunks c on c.id = next.chunk_id order by next.turn, c.id";

impl PgStore {
    pub(crate) async fn pending_chunks(&self, model: &Model, limit: u32) -> Result<Vec<PendingChunk>> {
        let model_number = self.model_number(model).await?;
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction.all(NEXT, vec![model_number.into(), i64::from(limit).into()]).await?;
        transaction.commit().await?;
        rows.iter().map(|row| Ok(PendingChunk { chunk: get(row, "id")?, text: get(row, "text")? })).collect()
    }

    pub(crate) async fn store_vectors(&self, model: &Model, vectors: Vec<(i64, Vec<f32>)>) -> Result<()> {
        let model_number = self.model_number(model).await?;
        let chunks: Vec<i64> = vectors.iter().map(|(chunk, _)| *chunk).collect();
        let transaction = self.begin(Scope::Background).await?;
        // Locked, so that a memory that is just being changed or forgotten takes its vectors with it.
        let rows = transaction
            .all(
                "select id, memory_id, namespace_id from chunks where id = any($1) order by id for key share",
                vec![chunks.clone().into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let chunk: i64 = get(row, "id")?;
            if let Some((_, vector)) = vectors.iter().find(|(id, _)| *id == chunk) {
                found.push((chunk, MemoryId(get(row, "memory_id")?), get(row, "namespace_id")?, vector.clone()));
            }
        }
        index::insert_vectors(&transaction, model, model_number, found).await?;
        transaction
            .run(
                "delete from embedding_queue where model_id = $1 and chunk_id = any($2)",
                vec![model_number.into(), chunks.into()],
            )
            .await?;
        transaction.commit().await
    }
}
