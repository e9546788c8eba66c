//! The keyword side of a search: which passages hold the words, and how much each word says.
//!
//! In a small scope each passage is looked at. In a greater one the postings of rare words are read whole and of common
//! words only the best, which stand first in their index.

use std::collections::HashMap;

use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{Candidate, Search},
    rank,
};
use polymnemo_types::MemoryId;
use sea_orm::{QueryResult, Value};

use crate::{
    PgStore,
    memories::conditions,
    namespaces::{READABLE, readable_values},
    search::{LOOK_UP, Place},
    transaction::{Scope, Transaction, get, unsigned},
};

/// How many postings a search reads whole, the rarest terms first, and how many of each further term, the best first.
const POSTINGS: (u64, u64) = (4_000, 200);

/// The same where a narrow filter has to be looked up for each posting, also for those that it leaves out.
const FILTERED_POSTINGS: (u64, u64) = (400, 60);

/// How many passages of one memory a search takes, at most.
pub(crate) const PASSAGES_EACH: u32 = 3;

/// How many passages are looked at for each that is taken, where there are too many to look at all.
const LOOKED_AT: u32 = 4;

/// What is known of a search before its vector is.
pub(crate) struct Keywords {
    pub(crate) place: Place,
    /// Passages in scope without a vector, and messages without passages.
    pub(crate) pending: u32,
    /// Messages in scope without passages.
    pub(crate) unindexed: u32,
    /// The weight of each of [`Search::terms`].
    pub(crate) weights: Vec<f32>,
    pub(crate) terms: Terms,
    /// Whether the scope is so small that each passage is looked at.
    pub(crate) is_small: bool,
    /// The passages that match the words best, without their cosines.
    pub(crate) passages: Vec<Candidate>,
}

/// The terms of a search, as far as the caller's passages hold them.
#[derive(Default)]
pub(crate) struct Terms {
    /// The terms' numbers; a term has one in each namespace.
    pub(crate) ids: Vec<i64>,
    /// The weight of each.
    weights: Vec<f32>,
    /// How many postings of each to read.
    most: Vec<i64>,
    /// The place in [`Search::terms`] and the weight of each, by its number.
    known: HashMap<i64, (u16, f32)>,
}

impl Terms {
    /// Reads a row with the columns of a passage ([`held`]).
    pub(crate) fn candidate(&self, row: &QueryResult) -> Result<Candidate> {
        let terms: Vec<i64> = get::<Option<Vec<i64>>>(row, "terms")?.unwrap_or_default();
        let impacts: Vec<f32> = get::<Option<Vec<f32>>>(row, "impacts")?.unwrap_or_default();
        let mut matched: Vec<(u16, f32)> = terms
            .iter()
            .zip(impacts)
            .filter_map(|(term, impact)| self.known.get(term).map(|&(place, weight)| (place, weight * impact)))
            .collect();
        matched.sort_unstable_by_key(|&(place, _)| place);
        Ok(Candidate {
            chunk: get(row, "id")?,
            memory: MemoryId(get(row, "memory_id")?),
            message: get(row, "message_id")?,
            source: get(row, "source")?,
            length: unsigned(get::<i32>(row, "length")?)?,
            cosine: get(row, "cosine")?,
            is_pending: get::<Option<bool>>(row, "is_pending")?.unwrap_or_default(),
            matched,
        })
    }
}

