//! Files of memories.

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Filter, MediaFilter, MediaInserted, NewMedia, NewMemory, Place, StoredFile},
};
use polymnemo_types::{Kind, Memory, MemoryId, Page};
use sea_orm::{QueryResult, Value};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{MEMORY_COLUMNS, Newest, conditions, memory, state, to_sql},
    transaction::{Scope, get},
    uploads::{file, sha256_to_sql, size_to_sql},
};

/// The columns that [`stored_file`] reads, from `media f`.
const FILE_COLUMNS: &str =
    "f.filename, f.content_type, f.size, f.sha256, f.object_key, f.thumbnail_key, f.thumbnail_at";

impl PgStore {
    pub(crate) async fn insert_memory_with_file(
        &self,
        ctx: &Ctx,
        new: NewMemory,
        media: NewMedia,
    ) -> Result<MediaInserted> {
        let model_number = self.model_number(&new.model).await?;
        let shared = self.shared_by_setting(&new.state.namespace);
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let Some(namespace) = transaction.insert_row(ctx, &new, shared).await? else {
            return Ok(MediaInserted::Exists);
        };
        transaction
            .run(
                "insert into media (memory_id, user_id, filename, content_type, size, sha256, object_key)
                 values ($1, $2, $3, $4, $5, $6, $7)",
                vec![
                    new.id.0.into(),
                    ctx.user.id.0.into(),
                    media.file.filename.clone().into(),
                    media.file.content_type.clone().into(),
                    size_to_sql(media.file.size)?,
                    sha256_to_sql(&media.file),
                    media.object_key.clone().into(),
                ],
            )
            .await?;
        let mut is_that_of_upload = false;
        if let Some(id) = media.upload {
            let ended = transaction
                .one(
                    "delete from uploads where id = $1 and user_id = $2 returning object_key",
                    vec![id.0.into(), ctx.user.id.0.into()],
                )
                .await?;
            let Some(ended) = ended else { return Ok(MediaInserted::Gone) };
            is_that_of_upload = get::<String>(&ended, "object_key")? == media.object_key;
        }
        if !is_that_of_upload && !transaction.claim_object(ctx, &media.object_key).await? {
            return Ok(MediaInserted::Gone);
        }
        transaction.index_row(&new, model_number, namespace).await?;
        transaction.commit().await?;
        Ok(MediaInserted::New)
    }

    pub(crate) async fn get_files(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<Vec<(MemoryId, StoredFile)>> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, None).await?;
        let rows = transaction
            .all(
                &format!(
                    "select m.id, {FILE_COLUMNS} from memories m join media f on f.memory_id = m.id
                     where m.id = any($1) and m.namespace_id = any($2) and (m.forgotten_at is null or m.user_id = $3)"
                ),
                vec![ids.into(), namespaces.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| Ok((MemoryId(get(row, "id")?), stored_file(row)?))).collect()
    }

    pub(crate) async fn list_memories_with_files(
        &self,
        ctx: &Ctx,
        filter: &MediaFilter,
        after: Option<Place>,
        limit: u32,
    ) -> Result<(Page<(Memory, StoredFile)>, Option<Place>)> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.readable_ids(ctx, filter.namespace.as_deref()).await?;
        let mut values: Vec<Value> = vec![namespaces.into()];
        let conditions = media_conditions(filter, &mut values);
        let list = Newest {
            join: " join media f on f.memory_id = m.id",
            columns: format!("{MEMORY_COLUMNS}, {FILE_COLUMNS}"),
            time: "created_at",
            conditions,
            values,
        };
        let (rows, total, next) = transaction.newest(list, after, limit).await?;
        transaction.commit().await?;
        let items = rows.iter().map(|row| Ok((memory(row)?, stored_file(row)?))).collect::<Result<_>>()?;
        Ok((Page { items, total, next_cursor: None }, next))
    }

    pub(crate) async fn set_thumbnail(
        &self,
        ctx: &Ctx,
        id: MemoryId,
        key: Option<&str>,
        at: Timestamp,
    ) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let noted = transaction
            .run(
                "update media set thumbnail_key = $3, thumbnail_at = $4
                 where memory_id = $1 and user_id = $2 and thumbnail_at is null",
                vec![id.0.into(), ctx.user.id.0.into(), key.map(str::to_owned).into(), to_sql(at)],
            )
            .await?;
        if noted == 0 {
            return Ok(false);
        }
        if let Some(key) = key
            && !transaction.claim_object(ctx, key).await?
        {
            return Ok(false);
        }
        transaction.commit().await?;
        Ok(true)
    }
}

/// The conditions of a list of files on `memories m` and `media f`, as [`conditions`].
fn media_conditions(filter: &MediaFilter, values: &mut Vec<Value>) -> String {
    let of_memories = Filter { tags: filter.tags.clone(), kind: Some(Kind::Media), ..Filter::default() };
    let mut sql = format!("{}{}", state(false), conditions(&of_memories, false, values));
    if let Some(content_type) = &filter.content_type {
        values.push(content_type.clone().into());
        let place = values.len();
        sql.push_str(&match content_type.ends_with('/') {
            true => format!(" and starts_with(f.content_type, ${place})"),
            false => format!(" and split_part(f.content_type, ';', 1) = ${place}"),
        });
    }
    if let Some(text) = &filter.text {
        values.push(text.clone().into());
        let place = values.len();
        sql.push_str(&format!(
            " and (position(${place} in lower(f.filename)) > 0 or position(${place} in lower(m.content)) > 0)"
        ));
    }
    sql
}

fn stored_file(row: &QueryResult) -> Result<StoredFile> {
    Ok(StoredFile {
        file: file(row)?,
        object_key: get(row, "object_key")?,
        thumbnail_key: get(row, "thumbnail_key")?,
        thumbnail_tried: get::<Option<OffsetDateTime>>(row, "thumbnail_at")?.is_some(),
    })
}
