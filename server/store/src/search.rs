//! Reading the search index.
//!
//! A small scope (all of a small store, or what a filter leaves of a great one) is scanned
//! exactly. In a greater one the vector side asks the HNSW index, which goes on until it has found
//! enough that matches (`hnsw.iterative_scan`), and the keyword side reads the postings of rare
//! words whole and of common words only the best, which stand first in their index. Whatever
//! either side finds is then scored on the other one too.

use std::collections::HashMap;

use pgvector::Vector;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Candidate, Candidates, Filter, Model, Neighbour, Neighbourhood, Passage, Search},
    rank,
};
use polymnemo_types::MemoryId;
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{FROM_MEMORIES, MEMORY_COLUMNS, conditions, memory},
    transaction::{Scope, Transaction, get, unsigned},
};

/// How many postings a search reads whole, the rarest terms first.
const WHOLE_POSTINGS: u64 = 4_000;

/// How many postings it reads of each further term, the best first.
const BEST_POSTINGS: u64 = 200;

/// The terms of a search, as far as the caller's passages hold them.
struct Terms {
    /// The terms' numbers; a term has one in each namespace.
    ids: Vec<i64>,
    /// The place of each in [`Search::terms`].
    places: Vec<i16>,
    /// The weight of each.
    weights: Vec<f32>,
    /// How many postings of each to read.
    most: Vec<i64>,
}

/// Where a search looks.
struct Place {
    namespaces: Vec<i32>,
    scope: u64,
    model: i16,
    dimension: u32,
}

impl Place {
    /// The similarity of `v.embedding` and the vector that is the given value.
    fn distance(&self, value: usize) -> String {
        format!("v.embedding::halfvec({0}) <=> ${value}::halfvec({0})", self.dimension)
    }
}

impl PgStore {
    pub(crate) async fn candidates(&self, ctx: &Ctx, search: &Search) -> Result<Candidates> {
        let model = self.model_number(&search.model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let readable = transaction.readable(ctx, search.filter.namespace.as_deref()).await?;
        let place = Place {
            namespaces: readable.iter().map(|namespace| namespace.id).collect(),
            scope: readable.iter().map(|namespace| namespace.chunks).sum(),
            model,
            dimension: search.model.dimension,
        };
        if place.scope == 0 {
            transaction.commit().await?;
            return Ok(Candidates { weights: vec![0.0; search.terms.len()], ..Candidates::default() });
        }
        let (weights, terms) = transaction.terms(&place, &search.terms).await?;
        let exact = search.exact || self.is_small(&transaction, &place, &search.filter).await?;
        let rows = if exact {
            transaction.scan(&place, search, &terms).await?
        } else {
            transaction.look_up(&place, search, &terms).await?
        };
        let pending = transaction
            .one(
                "select count(*) from embedding_queue where model_id = $1 and namespace_id = any($2)",
                vec![model.into(), place.namespaces.clone().into()],
            )
            .await?
            .map_or(Ok(0), |row| get::<i64>(&row, "count"))?;
        transaction.commit().await?;
        Ok(Candidates {
            passages: rows.iter().map(candidate).collect::<Result<_>>()?,
            weights,
            scope: place.scope,
            pending: unsigned(pending)?,
        })
    }

    /// Whether so few passages match that looking at each is quick.
    async fn is_small(&self, transaction: &Transaction, place: &Place, filter: &Filter) -> Result<bool> {
        let most = u64::from(self.options.exact_up_to);
        if place.scope <= most {
            return Ok(true);
        }
        if !filter.is_narrow() {
            return Ok(false);
        }
        let mut values: Vec<Value> = vec![place.namespaces.clone().into(), i64::from(self.options.exact_up_to).into()];
        let conditions = conditions(filter, &mut values);
        let row = transaction
            .one(
                &format!(
                    "select count(*) from (
                         select from memories m join chunks c on c.memory_id = m.id
                         where m.namespace_id = any($1) and m.forgotten_at is null{conditions} limit $2 + 1
                     ) some_of_them"
                ),
                values,
            )
            .await?;
        let count: i64 = row.map_or(Ok(0), |row| get(&row, "count"))?;
        Ok(unsigned::<i64, u64>(count)? <= most)
    }

