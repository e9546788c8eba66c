//! Reading the search index.
//!
//! A small scope (all of a small store, or what a filter leaves of a great one) is scanned
//! exactly. In a greater one the vector side asks the HNSW index, which goes on until it has found
//! enough that matches (`hnsw.iterative_scan`), and the keyword side reads the postings of rare
//! words whole and of common words only the best, which stand first in their index. Whatever
//! either side finds is then scored on the other one too.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{Candidate, Candidates, Model, Neighbour, Neighbourhood, Passage, RecallSteps, Search},
    rank,
};
use polymnemo_types::MemoryId;
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{FROM_MEMORIES, MEMORY_COLUMNS, conditions, memory},
    namespaces::{READABLE, readable_values},
    transaction::{Scope, Transaction, get, unsigned},
};

/// How many postings a search reads whole, the rarest terms first, and how many of each further term, the best first.
const POSTINGS: (u64, u64) = (4_000, 200);

/// The same where a narrow filter has to be looked up for each posting, also for those that it leaves out.
const FILTERED_POSTINGS: (u64, u64) = (400, 60);

/// The terms of a search, as far as the caller's passages hold them.
#[derive(Default)]
struct Terms {
    /// The terms' numbers; a term has one in each namespace.
    ids: Vec<i64>,
    /// The weight of each.
    weights: Vec<f32>,
    /// How many postings of each to read.
    most: Vec<i64>,
    /// The place in [`Search::terms`] and the weight of each, by its number.
    known: HashMap<i64, (u16, f32)>,
}

/// Where a search looks.
struct Place {
    namespaces: Vec<i32>,
    scope: u64,
    model: i16,
    dimension: u32,
}

impl Place {
    /// The distance of `v.embedding` from the vector that is the given value.
    fn distance(&self, value: usize) -> String {
        format!("v.embedding::halfvec({0}) <=> ${value}::real[]::halfvec({0})", self.dimension)
    }
}

/// A recall under way.
struct PgRecall {
    transaction: Transaction,
    search: Search,
    place: Place,
    pending: u32,
    weights: Vec<f32>,
    terms: Terms,
    exact_up_to: u32,
}

