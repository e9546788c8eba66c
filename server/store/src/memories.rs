use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{Filter, Place, StoredMemory},
};
use polymnemo_types::{Kind, Memory, MemoryId, Page, limits};
use sea_orm::{QueryResult, Value};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    PgStore,
    transaction::{Scope, Transaction, get, unsigned},
};

/// The columns that [`memory`] reads, from [`FROM_MEMORIES`].
pub(crate) const MEMORY_COLUMNS: &str = "m.id, n.name as namespace, m.user_id = (select polymnemo_user_id()) as own,
    u.name as author, m.kind, m.tags, m.source, m.client, m.occurred_at, m.created_at, m.updated_at, m.revision,
    case when m.kind = 'session' then (select s.bytes from sessions s where s.memory_id = m.id)
        else octet_length(m.content)::bigint end as bytes, left(m.content, 200) as preview, m.supersedes, m.superseded_by, m.forgotten_at";

/// Where the columns come from.
pub(crate) const FROM_MEMORIES: &str =
    "memories m join namespaces n on n.id = m.namespace_id join users u on u.id = m.user_id";

/// Reads a row with [`MEMORY_COLUMNS`].
pub(crate) fn memory(row: &QueryResult) -> Result<Memory> {
    const { assert!(limits::PREVIEW_CHARS == 200, "the SQL above says so too") };
    Ok(Memory {
        id: MemoryId(get(row, "id")?),
        namespace: get(row, "namespace")?,
        own: get(row, "own")?,
        author: get(row, "author")?,
        kind: kind_from_sql(&get::<String>(row, "kind")?)?,
        tags: get(row, "tags")?,
        source: get(row, "source")?,
        client: get(row, "client")?,
        occurred_at: from_sql(get(row, "occurred_at")?)?,
        created_at: from_sql(get(row, "created_at")?)?,
        updated_at: from_sql(get(row, "updated_at")?)?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        bytes: unsigned(get::<i64>(row, "bytes")?)?,
        preview: get(row, "preview")?,
        supersedes: get::<Vec<Uuid>>(row, "supersedes")?.into_iter().map(MemoryId).collect(),
        superseded_by: get::<Option<Uuid>>(row, "superseded_by")?.map(MemoryId),
        forgotten_at: optional_from_sql(row, "forgotten_at")?,
        file: None,
    })
}

fn stored_memory(row: &QueryResult) -> Result<StoredMemory> {
    Ok(StoredMemory { memory: memory(row)?, content: get(row, "content")?, changed_by: get(row, "changed_by")? })
}

pub(crate) fn from_sql(time: OffsetDateTime) -> Result<Timestamp> {
    Timestamp::from_nanosecond(time.unix_timestamp_nanos())
        .map_err(|_| Error::internal("the database holds a time that is out of range"))
}

/// A time that may be missing, from a column of a row.
pub(crate) fn optional_from_sql(row: &QueryResult, column: &str) -> Result<Option<Timestamp>> {
    get::<Option<OffsetDateTime>>(row, column)?.map(from_sql).transpose()
}

pub(crate) fn to_sql(time: Timestamp) -> Value {
    // Every jiff timestamp lies within the years -9999 to 9999, as does every `OffsetDateTime`.
    OffsetDateTime::from_unix_timestamp_nanos(time.as_nanosecond()).unwrap_or(OffsetDateTime::UNIX_EPOCH).into()
}

/// A time that may be missing, as the database takes it.
pub(crate) fn optional_to_sql(time: Option<Timestamp>) -> Value {
    time.map_or(Value::from(None::<OffsetDateTime>), to_sql)
}

pub(crate) fn kind_to_sql(kind: Kind) -> Value {
    let name = match kind {
        Kind::Memory => "memory",
        Kind::Session => "session",
        Kind::Media => "media",
    };
    name.into()
}

pub(crate) fn kind_from_sql(name: &str) -> Result<Kind> {
    match name {
        "memory" => Ok(Kind::Memory),
        "session" => Ok(Kind::Session),
        "media" => Ok(Kind::Media),
        _ => Err(Error::internal("the database holds a memory of an unknown kind")),
    }
}

/// The condition for `memories m` to be in the store, or with `trash` in the caller's trash, which is each user's own
/// whatever the namespace.
pub(crate) fn state(trash: bool) -> &'static str {
    if trash {
        "m.forgotten_at is not null and m.user_id = (select polymnemo_user_id())"
    } else {
        "m.forgotten_at is null"
    }
}

