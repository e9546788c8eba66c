//! Uploads that are under way.

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result, TokenHash, User,
    ports::{Announced, Room, StoredUpload, media_file},
};
use polymnemo_types::{AppId, MediaFile, MemoryId, Upload};
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, to_sql},
    transaction::{Scope, Transaction, get, unsigned},
    users::{USER_COLUMNS, user},
};

/// Whoever asks for room waits for the one who asked before. Any number that nothing else locks.
const ROOM_LOCK: i64 = 0x706f_6c79_726f_6f6d;

/// The columns that [`upload`] reads, from `uploads p`.
const UPLOAD_COLUMNS: &str =
    "p.id, p.namespace, p.filename, p.content_type, p.size, p.sha256, p.description, p.tags, p.client,
    p.app_id, p.object_key, p.in_parts, p.parts_handle, p.created_at, p.expires_at";

impl PgStore {
    pub(crate) async fn insert_upload(
        &self,
        ctx: &Ctx,
        stored: &StoredUpload,
        page: &TokenHash,
        room: Room,
        now: Timestamp,
    ) -> Result<Announced> {
        // To know what is left, the files of all users are looked at.
        let scope = room.quota_bytes.map_or(Scope::User(ctx.user.id), |_| Scope::Background);
        let transaction = self.begin(scope).await?;
        let upload = &stored.upload;
        if let Some(quota) = room.quota_bytes {
            transaction.run("select pg_advisory_xact_lock($1)", vec![ROOM_LOCK.into()]).await?;
            let left = transaction.bytes_left(quota, now).await?;
            if upload.file.size > left {
                return Ok(Announced::NoRoom(left));
            }
        }
        let counted = transaction
            .one(
                "select count(*) from uploads where user_id = $1 and expires_at > $2",
                vec![ctx.user.id.0.into(), to_sql(now)],
            )
            .await?;
        let count: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;
        if count >= i64::from(room.uploads) {
            return Ok(Announced::TooMany);
        }
        transaction
            .run(
                "insert into uploads (id, user_id, namespace, filename, content_type, size, sha256, description, tags, client,
                     app_id, object_key, in_parts, page_hash, created_at, expires_at)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
                vec![
                    upload.id.0.into(),
                    ctx.user.id.0.into(),
                    upload.namespace.clone().into(),
                    upload.file.filename.clone().into(),
                    upload.file.content_type.clone().into(),
                    size_to_sql(upload.file.size)?,
                    sha256_to_sql(&upload.file),
                    upload.description.clone().into(),
                    upload.tags.clone().into(),
                    upload.client.clone().into(),
                    stored.app.map(|app| app.0).into(),
                    stored.object_key.clone().into(),
                    upload.in_parts.into(),
                    page.to_vec().into(),
                    to_sql(upload.created_at),
                    to_sql(upload.expires_at),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(Announced::Done)
    }

    pub(crate) async fn bytes_left(&self, quota: u64, now: Timestamp) -> Result<u64> {
        let transaction = self.begin(Scope::Background).await?;
        let left = transaction.bytes_left(quota, now).await?;
        transaction.commit().await?;
        Ok(left)
    }

    pub(crate) async fn get_upload(&self, ctx: &Ctx, id: MemoryId, now: Timestamp) -> Result<Option<StoredUpload>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                &format!(
                    "select {UPLOAD_COLUMNS} from uploads p where p.id = $1 and p.user_id = $2 and p.expires_at > $3"
                ),
                vec![id.0.into(), ctx.user.id.0.into(), to_sql(now)],
            )
            .await?;
        transaction.commit().await?;
        row.as_ref().map(upload).transpose()
    }

    pub(crate) async fn get_upload_of_page(
        &self,
        page: &TokenHash,
        now: Timestamp,
    ) -> Result<Option<(User, StoredUpload)>> {
        // It is only known by this whose it is.
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one(
                &format!(
                    "select {UPLOAD_COLUMNS}, {USER_COLUMNS} from uploads p join users u on u.id = p.user_id
                     where p.page_hash = $1 and p.expires_at > $2"
                ),
                vec![page.to_vec().into(), to_sql(now)],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| Ok((user(&row)?, upload(&row)?))).transpose()
    }

    pub(crate) async fn list_uploads(&self, ctx: &Ctx, now: Timestamp, limit: u32) -> Result<Vec<StoredUpload>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                &format!(
                    "select {UPLOAD_COLUMNS} from uploads p where p.user_id = $1 and p.expires_at > $2
                     order by p.created_at desc, p.id desc limit $3"
                ),
                vec![ctx.user.id.0.into(), to_sql(now), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(upload).collect()
    }

    pub(crate) async fn set_parts_handle(&self, ctx: &Ctx, id: MemoryId, handle: &str) -> Result<Option<String>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "update uploads set parts_handle = coalesce(parts_handle, $3) where id = $1 and user_id = $2
                 returning parts_handle",
                vec![id.0.into(), ctx.user.id.0.into(), handle.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| get(&row, "parts_handle")).transpose()
    }

    pub(crate) async fn end_upload(&self, ctx: &Ctx, id: MemoryId) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let ended = transaction
            .run("delete from uploads where id = $1 and user_id = $2", vec![id.0.into(), ctx.user.id.0.into()])
            .await?;
        transaction.commit().await?;
        Ok(ended > 0)
    }

    pub(crate) async fn delete_expired_uploads(&self, before: Timestamp) -> Result<u64> {
        let transaction = self.begin(Scope::Background).await?;
        let ended = transaction.run("delete from uploads where expires_at <= $1", vec![to_sql(before)]).await?;
        transaction.commit().await?;
        Ok(ended)
    }
}

