//! Reading the search index.
//!
//! A small scope (all of a small store, or what a filter leaves of a great one) is scanned
//! exactly. In a greater one the vector side asks the HNSW index, which goes on until it has found
//! enough that matches (`hnsw.iterative_scan`). The keyword side ([`crate::keywords`]) is asked first, while the query is
//! still being embedded. Whatever either side finds is then scored on the other one too.

use std::collections::{HashMap, HashSet};

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
    keywords::{Keywords, NO_PASSAGE, PASSAGES_EACH, each, held, holding, matches, matching},
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
    reading: Option<Reading>,
}

/// What follows after the keywords.
struct Reading {
    transaction: Transaction,
    /// What the search is about.
    vector: Vec<f32>,
    /// The memories of the candidates.
    candidates: Vec<Uuid>,
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
        let (memories, order) = if is_small {
            (format!("join memories m on m.id = v.memory_id and {own}"), "distance")
        } else {
            self.count_once(place.scope);
            (each_memory(own), distance.as_str())
        };
        let found = format!(
            "select v.chunk_id, v.memory_id, {distance} as distance from vectors v {memories}
             where v.model_id = {number} and v.namespace_id = any($1) order by {order} limit {passages}"
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
        values.push(self.keywords.passages.iter().map(|passage| passage.chunk).collect::<Vec<_>>().into());
        let conditions = conditions(&self.search.filter, false, &mut values);
        let (passages, compared) = if self.keywords.is_small {
            self.scan(&transaction, &conditions, values).await?
        } else {
            (self.look_up_enough(&transaction, &conditions, &values).await?, None)
        };
        let candidates = passages.iter().map(|passage| passage.memory.0).collect();
        self.reading = Some(Reading { transaction, vector: vector.to_vec(), candidates });
        let Keywords { pending, unindexed, .. } = self.keywords;
        Ok(Candidates { passages, weights, scope, pending, unindexed, compared })
    }

    async fn neighbourhood(&mut self, memories: &[MemoryId]) -> Result<Neighbourhood> {
        let Some(Reading { transaction, vector, candidates }) = self.reading.as_ref().filter(|_| !memories.is_empty())
        else {
            return Ok(Neighbourhood::default());
        };
        let anchors: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
        let mut values = self.values(vector);
        values.extend([anchors.into(), candidates.clone().into()]);
        let conditions = conditions(&self.search.filter, false, &mut values);
        // Both directions walk the index on (namespace, time, id) from the anchor. What does not match the filter is left
        // out afterwards: walking on until something matches could lead through the whole store.
        let side = |comparison: &str, order: &str, sign: &str| {
            format!(
                "select m.id, {sign}row_number() over (order by m.occurred_at {order}, m.id {order}) as place,
                     m.occurred_at, m.source
                 from (
                     select m.* from memories m
                     where m.namespace_id = a.namespace_id and m.forgotten_at is null
                       and (m.occurred_at, m.id) {comparison} (a.occurred_at, a.id)
                     order by m.occurred_at {order}, m.id {order} limit 2
                 ) m where m.client is not distinct from a.client{conditions}"
            )
        };
        // First the rows of neighbours, then the passages, with the columns of the others empty.
        let sql = format!(
            "with near as materialized (
                 select a.id as anchor, near.*
                 from memories a cross join lateral (
                     {before} union all {after} union all select a.id, 0, a.occurred_at, a.source
                 ) near
                 where a.id = any($4) and a.namespace_id = any($1)
             ),
             new as materialized (
                 select distinct id, source from near where (id in (select unnest($5::uuid[]))) is false
             )
             select null::uuid as anchor, null::bigint as place, null::uuid as neighbour, null::timestamptz as occurred_at,
                 c.id, c.memory_id, c.length, new.source, (1 - ({distance}))::real as cosine,
                 null::boolean as is_pending, {held}
             from new join chunks c on c.memory_id = new.id and c.ordinal = 0 and c.namespace_id = any($1)
             left join vectors v on v.model_id = {model} and v.chunk_id = c.id {holding}
             union all
             select anchor, place, id, occurred_at, null, {of_memory}, null, null, {of_search} from near
             order by anchor, place",
            before = side("<", "desc", "-"),
            after = side(">", "asc", ""),
            distance = self.keywords.place.distance(2),
            model = self.keywords.place.model,
            held = held(&self.search),
            holding = holding(3),
            of_memory = NO_PASSAGE.0,
            of_search = NO_PASSAGE.1,
        );
        let rows = transaction.all(&sql, values).await?;
        let (mut near, mut passages) = (Vec::new(), Vec::new());
        for row in &rows {
            match get(row, "anchor")? {
                Some(anchor) => near.push((anchor, MemoryId(get(row, "neighbour")?), get(row, "occurred_at")?)),
                None => passages.push(self.keywords.terms.candidate(row)?),
            }
        }
        Ok(Neighbourhood { rows: rows_of_neighbours(near), passages })
    }

    async fn passages(&mut self, chunks: &[i64]) -> Result<Vec<Passage>> {
        let Some(Reading { transaction, .. }) = self.reading.as_ref().filter(|_| !chunks.is_empty()) else {
            return Ok(Vec::new());
        };
        let mut values: Vec<Value> = vec![self.keywords.place.namespaces.clone().into(), chunks.to_vec().into()];
        let conditions = conditions(&self.search.filter, false, &mut values);
        let sql = format!(
            "select {MEMORY_COLUMNS}, c.id as chunk, c.text, c.start_byte, s.key, m.content as title, s.messages,
                 g.number, g.role, g.said_at
             from {FROM_MEMORIES} join chunks c on c.memory_id = m.id
             left join sessions s on s.memory_id = m.id left join messages g on g.id = c.message_id
             where m.namespace_id = any($1) and c.id = any($2) and m.forgotten_at is null{conditions}"
        );
        let rows = transaction.all(&sql, values).await?;
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
            Some(Reading { transaction, .. }) => transaction.commit().await,
            None => Ok(()),
        }
    }
}

