//! Reading the search index.
//!
//! A small scope (all of a small store, or what a filter leaves of a great one) is scanned
//! exactly. In a greater one the vector side asks the HNSW index, which goes on until it has found
//! enough that matches (`hnsw.iterative_scan`). The keyword side ([`crate::keywords`]) is asked first, while the query is
//! still being embedded. Whatever either side finds is then scored on the other one too.

use std::collections::HashSet;

use async_trait::async_trait;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Candidate, Candidates, Model, Neighbour, Neighbourhood, Passage, RecallSteps, Search},
};
use polymnemo_types::{MemoryId, UserId};
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::{
    PgStore,
    keywords::{Keywords, PASSAGES_EACH, each, matches, matching},
    memories::{FROM_MEMORIES, MEMORY_COLUMNS, conditions, memory},
    sessions::hits::message_hit,
    transaction::{Scope, Transaction, get, unsigned},
};

/// Where a search looks.
pub(crate) struct Place {
    pub(crate) namespaces: Vec<i32>,
    pub(crate) scope: u64,
    pub(crate) model: i16,
    pub(crate) dimension: u32,
}

impl Place {
    /// The distance of `v.embedding` from the vector that is the given value.
    fn distance(&self, value: usize) -> String {
        format!("v.embedding::halfvec({0}) <=> (select ${value}::real[]::halfvec({0}))", self.dimension)
    }
}

/// A recall under way.
struct PgRecall {
    store: PgStore,
    user: UserId,
    search: Search,
    keywords: Keywords,
    /// The transaction of what follows after the keywords, and the vector that it is about.
    reading: Option<(Transaction, Vec<f32>)>,
}

impl PgStore {
    pub(crate) async fn recall(&self, ctx: &Ctx, search: Search) -> Result<Box<dyn RecallSteps>> {
        let keywords = self.keywords(ctx, &search).await?;
        Ok(Box::new(PgRecall { store: self.clone(), user: ctx.user.id, search, keywords, reading: None }))
    }

    pub(crate) async fn nearest_to(
        &self,
        ctx: &Ctx,
        vector: &[f32],
        model: &Model,
        limit: u32,
    ) -> Result<Vec<Neighbour>> {
        let number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let readable = transaction.readable(ctx, None).await?;
        let place = Place {
            namespaces: readable.iter().map(|namespace| namespace.id).collect(),
            scope: readable.iter().map(|namespace| namespace.chunks).sum(),
            model: number,
            dimension: model.dimension,
        };
        let passages = 2 * limit;
        let distance = place.distance(2);
        let own = "m.user_id = (select polymnemo_user_id()) and m.superseded_by is null and m.kind = 'memory'";
        let is_small = place.scope <= u64::from(self.options.exact_up_to);
        // The index gives an order by the distance itself, not by a column that holds it.
        let order = if is_small { "distance" } else { &distance };
        let found = format!(
            "select v.chunk_id, v.memory_id, {distance} as distance from vectors v join memories m on m.id = v.memory_id
             where v.model_id = {number} and v.namespace_id = any($1) and {own} order by {order} limit {passages}"
        );
        transaction.run_unprepared(&if is_small { COMPARE_ALL.to_owned() } else { use_index(40) }).await?;
        let rows = transaction
            .all(
                &format!(
                    "with found as materialized ({found}),
                     best as (select distinct on (memory_id) * from found order by memory_id, distance)
                     select b.memory_id, c.text, (1 - b.distance)::real as cosine
                     from best b cross join lateral (select text from chunks where id = b.chunk_id offset 0) c
                     order by b.distance, b.memory_id limit {limit}"
                ),
                vec![place.namespaces.into(), vector.to_vec().into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(Neighbour {
                    memory: MemoryId(get(row, "memory_id")?),
                    text: get(row, "text")?,
                    cosine: get(row, "cosine")?,
                })
            })
            .collect()
    }
}

