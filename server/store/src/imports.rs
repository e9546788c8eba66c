//! Imports: what was read, what became of it, and who is at work on it.

mod items;
mod port;

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{ImportNote, ImportToDo, Lease, NewImport},
};
use polymnemo_types::{Import, ImportId, ImportOutcome, ImportState, OutcomeCount, Page};
use sea_orm::{QueryResult, Value};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, optional_to_sql, to_sql},
    transaction::{Scope, Transaction, get, unsigned},
    users::{USER_COLUMNS, user},
};

/// The columns that [`import`] reads, from `imports i`.
const IMPORT_COLUMNS: &str =
    "i.id, i.state, i.files, i.options, i.plan, i.bytes_read, i.total_bytes, i.error, i.created_at,
    i.started_at, i.finished_at";

impl PgStore {
    async fn insert_import(&self, ctx: &Ctx, new: NewImport, lease: Option<Lease>) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction
            .run(
                "insert into imports (id, user_id, state, files, options, plan, folder, total_bytes, created_at, worker,
                     worker_until)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                vec![
                    new.id.0.into(),
                    ctx.user.id.0.into(),
                    new.state.as_str().into(),
                    new.files.into(),
                    json(&new.options)?.into(),
                    new.plan.as_ref().map(json).transpose()?.into(),
                    new.folder.into(),
                    bytes_to_sql(new.total_bytes),
                    to_sql(new.at),
                    lease.map(|lease| lease.worker).into(),
                    optional_to_sql(lease.map(|lease| lease.until)),
                ],
            )
            .await?;
        transaction.commit().await
    }

    async fn get_import(&self, ctx: &Ctx, id: ImportId) -> Result<Option<Import>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                &format!("select {IMPORT_COLUMNS} from imports i where i.id = $1 and i.user_id = $2"),
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        let found = match row {
            Some(row) => transaction.with_counts(vec![import(&row)?]).await?.pop(),
            None => None,
        };
        transaction.commit().await?;
        Ok(found)
    }

    async fn list_imports(&self, ctx: &Ctx, before: Option<ImportId>, limit: u32) -> Result<Page<Import>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let total = transaction
            .one("select count(*) from imports where user_id = $1", vec![ctx.user.id.0.into()])
            .await?
            .map_or(Ok(0), |row| get::<i64>(&row, "count"))?;
        // The ids begin with the time.
        let rows = transaction
            .all(
                &format!(
                    "select {IMPORT_COLUMNS} from imports i where i.user_id = $1 and ($2::uuid is null or i.id < $2)
                     order by i.id desc limit $3"
                ),
                vec![ctx.user.id.0.into(), before.map(|id| id.0).into(), i64::from(limit).into()],
            )
            .await?;
        let items = transaction.with_counts(rows.iter().map(import).collect::<Result<_>>()?).await?;
        transaction.commit().await?;
        Ok(Page { items, total: unsigned(total)?, next_cursor: None })
    }

    async fn take_next_import(&self, worker: Uuid, now: Timestamp, until: Timestamp) -> Result<Option<ImportToDo>> {
        let transaction = self.begin(Scope::Background).await?;
        let taken = transaction
            .one(
                &format!(
                    "update imports i set worker = $1, worker_until = $3 from users u
                     where u.id = i.user_id and i.id = (
                         select id from imports
                         where state in ('planning', 'running', 'undoing')
                           and (folder is not null or state = 'undoing')
                           and (worker_until is null or worker_until < $2)
                         order by created_at limit 1 for update skip locked
                     )
                     returning {IMPORT_COLUMNS}, i.folder, {USER_COLUMNS}"
                ),
                vec![worker.into(), to_sql(now), to_sql(until)],
            )
            .await?;
        let Some(row) = taken else { return Ok(None) };
        transaction.commit().await?;
        Ok(Some(ImportToDo { user: user(&row)?, import: import(&row)?, folder: get(&row, "folder")? }))
    }

    /// Has the worker of the lease go on with an import in this state; false where it can't. It is theirs already, or, with
    /// `free_at`, nobody was at work on it at that time.
    async fn lease_import(
        &self,
        ctx: &Ctx,
        lease: Lease,
        state: ImportState,
        free_at: Option<Timestamp>,
        bytes_read: u64,
    ) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let leased = transaction
            .run(
                "update imports set worker = $3, worker_until = $4, bytes_read = greatest(bytes_read, $6)
                 where id = $1 and user_id = $2 and state = $5
                   and (worker = $3 or $7::timestamptz is not null and (worker_until is null or worker_until < $7))",
                vec![
                    lease.import.0.into(),
                    ctx.user.id.0.into(),
                    lease.worker.into(),
                    to_sql(lease.until),
                    state.as_str().into(),
                    bytes_to_sql(bytes_read),
                    optional_to_sql(free_at),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(leased > 0)
    }

    async fn end_lease(&self, ctx: &Ctx, lease: Lease) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction
            .run(
                "update imports set worker = null, worker_until = null where id = $1 and user_id = $2 and worker = $3",
                vec![lease.import.0.into(), ctx.user.id.0.into(), lease.worker.into()],
            )
            .await?;
        transaction.commit().await
    }

    async fn has_lease(&self, ctx: &Ctx, id: ImportId, now: Timestamp) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let held = transaction
            .one(
                "select from imports where id = $1 and user_id = $2 and worker is not null and worker_until > $3",
                vec![id.0.into(), ctx.user.id.0.into(), to_sql(now)],
            )
            .await?;
        transaction.commit().await?;
        Ok(held.is_some())
    }

    async fn change_import_state(
        &self,
        ctx: &Ctx,
        id: ImportId,
        from: &[ImportState],
        to: ImportState,
        note: ImportNote,
        at: Timestamp,
    ) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let changed = transaction
            .run(
                "update imports set state = $4, plan = coalesce($5, plan), total_bytes = coalesce($6, total_bytes),
                     error = $7,
                     bytes_read = case when $4 in ('planned', 'running') then 0
                         when $4 = 'done' then total_bytes else bytes_read end,
                     started_at = case when $9 then $8 when $4 = 'planned' then null else started_at end,
                     finished_at = case when $9 or $4 = 'planned' then null else $8 end,
                     -- Who is at work on one that is stopped lets it go as soon as they know.
                     worker = case when $9 or $4 = 'cancelled' then worker end,
                     worker_until = case when $9 or $4 = 'cancelled' then worker_until end
                 where id = $1 and user_id = $2 and state = any($3)",
                vec![
                    id.0.into(),
                    ctx.user.id.0.into(),
                    from.iter().map(|state| state.as_str().to_owned()).collect::<Vec<_>>().into(),
                    to.as_str().into(),
                    note.plan.as_ref().map(json).transpose()?.into(),
                    note.total_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)).into(),
                    note.error.into(),
                    to_sql(at),
                    to.is_under_way().into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(changed > 0)
    }

    async fn remove_import(&self, ctx: &Ctx, id: ImportId, states: &[ImportState]) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let deleted = transaction
            .run(
                "delete from imports where id = $1 and user_id = $2 and state = any($3)",
                vec![
                    id.0.into(),
                    ctx.user.id.0.into(),
                    states.iter().map(|state| state.as_str().to_owned()).collect::<Vec<_>>().into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(deleted > 0)
    }
}

