//! Keeping the search index true to the memories: passages, vectors, terms, postings and counts.
//!
//! A memory that is not in the trash has passages that cover its text; one in the trash has none.
//! What is here runs inside the transaction that changes the memories, after their namespaces were
//! locked, so no search ever sees half of it. Everything takes several memories at once: to change a
//! hundred is then a few statements, not some thousands.

use std::collections::{BTreeMap, HashMap};

use pgvector::Vector;
use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{ChunkTerms, Model, NewChunk, StoredChunk},
    rank,
};
use polymnemo_types::MemoryId;
use sea_orm::Value;
use uuid::Uuid;

use crate::{
    PgStore,
    transaction::{Scope, Transaction, get, unsigned},
};

/// The most rows in one statement: bounds the memory a long text takes on either side.
const ROWS: usize = 20_000;

/// A memory with its place in the index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Indexed<'a> {
    pub(crate) memory: MemoryId,
    pub(crate) namespace: i32,
    pub(crate) content: &'a str,
    pub(crate) tags: &'a [String],
    pub(crate) chunks: &'a [NewChunk],
}

/// A memory whose text stays as it is, with its new place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relabelled<'a> {
    pub(crate) memory: MemoryId,
    pub(crate) old_namespace: i32,
    pub(crate) namespace: i32,
    pub(crate) tags: &'a [String],
    pub(crate) chunks: &'a [ChunkTerms],
}

/// The terms of a stored passage.
#[derive(Debug, Clone, Copy)]
struct Posted<'a> {
    namespace: i32,
    chunk: i64,
    terms: &'a [(String, u16)],
    length: u32,
}