#[async_trait]
impl RecallSteps for PgRecall {
    async fn candidates(&mut self, vector: &[f32]) -> Result<Candidates> {
        let weights = self.keywords.weights.clone();
        let scope = self.keywords.place.scope;
        if scope == 0 {
            let (pending, unindexed) = (self.keywords.pending, self.keywords.unindexed);
            return Ok(Candidates { weights, pending, unindexed, ..Candidates::default() });
        }
        let transaction = self.store.begin_with(Scope::User(self.user), &use_index(self.search.depth)).await?;
        let mut values = self.values(vector);
        values.push(self.keywords.chunks.clone().into());
        let conditions = conditions(&self.search.filter, false, &mut values);
        let rows = if self.keywords.is_small {
            transaction.all(&self.scan(&conditions), values).await?
        } else {
            self.look_up_enough(&transaction, &conditions, &values).await?
        };
        self.reading = Some((transaction, vector.to_vec()));
        let compared = match rows.first().filter(|_| self.keywords.is_small) {
            Some(row) => Some(unsigned(get::<i64>(row, "compared")?)?),
            None => None,
        };
        let passages = rows.iter().map(|row| self.candidate(row)).collect::<Result<_>>()?;
        let Keywords { pending, unindexed, .. } = self.keywords;
        Ok(Candidates { passages, weights, scope, pending, unindexed, compared })
    }