impl PgStore {
    /// Looks for the words of a search.
    pub(crate) async fn keywords(&self, ctx: &Ctx, search: &Search) -> Result<Keywords> {
        let model = self.model_number(&search.model).await?;
        let transaction = self.begin_with(Scope::User(ctx.user.id), LOOK_UP).await?;
        let mut values = readable_values(ctx, search.filter.namespace.as_deref());
        values.extend([model.into(), search.terms.clone().into()]);
        let row = transaction.one(&known(), values).await?.ok_or_else(|| Error::internal("a count without a row"))?;
        let place = Place {
            namespaces: get::<Option<Vec<i32>>>(&row, "namespaces")?.unwrap_or_default(),
            scope: unsigned(get::<Option<i64>>(&row, "scope")?.unwrap_or_default())?,
            model,
            dimension: search.model.dimension,
        };
        let (weights, terms) = terms(&row, search, place.scope)?;
        let unindexed: u32 = unsigned(get::<i64>(&row, "unindexed")?)?;
        let pending = unindexed + unsigned::<i64, u32>(get::<i64>(&row, "pending")?)?;
        let is_small = search.exact || transaction.is_small(search, &place, self.options.exact_up_to).await?;
        if !is_small {
            self.count_once(place.scope);
        }
        let passages = transaction.best_by_keyword(search, &place, &terms, is_small).await?;
        transaction.leave();
        Ok(Keywords { place, pending, unindexed, weights, terms, is_small, passages })
    }
}

impl Transaction {
    /// Whether so few memories match that looking at each is quick.
    async fn is_small(&self, search: &Search, place: &Place, exact_up_to: u32) -> Result<bool> {
        let most = u64::from(exact_up_to);
        if place.scope <= most {
            return Ok(true);
        }
        if !search.filter.is_narrow() {
            return Ok(false);
        }
        let mut values: Vec<Value> = vec![place.namespaces.clone().into()];
        let conditions = conditions(&search.filter, false, &mut values);
        let row = self
            .one(
                &format!(
                    "select count(*) from (
                         select from memories m
                         where m.namespace_id = any($1) and m.forgotten_at is null{conditions} limit {most} + 1
                     ) some_of_them"
                ),
                values,
            )
            .await?;
        let count: i64 = row.map_or(Ok(0), |row| get(&row, "count"))?;
        Ok(unsigned::<i64, u64>(count)? <= most)
    }

    /// The passages with the greatest BM25 scores.
    async fn best_by_keyword(
        &self,
        search: &Search,
        place: &Place,
        terms: &Terms,
        is_small: bool,
    ) -> Result<Vec<Candidate>> {
        if terms.ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut values: Vec<Value> = vec![
            place.namespaces.clone().into(),
            terms.ids.clone().into(),
            terms.weights.clone().into(),
            terms.most.clone().into(),
        ];
        let conditions = conditions(&search.filter, false, &mut values);
        let scored = if is_small {
            format!(
                "with scope as materialized (
                     select c.id from chunks c join memories m on m.id = c.memory_id
                     where c.namespace_id = any($1) and m.forgotten_at is null{conditions}
                 )
                 select s.id, sum(($3::real[])[array_position($2::bigint[], p.term_id)] * p.impact) as score
                 from scope s cross join lateral (
                     -- `offset 0`: passage by passage, never through all postings of a common word.
                     select p.term_id, p.impact from postings p
                     where p.chunk_id = s.id and p.term_id = any($2) offset 0
                 ) p
                 group by s.id"
            )
        } else {
            // Without a narrow filter only superseded memories are to be left out: so few that they are dropped in the end
            // rather than looked up for each posting.
            let (with_matching, passages, matches) = if search.filter.is_narrow() {
                // `offset 0`: one passage after the other, until there are enough.
                let passages =
                    " cross join lateral (select c.memory_id from chunks c where c.id = p.chunk_id offset 0) c";
                (format!("with {}", matching(&conditions)), passages, format!(" and {}", matches("c")))
            } else {
                (String::new(), "", String::new())
            };
            format!(
                "{with_matching}
                 select p.chunk_id as id, sum(t.weight * p.impact) as score
                 from {TERMS} cross join lateral (
                     select p.chunk_id, p.impact from postings p{passages}
                     where p.term_id = t.id and p.namespace_id = any($1){matches} order by p.impact desc limit t.most
                 ) p
                 group by p.chunk_id"
            )
        };
        // Of each memory only the best count: a long one that speaks of nothing else must not keep the others out.
        let looked_at = if is_small { String::new() } else { format!(" limit {}", LOOKED_AT * search.depth) };
        let each = each(search);
        let unfiltered = if is_small || search.filter.is_narrow() { "" } else { &conditions };
        let best = format!(
            "with best as materialized (
                 select id from (
                     select s.id, s.score, row_number() over (partition by {each} order by s.score desc, s.id) as place
                     from ({scored} order by score desc, id{looked_at}) s join chunks c on c.id = s.id
                 ) ranked
                 where place <= {PASSAGES_EACH} order by score desc, id limit {depth}
             )
             select c.id, c.memory_id, c.length, m.source, null::real as cosine, exists (
                 select from embedding_queue q where q.model_id = {model} and q.chunk_id = c.id
             ) as is_pending, {held}
             from best join chunks c on c.id = best.id join memories m on m.id = c.memory_id {holding}
             where m.forgotten_at is null{unfiltered}",
            depth = search.depth,
            model = place.model,
            held = held(search),
            holding = holding(2),
        );
        let rows = self.all(&best, values).await?;
        rows.iter().map(|row| terms.candidate(row)).collect()
    }
}