impl PgStore {
    pub(crate) async fn recall(&self, ctx: &Ctx, search: Search) -> Result<Box<dyn RecallSteps>> {
        let model = self.model_number(&search.model).await?;
        let transaction = self.begin_with(Scope::User(ctx.user.id), &use_index(search.depth)).await?;
        let mut values = readable_values(ctx, search.filter.namespace.as_deref());
        values.extend([model.into(), search.terms.clone().into()]);
        let row = transaction
            .one(
                &format!(
                    "with readable as materialized (select id, chunk_count from namespaces where {READABLE}),
                     place as (
                         select array_agg(id order by id) as namespaces, sum(chunk_count)::bigint as scope from readable
                     ),
                     pending as (
                         select count(*) as pending from embedding_queue
                         where model_id = $4 and namespace_id in (select id from readable)
                     ),
                     known as (
                         select array_agg(t.id) as terms, array_agg(t.document_count) as counts,
                             array_agg(asked.place::int) as places
                         from readable r cross join unnest($5::text[]) with ordinality asked (term, place)
                         join terms t on t.namespace_id = r.id and t.term = asked.term
                         where t.document_count > 0
                     )
                     select * from place, pending, known"
                ),
                values,
            )
            .await?
            .ok_or_else(|| Error::internal("a count without a row"))?;
        let place = Place {
            namespaces: get::<Option<Vec<i32>>>(&row, "namespaces")?.unwrap_or_default(),
            scope: unsigned(get::<Option<i64>>(&row, "scope")?.unwrap_or_default())?,
            model,
            dimension: search.model.dimension,
        };
        let (weights, terms) = terms(&row, &search, place.scope)?;
        let pending = unsigned(get::<i64>(&row, "pending")?)?;
        let exact_up_to = self.options.exact_up_to;
        Ok(Box::new(PgRecall { transaction, search, place, pending, weights, terms, exact_up_to }))
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
        let own = "m.user_id = (select polymnemo_user_id()) and m.superseded_by is null";
        let found = if place.scope <= u64::from(self.options.exact_up_to) {
            format!(
                "select v.chunk_id, v.memory_id, {distance} as distance from vectors v join memories m on m.id = v.memory_id
                 where v.model_id = {number} and v.namespace_id = any($1) and {own} order by distance limit {passages}"
            )
        } else {
            transaction.run_unprepared(&use_index(40)).await?;
            format!(
                "select v.chunk_id, v.memory_id, {distance} as distance from vectors v join memories m on m.id = v.memory_id
                 where v.model_id = {number} and v.namespace_id = any($1) and {own} order by {distance} limit {passages}"
            )
        };
        let rows = transaction
            .all(
                &format!(
                    "with found as materialized ({found}),
                     best as (select distinct on (memory_id) * from found order by memory_id, distance)
                     select b.memory_id, c.text, (1 - b.distance)::real as cosine
                     from best b join chunks c on c.id = b.chunk_id order by b.distance, b.memory_id limit {limit}"
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
    async fn candidates(&mut self) -> Result<Candidates> {
        if self.place.scope == 0 {
            return Ok(Candidates { weights: vec![0.0; self.search.terms.len()], ..Candidates::default() });
        }
        let rows =
            if self.search.exact || self.is_small().await? { self.scan().await? } else { self.look_up().await? };
        Ok(Candidates {
            passages: rows.iter().map(|row| self.candidate(row)).collect::<Result<_>>()?,
            weights: std::mem::take(&mut self.weights),
            scope: self.place.scope,
            pending: self.pending,
        })
    }

    async fn neighbourhood(&mut self, memories: &[MemoryId]) -> Result<Neighbourhood> {
        if memories.is_empty() {
            return Ok(Neighbourhood::default());
        }
        let anchors: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
        let mut values: Vec<Value> = vec![
            self.place.namespaces.clone().into(),
            self.search.vector.clone().into(),
            self.terms.ids.clone().into(),
            anchors.into(),
        ];
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
            self.scored(3, ""),
        );
        let rows = self.transaction.all(&sql, values).await?;
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
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        let rows = self
            .transaction
            .all(
                &format!(
                    "select {MEMORY_COLUMNS}, c.id as chunk, c.text, c.start_byte
                     from {FROM_MEMORIES} join chunks c on c.memory_id = m.id
                     where c.id = any($1) and m.namespace_id = any($2) and m.forgotten_at is null"
                ),
                vec![chunks.to_vec().into(), self.place.namespaces.clone().into()],
            )
            .await?;
        rows.iter()
            .map(|row| {
                Ok(Passage {
                    chunk: get(row, "chunk")?,
                    memory: memory(row)?,
                    text: get(row, "text")?,
                    offset: unsigned(get::<i32>(row, "start_byte")?)?,
                })
            })
            .collect()
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        self.transaction.commit().await
    }
}

impl PgRecall {
    /// Whether so few memories match that looking at each is quick.
    async fn is_small(&self) -> Result<bool> {
        let most = u64::from(self.exact_up_to);
        if self.place.scope <= most {
            return Ok(true);
        }
        if !self.search.filter.is_narrow() {
            return Ok(false);
        }
        let mut values: Vec<Value> = vec![self.place.namespaces.clone().into(), i64::from(self.exact_up_to).into()];
        let conditions = conditions(&self.search.filter, false, &mut values);
        let row = self
            .transaction
            .one(
                &format!(
                    "select count(*) from (
                         select from memories m
                         where m.namespace_id = any($1) and m.forgotten_at is null{conditions} limit $2 + 1
                     ) some_of_them"
                ),
                values,
            )
            .await?;
        let count: i64 = row.map_or(Ok(0), |row| get(&row, "count"))?;
        Ok(unsigned::<i64, u64>(count)? <= most)
    }

    /// Candidates from every passage in scope.
    async fn scan(&self) -> Result<Vec<QueryResult>> {
        let mut values = self.values();
        let conditions = conditions(&self.search.filter, false, &mut values);
        let sql = format!(
            "with scope as materialized (
                 select c.id, c.memory_id, c.length from chunks c join memories m on m.id = c.memory_id
                 where c.namespace_id = any($1) and m.forgotten_at is null{conditions}
             ),
             close as materialized (
                 select s.id, {distance} as distance
                 from scope s join vectors v on v.model_id = {model} and v.chunk_id = s.id
             ),
             keyword as materialized (
                 select s.id, sum(t.weight * p.impact) as score
                 from scope s cross join lateral (
                     -- `offset 0`: passage by passage, never through all postings of a common word.
                     select p.term_id, p.impact from postings p
                     where p.chunk_id = s.id and p.term_id = any($3) offset 0
                 ) p join {TERMS} on t.id = p.term_id
                 group by s.id
             ),
             found as materialized (
                 select s.* from scope s where s.id in (
                     (select id from close order by distance, id limit {depth})
                     union (select id from keyword order by score desc, id limit {depth})
                 )
             )
             {scored}",
            depth = self.search.depth,
            distance = self.place.distance(2),
            model = self.place.model,
            scored = self.scored(3, ""),
        );
        self.transaction.all(&sql, values).await
    }