    async fn neighbourhood(&mut self, memories: &[MemoryId]) -> Result<Neighbourhood> {
        let Some((transaction, vector)) = self.reading.as_ref().filter(|_| !memories.is_empty()) else {
            return Ok(Neighbourhood::default());
        };
        let anchors: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
        let mut values = self.values(vector);
        values.push(anchors.into());
        let conditions = conditions(&self.search.filter, false, &mut values);
        // Both directions walk the index on (namespace, time, id) from the anchor. What does not match the filter is left
        // out afterwards: walking on until something matches could lead through the whole store.
        let side = |comparison: &str, order: &str, sign: &str| {
            format!(
                "select m.id, {sign}row_number() over (order by m.occurred_at {order}, m.id {order}) as place, m.occurred_at from (
                     select m.* from memories m
                     where m.namespace_id = a.namespace_id and m.forgotten_at is null
                       and (m.occurred_at, m.id) {comparison} (a.occurred_at, a.id)
                     order by m.occurred_at {order}, m.id {order} limit 2
                 ) m where m.client is not distinct from a.client{conditions}"
            )
        };
        let sql = format!(
            "with near as materialized (
                 select a.id as anchor, near.id, near.place, near.occurred_at
                 from memories a cross join lateral (
                     {} union all {} union all select a.id, 0, a.occurred_at
                 ) near
                 where a.id = any($4) and a.namespace_id = any($1)
             ),
             found as materialized (
                 select c.id, c.memory_id, c.length from chunks c
                 where c.memory_id in (select id from near) and c.ordinal = 0 and c.namespace_id = any($1)
             ),
             scored as materialized ({})
             select near.anchor, near.id as neighbour, near.occurred_at, scored.*
             from near left join scored on scored.memory_id = near.id
             order by near.anchor, near.place",
            side("<", "desc", "-"),
            side(">", "asc", ""),
            self.scored(""),
        );
        let rows = transaction.all(&sql, values).await?;
        let mut seen = HashSet::new();
        let mut passages = Vec::with_capacity(rows.len());
        for row in &rows {
            // Two anchors may have a neighbour in common; and what was forgotten meanwhile has no passage.
            if get::<Option<i64>>(row, "id")?.is_some_and(|chunk| seen.insert(chunk)) {
                passages.push(self.candidate(row)?);
            }
        }
        Ok(Neighbourhood { rows: rows_of_neighbours(&rows)?, passages })
    }

    async fn passages(&mut self, chunks: &[i64]) -> Result<Vec<Passage>> {
        let Some((transaction, _)) = self.reading.as_ref().filter(|_| !chunks.is_empty()) else {
            return Ok(Vec::new());
        };
        let rows = transaction
            .all(
                &format!(
                    "select {MEMORY_COLUMNS}, c.id as chunk, c.text, c.start_byte, s.key, m.content as title, s.messages,
                         g.number, g.role, g.said_at
                     from {FROM_MEMORIES} join chunks c on c.memory_id = m.id
                     left join sessions s on s.memory_id = m.id left join messages g on g.id = c.message_id
                     where c.id = any($1) and m.namespace_id = any($2) and m.forgotten_at is null"
                ),
                vec![chunks.to_vec().into(), self.keywords.place.namespaces.clone().into()],
            )
            .await?;
        let mut passages = rows
            .iter()
            .map(|row| {
                Ok(Passage {
                    chunk: get(row, "chunk")?,
                    memory: memory(row)?,
                    text: get(row, "text")?,
                    offset: unsigned(get::<i32>(row, "start_byte")?)?,
                    message: message_hit(row)?,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        transaction.add_neighbours(&mut passages).await?;
        Ok(passages)
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        match self.reading {
            Some((transaction, _)) => transaction.commit().await,
            None => Ok(()),
        }
    }
}

impl PgRecall {
    /// The candidates from the indexes. Where nearly all of them are of a few long memories, which would keep all others out,
    /// it is looked further.
    async fn look_up_enough(
        &self,
        transaction: &Transaction,
        conditions: &str,
        values: &[Value],
    ) -> Result<Vec<QueryResult>> {
        let mut depth = self.search.depth;
        loop {
            let rows = transaction.all(&self.look_up(conditions, depth), values.to_vec()).await?;
            let memories = rows.iter().map(|row| get::<Uuid>(row, "memory_id")).collect::<Result<HashSet<_>>>()?;
            let is_enough = rows.len() < depth as usize || memories.len() * FEW >= self.search.depth as usize;
            if is_enough || depth >= MOST_LOOKED_AT {
                return Ok(rows);
            }
            depth = (depth * 4).min(MOST_LOOKED_AT);
            transaction.run_unprepared(use_index(depth).trim_start_matches("; ")).await?;
        }
    }

    /// The statement for candidates from every passage in scope, each with the number of memories that were compared.
    fn scan(&self, conditions: &str) -> String {
        format!(
            "with scope as materialized (
                 select c.id, c.memory_id, c.length, {each} as each from chunks c join memories m on m.id = c.memory_id
                 where c.namespace_id = any($1) and m.forgotten_at is null{conditions}
             ),
             near as materialized (
                 select s.id, s.memory_id, s.each, {distance} as distance
                 from scope s join vectors v on v.model_id = {model} and v.chunk_id = s.id
             ),
             close as materialized (
                 select id from (
                     select id, distance, row_number() over (partition by each order by distance, id) as place from near
                 ) ranked
                 where place <= {PASSAGES_EACH} order by distance, id limit {depth}
             ),
             found as materialized (
                 select s.* from scope s where s.id in (select id from close union select unnest($4::bigint[]))
             ),
             compared as (
                 select count(distinct memory_id) as memories
                 from (select memory_id from near union all select memory_id from found) each_passage
             )
             select scored.*, (select memories from compared) as compared from ({scored}) scored",
            depth = self.search.depth,
            model = self.keywords.place.model,
            distance = self.keywords.place.distance(2),
            each = each(&self.search),
            scored = self.scored(""),
        )
    }

    /// The statement for candidates from the indexes, so many of them by meaning.
    fn look_up(&self, conditions: &str, depth: u32) -> String {
        let (with_matching, memories, matches) = if self.search.filter.is_narrow() {
            (format!("{}, ", matching(conditions)), "", matches("v"))
        } else {
            let matches = format!("m.forgotten_at is null{conditions}");
            (String::new(), " join memories m on m.id = v.memory_id", matches)
        };
        format!(
            "with {with_matching}close as materialized (
                 select v.chunk_id as id from vectors v{memories}
                 where v.model_id = {model} and v.namespace_id = any($1) and {matches}
                 order by {distance} limit {depth}
             ),
             found as materialized (
                 select c.id, c.memory_id, c.length from chunks c
                 where c.id in (select id from close union select unnest($4::bigint[])) and c.namespace_id = any($1)
             )
             {scored}",
            model = self.keywords.place.model,
            distance = self.keywords.place.distance(2),
            scored = self.scored(conditions),
        )
    }

    /// The first values of each statement: the namespaces, the vector, the terms' numbers. The depth is in the statements
    /// themselves, so that the planner knows how little is asked for.
    fn values(&self, vector: &[f32]) -> Vec<Value> {
        vec![
            self.keywords.place.namespaces.clone().into(),
            vector.to_vec().into(),
            self.keywords.terms.ids.clone().into(),
        ]
    }

    /// Scores the passages of the table `found` on both sides: the columns that [`Self::candidate`] reads.
    fn scored(&self, conditions: &str) -> String {
        format!(
            "select f.id, f.memory_id, f.length, m.source, (1 - ({distance}))::real as cosine, k.terms, k.impacts, {message}
             from found f
             join memories m on m.id = f.memory_id
             left join vectors v on v.model_id = {model} and v.chunk_id = f.id
             left join lateral (
                 select array_agg(p.term_id) as terms, array_agg(p.impact) as impacts from postings p
                 where p.chunk_id = f.id and p.term_id = any($3::bigint[])
             ) k on true
             where m.forgotten_at is null{conditions}",
            distance = self.keywords.place.distance(2),
            model = self.keywords.place.model,
            message = match self.search.filter.session {
                Some(_) => "(select c.message_id from chunks c where c.id = f.id) as message_id",
                None => "null::bigint as message_id",
            },
        )
    }

    fn candidate(&self, row: &QueryResult) -> Result<Candidate> {
        let terms: Vec<i64> = get::<Option<Vec<i64>>>(row, "terms")?.unwrap_or_default();
        let impacts: Vec<f32> = get::<Option<Vec<f32>>>(row, "impacts")?.unwrap_or_default();
        let mut matched: Vec<(u16, f32)> = terms
            .iter()
            .zip(impacts)
            .filter_map(|(term, impact)| {
                self.keywords.terms.known.get(term).map(|&(place, weight)| (place, weight * impact))
            })
            .collect();
        matched.sort_unstable_by_key(|&(place, _)| place);
        Ok(Candidate {
            chunk: get(row, "id")?,
            memory: MemoryId(get(row, "memory_id")?),
            message: get(row, "message_id")?,
            source: get(row, "source")?,
            length: unsigned(get::<i32>(row, "length")?)?,
            cosine: get(row, "cosine")?,
            matched,
        })
    }
}

/// From how many passages of the nearest on a memory is so long that it keeps others out: where of `depth` passages only
/// `depth / FEW` memories are left.
const FEW: usize = 5;

/// The most passages that are looked at then.
const MOST_LOOKED_AT: u32 = 960;

/// Settings for a transaction that compares all vectors of a small scope: each table is read once and joined by hashes. A
/// plan made while the tables were empty, and kept until the database has counted them, would read one anew for each row of
/// the other.
const COMPARE_ALL: &str = "set local enable_nestloop = off";

/// Settings for a transaction: the planner takes the HNSW index, and the index goes on until enough rows match. All else is
/// looked up for the few rows that were found, whatever the planner thinks of their number.
pub(crate) fn use_index(depth: u32) -> String {
    format!(
        "; set local hnsw.iterative_scan = strict_order; set local hnsw.ef_search = {}; \
         set local hnsw.max_scan_tuples = 200000; set local enable_seqscan = off; \
         set local enable_hashjoin = off; set local enable_mergejoin = off",
        depth.clamp(40, 1_000)
    )
}

/// Cuts the rows of neighbours where more than an hour lies between two of them.
fn rows_of_neighbours(rows: &[QueryResult]) -> Result<Vec<Vec<MemoryId>>> {
    const TOGETHER: time::Duration = time::Duration::hours(1);
    let mut all: Vec<Vec<MemoryId>> = Vec::new();
    let mut last: Option<(Uuid, time::OffsetDateTime)> = None;
    for row in rows {
        let (anchor, at): (Uuid, time::OffsetDateTime) = (get(row, "anchor")?, get(row, "occurred_at")?);
        let goes_on = last.is_some_and(|(other, before)| other == anchor && at - before <= TOGETHER);
        if !goes_on {
            all.push(Vec::new());
        }
        if let Some(current) = all.last_mut() {
            current.push(MemoryId(get(row, "neighbour")?));
        }
        last = Some((anchor, at));
    }
    Ok(all)
}