/// Adds the passages of memories to the index, and those without a vector to the queue. The model is the one that made the
/// vectors, and its number. The memories' namespaces must be locked.
pub(crate) async fn add(
    transaction: &Transaction,
    (model, model_number): (&Model, i16),
    memories: &[Indexed<'_>],
) -> Result<()> {
    add_tags(transaction, memories.iter().map(|memory| (memory.memory, memory.namespace, memory.tags))).await?;
    let numbers = add_chunks(transaction, memories).await?;
    let (mut embedded, mut waiting, mut posted) = (Vec::new(), Vec::new(), Vec::new());
    let mut further: BTreeMap<i32, i64> = BTreeMap::new();
    let chunks = memories.iter().flat_map(|memory| memory.chunks.iter().map(move |chunk| (memory, chunk)));
    for ((memory, chunk), number) in chunks.zip(numbers) {
        match &chunk.vector {
            Some(vector) => embedded.push((number, memory.memory, memory.namespace, vector.clone())),
            None => waiting.push((number, memory.namespace)),
        }
        let namespace = memory.namespace;
        posted.push(Posted { namespace, chunk: number, terms: &chunk.terms, length: chunk.length });
        *further.entry(namespace).or_default() += 1;
    }
    insert_vectors(transaction, model, model_number, embedded).await?;
    add_to_queue(transaction, model_number, waiting).await?;
    add_postings(transaction, &posted).await?;
    count_chunks(transaction, further).await
}

/// The passages of memories, each memory's in the order of its text, locked until the transaction ends.
pub(crate) async fn lock_chunks(
    transaction: &Transaction,
    memories: &[MemoryId],
) -> Result<HashMap<MemoryId, Vec<i64>>> {
    let ids: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
    let rows = transaction
        .all(
            "select memory_id, id from chunks where memory_id = any($1) order by memory_id, ordinal for update",
            vec![ids.into()],
        )
        .await?;
    let mut chunks: HashMap<MemoryId, Vec<i64>> = HashMap::new();
    for row in &rows {
        chunks.entry(MemoryId(get(row, "memory_id")?)).or_default().push(get(row, "id")?);
    }
    Ok(chunks)
}

/// Indexes memories anew whose texts stay as they are: their passages keep their vectors and get other terms, and go to
/// another namespace where the memory does. The passages must be all of theirs and locked, and so must the namespaces.
pub(crate) async fn relabel(transaction: &Transaction, memories: &[Relabelled<'_>]) -> Result<()> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.memory).collect();
    let unused = remove_postings(transaction, &ids).await?;
    let mut posted = Vec::new();
    let (mut moved, mut moved_to) = (Vec::new(), Vec::new());
    let mut further: BTreeMap<i32, i64> = BTreeMap::new();
    for memory in memories {
        let Relabelled { old_namespace, namespace, chunks, .. } = *memory;
        posted.extend(chunks.iter().map(|chunk| Posted {
            namespace,
            chunk: chunk.chunk,
            terms: &chunk.terms,
            length: chunk.length,
        }));
        if namespace != old_namespace {
            moved.extend(chunks.iter().map(|chunk| chunk.chunk));
            moved_to.resize(moved.len(), namespace);
            let count = i64::try_from(chunks.len()).unwrap_or(i64::MAX);
            *further.entry(namespace).or_default() += count;
            *further.entry(old_namespace).or_default() -= count;
        }
    }
    transaction
        .run(
            "update chunks set namespace_id = new.namespace_id, length = new.length
             from unnest($1::bigint[], $2::int[], $3::int[]) as new (id, namespace_id, length)
             where chunks.id = new.id
               and (chunks.namespace_id, chunks.length) is distinct from (new.namespace_id, new.length)",
            vec![
                posted.iter().map(|posted| posted.chunk).collect::<Vec<_>>().into(),
                posted.iter().map(|posted| posted.namespace).collect::<Vec<_>>().into(),
                posted.iter().map(|posted| to_int(posted.length)).collect::<Vec<_>>().into(),
            ],
        )
        .await?;
    if !moved.is_empty() {
        for table in ["vectors", "embedding_queue"] {
            transaction
                .run(
                    &format!(
                        "update {table} set namespace_id = moved.namespace_id
                         from unnest($1::bigint[], $2::int[]) as moved (id, namespace_id)
                         where {table}.chunk_id = moved.id"
                    ),
                    vec![moved.clone().into(), moved_to.clone().into()],
                )
                .await?;
        }
        count_chunks(transaction, further).await?;
    }
    let ids: Vec<Uuid> = ids.into_iter().map(|id| id.0).collect();
    transaction.run("delete from tags where memory_id = any($1)", vec![ids.into()]).await?;
    add_tags(transaction, memories.iter().map(|memory| (memory.memory, memory.namespace, memory.tags))).await?;
    add_postings(transaction, &posted).await?;
    drop_unused(transaction, unused).await
}

/// Adds labels, each with the memory and its namespace.
async fn add_tags(
    transaction: &Transaction,
    tags: impl Iterator<Item = (MemoryId, i32, &[String])> + Send,
) -> Result<()> {
    let (mut memories, mut namespaces, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for (memory, namespace, tags) in tags {
        names.extend_from_slice(tags);
        memories.resize(names.len(), memory.0);
        namespaces.resize(names.len(), namespace);
    }
    if names.is_empty() {
        return Ok(());
    }
    transaction
        .run(
            "insert into tags (memory_id, namespace_id, tag) select * from unnest($1::uuid[], $2::int[], $3::text[])",
            vec![memories.into(), namespaces.into(), names.into()],
        )
        .await?;
    Ok(())
}

/// Counts further passages of namespaces; fewer, where the number is negative.
async fn count_chunks(transaction: &Transaction, further: BTreeMap<i32, i64>) -> Result<()> {
    let (namespaces, numbers): (Vec<i32>, Vec<i64>) = further.into_iter().unzip();
    transaction
        .run(
            "update namespaces set chunk_count = chunk_count + counted.further
             from unnest($1::int[], $2::bigint[]) as counted (id, further) where namespaces.id = counted.id",
            vec![namespaces.into(), numbers.into()],
        )
        .await?;
    Ok(())
}

/// Gives the numbers of the passages, memory by memory in their order.
async fn add_chunks(transaction: &Transaction, memories: &[Indexed<'_>]) -> Result<Vec<i64>> {
    let count = memories.iter().map(|memory| memory.chunks.len()).sum();
    let (mut ids, mut namespaces) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut ordinals, mut starts) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let (mut texts, mut lengths) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for memory in memories {
        for (ordinal, chunk) in (0_i32..).zip(memory.chunks) {
            ids.push(memory.memory.0);
            namespaces.push(memory.namespace);
            ordinals.push(ordinal);
            starts.push(to_int(chunk.range.start));
            texts.push(memory.content.get(chunk.range.clone()).unwrap_or_default().to_owned());
            lengths.push(to_int(chunk.length));
        }
    }
    let rows = transaction
        .all(
            "insert into chunks (memory_id, namespace_id, ordinal, start_byte, text, length)
             select * from unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::text[], $6::int[])
             returning id, memory_id, ordinal",
            vec![
                ids.clone().into(),
                namespaces.into(),
                ordinals.clone().into(),
                starts.into(),
                texts.into(),
                lengths.into(),
            ],
        )
        .await?;
    let mut numbers: HashMap<(Uuid, i32), i64> = HashMap::with_capacity(rows.len());
    for row in &rows {
        numbers.insert((get(row, "memory_id")?, get(row, "ordinal")?), get(row, "id")?);
    }
    let number =
        |place| numbers.get(&place).copied().ok_or_else(|| Error::internal("a passage just stored is not there"));
    ids.into_iter().zip(ordinals).map(number).collect()
}

fn to_int<T>(number: T) -> i32
where
    i32: TryFrom<T>,
{
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// Queues passages, each with its namespace, for a vector of this model.
async fn add_to_queue(transaction: &Transaction, model_number: i16, waiting: Vec<(i64, i32)>) -> Result<()> {
    if waiting.is_empty() {
        return Ok(());
    }
    let (chunks, namespaces): (Vec<i64>, Vec<i32>) = waiting.into_iter().unzip();
    transaction
        .run(
            "insert into embedding_queue (model_id, chunk_id, namespace_id)
             select $1, * from unnest($2::bigint[], $3::int[])",
            vec![model_number.into(), chunks.into(), namespaces.into()],
        )
        .await?;
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

/// Adds terms and postings of passages, one namespace after the other.
async fn add_postings(transaction: &Transaction, chunks: &[Posted<'_>]) -> Result<()> {
    let mut namespaces: BTreeMap<i32, Vec<Posted<'_>>> = BTreeMap::new();
    for chunk in chunks {
        namespaces.entry(chunk.namespace).or_default().push(*chunk);
    }
    for (namespace, chunks) in namespaces {
        add_postings_of(transaction, namespace, &chunks).await?;
    }
    Ok(())
}

async fn add_postings_of(transaction: &Transaction, namespace: i32, chunks: &[Posted<'_>]) -> Result<()> {
    let mut counts: HashMap<&str, i32> = HashMap::new();
    for (term, _) in chunks.iter().flat_map(|chunk| chunk.terms) {
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
        .flat_map(|chunk| {
            let numbers = &numbers;
            chunk.terms.iter().filter_map(move |(term, frequency)| {
                Some((chunk.chunk, *numbers.get(term.as_str())?, rank::impact(*frequency, chunk.length)))
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
pub(crate) async fn remove(transaction: &Transaction, memories: &[MemoryId]) -> Result<UnusedTerms> {
    let ids: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
    let values = || vec![ids.clone().into()];
    let unused = remove_postings(transaction, memories).await?;
    // Vectors and the queue go with the passages, by their foreign keys.
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
    Ok(unused)
}

/// Takes the terms of these memories out of the index. Their namespaces must be locked.
async fn remove_postings(transaction: &Transaction, memories: &[MemoryId]) -> Result<UnusedTerms> {
    let ids: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
    let rows = transaction
        .all(
            "with gone as (
                 delete from postings where chunk_id in (select id from chunks where memory_id = any($1))
                 returning term_id
             ), counted as (
                 select term_id, count(*)::int as count from gone group by term_id
             ), changed as (
                 update terms set document_count = document_count - counted.count
                 from counted where terms.id = counted.term_id
                 returning terms.id, document_count
             )
             select id from changed where document_count <= 0",
            vec![ids.into()],
        )
        .await?;
    rows.iter().map(|row| get(row, "id")).collect::<Result<_>>().map(UnusedTerms)
}

/// Words that no passage had at some moment of a transaction.
#[must_use = "a word of a forgotten memory would stay in the vocabulary"]
pub(crate) struct UnusedTerms(Vec<i64>);

/// Drops words from the vocabulary that no passage has, so that nothing tells of a memory that is gone. This comes last:
/// a word that a change takes away and brings back keeps its number, by which a search going on meanwhile finds it.
pub(crate) async fn drop_unused(transaction: &Transaction, terms: UnusedTerms) -> Result<()> {
    if !terms.0.is_empty() {
        transaction.run("delete from terms where id = any($1) and document_count <= 0", vec![terms.0.into()]).await?;
    }
    Ok(())
}

impl PgStore {
    pub(crate) async fn chunks_of(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Vec<StoredChunk>> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select c.id, c.memory_id, c.start_byte, octet_length(c.text) as bytes,
                     not exists (select from embedding_queue q where q.chunk_id = c.id) as embedded
                 from memories m join chunks c on c.memory_id = m.id
                 where m.id = any($1) and m.user_id = $2
                 order by c.memory_id, c.ordinal",
                vec![ids.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                let start: usize = unsigned(get::<i32>(row, "start_byte")?)?;
                let bytes: usize = unsigned(get::<i32>(row, "bytes")?)?;
                Ok(StoredChunk {
                    chunk: get(row, "id")?,
                    memory: MemoryId(get(row, "memory_id")?),
                    range: start..start + bytes,
                    embedded: get(row, "embedded")?,
                })
            })
            .collect()
    }
}
