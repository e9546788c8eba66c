use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{ItemToUndo, KnownItem, NewImportItem, SourceKey, WrittenItem},
};
use polymnemo_types::{ImportId, ImportLine, ImportOutcome, MemoryId, Page, UserId};
use sea_orm::QueryResult;
use time::OffsetDateTime;
use uuid::Uuid;

use super::outcome;
use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, optional_to_sql, to_sql},
    transaction::{Scope, Transaction, get, to_int, unsigned},
};

impl PgStore {
    pub(super) async fn list_import_lines(
        &self,
        ctx: &Ctx,
        id: ImportId,
        outcomes: &[ImportOutcome],
        after: Option<u64>,
        limit: u32,
    ) -> Result<Page<ImportLine>> {
        let outcomes: Vec<String> = outcomes.iter().map(|outcome| outcome.as_str().to_owned()).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let total = transaction
            .one(
                "select count(*) from import_items
                 where import_id = $1 and user_id = $2 and ($3 = '{}'::text[] or outcome = any($3))",
                vec![id.0.into(), ctx.user.id.0.into(), outcomes.clone().into()],
            )
            .await?
            .map_or(Ok(0), |row| get::<i64>(&row, "count"))?;
        let rows = transaction
            .all(
                "select t.ordinal, t.outcome, t.source, t.source_id, coalesce(t.label, left(m.content, 200)) as title, t.reason,
                     m.id as memory, t.is_session, t.messages
                 from import_items t
                 left join memories m on m.id = t.memory_id and m.user_id = t.user_id and m.forgotten_at is null
                 where t.import_id = $1 and t.user_id = $2 and ($3 = '{}'::text[] or t.outcome = any($3))
                   and t.ordinal > $4
                 order by t.ordinal limit $5",
                vec![
                    id.0.into(),
                    ctx.user.id.0.into(),
                    outcomes.into(),
                    after.map_or(-1, ordinal_to_sql).into(),
                    i64::from(limit).into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        let items = rows.iter().map(line).collect::<Result<_>>()?;
        Ok(Page { items, total: unsigned(total)?, next_cursor: None })
    }

    pub(super) async fn get_known_items(&self, ctx: &Ctx, keys: &[SourceKey]) -> Result<Vec<KnownItem>> {
        let sources: Vec<String> = keys.iter().map(|key| key.source.clone()).collect();
        let ids: Vec<String> = keys.iter().map(|key| key.source_id.clone()).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select k.source, k.source_id, t.memory_id, t.digest, t.left_at, m.updated_at
                 from unnest($2::text[], $3::text[]) as k (source, source_id)
                 cross join lateral (
                     select memory_id, digest, left_at from import_items t
                     where t.user_id = $1 and t.source = k.source
                       -- Of what was erased only a digest of the name is left.
                       and t.source_id in (
                           k.source_id, 'sha256-' || encode(sha256(convert_to(k.source_id, 'UTF8')), 'hex')
                       )
                       and t.outcome not in ('writing', 'skipped', 'undone') and t.memory_id is not null
                     order by t.at desc limit 1
                 ) t
                 left join memories m on m.id = t.memory_id and m.user_id = $1 and m.forgotten_at is null",
                vec![ctx.user.id.0.into(), sources.into(), ids.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter()
            .map(|row| {
                Ok(KnownItem {
                    key: SourceKey { source: get(row, "source")?, source_id: get(row, "source_id")? },
                    memory: MemoryId(get(row, "memory_id")?),
                    digest: get::<Option<Vec<u8>>>(row, "digest")?.unwrap_or_default(),
                    left_at: from_sql(get(row, "left_at")?)?,
                    updated_at: optional_from_sql(row, "updated_at")?,
                })
            })
            .collect()
    }

    pub(super) async fn next_ordinal(&self, ctx: &Ctx, id: ImportId) -> Result<u64> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "select coalesce(max(ordinal) + 1, 0) as next from import_items
                 where import_id = $1 and user_id = $2 and outcome <> 'writing'",
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map_or(Ok(0), |row| unsigned(get::<i64>(&row, "next")?))
    }

    pub(super) async fn insert_items(
        &self,
        ctx: &Ctx,
        id: ImportId,
        items: &[NewImportItem],
    ) -> Result<Vec<(Option<MemoryId>, Timestamp)>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let mut noted = Vec::with_capacity(items.len());
        for item in items {
            let row = transaction
                .one(
                    "insert into import_items (import_id, ordinal, user_id, source, source_id, label, outcome, reason,
                         is_session, memory_id, digest, at, left_at)
                     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, coalesce($13, $12)
                     where exists (select from imports where id = $1 and user_id = $3 and state = 'running')
                     on conflict (import_id, ordinal) do update set outcome = excluded.outcome, reason = excluded.reason
                     returning memory_id, at",
                    vec![
                        id.0.into(),
                        ordinal_to_sql(item.ordinal).into(),
                        ctx.user.id.0.into(),
                        item.key.as_ref().map(|key| key.source.clone()).into(),
                        item.key.as_ref().map(|key| key.source_id.clone()).into(),
                        item.label.clone().map(without_nul).into(),
                        item.outcome.as_str().into(),
                        item.reason.clone().map(without_nul).into(),
                        item.is_session.into(),
                        item.memory.map(|id| id.0).into(),
                        item.digest.clone().into(),
                        to_sql(item.at),
                        optional_to_sql(item.left_at),
                    ],
                )
                .await?;
            // Someone stopped it.
            let Some(row) = row else { break };
            noted.push((get::<Option<Uuid>>(&row, "memory_id")?.map(MemoryId), from_sql(get(&row, "at")?)?));
        }
        transaction.commit().await?;
        Ok(noted)
    }

