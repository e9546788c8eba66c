use polymnemo_memory::{
    Ctx, Result,
    ports::{Model, Place, SessionFilter},
};
use polymnemo_types::{IndexProgress, MemoryId, MessagePart, MessagePlace, Origin, Page, Session};
use sea_orm::{QueryResult, Value};

use super::{form_from_sql, format_from_sql};
use crate::{
    PgStore,
    memories::{MEMORY_COLUMNS, from_sql, memory, optional_from_sql, to_sql},
    transaction::{Scope, get, to_int, unsigned},
};

/// The columns that [`session`] reads. `$1` is the number of the model.
fn columns() -> String {
    format!(
        "{MEMORY_COLUMNS}, m.content as title, s.key, s.form, s.metadata, s.messages, s.parts, s.bytes as length, s.passages,
         s.last_at,
         (select count(*) from messages g where g.memory_id = s.memory_id and not g.indexed) as unindexed,
         (
             select count(*) from chunks c join embedding_queue q on q.chunk_id = c.id
             where c.memory_id = s.memory_id and q.model_id = $1
                 and exists (select from embedding_queue any_of where any_of.namespace_id = s.namespace_id)
         ) as pending"
    )
}

const FROM_SESSIONS: &str = "sessions s join memories m on m.id = s.memory_id
    join namespaces n on n.id = m.namespace_id join users u on u.id = m.user_id";

fn session(row: &QueryResult) -> Result<Session> {
    let messages = unsigned(get::<i32>(row, "messages")?)?;
    let passages = unsigned(get::<i32>(row, "passages")?)?;
    let unindexed: u32 = unsigned(get::<i64>(row, "unindexed")?)?;
    let pending: u32 = unsigned(get::<i64>(row, "pending")?)?;
    Ok(Session {
        memory: memory(row)?,
        session_id: get(row, "key")?,
        title: get(row, "title")?,
        form: form_from_sql(&get::<String>(row, "form")?)?,
        metadata: get(row, "metadata")?,
        messages,
        bytes: unsigned(get::<i64>(row, "length")?)?,
        parts: unsigned(get::<i32>(row, "parts")?)?,
        index: IndexProgress {
            messages,
            searchable: messages.saturating_sub(unindexed),
            passages,
            embedded: passages.saturating_sub(pending),
        },
    })
}

/// The columns that [`message`] reads of messages `g`, but for the content.
const MESSAGE_COLUMNS: &str =
    "g.number, g.first_part, g.role, g.said_at, g.client_id, g.format, g.revision, g.bytes, g.parts";

fn message(row: &QueryResult) -> Result<MessagePart> {
    Ok(MessagePart {
        number: unsigned(get::<i32>(row, "number")?)?,
        role: get(row, "role")?,
        at: optional_from_sql(row, "said_at")?,
        client_id: get(row, "client_id")?,
        format: format_from_sql(&get::<String>(row, "format")?)?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        content: get(row, "content")?,
        part: 1,
        parts: unsigned(get::<i32>(row, "parts")?)?,
        bytes: unsigned(get::<i32>(row, "bytes")?)?,
    })
}

impl PgStore {
    pub(super) async fn get_session_by_key(&self, ctx: &Ctx, model: &Model, key: &str) -> Result<Option<Session>> {
        let number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let row = transaction
            .one(
                &format!(
                    "select {} from {FROM_SESSIONS}
                     where s.user_id = $2 and s.key = $3 and s.namespace_id = any($4) and m.forgotten_at is null
                     order by m.updated_at desc, m.id desc limit 1",
                    columns()
                ),
                vec![number.into(), ctx.user.id.0.into(), key.to_owned().into(), namespaces.into()],
            )
            .await?;
        transaction.commit().await?;
        row.as_ref().map(session).transpose()
    }

    pub(super) async fn get_session(&self, ctx: &Ctx, model: &Model, id: MemoryId) -> Result<Option<Session>> {
        let number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let row = transaction
            .one(
                &format!(
                    "select {} from {FROM_SESSIONS}
                     where s.memory_id = $2 and s.namespace_id = any($3) and m.forgotten_at is null",
                    columns()
                ),
                vec![number.into(), id.0.into(), namespaces.into()],
            )
            .await?;
        transaction.commit().await?;
        row.as_ref().map(session).transpose()
    }

