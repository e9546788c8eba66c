use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::tz::TimeZone;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Filter, IndexedMessage, Model, UnindexedMessage},
};
use polymnemo_types::MemoryId;
use sea_orm::{QueryResult, Value};

use super::format_from_sql;
use crate::{
    PgStore, index,
    memories::{conditions, from_sql},
    transaction::{Scope, get, to_int, unsigned},
};

/// How many bytes of messages are indexed in one go, at least one message.
const BYTES: i64 = 1 << 20;

fn unindexed(row: &QueryResult) -> Result<UnindexedMessage> {
    Ok(UnindexedMessage {
        message: get(row, "id")?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        session: MemoryId(get(row, "memory_id")?),
        role: get(row, "role")?,
        format: format_from_sql(&get::<String>(row, "format")?)?,
        content: get(row, "content")?,
        at: from_sql(get(row, "at")?)?,
        tags: get(row, "tags")?,
        source: get(row, "source")?,
        time_zone: TimeZone::get(&get::<String>(row, "time_zone")?).unwrap_or(TimeZone::UTC),
    })
}

/// The next messages to index: of one session, or some of the first and of the last ones that wait, each in its turn, so that
/// nobody waits for the long history of someone else.
const NEXT: &str = "with recursive first (id, place) as (
        (
            select g.memory_id, 1 from messages g join memories m on m.id = g.memory_id
            where not g.indexed and m.forgotten_at is null and ($1::uuid is null or g.memory_id = $1)
            order by g.memory_id limit 1
        )
        union all
        select (
            select g.memory_id from messages g join memories m on m.id = g.memory_id
            where not g.indexed and m.forgotten_at is null and g.memory_id > f.id order by g.memory_id limit 1
        ), f.place + 1
        from first f where f.id is not null and f.place < 8 and $1::uuid is null
    ),
    last (id, place) as (
        (
            select g.memory_id, 1 from messages g join memories m on m.id = g.memory_id
            where not g.indexed and m.forgotten_at is null and $1::uuid is null
            order by g.memory_id desc limit 1
        )
        union all
        select (
            select g.memory_id from messages g join memories m on m.id = g.memory_id
            where not g.indexed and m.forgotten_at is null and g.memory_id < l.id order by g.memory_id desc limit 1
        ), l.place + 1
        from last l where l.id is not null and l.place < 8
    ),
    turns as (
        select g.id, g.memory_id, g.number, g.bytes, g.turn
        from (select id from first union select id from last) s
        cross join lateral (
            select id, memory_id, number, bytes, row_number() over (order by number) as turn
            from (
                select id, memory_id, number, bytes from messages
                where memory_id = s.id and not indexed order by number limit $2
            ) waiting
        ) g
        order by g.turn, g.memory_id limit $2
    ),
    next as (
        select id, sum(bytes) over (order by turn, memory_id) - bytes as before from turns
    )";

/// What [`unindexed`] reads of the messages in a table `next`, as far as there are not more than so many bytes before them.
fn waiting(next: &str) -> String {
    format!(
        "{next}
    select g.id, g.revision, g.memory_id, g.role, g.format, g.content, coalesce(g.said_at, m.occurred_at) as at,
        m.tags, m.source, u.time_zone
    from next join messages g on g.id = next.id join memories m on m.id = g.memory_id
    join users u on u.id = m.user_id
    where next.before < {BYTES} and not g.indexed
    order by g.memory_id, g.number"
    )
}

/// How many of the messages that wait are looked through for words, the last ones.
const LOOKED_THROUGH: u32 = 50_000;

/// These messages, in this order.
const THESE: &str = "with next as (
        select g.id, sum(g.bytes) over (order by these.place) - g.bytes as before
        from unnest($1::bigint[]) with ordinality these (id, place) join messages g on g.id = these.id
    )";