impl Transaction {
    /// How many bytes are left for files of anyone. What is in the trash takes up room, and so does what is announced.
    async fn bytes_left(&self, quota: u64, now: Timestamp) -> Result<u64> {
        let row = self
            .one(
                "select ((select coalesce(sum(size), 0) from media)
                     + (select coalesce(sum(size), 0) from uploads where expires_at > $1))::bigint as taken",
                vec![to_sql(now)],
            )
            .await?;
        let taken: i64 = row.map_or(Ok(0), |row| get(&row, "taken"))?;
        Ok(quota.saturating_sub(unsigned(taken)?))
    }
}

pub(crate) fn size_to_sql(size: u64) -> Result<Value> {
    i64::try_from(size).map(Value::from).map_err(|_| Error::internal("a file is longer than the database can count"))
}

/// The digest of a file as the database keeps it.
pub(crate) fn sha256_to_sql(file: &MediaFile) -> Value {
    file.sha256.as_deref().and_then(|digits| hex::decode(digits).ok()).into()
}

/// The file that `filename`, `content_type`, `size` and `sha256` of a row tell of.
pub(crate) fn file(row: &QueryResult) -> Result<MediaFile> {
    let sha256 = get::<Option<Vec<u8>>>(row, "sha256")?
        .map(|digest| digest.try_into().map_err(|_| Error::internal("the database holds a digest of another length")))
        .transpose()?;
    let size = unsigned(get::<i64>(row, "size")?)?;
    Ok(media_file(get(row, "filename")?, get(row, "content_type")?, size, sha256))
}

fn upload(row: &QueryResult) -> Result<StoredUpload> {
    Ok(StoredUpload {
        upload: Upload {
            id: MemoryId(get(row, "id")?),
            file: file(row)?,
            description: get(row, "description")?,
            namespace: get(row, "namespace")?,
            tags: get(row, "tags")?,
            client: get(row, "client")?,
            in_parts: get(row, "in_parts")?,
            created_at: from_sql(get(row, "created_at")?)?,
            expires_at: from_sql(get(row, "expires_at")?)?,
        },
        app: get::<Option<Uuid>>(row, "app_id")?.map(AppId),
        object_key: get(row, "object_key")?,
        parts_handle: get(row, "parts_handle")?,
    })
}
