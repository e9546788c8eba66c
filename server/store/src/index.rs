//! Keeping the search index true to the memories: passages, vectors, terms, postings and counts.
//!
//! A memory that is not in the trash has passages that cover its text; one in the trash has none.
//! Both functions run inside the transaction that changes the memory, after its namespace was
//! locked, so no search ever sees half of it.

use std::collections::HashMap;

use pgvector::Vector;
use polymnemo_memory::{
    Error, Result,
    ports::{Model, NewChunk},
    rank,
};
use polymnemo_types::MemoryId;
use sea_orm::Value;

use crate::transaction::{Transaction, get};

/// The most rows in one statement: bounds the memory a long text takes on either side.
const ROWS: usize = 20_000;

/// A memory's place in the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Indexed<'a> {
    pub(crate) memory: MemoryId,
    pub(crate) namespace: i32,
    pub(crate) content: &'a str,
    pub(crate) tags: &'a [String],
    pub(crate) model: &'a Model,
    pub(crate) model_number: i16,
}

/// Adds a memory's passages to the index, and those without a vector to the queue.
pub(crate) async fn add(transaction: &Transaction, place: Indexed<'_>, chunks: &[NewChunk]) -> Result<()> {
    transaction
        .run(
            "insert into tags (memory_id, namespace_id, tag) select $1, $2, unnest($3::text[])",
            vec![place.memory.0.into(), place.namespace.into(), place.tags.to_vec().into()],
        )
        .await?;
    let ids = add_chunks(transaction, place, chunks).await?;
    add_vectors(transaction, place, chunks, &ids).await?;
    add_postings(transaction, place.namespace, chunks, &ids).await?;
    transaction
        .run(
            "update namespaces set chunk_count = chunk_count + $2 where id = $1",
            vec![place.namespace.into(), i64::try_from(chunks.len()).unwrap_or(i64::MAX).into()],
        )
        .await?;
    Ok(())
}

/// Gives the ids of the passages, in their order.
async fn add_chunks(transaction: &Transaction, place: Indexed<'_>, chunks: &[NewChunk]) -> Result<Vec<i64>> {
    let ordinals: Vec<i32> = (0..).take(chunks.len()).collect();
    let starts: Vec<i32> = chunks.iter().map(|chunk| i32::try_from(chunk.range.start).unwrap_or(i32::MAX)).collect();
    let texts: Vec<String> =
        chunks.iter().map(|chunk| place.content.get(chunk.range.clone()).unwrap_or_default().to_owned()).collect();
    let lengths: Vec<i32> = chunks.iter().map(|chunk| i32::try_from(chunk.length).unwrap_or(i32::MAX)).collect();
    let rows = transaction
        .all(
            "insert into chunks (memory_id, namespace_id, ordinal, start_byte, text, length)
             select $1, $2, * from unnest($3::int[], $4::int[], $5::text[], $6::int[])
             returning id, ordinal",
            vec![
                place.memory.0.into(),
                place.namespace.into(),
                ordinals.into(),
                starts.into(),
                texts.into(),
                lengths.into(),
            ],
        )
        .await?;
    let mut ids =
        rows.iter().map(|row| Ok((get::<i32>(row, "ordinal")?, get::<i64>(row, "id")?))).collect::<Result<Vec<_>>>()?;
    ids.sort_unstable();
    Ok(ids.into_iter().map(|(_, id)| id).collect())
}

async fn add_vectors(transaction: &Transaction, place: Indexed<'_>, chunks: &[NewChunk], ids: &[i64]) -> Result<()> {
    let mut embedded = Vec::new();
    let mut waiting = Vec::new();
    for (chunk, &id) in chunks.iter().zip(ids) {
        match &chunk.vector {
            Some(vector) => embedded.push((id, place.memory, place.namespace, vector.clone())),
            None => waiting.push(id),
        }
    }
    insert_vectors(transaction, place.model, place.model_number, embedded).await?;
    if !waiting.is_empty() {
        transaction
            .run(
                "insert into embedding_queue (model_id, namespace_id, chunk_id) select $1, $2, unnest($3::bigint[])",
                vec![place.model_number.into(), place.namespace.into(), waiting.into()],
            )
            .await?;
    }
    Ok(())
}