    pub(crate) async fn neighbours(
        &self,
        ctx: &Ctx,
        search: &Search,
        weights: &[f32],
        memories: &[MemoryId],
    ) -> Result<Neighbourhood> {
        if memories.is_empty() {
            return Ok(Neighbourhood::default());
        }
        let model = self.model_number(&search.model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let readable = transaction.readable(ctx, search.filter.namespace.as_deref()).await?;
        let place = Place {
            namespaces: readable.iter().map(|namespace| namespace.id).collect(),
            scope: 0,
            model,
            dimension: search.model.dimension,
        };
        let anchors: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
        let mut values: Vec<Value> = vec![place.namespaces.clone().into(), anchors.into()];
        let conditions = conditions(&search.filter, &mut values);
        // Both directions walk the index on (namespace, time, id) from the anchor.
        let side = |comparison: &str, order: &str, sign: &str| {
            format!(
                "select m.id, {sign}row_number() over (order by m.occurred_at {order}, m.id {order}) as place, m.occurred_at from (
                     select m.id, m.occurred_at from memories m
                     where m.namespace_id = a.namespace_id and m.forgotten_at is null
                       and (m.occurred_at, m.id) {comparison} (a.occurred_at, a.id)
                       and m.client is not distinct from a.client{conditions}
                     order by m.occurred_at {order}, m.id {order} limit 2
                 ) m"
            )
        };
        let rows = transaction
            .all(
                &format!(
                    "select a.id as anchor, near.id, near.place, near.occurred_at
                     from memories a cross join lateral (
                         {} union all {} union all select a.id, 0, a.occurred_at
                     ) near
                     where a.id = any($2) and a.namespace_id = any($1)
                     order by a.id, near.place",
                    side("<", "desc", "-"),
                    side(">", "asc", ""),
                ),
                values,
            )
            .await?;
        let rows = rows_of_neighbours(&rows)?;

        let mut ids: Vec<Uuid> = rows.iter().flatten().map(|memory| memory.0).collect();
        ids.sort_unstable();
        ids.dedup();
        let terms = transaction.terms(&place, &search.terms).await?.1.with_weights(weights);
        let sql = format!(
            "with found as materialized (
                 select c.id, c.memory_id, c.length from chunks c
                 where c.memory_id = any($2) and c.ordinal = 0 and c.namespace_id = any($1)
             )
             {}",
            scored(&place, 3, 4, "")
        );
        let mut values: Vec<Value> =
            vec![place.namespaces.clone().into(), ids.into(), Vector::from(search.vector.clone()).into()];
        terms.push(&mut values);
        let passages = transaction.all(&sql, values).await?.iter().map(candidate).collect::<Result<_>>()?;
        transaction.commit().await?;
        Ok(Neighbourhood { rows, passages })
    }

    pub(crate) async fn passages_of(&self, ctx: &Ctx, chunks: &[i64]) -> Result<Vec<Passage>> {
        if chunks.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces: Vec<i32> =
            transaction.readable(ctx, None).await?.iter().map(|namespace| namespace.id).collect();
        let rows = transaction
            .all(
                &format!(
                    "select {MEMORY_COLUMNS}, c.id as chunk, c.text, c.start_byte
                     from {FROM_MEMORIES} join chunks c on c.memory_id = m.id
                     where c.id = any($1) and m.namespace_id = any($2) and m.forgotten_at is null"
                ),
                vec![chunks.to_vec().into(), namespaces.into()],
            )
            .await?;
        transaction.commit().await?;
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
        let passages = i64::from(limit) * 2;
        let distance = place.distance(2);
        let own = "m.user_id = (select polymnemo_user_id()) and m.superseded_by is null";
        let found = if place.scope <= u64::from(self.options.exact_up_to) {
            format!(
                "select v.chunk_id, v.memory_id, {distance} as distance from vectors v join memories m on m.id = v.memory_id
                 where v.model_id = {number} and v.namespace_id = any($1) and {own} order by distance limit $3"
            )
        } else {
            transaction.use_index(40).await?;
            format!(
                "select v.chunk_id, v.memory_id, {distance} as distance from vectors v join memories m on m.id = v.memory_id
                 where v.model_id = {number} and v.namespace_id = any($1) and {own} order by {distance} limit $3"
            )
        };
        let rows = transaction
            .all(
                &format!(
                    "with found as materialized ({found}),
                     best as (select distinct on (memory_id) * from found order by memory_id, distance)
                     select b.memory_id, c.text, (1 - b.distance)::real as cosine
                     from best b join chunks c on c.id = b.chunk_id order by b.distance, b.memory_id limit $4"
                ),
                vec![
                    place.namespaces.into(),
                    Vector::from(vector.to_vec()).into(),
                    passages.into(),
                    i64::from(limit).into(),
                ],
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

impl Transaction {
    /// The weights of the terms, and the terms that there are.
    async fn terms(&self, place: &Place, terms: &[String]) -> Result<(Vec<f32>, Terms)> {
        let rows = self
            .all(
                "select t.id, t.document_count, (s.place - 1)::smallint as place
                 from unnest($2::text[]) with ordinality s (term, place)
                 join terms t on t.term = s.term and t.namespace_id = any($1)
                 where t.document_count > 0",
                vec![place.namespaces.clone().into(), terms.to_vec().into()],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        let mut documents: HashMap<i16, u64> = HashMap::new();
        for row in &rows {
            let (term, count): (i16, u64) = (get(row, "place")?, unsigned(get::<i32>(row, "document_count")?)?);
            *documents.entry(term).or_default() += count;
            found.push((get::<i64>(row, "id")?, term, count));
        }
        let weights: Vec<f32> = (0..)
            .take(terms.len())
            .map(|term: i16| rank::term_weight(place.scope, documents.get(&term).copied().unwrap_or_default()))
            .collect();

        // The rarest terms first: they say the most and cost the least.
        found.sort_by_key(|&(id, _, count)| (count, id));
        let mut left = WHOLE_POSTINGS;
        let mut known = Terms { ids: Vec::new(), places: Vec::new(), weights: Vec::new(), most: Vec::new() };
        for (id, term, count) in found {
            let most = count.min(left.max(BEST_POSTINGS));
            left = left.saturating_sub(most);
            known.ids.push(id);
            known.places.push(term);
            known.most.push(i64::try_from(most).unwrap_or(i64::MAX));
        }
        Ok((weights.clone(), known.with_weights(&weights)))
    }

    /// Candidates from every passage in scope.
    async fn scan(&self, place: &Place, search: &Search, terms: &Terms) -> Result<Vec<QueryResult>> {
        let mut values = search_values(place, search, terms);
        let conditions = conditions(&search.filter, &mut values);
        let sql = format!(
            "with scope as materialized (
                 select c.id, c.memory_id, c.length from chunks c join memories m on m.id = c.memory_id
                 where c.namespace_id = any($1) and m.forgotten_at is null{conditions}
             ),
             close as materialized (
                 select s.id, {distance} as distance from scope s join vectors v on v.model_id = {model} and v.chunk_id = s.id
             ),
             keyword as materialized (
                 select p.chunk_id as id, sum(t.weight * p.impact) as score
                 from {TERMS} join postings p on p.term_id = t.id join scope s on s.id = p.chunk_id
                 group by p.chunk_id
             ),
             found as materialized (
                 select s.* from scope s where s.id in (
                     (select id from close order by distance, id limit $3)
                     union (select id from keyword order by score desc, id limit $3)
                 )
             )
             {scored}",
            distance = place.distance(2),
            model = place.model,
            scored = scored(place, 2, 4, ""),
        );
        self.all(&sql, values).await
    }

    /// Candidates from the indexes.
    async fn look_up(&self, place: &Place, search: &Search, terms: &Terms) -> Result<Vec<QueryResult>> {
        self.use_index(search.depth).await?;
        let mut values = search_values(place, search, terms);
        let conditions = conditions(&search.filter, &mut values);
        // Without a narrow filter only superseded memories are to be left out: so few that they are dropped in the end
        // rather than looked up for each posting.
        let filtered = if search.filter.is_narrow() {
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
                 order by {distance} limit $3
             ),
             keyword as materialized (
                 select p.chunk_id as id, sum(t.weight * p.impact) as score
                 from {TERMS} cross join lateral (
                     select p.chunk_id, p.impact from postings p{filtered}
                     where p.term_id = t.id order by p.impact desc limit t.most
                 ) p
                 group by p.chunk_id order by score desc, p.chunk_id limit $3
             ),
             found as materialized (
                 select c.id, c.memory_id, c.length from chunks c
                 where c.id in (select id from close union select id from keyword) and c.namespace_id = any($1)
             )
             {scored}",
            model = place.model,
            distance = place.distance(2),
            scored = scored(place, 2, 4, &conditions),
        );
        self.all(&sql, values).await
    }

    /// Makes the planner take the HNSW index, and the index go on until enough rows match.
    async fn use_index(&self, depth: u32) -> Result<()> {
        self.run_unprepared(&format!(
            "set local hnsw.iterative_scan = strict_order; set local hnsw.ef_search = {}; \
             set local hnsw.max_scan_tuples = 200000; set local enable_seqscan = off",
            depth.clamp(40, 1_000)
        ))
        .await
    }
}

/// The values that [`Transaction::scan`] and [`Transaction::look_up`] begin with.
fn search_values(place: &Place, search: &Search, terms: &Terms) -> Vec<Value> {
    let mut values: Vec<Value> = vec![
        place.namespaces.clone().into(),
        Vector::from(search.vector.clone()).into(),
        i64::from(search.depth).into(),
    ];
    terms.push(&mut values);
    values
}

/// The terms as a table `t`; their values are the fourth to seventh.
const TERMS: &str = "unnest($4::bigint[], $5::smallint[], $6::real[], $7::bigint[]) as t (id, place, weight, most)";

/// Scores the passages of the table `found` on both sides: the columns that [`candidate`] reads. `vector` is the number of the value that
/// holds the query's vector, `terms` that of the first of the terms' values.
fn scored(place: &Place, vector: usize, terms: usize, conditions: &str) -> String {
    let table = TERMS
        .replace("$7", &format!("${}", terms + 3))
        .replace("$6", &format!("${}", terms + 2))
        .replace("$5", &format!("${}", terms + 1))
        .replace("$4", &format!("${terms}"));
    format!(
        "select f.id, f.memory_id, f.length, m.source, (1 - ({distance}))::real as cosine, k.places, k.scores
         from found f
         join memories m on m.id = f.memory_id
         left join vectors v on v.model_id = {model} and v.chunk_id = f.id
         left join lateral (
             select array_agg(t.place order by t.place) as places,
                 array_agg((t.weight * p.impact)::real order by t.place) as scores
             from postings p join {table} on t.id = p.term_id
             where p.chunk_id = f.id and p.term_id = any(${terms}::bigint[])
         ) k on true
         where m.forgotten_at is null{conditions}",
        distance = place.distance(vector),
        model = place.model,
    )
}

impl Terms {
    fn with_weights(mut self, weights: &[f32]) -> Self {
        self.weights = self
            .places
            .iter()
            .map(|&place| usize::try_from(place).ok().and_then(|place| weights.get(place)).copied().unwrap_or_default())
            .collect();
        self
    }

    fn push(&self, values: &mut Vec<Value>) {
        values.extend([
            self.ids.clone().into(),
            self.places.clone().into(),
            self.weights.clone().into(),
            self.most.clone().into(),
        ]);
    }
}

fn candidate(row: &QueryResult) -> Result<Candidate> {
    let places: Vec<i16> = get::<Option<Vec<i16>>>(row, "places")?.unwrap_or_default();
    let scores: Vec<f32> = get::<Option<Vec<f32>>>(row, "scores")?.unwrap_or_default();
    Ok(Candidate {
        chunk: get(row, "id")?,
        memory: MemoryId(get(row, "memory_id")?),
        source: get(row, "source")?,
        length: unsigned(get::<i32>(row, "length")?)?,
        cosine: get(row, "cosine")?,
        matched: places
            .into_iter()
            .zip(scores)
            .map(|(place, score)| Ok((unsigned(place)?, score)))
            .collect::<Result<_>>()?,
    })
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
            current.push(MemoryId(get(row, "id")?));
        }
        last = Some((anchor, at));
    }
    Ok(all)
}
