use jiff::Timestamp;
use polymnemo_memory::{Ctx, Result, User, ports::TokenHash};
use polymnemo_types::{ApiToken, Page, TokenId};
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, optional_to_sql, to_sql},
    transaction::{Scope, get, unsigned},
    users::{USER_COLUMNS, user},
};

/// The columns of `api_tokens t` that [`token`] reads.
const TOKEN_COLUMNS: &str = "t.id, t.name, t.hint, t.can_write, t.in_url, t.namespaces, t.created_at, t.expires_at,
    t.last_used_at, t.revoked_at, t.paused_at";

impl PgStore {
    pub(crate) async fn insert_token(&self, ctx: &Ctx, token: &ApiToken, hash: &TokenHash, most: u32) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let stored = transaction
            .run(
                "insert into api_tokens (id, user_id, name, hash, hint, can_write, namespaces, created_at, expires_at,
                     in_url)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
                 where $11 > (
                     select count(*) from api_tokens
                     where user_id = $2 and revoked_at is null and (expires_at is null or expires_at > $8)
                 )",
                vec![
                    token.id.0.into(),
                    ctx.user.id.0.into(),
                    token.name.clone().into(),
                    hash.to_vec().into(),
                    token.hint.clone().into(),
                    token.can_write.into(),
                    token.namespaces.clone().into(),
                    to_sql(token.created_at),
                    optional_to_sql(token.expires_at),
                    token.in_url.into(),
                    i64::from(most).into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(stored > 0)
    }

    pub(crate) async fn list_tokens(&self, ctx: &Ctx, after: Option<TokenId>, limit: u32) -> Result<Page<ApiToken>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let counted =
            transaction.one("select count(*) from api_tokens where user_id = $1", vec![ctx.user.id.0.into()]).await?;
        let total: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;
        let rows = transaction
            .all(
                &format!(
                    "select {TOKEN_COLUMNS} from api_tokens t
                     where t.user_id = $1 and ($2::uuid is null or t.id < $2)
                     order by t.id desc limit $3"
                ),
                vec![ctx.user.id.0.into(), after.map(|id| id.0).into(), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        let items = rows.iter().map(token).collect::<Result<_>>()?;
        Ok(Page { items, total: unsigned(total)?, next_cursor: None })
    }

    pub(crate) async fn end_token(&self, ctx: &Ctx, id: TokenId, at: Timestamp) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let found = transaction
            .run(
                "update api_tokens set revoked_at = coalesce(revoked_at, $3) where id = $1 and user_id = $2",
                vec![id.0.into(), ctx.user.id.0.into(), to_sql(at)],
            )
            .await?;
        transaction.commit().await?;
        Ok(found > 0)
    }

    pub(crate) async fn token_by_hash(&self, hash: &TokenHash, at: Timestamp) -> Result<Option<(ApiToken, User)>> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one(
                &format!(
                    "select {TOKEN_COLUMNS}, {USER_COLUMNS} from api_tokens t join users u on u.id = t.user_id
                     where t.hash = $1"
                ),
                vec![hash.to_vec().into()],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let (token, user) = (token(&row)?, user(&row)?);
        let noted = token.last_used_at.is_some_and(|last| at < last + jiff::SignedDuration::from_mins(1));
        if token.is_active(at) && !noted {
            // Of several requests at once one writes; the others find it done and wait for nothing.
            transaction
                .run(
                    "update api_tokens set last_used_at = $2 where id = (
                         select id from api_tokens
                         where id = $1 and (last_used_at is null or last_used_at <= $2 - interval '1 minute')
                         for no key update skip locked
                     )",
                    vec![token.id.0.into(), to_sql(at)],
                )
                .await?;
        }
        transaction.commit().await?;
        Ok(Some((token, user)))
    }
}

/// Reads a row with [`TOKEN_COLUMNS`].
fn token(row: &QueryResult) -> Result<ApiToken> {
    let time = |column| optional_from_sql(row, column);
    Ok(ApiToken {
        id: TokenId(get::<Uuid>(row, "id")?),
        name: get(row, "name")?,
        hint: get(row, "hint")?,
        can_write: get(row, "can_write")?,
        in_url: get(row, "in_url")?,
        namespaces: get(row, "namespaces")?,
        created_at: from_sql(get(row, "created_at")?)?,
        expires_at: time("expires_at")?,
        last_used_at: time("last_used_at")?,
        revoked_at: time("revoked_at")?,
        paused_at: time("paused_at")?,
    })
}
