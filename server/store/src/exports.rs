//! Exports that were asked for.

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result, User,
    ports::{ExportClaim, ReadyExport},
};
use polymnemo_types::{Export, ExportId, ExportState};
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, to_sql},
    transaction::{Scope, Transaction, get, unsigned},
    users::{USER_COLUMNS, user},
};

/// The columns that [`export`] reads.
const COLUMNS: &str =
    "e.id, e.state, e.requested_at, e.finished_at, e.expires_at, e.progress, e.bytes, e.sha256, e.counts, e.object_key";

/// How many finished exports of a user are kept when they ask for another one.
const KEPT: u32 = 2;

/// The part of the numbers of advisory locks that is for exports.
const LOCK: &str = "hashtextextended(id::text, 20)";

fn state_from_sql(name: &str) -> Result<ExportState> {
    match name {
        "queued" => Ok(ExportState::Queued),
        "running" => Ok(ExportState::Running),
        "ready" => Ok(ExportState::Ready),
        "failed" => Ok(ExportState::Failed),
        "expired" => Ok(ExportState::Expired),
        _ => Err(Error::internal("the database holds an export in an unknown state")),
    }
}

fn export(row: &QueryResult) -> Result<Export> {
    let digest: Option<Vec<u8>> = get(row, "sha256")?;
    let counts: Option<String> = get(row, "counts")?;
    Ok(Export {
        id: ExportId(get(row, "id")?),
        state: state_from_sql(&get::<String>(row, "state")?)?,
        requested_at: from_sql(get(row, "requested_at")?)?,
        finished_at: optional_from_sql(row, "finished_at")?,
        expires_at: optional_from_sql(row, "expires_at")?,
        progress: unsigned(get::<i32>(row, "progress")?)?,
        bytes: get::<Option<i64>>(row, "bytes")?.map(unsigned).transpose()?,
        sha256: digest.map(hex::encode),
        counts: counts.and_then(|counts| serde_json::from_str(&counts).ok()),
    })
}

impl PgStore {
    pub(crate) async fn find_users(&self, name: &str) -> Result<Vec<User>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                &format!(
                    "select {USER_COLUMNS} from users u
                     where u.name = $1 or u.id::text = $1 or exists (
                         select from identities i where i.user_id = u.id and i.issuer = 'static' and i.subject = $1
                     )
                     order by u.id"
                ),
                vec![name.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(user).collect()
    }

    pub(crate) async fn insert_export(&self, ctx: &Ctx, id: ExportId, at: Timestamp) -> Result<Export> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        // Each takes as much room as all that the user has, so only the last ones are kept.
        transaction
            .run(
                "update exports set state = 'expired', object_key = null
                 where user_id = $1 and state = 'ready' and id not in (
                     select id from exports where user_id = $1 and state = 'ready'
                     order by requested_at desc, id desc limit $2
                 )",
                vec![ctx.user.id.0.into(), i64::from(KEPT).into()],
            )
            .await?;
        transaction
            .run(
                "insert into exports (id, user_id, state, requested_at) values ($1, $2, 'queued', $3)
                 on conflict do nothing",
                vec![id.0.into(), ctx.user.id.0.into(), to_sql(at)],
            )
            .await?;
        let row = transaction
            .one(
                &format!(
                    "select {COLUMNS} from exports e
                     where e.user_id = $1 and (e.id = $2 or e.state in ('queued', 'running'))
                     order by e.id = $2 desc limit 1"
                ),
                vec![ctx.user.id.0.into(), id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        // Where the other one was finished at this very moment, there is none.
        let row = row.ok_or_else(|| Error::Unavailable {
            part: "export",
            source: "another export ended at the same moment".into(),
        })?;
        export(&row)
    }

    pub(crate) async fn list_exports(&self, ctx: &Ctx, limit: u32) -> Result<Vec<Export>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                &format!(
                    "select {COLUMNS} from exports e where e.user_id = $1
                     order by e.requested_at desc, e.id desc limit $2"
                ),
                vec![ctx.user.id.0.into(), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(export).collect()
    }

    pub(crate) async fn get_export(&self, ctx: &Ctx, id: ExportId) -> Result<Option<(Export, Option<String>)>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                &format!("select {COLUMNS} from exports e where e.id = $1 and e.user_id = $2"),
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| Ok((export(&row)?, get(&row, "object_key")?))).transpose()
    }

    pub(crate) async fn drop_export(&self, ctx: &Ctx, id: ExportId) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let deleted = transaction
            .run("delete from exports where id = $1 and user_id = $2", vec![id.0.into(), ctx.user.id.0.into()])
            .await?;
        transaction.commit().await?;
        Ok(deleted > 0)
    }

    /// Whoever writes an export holds an advisory lock in a transaction that stays open meanwhile. The database lets go of
    /// it when the process dies, so the next one need not wait to know.
    pub(crate) async fn take_export(&self) -> Result<Option<Box<dyn ExportClaim>>> {
        let open = self.open_exports().await?;
        if open.is_empty() {
            return Ok(None);
        }
        let lock = self.begin_with(Scope::Background, "set local idle_in_transaction_session_timeout = 0").await?;
        for id in open {
            let row = lock
                .one(
                    &format!("select pg_try_advisory_xact_lock({LOCK}) as locked from (values ($1::uuid)) e (id)"),
                    vec![id.into()],
                )
                .await?;
            if !row.map_or(Ok(false), |row| get(&row, "locked"))? {
                continue;
            }
            let transaction = self.begin(Scope::Background).await?;
            let row = transaction
                .one(
                    &format!(
                        "update exports e set state = 'running', progress = 0, attempts = attempts + 1
                         from users u
                         where e.id = $1 and e.state in ('queued', 'running') and u.id = e.user_id
                         returning e.attempts, {USER_COLUMNS}"
                    ),
                    vec![id.into()],
                )
                .await?;
            transaction.commit().await?;
            if let Some(row) = row {
                let claim = Claim {
                    store: self.clone(),
                    id: ExportId(id),
                    user: user(&row)?,
                    attempts: unsigned(get::<i32>(&row, "attempts")?)?,
                    lock,
                };
                return Ok(Some(Box::new(claim)));
            }
        }
        Ok(None)
    }

    async fn open_exports(&self) -> Result<Vec<Uuid>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "select id from exports where state in ('queued', 'running') order by requested_at, id limit 100",
                vec![],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| get(row, "id")).collect()
    }

    pub(crate) async fn end_exports(&self, now: Timestamp, forget: Timestamp) -> Result<u64> {
        let transaction = self.begin(Scope::Background).await?;
        let expired = transaction
            .run(
                "update exports set state = 'expired', object_key = null where state = 'ready' and expires_at <= $1",
                vec![to_sql(now)],
            )
            .await?;
        transaction
            .run("delete from exports where state in ('failed', 'expired') and requested_at < $1", vec![to_sql(forget)])
            .await?;
        transaction.commit().await?;
        Ok(expired)
    }

    /// The next objects that files refer to, by key, each with its type; those after `after`. For backups.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn objects_of_files(&self, after: &str) -> Result<Vec<(String, String)>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "select key, type from (
                     select object_key as key, content_type as type from media
                     union all
                     select thumbnail_key, case when thumbnail_key like '%.jpg' then 'image/jpeg' else 'image/webp' end
                     from media where thumbnail_key is not null
                 ) objects
                 where key > $1 collate \"C\" order by key collate \"C\" limit 500",
                vec![after.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| Ok((get(row, "key")?, get(row, "type")?))).collect()
    }

    /// Lets go of exports whose files did not come along with the database, and of uploads that were under way.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn forget_exports(&self) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run("update exports set state = 'expired', object_key = null where state = 'ready'", vec![])
            .await?;
        transaction.run("delete from uploads", vec![]).await?;
        transaction.run("delete from objects_to_delete", vec![]).await?;
        transaction.commit().await
    }

    pub(crate) async fn take_due_exports(&self, now: Timestamp, again: Timestamp, limit: u32) -> Result<Vec<String>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "update objects_to_delete set taken_at = $1
                 where object_key in (
                     select object_key from objects_to_delete
                     where due_at <= $1 and (taken_at is null or taken_at < $2) and starts_with(object_key, 'export.')
                     order by due_at limit $3 for update skip locked
                 )
                 returning object_key",
                vec![to_sql(now), to_sql(again), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| get(row, "object_key")).collect()
    }
}

