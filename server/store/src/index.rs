//! Keeping the search index true to the memories: passages, vectors, terms, postings and counts.
//!
//! A memory that is not in the trash has passages that cover its text; one in the trash has none.
//! What is here runs inside the transaction that changes the memories, after their namespaces were
//! locked, so no search ever sees half of it. Everything takes several memories at once: to change a
//! hundred is then a few statements, not some thousands.

use std::collections::{BTreeMap, HashMap};

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
    memories::optional_from_sql,
    transaction::{Scope, Transaction, get, to_int},
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
    /// The place of the first of these passages in the memory.
    pub(crate) first_ordinal: i32,
    /// The message that the passages are of, where the memory is a session.
    pub(crate) message: Option<i64>,
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
    // The statement numbers what it stores in this order.
    let mut memories = memories.to_vec();
    memories.sort_unstable_by_key(|memory| (memory.memory, memory.first_ordinal));
    let mut part = Additions::default();
    for memory in &memories {
        if part.rows() > ROWS {
            std::mem::take(&mut part).store(transaction, model, model_number).await?;
        }
        part.take_in(memory, model)?;
    }
    part.store(transaction, model, model_number).await
}

/// What is to be added, as the columns of tables.
#[derive(Default)]
struct Additions<'a> {
    tags: (Vec<Uuid>, Vec<i32>, Vec<String>),
    /// The passages, by memory and place in it.
    memories: Vec<Uuid>,
    namespaces: Vec<i32>,
    ordinals: Vec<i32>,
    starts: Vec<i32>,
    texts: Vec<String>,
    lengths: Vec<i32>,
    /// The messages that they are of; 0 for none.
    messages: Vec<i64>,
    /// Which of the passages are never embedded, counted from 1.
    by_keyword_only: Vec<i32>,
    /// Which of the passages have a vector, counted from 1; and all vectors, one after the other.
    embedded: Vec<i32>,
    vectors: Vec<f32>,
    vocabulary: BTreeMap<(i32, &'a str), Vec<(usize, f32)>>,
}

impl<'a> Additions<'a> {
    fn rows(&self) -> usize {
        self.vocabulary.values().map(Vec::len).sum()
    }

    fn take_in(&mut self, memory: &Indexed<'a>, model: &Model) -> Result<()> {
        self.tags.2.extend_from_slice(memory.tags);
        self.tags.0.resize(self.tags.2.len(), memory.memory.0);
        self.tags.1.resize(self.tags.2.len(), memory.namespace);
        for (ordinal, chunk) in (memory.first_ordinal..).zip(memory.chunks) {
            self.memories.push(memory.memory.0);
            self.namespaces.push(memory.namespace);
            self.ordinals.push(ordinal);
            self.starts.push(to_int(chunk.range.start));
            self.texts.push(memory.content.get(chunk.range.clone()).unwrap_or_default().to_owned());
            self.lengths.push(to_int(chunk.length));
            self.messages.push(memory.message.unwrap_or_default());
            let place = self.memories.len();
            if chunk.by_keyword_only {
                self.by_keyword_only.push(to_int(place));
            }
            if let Some(vector) = &chunk.vector {
                check_dimension(model, vector)?;
                self.embedded.push(to_int(place));
                self.vectors.extend_from_slice(vector);
            }
            for (term, frequency) in &chunk.terms {
                let postings = self.vocabulary.entry((memory.namespace, term)).or_default();
                postings.push((place, rank::impact(*frequency, chunk.length)));
            }
        }
        Ok(())
    }