impl PgRecall {
    /// The candidates from every passage in scope, with the number of memories that were compared.
    async fn scan(
        &self,
        transaction: &Transaction,
        conditions: &str,
        values: Vec<Value>,
    ) -> Result<(Vec<Candidate>, Option<u32>)> {
        let sql = format!(
            "with scope as materialized (
                 select c.id, c.memory_id, {each} as each, m.source from chunks c join memories m on m.id = c.memory_id
                 where c.namespace_id = any($1) and m.forgotten_at is null{conditions}
             ),
             near as materialized (
                 select s.*, {distance} as distance
                 from scope s join vectors v on v.model_id = {model} and v.chunk_id = s.id
             ),
             close as materialized (
                 select * from (
                     select near.*, row_number() over (partition by each order by distance, id) as place from near
                 ) ranked
                 where place <= {PASSAGES_EACH} order by distance, id limit {depth}
             ),
             compared as (
                 select count(distinct memory_id) as compared from (
                     select memory_id from near union all select memory_id from scope where id = any($4)
                 ) each_passage
             )
             select scored.*, compared.compared from compared left join ({scored}) scored on true",
            depth = self.search.depth,
            model = self.keywords.place.model,
            distance = self.keywords.place.distance(2),
            each = each(&self.search),
            scored = self.scored(),
        );
        let mut rows = transaction.all(&sql, values).await?;
        let compared = rows.first().map(|row| unsigned(get::<i64>(row, "compared")?)).transpose()?;
        rows.retain(|row| !matches!(get::<Option<i64>>(row, "id"), Ok(None)));
        Ok((self.together(&rows)?, compared))
    }

    /// The candidates from the indexes. Where nearly all of them are of a few long memories, which would keep all others out,
    /// it is looked further.
    async fn look_up_enough(
        &self,
        transaction: &Transaction,
        conditions: &str,
        values: &[Value],
    ) -> Result<Vec<Candidate>> {
        let mut depth = self.search.depth;
        loop {
            let found = self.together(&transaction.all(&self.look_up(conditions, depth), values.to_vec()).await?)?;
            let memories: HashSet<MemoryId> = found.iter().map(|candidate| candidate.memory).collect();
            let is_enough = found.len() < depth as usize || memories.len() * FEW >= self.search.depth as usize;
            if is_enough || depth >= MOST_LOOKED_AT {
                return Ok(found);
            }
            depth = (depth * 4).min(MOST_LOOKED_AT);
            transaction.run_unprepared(&use_index(depth)).await?;
        }
    }

    /// The statement for candidates from the indexes, so many of them by meaning.
    fn look_up(&self, conditions: &str, depth: u32) -> String {
        let distance = self.keywords.place.distance(2);
        let near = format!("v.chunk_id as id, v.memory_id, {distance} as distance");
        let of_model = format!("v.model_id = {} and v.namespace_id = any($1)", self.keywords.place.model);
        let best = format!("order by {distance} limit {depth}");
        let (with_matching, close) = if self.search.filter.is_narrow() {
            let close = format!(
                "select near.*, m.source from (
                     select {near} from vectors v where {of_model} and {matches} {best}
                 ) near join memories m on m.id = near.memory_id",
                matches = matches("v")
            );
            (format!("{}, ", matching(conditions)), close)
        } else {
            let memories = each_memory(&format!("m.forgotten_at is null{conditions}"));
            let close = format!("select {near}, m.source from vectors v {memories} where {of_model} {best}");
            (String::new(), close)
        };
        format!("with {with_matching}close as materialized ({close}) {}", self.scored())
    }

    /// What is known of the passages in the table `close`, but for those that were found by keyword; and then what was not
    /// known of these, their cosines.
    fn scored(&self) -> String {
        format!(
            "select c.id, close.memory_id, c.length, close.source, (1 - close.distance)::real as cosine,
                 null::boolean as is_pending, {held}
             from close join chunks c on c.id = close.id {holding}
             where close.id <> all($4)
             union all
             select v.chunk_id, {of_memory}, (1 - ({distance}))::real, null, {of_search}
             from vectors v where v.model_id = {model} and v.chunk_id = any($4)",
            held = held(&self.search),
            holding = holding(3),
            distance = self.keywords.place.distance(2),
            model = self.keywords.place.model,
            of_memory = NO_PASSAGE.0,
            of_search = NO_PASSAGE.1,
        )
    }

    /// The candidates of both sides, from the rows of [`Self::scored`].
    fn together(&self, rows: &[QueryResult]) -> Result<Vec<Candidate>> {
        let mut all = self.keywords.passages.clone();
        let places: HashMap<i64, usize> = all.iter().enumerate().map(|(place, found)| (found.chunk, place)).collect();
        for row in rows {
            match places.get(&get(row, "id")?).and_then(|place| all.get_mut(*place)) {
                Some(found) => found.cosine = get(row, "cosine")?,
                None => all.push(self.keywords.terms.candidate(row)?),
            }
        }
        Ok(all)
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

/// Further settings for a transaction: whatever the planner thinks of their number, rows are looked up for the few that were
/// found, never read whole.
pub(crate) const LOOK_UP: &str =
    "set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off";

/// The same, and a scan of the HNSW index goes on until enough rows match.
fn use_index(depth: u32) -> String {
    format!(
        "{LOOK_UP}; set local hnsw.iterative_scan = strict_order; set local hnsw.ef_search = {}; \
         set local hnsw.max_scan_tuples = 200000",
        depth.clamp(40, 1_000)
    )
}

/// Joins vectors `v` with their memories `m`, for which this is a condition and looked up one by one. Left to the planner it
/// could be the other way round, with all vectors read for each memory.
fn each_memory(condition: &str) -> String {
    format!("cross join lateral (select * from memories m where m.id = v.memory_id and {condition} offset 0) m")
}

/// Cuts neighbours, each with the memory it is one of and its time, into rows where more than an hour lies between two.
fn rows_of_neighbours(neighbours: Vec<(Uuid, MemoryId, time::OffsetDateTime)>) -> Vec<Vec<MemoryId>> {
    const TOGETHER: time::Duration = time::Duration::hours(1);
    let mut rows: Vec<Vec<MemoryId>> = Vec::new();
    let mut last: Option<(Uuid, time::OffsetDateTime)> = None;
    for (anchor, memory, at) in neighbours {
        let goes_on = last.is_some_and(|(other, before)| other == anchor && at - before <= TOGETHER);
        match rows.last_mut().filter(|_| goes_on) {
            Some(row) => row.push(memory),
            None => rows.push(vec![memory]),
        }
        last = Some((anchor, at));
    }
    rows
}