impl PgStore {
    pub(super) async fn unindexed_messages(
        &self,
        session: Option<MemoryId>,
        limit: u32,
    ) -> Result<Vec<UnindexedMessage>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows =
            transaction.all(&waiting(NEXT), vec![session.map(|id| id.0).into(), i64::from(limit).into()]).await?;
        transaction.commit().await?;
        rows.iter().map(unindexed).collect()
    }

    pub(super) async fn unindexed_messages_with(
        &self,
        ctx: &Ctx,
        filter: &Filter,
        words: &[String],
        limit: u32,
    ) -> Result<Vec<UnindexedMessage>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, filter.namespace.as_deref()).await?;
        let mut values: Vec<Value> = vec![namespaces.into(), words.to_vec().into(), i64::from(limit).into()];
        let conditions = conditions(filter, false, &mut values);
        let rows = transaction
            .all(
                &format!(
                    "select id from (
                         select g.id, lower(g.content) as content from messages g join memories m on m.id = g.memory_id
                         where not g.indexed and m.forgotten_at is null and g.namespace_id = any($1){conditions}
                         order by g.id desc limit {LOOKED_THROUGH}
                     ) waiting
                     cross join lateral (
                         select count(*) as words from unnest($2::text[]) word where strpos(waiting.content, word) > 0
                     ) found
                     where words > 0 order by words desc, id desc limit $3"
                ),
                values,
            )
            .await?;
        transaction.commit().await?;
        let ids = rows.iter().map(|row| get::<i64>(row, "id")).collect::<Result<Vec<_>>>()?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        // The background knows the users' time zones.
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction.all(&waiting(THESE), vec![ids.into()]).await?;
        transaction.commit().await?;
        rows.iter().map(unindexed).collect()
    }

    pub(super) async fn store_passages(&self, model: &Model, messages: &[IndexedMessage]) -> Result<()> {
        let model_number = self.model_number(model).await?;
        let ids: Vec<i64> = messages.iter().map(|message| message.message).collect();
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all("select distinct namespace_id from messages where id = any($1)", vec![ids.clone().into()])
            .await?;
        let namespaces = rows.iter().map(|row| get::<i32>(row, "namespace_id")).collect::<Result<BTreeSet<_>>>()?;
        transaction.lock_namespaces(&namespaces.iter().copied().collect::<Vec<_>>()).await?;
        // What was moved to a namespace that is not locked, was changed, forgotten or indexed by another process: not now.
        let rows = transaction
            .all(
                "select g.id, g.revision, g.memory_id, g.namespace_id
                 from messages g join memories m on m.id = g.memory_id
                 where g.id = any($1) and not g.indexed and m.forgotten_at is null and g.namespace_id = any($2)
                 order by g.id for update of g",
                vec![ids.into(), namespaces.into_iter().collect::<Vec<_>>().into()],
            )
            .await?;
        let mut open: HashMap<i64, (u32, MemoryId, i32)> = HashMap::with_capacity(rows.len());
        for row in &rows {
            let state =
                (unsigned(get::<i32>(row, "revision")?)?, MemoryId(get(row, "memory_id")?), get(row, "namespace_id")?);
            open.insert(get(row, "id")?, state);
        }
        let sessions: BTreeSet<uuid::Uuid> = open.values().map(|(_, session, _)| session.0).collect();
        let rows = transaction
            .all(
                "select memory_id, max(ordinal) + 1 as next from chunks where memory_id = any($1) group by memory_id",
                vec![sessions.into_iter().collect::<Vec<_>>().into()],
            )
            .await?;
        let mut next: BTreeMap<MemoryId, i32> = BTreeMap::new();
        for row in &rows {
            next.insert(MemoryId(get(row, "memory_id")?), get(row, "next")?);
        }
        let (mut indexed, mut done) = (Vec::new(), Vec::new());
        for message in messages {
            let Some(&(revision, session, namespace)) = open.get(&message.message) else { continue };
            if revision != message.revision {
                continue;
            }
            done.push(message.message);
            for (text, chunks) in &message.texts {
                // The first place is that of the title.
                let ordinal = next.entry(session).or_insert(1);
                indexed.push(index::Indexed {
                    memory: session,
                    namespace,
                    content: text,
                    tags: &[],
                    chunks,
                    first_ordinal: *ordinal,
                    message: Some(message.message),
                });
                *ordinal += to_int(chunks.len());
            }
        }
        index::add(&transaction, (model, model_number), &indexed).await?;
        transaction.run("update messages set indexed = true where id = any($1)", vec![done.into()]).await?;
        transaction.commit().await
    }
}