    /// Everything in one statement: while a namespace is locked, each further one would keep its other writers waiting.
    async fn store(self, transaction: &Transaction, model: &Model, model_number: i16) -> Result<()> {
        let count = self.rows();
        let (mut term_namespaces, mut terms, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        let (mut posted_chunks, mut posted_terms, mut impacts) =
            (Vec::with_capacity(count), Vec::with_capacity(count), Vec::with_capacity(count));
        for ((namespace, term), postings) in self.vocabulary {
            term_namespaces.push(namespace);
            terms.push(term.to_owned());
            counts.push(to_int(postings.len()));
            for (place, impact) in postings {
                posted_chunks.push(to_int(place));
                posted_terms.push(to_int(terms.len()));
                impacts.push(impact);
            }
        }
        transaction
            .run(
                ADD,
                vec![
                    self.tags.0.into(),
                    self.tags.1.into(),
                    self.tags.2.into(),
                    self.memories.into(),
                    self.namespaces.into(),
                    self.ordinals.into(),
                    self.starts.into(),
                    self.texts.into(),
                    self.lengths.into(),
                    model_number.into(),
                    to_int(model.dimension).into(),
                    self.embedded.into(),
                    self.vectors.into(),
                    term_namespaces.into(),
                    terms.into(),
                    counts.into(),
                    posted_chunks.into(),
                    posted_terms.into(),
                    impacts.into(),
                    self.messages.into(),
                    self.by_keyword_only.into(),
                ],
            )
            .await?;
        Ok(())
    }
}

/// Adds tags (1 to 3), passages (4 to 9), vectors of a model (10 to 13), terms (14 to 16) and postings (17 to 19). Vectors and
/// postings name passages and terms by their places in the other arrays, which are sorted as the numbers are collected here.
const ADD: &str = "
    with new_tags as (
        insert into tags (memory_id, namespace_id, tag) select * from unnest($1::uuid[], $2::int[], $3::text[])
    ),
    new_chunks as (
        insert into chunks (memory_id, namespace_id, ordinal, start_byte, text, length, message_id)
        select memory_id, namespace_id, ordinal, start_byte, text, length, nullif(message_id, 0)
        from unnest($4::uuid[], $5::int[], $6::int[], $7::int[], $8::text[], $9::int[], $20::bigint[])
            c (memory_id, namespace_id, ordinal, start_byte, text, length, message_id)
        returning id, memory_id, ordinal
    ),
    counted_passages as (
        update sessions set passages = passages + counted.count
        from (select memory_id, count(*) as count from unnest($4::uuid[]) as memory_id group by memory_id) counted
        where sessions.memory_id = counted.memory_id
    ),
    chunk as materialized (select array_agg(id order by memory_id, ordinal) as ids from new_chunks),
    new_vectors as (
        insert into vectors (model_id, dimension, chunk_id, memory_id, namespace_id, embedding)
        select $10, $11, chunk.ids[v.chunk], ($4::uuid[])[v.chunk], ($5::int[])[v.chunk],
            ($13::real[])[(v.place - 1) * $11 + 1 : v.place * $11]::halfvec
        from chunk, unnest($12::int[]) with ordinality v (chunk, place)
    ),
    queued as (
        insert into embedding_queue (model_id, chunk_id, namespace_id)
        select $10, chunk.ids[c.place], c.namespace_id
        from chunk, unnest($5::int[]) with ordinality c (namespace_id, place)
        where c.place <> all($12::int[]) and c.place <> all($21::int[])
    ),
    new_terms as (
        insert into terms (namespace_id, term, document_count)
        select * from unnest($14::int[], $15::text[], $16::int[])
        on conflict (namespace_id, term) do update set document_count = terms.document_count + excluded.document_count
        returning id, namespace_id, term
    ),
    term as materialized (
        select array_agg(id order by namespace_id, term collate \"C\") as ids from new_terms
    ),
    new_postings as (
        insert into postings (namespace_id, chunk_id, term_id, impact)
        select ($5::int[])[p.chunk], chunk.ids[p.chunk], term.ids[p.term], p.impact
        from chunk, term, unnest($17::int[], $18::int[], $19::real[]) p (chunk, term, impact)
    )
    update namespaces set chunk_count = chunk_count + counted.count
    from (select id, count(*) as count from unnest($5::int[]) as id group by id) counted
    where namespaces.id = counted.id";

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
    let unused =
        remove_postings(transaction, OF_MEMORIES, ids.iter().map(|id| id.0).collect::<Vec<_>>().into()).await?;
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
        let targets: Vec<i32> = memories.iter().map(|memory| memory.namespace).collect();
        for table in ["sessions", "messages"] {
            transaction
                .run(
                    &format!(
                        "update {table} set namespace_id = moved.namespace_id
                         from unnest($1::uuid[], $2::int[]) as moved (id, namespace_id)
                         where {table}.memory_id = moved.id and {table}.namespace_id <> moved.namespace_id"
                    ),
                    vec![ids.iter().map(|id| id.0).collect::<Vec<_>>().into(), targets.clone().into()],
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

fn check_dimension(model: &Model, vector: &[f32]) -> Result<()> {
    if vector.len() == model.dimension as usize {
        return Ok(());
    }
    let (id, dimension) = (&model.id, model.dimension);
    Err(Error::internal(format!("the model {id} made a vector of {} dimensions instead of {dimension}", vector.len())))
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
    let (mut chunks, mut memories, mut namespaces) = (Vec::new(), Vec::new(), Vec::new());
    let mut values: Vec<f32> = Vec::with_capacity(vectors.len() * model.dimension as usize);
    for (chunk, memory, namespace, vector) in vectors {
        check_dimension(model, &vector)?;
        chunks.push(chunk);
        memories.push(memory.0);
        namespaces.push(namespace);
        values.extend(vector);
    }
    // All vectors travel one after the other, in one array.
    transaction
        .run(
            "insert into vectors (model_id, dimension, chunk_id, memory_id, namespace_id, embedding)
             select $1, $2, v.chunk_id, v.memory_id, v.namespace_id,
                 ($6::real[])[(v.place - 1) * $2 + 1 : v.place * $2]::halfvec
             from unnest($3::bigint[], $4::uuid[], $5::int[])
                 with ordinality v (chunk_id, memory_id, namespace_id, place)
             on conflict do nothing",
            vec![
                model_number.into(),
                to_int(model.dimension).into(),
                chunks.into(),
                memories.into(),
                namespaces.into(),
                values.into(),
            ],
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
    let unused = remove_chunks(transaction, OF_MEMORIES, ids.clone().into()).await?;
    transaction.run("delete from tags where memory_id = any($1)", vec![ids.into()]).await?;
    Ok(unused)
}

/// The same for the passages of these messages.
pub(crate) async fn remove_messages(transaction: &Transaction, messages: &[i64]) -> Result<UnusedTerms> {
    remove_chunks(transaction, "message_id = any($1)", messages.to_vec().into()).await
}

/// The same for the passages of a session's title.
pub(crate) async fn remove_title(transaction: &Transaction, session: MemoryId) -> Result<UnusedTerms> {
    remove_chunks(transaction, "memory_id = $1 and message_id is null", session.0.into()).await
}

/// The same for these passages.
pub(crate) async fn remove_passages(transaction: &Transaction, passages: Vec<i64>) -> Result<UnusedTerms> {
    remove_chunks(transaction, "id = any($1)", passages.into()).await
}

/// The condition on chunks to be those of memories.
const OF_MEMORIES: &str = "memory_id = any($1)";

/// Takes the passages that a condition with this one value names out of the index.
async fn remove_chunks(transaction: &Transaction, condition: &str, value: Value) -> Result<UnusedTerms> {
    let unused = remove_postings(transaction, condition, value.clone()).await?;
    // Vectors and the queue go with the passages, by their foreign keys.
    transaction
        .run(
            &format!(
                "with gone as (delete from chunks where {condition} returning memory_id, namespace_id),
                 fewer as (
                     update sessions set passages = passages - counted.count
                     from (select memory_id, count(*) as count from gone group by memory_id) counted
                     where sessions.memory_id = counted.memory_id
                 ),
                 counted as (select namespace_id, count(*) as count from gone group by namespace_id)
                 update namespaces set chunk_count = chunk_count - counted.count
                 from counted where namespaces.id = counted.namespace_id"
            ),
            vec![value],
        )
        .await?;
    Ok(unused)
}

/// Takes the terms of the passages that a condition with this one value names out of the index. Their namespaces must be
/// locked.
async fn remove_postings(transaction: &Transaction, condition: &str, value: Value) -> Result<UnusedTerms> {
    let rows = transaction
        .all(
            &format!(
                "with gone as (
                     delete from postings where chunk_id in (select id from chunks where {condition})
                     returning term_id
                 ), counted as (
                     select term_id, count(*)::int as count from gone group by term_id
                 ), changed as (
                     update terms set document_count = document_count - counted.count
                     from counted where terms.id = counted.term_id
                     returning terms.id, document_count
                 )
                 select id from changed where document_count <= 0"
            ),
            vec![value],
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
                "select c.id, c.memory_id, c.text, g.said_at,
                     not exists (select from embedding_queue q where q.chunk_id = c.id) as embedded
                 from memories m join chunks c on c.memory_id = m.id left join messages g on g.id = c.message_id
                 where m.id = any($1) and m.user_id = $2
                 order by c.memory_id, c.ordinal",
                vec![ids.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(StoredChunk {
                    chunk: get(row, "id")?,
                    memory: MemoryId(get(row, "memory_id")?),
                    text: get(row, "text")?,
                    said_at: optional_from_sql(row, "said_at")?,
                    embedded: get(row, "embedded")?,
                })
            })
            .collect()
    }
}