/// Stores vectors, each with its passage, memory and namespace.
pub(crate) async fn insert_vectors(
    transaction: &Transaction,
    model: &Model,
    model_number: i16,
    vectors: Vec<(i64, MemoryId, i32, Vec<f32>)>,
) -> Result<()> {
    if vectors.is_empty() {
        return Ok(());
    }
    let dimension = i32::try_from(model.dimension).unwrap_or(i32::MAX);
    let mut values: Vec<Value> = vec![model_number.into(), dimension.into()];
    let mut rows = Vec::with_capacity(vectors.len());
    for (chunk, memory, namespace, vector) in vectors {
        if vector.len() != model.dimension as usize {
            return Err(Error::internal(format!(
                "the model {} made a vector of {} dimensions instead of {}",
                model.id,
                vector.len(),
                model.dimension
            )));
        }
        let first = values.len() + 1;
        rows.push(format!("($1, $2, ${}, ${}, ${}, ${}::halfvec)", first, first + 1, first + 2, first + 3));
        values.extend([chunk.into(), memory.0.into(), namespace.into(), Vector::from(vector).into()]);
    }
    transaction
        .run(
            &format!(
                "insert into vectors (model_id, dimension, chunk_id, memory_id, namespace_id, embedding) values {}
                 on conflict do nothing",
                rows.join(", ")
            ),
            values,
        )
        .await?;
    Ok(())
}

async fn add_postings(transaction: &Transaction, namespace: i32, chunks: &[NewChunk], ids: &[i64]) -> Result<()> {
    let mut counts: HashMap<&str, i32> = HashMap::new();
    for (term, _) in chunks.iter().flat_map(|chunk| &chunk.terms) {
        *counts.entry(term).or_default() += 1;
    }
    let vocabulary: Vec<(&str, i32)> = counts.into_iter().collect();
    let mut numbers: HashMap<String, i64> = HashMap::with_capacity(vocabulary.len());
    for part in vocabulary.chunks(ROWS) {
        let terms: Vec<String> = part.iter().map(|&(term, _)| term.to_owned()).collect();
        let counts: Vec<i32> = part.iter().map(|&(_, count)| count).collect();
        let rows = transaction
            .all(
                "insert into terms (namespace_id, term, document_count)
                 select $1, * from unnest($2::text[], $3::int[])
                 on conflict (namespace_id, term)
                     do update set document_count = terms.document_count + excluded.document_count
                 returning id, term",
                vec![namespace.into(), terms.into(), counts.into()],
            )
            .await?;
        for row in rows {
            numbers.insert(get(&row, "term")?, get(&row, "id")?);
        }
    }

    let postings: Vec<(i64, i64, f32)> = chunks
        .iter()
        .zip(ids)
        .flat_map(|(chunk, &id)| {
            let numbers = &numbers;
            chunk.terms.iter().filter_map(move |(term, frequency)| {
                Some((id, *numbers.get(term.as_str())?, rank::impact(*frequency, chunk.length)))
            })
        })
        .collect();
    for part in postings.chunks(ROWS) {
        let chunks: Vec<i64> = part.iter().map(|posting| posting.0).collect();
        let terms: Vec<i64> = part.iter().map(|posting| posting.1).collect();
        let impacts: Vec<f32> = part.iter().map(|posting| posting.2).collect();
        transaction
            .run(
                "insert into postings (namespace_id, chunk_id, term_id, impact)
                 select $1, * from unnest($2::bigint[], $3::bigint[], $4::real[])",
                vec![namespace.into(), chunks.into(), terms.into(), impacts.into()],
            )
            .await?;
    }
    Ok(())
}

/// Takes all passages of these memories out of the index. Their namespaces must be locked.
pub(crate) async fn remove(transaction: &Transaction, memories: &[MemoryId]) -> Result<()> {
    let ids: Vec<uuid::Uuid> = memories.iter().map(|memory| memory.0).collect();
    let values = || vec![ids.clone().into()];
    // Vectors and the queue go with the passages, by their foreign keys.
    transaction
        .run(
            "with gone as (
                 delete from postings where chunk_id in (select id from chunks where memory_id = any($1))
                 returning term_id
             ), counted as (select term_id, count(*)::int as count from gone group by term_id)
             update terms set document_count = document_count - counted.count
             from counted where terms.id = counted.term_id",
            values(),
        )
        .await?;
    transaction
        .run(
            "with gone as (delete from chunks where memory_id = any($1) returning namespace_id),
             counted as (select namespace_id, count(*) as count from gone group by namespace_id)
             update namespaces set chunk_count = chunk_count - counted.count
             from counted where namespaces.id = counted.namespace_id",
            values(),
        )
        .await?;
    transaction.run("delete from tags where memory_id = any($1)", values()).await?;
    Ok(())
}