    pub(super) async fn list_sessions(
        &self,
        ctx: &Ctx,
        model: &Model,
        filter: &SessionFilter,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<Session>, Option<Place>)> {
        let number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, filter.namespace.as_deref()).await?;
        let mut values: Vec<Value> = vec![number.into(), namespaces.into()];
        let mut conditions =
            "s.namespace_id = any($2) and m.forgotten_at is null and $1::smallint is not null".to_owned();
        let mut add = |condition: &str, value: Value| {
            values.push(value);
            conditions.push_str(&condition.replace('?', &format!("${}", values.len())));
        };
        if let Some(words) = &filter.words {
            add(" and (strpos(lower(m.content), lower(?)) > 0", words.clone().into());
            add(" or strpos(lower(s.key), lower(?)) > 0)", words.clone().into());
        }
        if let Some(client) = &filter.client {
            add(" and m.client = ?", client.clone().into());
        }
        if let Some(time) = filter.after {
            add(" and s.last_at >= ?", to_sql(time));
        }
        if let Some(time) = filter.before {
            add(" and s.last_at < ?", to_sql(time));
        }
        let counted = transaction
            .one(
                &format!("select count(*) from sessions s join memories m on m.id = s.memory_id where {conditions}"),
                values.clone(),
            )
            .await?;
        let total: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;
        if let Some(after) = after {
            values.push(to_sql(after.at));
            values.push(after.id.0.into());
            conditions.push_str(&format!(" and (s.last_at, s.memory_id) < (${}, ${})", values.len() - 1, values.len()));
        }
        values.push((i64::from(limit) + 1).into());
        let rows = transaction
            .all(
                &format!(
                    "select {} from {FROM_SESSIONS} where {conditions}
                     order by s.last_at desc, s.memory_id desc limit ${}",
                    columns(),
                    values.len()
                ),
                values,
            )
            .await?;
        transaction.commit().await?;
        let mut items = rows.iter().map(session).collect::<Result<Vec<_>>>()?;
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next = match (items.last(), rows.get(limit.saturating_sub(1) as usize)) {
            (Some(last), Some(row)) if more => Some(Place { at: from_sql(get(row, "last_at")?)?, id: last.memory.id }),
            _ => None,
        };
        Ok((Page { items, total: unsigned(total)?, next_cursor: None }, next))
    }

    pub(super) async fn get_messages_by_part(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        first: u32,
        count: u32,
    ) -> Result<Vec<(u32, MessagePart)>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let rows = transaction
            .all(
                &format!(
                    "select {MESSAGE_COLUMNS}, g.content from messages g
                     where g.memory_id = $1 and g.namespace_id = any($2) and g.first_part < $4
                       and g.first_part >= coalesce((
                           select max(first_part) from messages where memory_id = $1 and first_part <= $3
                       ), 0)
                     order by g.number"
                ),
                vec![id.0.into(), namespaces.into(), to_int(first).into(), to_int(first.saturating_add(count)).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| Ok((unsigned(get::<i32>(row, "first_part")?)?, message(row)?))).collect()
    }

    pub(super) async fn get_messages(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        number: u32,
        count: u32,
        characters: Option<u32>,
    ) -> Result<Vec<MessagePart>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let content = characters.map_or("g.content".to_owned(), |most| format!("left(g.content, {most}) as content"));
        let rows = transaction
            .all(
                &format!(
                    "select {MESSAGE_COLUMNS}, {content} from messages g
                     where g.memory_id = $1 and g.namespace_id = any($2) and g.number >= $3 and g.number < $4
                     order by g.number"
                ),
                vec![
                    id.0.into(),
                    namespaces.into(),
                    to_int(number).into(),
                    to_int(number.saturating_add(count)).into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(message).collect()
    }

    pub(super) async fn get_part_of_message(&self, ctx: &Ctx, id: MemoryId, number: u32) -> Result<Option<u32>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let row = transaction
            .one(
                "select first_part from messages where memory_id = $1 and number = $2 and namespace_id = any($3)",
                vec![id.0.into(), to_int(number).into(), namespaces.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| unsigned(get::<i32>(&row, "first_part")?)).transpose()
    }

    pub(super) async fn list_message_revisions(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        number: u32,
        limit: u32,
    ) -> Result<Vec<MessagePart>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let rows = transaction
            .all(
                "select g.number, r.role, r.said_at, g.client_id, r.format, r.revision, r.content, 1 as parts,
                     octet_length(r.content) as bytes
                 from messages g join message_revisions r on r.message_id = g.id
                 where g.memory_id = $1 and g.number = $2 and g.namespace_id = any($3) and r.user_id = $4
                 order by r.revision desc limit $5",
                vec![
                    id.0.into(),
                    to_int(number).into(),
                    namespaces.into(),
                    ctx.user.id.0.into(),
                    i64::from(limit).into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(message).collect()
    }

    pub(super) async fn get_origin(&self, ctx: &Ctx, id: MemoryId) -> Result<Option<Origin>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let row = transaction
            .one(
                "select g.memory_id, g.number, session.content as title
                 from memories m join messages g on g.id = m.origin_message
                 join memories session on session.id = g.memory_id and session.forgotten_at is null
                 where m.id = $1 and m.namespace_id = any($2) and g.namespace_id = any($2)",
                vec![id.0.into(), namespaces.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| {
            Ok(Origin {
                place: MessagePlace {
                    session: MemoryId(get(&row, "memory_id")?),
                    number: unsigned(get::<i32>(&row, "number")?)?,
                },
                title: get(&row, "title")?,
            })
        })
        .transpose()
    }
}