/// Nothing for each of the columns from a passage's memory to its source, and for each of [`held`].
pub(crate) const NO_PASSAGE: (&str, &str) = ("null, null, null", "null, null, null");

/// The last columns of a passage, from [`holding`].
pub(crate) fn held(search: &Search) -> String {
    let message = if search.filter.session.is_some() { "c.message_id" } else { "null::bigint as message_id" };
    format!("{message}, k.terms, k.impacts")
}

/// Joins chunks `c` with the terms of the search that each holds, as a table `k`; their numbers are the given value.
pub(crate) fn holding(terms: usize) -> String {
    format!(
        "left join lateral (
             select array_agg(p.term_id) as terms, array_agg(p.impact) as impacts from postings p
             where p.chunk_id = c.id and p.term_id = any(${terms}::bigint[])
         ) k on true"
    )
}

/// What counts once in an answer, as a list of columns of chunks `c`: a memory, or a message where one session is searched.
pub(crate) fn each(search: &Search) -> &'static str {
    if search.filter.session.is_some() { "c.message_id" } else { "c.memory_id" }
}

/// What a narrow filter lets through, as a table to look memories up in. Written thus, it is read once into a table of hashes.
pub(crate) fn matching(conditions: &str) -> String {
    format!(
        "matching as materialized (
             select m.id from memories m where m.namespace_id = any($1) and m.forgotten_at is null{conditions}
         )"
    )
}

/// The condition on a row with a memory's id to be among those in [`matching`]. With a plain `in` it would be a join, for
/// which the planner may take any order.
pub(crate) fn matches(table: &str) -> String {
    format!("({table}.memory_id in (select id from matching)) is true")
}

/// The query for what [`terms`] reads and for the scope.
fn known() -> String {
    format!(
        "with readable as materialized (select id, chunk_count from namespaces where {READABLE}),
         place as (
             select array_agg(id order by id) as namespaces, sum(chunk_count)::bigint as scope from readable
         ),
         pending as (
             select (
                 select count(*) from embedding_queue where model_id = $4 and namespace_id in (select id from readable)
             ) as pending, (
                 select count(*) from messages g join memories m on m.id = g.memory_id
                 where not g.indexed and m.forgotten_at is null and g.namespace_id in (select id from readable)
             ) as unindexed
         ),
         known as (
             select array_agg(t.id) as terms, array_agg(t.document_count) as counts, array_agg(asked.place::int) as places
             from readable r cross join unnest($5::text[]) with ordinality asked (term, place)
             join terms t on t.namespace_id = r.id and t.term = asked.term
             where t.document_count > 0
         )
         select * from place, pending, known"
    )
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

/// The terms as a table `t`; their values are the second to fourth.
const TERMS: &str = "unnest($2::bigint[], $3::real[], $4::bigint[]) as t (id, weight, most)";