    /// Candidates from the indexes.
    async fn look_up(&self) -> Result<Vec<QueryResult>> {
        let mut values = self.values();
        let conditions = conditions(&self.search.filter, false, &mut values);
        // Without a narrow filter only superseded memories are to be left out: so few that they are dropped in the end
        // rather than looked up for each posting.
        let filtered = if self.search.filter.is_narrow() {
            format!(
                " join chunks c on c.id = p.chunk_id
                 join memories m on m.id = c.memory_id and m.forgotten_at is null{conditions}"
            )
        } else {
            String::new()
        };
        let sql = format!(
            "with close as materialized (
                 select v.chunk_id as id from vectors v join memories m on m.id = v.memory_id
                 where v.model_id = {model} and v.namespace_id = any($1) and m.forgotten_at is null{conditions}
                 order by {distance} limit {depth}
             ),
             keyword as materialized (
                 select p.chunk_id as id, sum(t.weight * p.impact) as score
                 from {TERMS} cross join lateral (
                     select p.chunk_id, p.impact from postings p{filtered}
                     where p.term_id = t.id order by p.impact desc limit t.most
                 ) p
                 group by p.chunk_id order by score desc, p.chunk_id limit {depth}
             ),
             found as materialized (
                 select c.id, c.memory_id, c.length from chunks c
                 where c.id in (select id from close union select id from keyword) and c.namespace_id = any($1)
             )
             {scored}",
            depth = self.search.depth,
            model = self.place.model,
            distance = self.place.distance(2),
            scored = self.scored(3, &conditions),
        );
        self.transaction.all(&sql, values).await
    }

    /// The values that the candidates are found by: namespaces, vector, the terms' numbers, weights and numbers of
    /// postings to read. The depth is in the statements themselves, so that the planner knows how little is asked for.
    fn values(&self) -> Vec<Value> {
        vec![
            self.place.namespaces.clone().into(),
            self.search.vector.clone().into(),
            self.terms.ids.clone().into(),
            self.terms.weights.clone().into(),
            self.terms.most.clone().into(),
        ]
    }

    /// Scores the passages of the table `found` on both sides: the columns that [`Self::candidate`] reads. The second value is
    /// the query's vector, the value of the number `terms` the terms' numbers.
    fn scored(&self, terms: usize, conditions: &str) -> String {
        format!(
            "select f.id, f.memory_id, f.length, m.source, (1 - ({distance}))::real as cosine, k.terms, k.impacts
             from found f
             join memories m on m.id = f.memory_id
             left join vectors v on v.model_id = {model} and v.chunk_id = f.id
             left join lateral (
                 select array_agg(p.term_id) as terms, array_agg(p.impact) as impacts from postings p
                 where p.chunk_id = f.id and p.term_id = any(${terms}::bigint[])
             ) k on true
             where m.forgotten_at is null{conditions}",
            distance = self.place.distance(2),
            model = self.place.model,
        )
    }

    fn candidate(&self, row: &QueryResult) -> Result<Candidate> {
        let terms: Vec<i64> = get::<Option<Vec<i64>>>(row, "terms")?.unwrap_or_default();
        let impacts: Vec<f32> = get::<Option<Vec<f32>>>(row, "impacts")?.unwrap_or_default();
        let mut matched: Vec<(u16, f32)> = terms
            .iter()
            .zip(impacts)
            .filter_map(|(term, impact)| self.terms.known.get(term).map(|&(place, weight)| (place, weight * impact)))
            .collect();
        matched.sort_unstable_by_key(|&(place, _)| place);
        Ok(Candidate {
            chunk: get(row, "id")?,
            memory: MemoryId(get(row, "memory_id")?),
            source: get(row, "source")?,
            length: unsigned(get::<i32>(row, "length")?)?,
            cosine: get(row, "cosine")?,
            matched,
        })
    }
}

/// The weights of the terms, and the terms that there are.
fn terms(row: &QueryResult, search: &Search, scope: u64) -> Result<(Vec<f32>, Terms)> {
    let ids: Vec<i64> = get::<Option<_>>(row, "terms")?.unwrap_or_default();
    let counts: Vec<i32> = get::<Option<_>>(row, "counts")?.unwrap_or_default();
    let places: Vec<i32> = get::<Option<_>>(row, "places")?.unwrap_or_default();
    let mut found = Vec::with_capacity(ids.len());
    let mut documents = vec![0_u64; search.terms.len()];
    for ((id, count), place) in ids.into_iter().zip(counts).zip(places) {
        let term: u16 = unsigned(place - 1)?;
        let count: u64 = unsigned(count)?;
        if let Some(documents) = documents.get_mut(usize::from(term)) {
            *documents += count;
        }
        found.push((id, term, count));
    }
    let weights: Vec<f32> = documents.iter().map(|&count| rank::term_weight(scope, count)).collect();

    // The rarest terms first: they say the most and cost the least.
    found.sort_by_key(|&(id, _, count)| (count, id));
    let (mut left, best) = if search.filter.is_narrow() { FILTERED_POSTINGS } else { POSTINGS };
    let mut known = Terms::default();
    for (id, term, count) in found {
        let most = count.min(left.max(best));
        left = left.saturating_sub(most);
        let weight = weights.get(usize::from(term)).copied().unwrap_or_default();
        known.ids.push(id);
        known.weights.push(weight);
        known.most.push(i64::try_from(most).unwrap_or(i64::MAX));
        known.known.insert(id, (term, weight));
    }
    Ok((weights, known))
}

/// Settings for a transaction: the planner takes the HNSW index, and the index goes on until enough rows match.
fn use_index(depth: u32) -> String {
    format!(
        "; set local hnsw.iterative_scan = strict_order; set local hnsw.ef_search = {}; \
         set local hnsw.max_scan_tuples = 200000; set local enable_seqscan = off",
        depth.clamp(40, 1_000)
    )
}

/// The terms as a table `t`; their values are the third to fifth.
const TERMS: &str = "unnest($3::bigint[], $4::real[], $5::bigint[]) as t (id, weight, most)";

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