struct Claim {
    store: PgStore,
    id: ExportId,
    user: User,
    attempts: u32,
    /// Holds the lock until it is dropped.
    lock: Transaction,
}

#[async_trait]
impl ExportClaim for Claim {
    fn id(&self) -> ExportId {
        self.id
    }

    fn user(&self) -> &User {
        &self.user
    }

    fn attempts(&self) -> u32 {
        self.attempts
    }

    async fn progress(&self, progress: u32) -> Result<()> {
        // Where the connection that holds the lock is gone, someone else may have begun.
        self.lock.run("select", vec![]).await?;
        let transaction = self.store.begin(Scope::Background).await?;
        let noted = transaction
            .run(
                "update exports set progress = $2 where id = $1 and state = 'running'",
                vec![self.id.0.into(), crate::transaction::to_int(progress).into()],
            )
            .await?;
        transaction.commit().await?;
        if noted > 0 { Ok(()) } else { Err(Error::Missing("The export was given up.".into())) }
    }

    async fn ready(self: Box<Self>, export: ReadyExport) -> Result<bool> {
        let ctx = Ctx::of_person(self.user.clone());
        let counts = serde_json::to_string(&export.counts).map_err(|error| Error::Internal(error.into()))?;
        let transaction = self.store.begin(Scope::User(self.user.id)).await?;
        let bytes = i64::try_from(export.bytes).unwrap_or(i64::MAX);
        let done = transaction
            .run(
                "update exports set state = 'ready', progress = 1000, finished_at = $2, expires_at = $3, bytes = $4,
                     sha256 = $5, counts = $6, object_key = $7
                 where id = $1 and state = 'running'",
                vec![
                    self.id.0.into(),
                    to_sql(export.at),
                    to_sql(export.expires_at),
                    bytes.into(),
                    export.sha256.to_vec().into(),
                    counts.into(),
                    export.object_key.clone().into(),
                ],
            )
            .await?;
        if done == 0 || !transaction.claim_object(&ctx, &export.object_key).await? {
            return Ok(false);
        }
        transaction.commit().await?;
        self.lock.commit().await?;
        Ok(true)
    }

    async fn failed(self: Box<Self>, at: Timestamp) -> Result<()> {
        let transaction = self.store.begin(Scope::Background).await?;
        transaction
            .run(
                "update exports set state = 'failed', finished_at = $2 where id = $1 and state = 'running'",
                vec![self.id.0.into(), to_sql(at)],
            )
            .await?;
        transaction.commit().await?;
        self.lock.commit().await
    }
}