    pub(super) async fn insert_unchanged(&self, ctx: &Ctx, id: ImportId, memories: &[MemoryId]) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction.note_memories(ctx.user.id, id, ImportOutcome::Unchanged, memories).await?;
        transaction.commit().await
    }

    pub(super) async fn set_outcome(&self, ctx: &Ctx, id: ImportId, item: WrittenItem) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction
            .run(
                "update import_items t set outcome = $4, reason = $5, label = coalesce($8, label), memory_id = coalesce($6, memory_id),
                     messages = case when $4 in ('undone', 'kept') then messages else $7 end,
                     left_at = coalesce(
                         (select updated_at from memories m where m.id = coalesce($6, t.memory_id) and m.user_id = $3), left_at
                     )
                 where import_id = $1 and ordinal = $2 and user_id = $3",
                vec![
                    id.0.into(),
                    ordinal_to_sql(item.ordinal).into(),
                    ctx.user.id.0.into(),
                    item.outcome.as_str().into(),
                    item.reason.map(without_nul).into(),
                    item.memory.map(|id| id.0).into(),
                    to_int(item.messages).into(),
                    item.label.map(without_nul).into(),
                ],
            )
            .await?;
        transaction.commit().await
    }

    pub(super) async fn list_items_to_undo(&self, ctx: &Ctx, id: ImportId, limit: u32) -> Result<Vec<ItemToUndo>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select t.ordinal, t.outcome, t.memory_id, t.is_session, t.at, t.left_at, m.updated_at,
                     coalesce(m.revision, 0) as revision, exists (
                         select from import_items later
                         where later.memory_id = t.memory_id and later.import_id <> t.import_id
                           and later.outcome in ('grown', 'updated') and later.left_at = m.updated_at
                     ) as is_of_later_import
                 from import_items t
                 left join memories m on m.id = t.memory_id and m.user_id = t.user_id and m.forgotten_at is null
                 where t.import_id = $1 and t.user_id = $2 and t.outcome in ('writing', 'created', 'grown', 'updated')
                   and t.memory_id is not null
                 order by t.ordinal desc limit $3",
                vec![id.0.into(), ctx.user.id.0.into(), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(to_undo).collect()
    }

    pub(super) async fn set_left(&self, ctx: &Ctx, id: ImportId, memory: MemoryId) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction.set_left(ctx.user.id, id, memory).await?;
        transaction.commit().await
    }
}

