//! Counting what the memories of a list have in common.

use polymnemo_memory::{Ctx, Error, Result, ports::Filter};
use polymnemo_types::{Facets, ValueCount};
use sea_orm::Value;

use crate::{
    PgStore,
    memories::{conditions, state},
    transaction::{Scope, get, unsigned},
};

/// Counts of the memories that a filter leaves, which are read for that. `{state}` and `{conditions}` say which.
const OF_SOME: &str = "
    with found as materialized (
        select m.tags, m.source, m.client from memories m where m.namespace_id = any($1) and {state}{conditions}
    ), tagged as (
        select tag, count(*) as memories from found, unnest(tags) as tag group by tag
    ), stored as (
        select source, client, count(*) as memories from found group by source, client
    )";

/// Counts of all that is current, which are read from indexes alone: there are too many memories to read each.
const OF_ALL: &str = "
    with tagged as (
        select tag, count(*) as memories from tags
        where namespace_id = any($1) and memory_id not in (
            select m.id from memories m
            where m.namespace_id = any($1) and m.forgotten_at is null and m.superseded_by is not null
        )
        group by tag
    ), stored as materialized (
        select m.source, m.client, count(*) as memories from memories m
        where m.namespace_id = any($1) and m.forgotten_at is null and m.superseded_by is null
        group by m.source, m.client
    )";

/// The most frequent of them; `{most}` is the place of the number in the values.
const MOST_FREQUENT: &str = "
    (select 'tag' as facet, tag as value, memories::bigint from tagged
     order by memories desc, value limit {most})
    union all
    (select 'source', source, sum(memories)::bigint as memories from stored where source is not null
     group by source order by memories desc, source limit {most})
    union all
    (select 'client', client, sum(memories)::bigint as memories from stored where client is not null
     group by client order by memories desc, client limit {most})";

impl PgStore {
    pub(crate) async fn count_facets(&self, ctx: &Ctx, filter: &Filter, trash: bool, limit: u32) -> Result<Facets> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, filter.namespace.as_deref()).await?;
        let mut values: Vec<Value> = vec![namespaces.into()];
        let counts = if filter.is_narrow() || filter.include_superseded || trash {
            let conditions = conditions(filter, trash, &mut values);
            OF_SOME.replace("{state}", state(trash)).replace("{conditions}", &conditions)
        } else {
            OF_ALL.to_owned()
        };
        values.push(i64::from(limit).into());
        let most = MOST_FREQUENT.replace("{most}", &format!("${}", values.len()));
        let rows = transaction.all(&format!("{counts}{most}"), values).await?;
        transaction.commit().await?;

        let mut facets = Facets::default();
        for row in &rows {
            let count = ValueCount { value: get(row, "value")?, memories: unsigned(get::<i64>(row, "memories")?)? };
            match get::<String>(row, "facet")?.as_str() {
                "tag" => facets.tags.push(count),
                "source" => facets.sources.push(count),
                "client" => facets.clients.push(count),
                _ => return Err(Error::internal("a count of an unknown facet")),
            }
        }
        Ok(facets)
    }
}