/// The conditions of a filter on `memories m`, beginning with `and`; their values are added to `values`. The namespace is not among
/// them: it is resolved to ids before ([`crate::transaction::Transaction::readable`]), which every statement has as its
/// first value. What is in the trash is in no index, so there the labels themselves are looked at.
pub(crate) fn conditions(filter: &Filter, trash: bool, values: &mut Vec<Value>) -> String {
    let mut sql = String::new();
    let mut add = |condition: &str, value: Value| {
        values.push(value);
        sql.push_str(&condition.replace('?', &format!("${}", values.len())));
    };
    let has_tag = if trash {
        " and ? = any(m.tags)"
    } else {
        " and m.id in (select memory_id from tags where namespace_id = any($1) and tag = ?)"
    };
    for tag in &filter.tags {
        add(has_tag, tag.clone().into());
    }
    if let Some(session) = filter.session {
        add(" and m.id = ?", session.0.into());
    }
    if let Some(kind) = filter.kind {
        add(" and m.kind = ?", kind_to_sql(kind));
    }
    if let Some(source) = &filter.source {
        add(" and m.source = ?", source.clone().into());
    }
    if let Some(client) = &filter.client {
        add(" and m.client = ?", client.clone().into());
    }
    if let Some(after) = filter.after {
        add(" and m.occurred_at >= ?", to_sql(after));
    }
    if let Some(before) = filter.before {
        add(" and m.occurred_at < ?", to_sql(before));
    }
    if !filter.include_superseded {
        sql.push_str(" and m.superseded_by is null");
    }
    sql
}

/// A list of `memories m`, the newest first.
pub(crate) struct Newest<'a> {
    /// What is joined to `memories m`.
    pub(crate) join: &'a str,
    /// The columns that are read, of these, `namespaces n` and `users u`.
    pub(crate) columns: String,
    /// The column of `memories m` whose greatest values come first.
    pub(crate) time: &'a str,
    /// Which memories; their namespaces are the first of the values.
    pub(crate) conditions: String,
    pub(crate) values: Vec<Value>,
}

impl Transaction {
    /// A page of a list: its rows, how many the whole list has, and the place where the next page begins if there is one.
    pub(crate) async fn newest(
        &self,
        list: Newest<'_>,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Vec<QueryResult>, u64, Option<Place>)> {
        let Newest { join, columns, time, conditions, mut values } = list;
        let counted = self
            .one(
                &format!("select count(*) from memories m{join} where m.namespace_id = any($1) and {conditions}"),
                values.clone(),
            )
            .await?;
        let total: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;

        let mut place = String::new();
        if let Some(after) = after {
            values.push(to_sql(after.at));
            values.push(after.id.0.into());
            place = format!(" and (m.{time}, m.id) < (${}, ${})", values.len() - 1, values.len());
        }
        values.push((i64::from(limit) + 1).into());
        let most = values.len();
        // The newest of each namespace first, then the newest of those: each part reads its index in order, however
        // many namespaces there are.
        let mut rows = self
            .all(
                &format!(
                    "with page as materialized (
                         select p.id, p.at from unnest($1::int[]) as s (id)
                         cross join lateral (
                             select m.id, m.{time} as at from memories m{join}
                             where m.namespace_id = s.id and {conditions}{place}
                             order by m.{time} desc, m.id desc limit ${most}
                         ) p
                         order by p.at desc, p.id desc limit ${most}
                     )
                     select {columns}, page.at as place_at from {FROM_MEMORIES} join page on page.id = m.id{join}
                     order by page.at desc, page.id desc"
                ),
                values,
            )
            .await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = match rows.last().filter(|_| more) {
            Some(last) => Some(Place { at: from_sql(get(last, "place_at")?)?, id: MemoryId(get(last, "id")?) }),
            None => None,
        };
        Ok((rows, unsigned(total)?, next))
    }
}

impl PgStore {
    pub(crate) async fn get_memory(&self, ctx: &Ctx, id: MemoryId, trash: bool) -> Result<Option<StoredMemory>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let row = transaction
            .one(
                &format!(
                    "select {MEMORY_COLUMNS}, m.content, m.changed_by from {FROM_MEMORIES}
                     where m.id = $1 and m.namespace_id = any($2) and (m.forgotten_at is null or ($3 and m.user_id = $4))"
                ),
                vec![id.0.into(), namespaces.into(), trash.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        row.as_ref().map(stored_memory).transpose()
    }

    pub(crate) async fn get_own_memories(&self, ctx: &Ctx, ids: &[MemoryId], trash: bool) -> Result<Vec<StoredMemory>> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let rows = transaction
            .all(
                &format!(
                    "select {MEMORY_COLUMNS}, m.content, m.changed_by from {FROM_MEMORIES}
                     where m.id = any($1) and m.user_id = $2 and m.namespace_id = any($3)
                       and (m.forgotten_at is not null) = $4"
                ),
                vec![ids.into(), ctx.user.id.0.into(), namespaces.into(), trash.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(stored_memory).collect()
    }

    pub(crate) async fn list_memories(
        &self,
        ctx: &Ctx,
        filter: &Filter,
        trash: bool,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Memory>, Option<Place>)> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, filter.namespace.as_deref()).await?;
        let mut values: Vec<Value> = vec![namespaces.into()];
        let conditions = format!("{}{}", state(trash), conditions(filter, trash, &mut values));
        let list = Newest {
            join: "",
            columns: MEMORY_COLUMNS.to_owned(),
            time: if trash { "forgotten_at" } else { "created_at" },
            conditions,
            values,
        };
        let (rows, total, next) = transaction.newest(list, after, limit).await?;
        transaction.commit().await?;
        let items = rows.iter().map(memory).collect::<Result<_>>()?;
        Ok((Page { items, total, next_cursor: None }, next))
    }
}