impl Transaction {
    /// Notes memories of the user as what an import brought, or as there already, those that it has not noted. What it
    /// brought bears its own time: by that erasing the import tells it from what was there before.
    pub(crate) async fn note_memories(
        &self,
        user: UserId,
        import: ImportId,
        outcome: ImportOutcome,
        memories: &[MemoryId],
    ) -> Result<()> {
        let memories: Vec<Uuid> = memories.iter().map(|memory| memory.0).collect();
        let (messages, at) = match outcome {
            ImportOutcome::Created => ("coalesce(s.messages, 0)", "m.created_at"),
            _ => ("0", "now()"),
        };
        self.run(
            &format!(
                "insert into import_items (import_id, ordinal, user_id, outcome, is_session, memory_id, messages, at, left_at)
                 select $1, (select coalesce(max(ordinal), -1) from import_items where import_id = $1)
                         + row_number() over (order by m.id),
                     $2, $3, m.kind = 'session', m.id, {messages}, {at}, m.updated_at
                 from memories m left join sessions s on s.memory_id = m.id
                 where m.id = any($4) and m.user_id = $2
                   and not exists (select from import_items where import_id = $1 and memory_id = m.id)"
            ),
            vec![import.0.into(), user.0.into(), outcome.as_str().into(), memories.into()],
        )
        .await?;
        Ok(())
    }

    /// Brings the notes of imports before this one up to the last change of a memory, which brought back what they had left.
    pub(crate) async fn set_left(&self, user: UserId, id: ImportId, memory: MemoryId) -> Result<()> {
        self.run(
            "update import_items t set left_at = m.updated_at from memories m
             where m.id = $3 and m.user_id = $2 and t.user_id = $2 and (t.import_id, t.ordinal) = (
                 select before.import_id, before.ordinal from import_items before
                 where before.memory_id = $3 and before.import_id <> $1
                   and before.outcome in ('created', 'grown', 'updated')
                 order by before.at desc limit 1
             )",
            vec![id.0.into(), user.0.into(), memory.0.into()],
        )
        .await?;
        Ok(())
    }
}

fn line(row: &QueryResult) -> Result<ImportLine> {
    Ok(ImportLine {
        ordinal: unsigned(get::<i64>(row, "ordinal")?)?,
        outcome: outcome(&get::<String>(row, "outcome")?)?,
        source: get(row, "source")?,
        source_id: get(row, "source_id")?,
        title: get(row, "title")?,
        reason: get(row, "reason")?,
        memory: get::<Option<Uuid>>(row, "memory")?.map(MemoryId),
        is_session: get(row, "is_session")?,
        messages: unsigned(get::<i32>(row, "messages")?)?,
    })
}

fn to_undo(row: &QueryResult) -> Result<ItemToUndo> {
    Ok(ItemToUndo {
        ordinal: unsigned(get::<i64>(row, "ordinal")?)?,
        outcome: outcome(&get::<String>(row, "outcome")?)?,
        memory: MemoryId(get(row, "memory_id")?),
        is_session: get(row, "is_session")?,
        at: from_sql(get::<OffsetDateTime>(row, "at")?)?,
        left_at: from_sql(get::<OffsetDateTime>(row, "left_at")?)?,
        updated_at: optional_from_sql(row, "updated_at")?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        is_of_later_import: get(row, "is_of_later_import")?,
    })
}

fn ordinal_to_sql(ordinal: u64) -> i64 {
    i64::try_from(ordinal).unwrap_or(i64::MAX)
}

/// PostgreSQL can't hold NUL.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text }
}