impl Transaction {
    /// Imports, with what became of what is in them.
    async fn with_counts(&self, mut imports: Vec<Import>) -> Result<Vec<Import>> {
        let ids: Vec<Uuid> = imports.iter().map(|import| import.id.0).collect();
        let rows = self
            .all(
                "select import_id, outcome, is_session, count(*) as items, coalesce(sum(messages), 0) as messages
                 from import_items where import_id = any($1)
                 group by import_id, outcome, is_session order by outcome, is_session desc",
                vec![ids.into()],
            )
            .await?;
        for row in &rows {
            let id = ImportId(get(row, "import_id")?);
            if let Some(import) = imports.iter_mut().find(|import| import.id == id) {
                import.counts.push(OutcomeCount {
                    outcome: outcome(&get::<String>(row, "outcome")?)?,
                    is_session: get(row, "is_session")?,
                    items: unsigned(get::<i64>(row, "items")?)?,
                    messages: unsigned(get::<i64>(row, "messages")?)?,
                });
            }
        }
        Ok(imports)
    }
}

fn import(row: &QueryResult) -> Result<Import> {
    Ok(Import {
        id: ImportId(get(row, "id")?),
        state: state(&get::<String>(row, "state")?)?,
        files: get(row, "files")?,
        options: from_json(&get::<String>(row, "options")?)?,
        plan: get::<Option<String>>(row, "plan")?.as_deref().map(from_json).transpose()?,
        counts: Vec::new(),
        bytes_read: unsigned(get::<i64>(row, "bytes_read")?)?,
        total_bytes: unsigned(get::<i64>(row, "total_bytes")?)?,
        error: get(row, "error")?,
        created_at: from_sql(get(row, "created_at")?)?,
        started_at: optional_from_sql(row, "started_at")?,
        finished_at: optional_from_sql(row, "finished_at")?,
    })
}

fn state(name: &str) -> Result<ImportState> {
    ImportState::ALL
        .into_iter()
        .find(|state| state.as_str() == name)
        .ok_or_else(|| Error::internal(format!("the database holds an import in the state `{name}`")))
}

fn outcome(name: &str) -> Result<ImportOutcome> {
    ImportOutcome::ALL
        .into_iter()
        .find(|outcome| outcome.as_str() == name)
        .ok_or_else(|| Error::internal(format!("the database holds the outcome `{name}` of an import")))
}

fn bytes_to_sql(bytes: u64) -> Value {
    i64::try_from(bytes).unwrap_or(i64::MAX).into()
}

fn json(value: &impl Serialize) -> Result<String> {
    // PostgreSQL can't hold NUL; in JSON it is written without one.
    serde_json::to_string(value).map_err(|error| Error::internal(format!("an import can't be written: {error}")))
}

fn from_json<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::internal(format!("an import can't be read: {error}")))
}
