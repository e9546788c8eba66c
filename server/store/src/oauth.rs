//! OAuth clients, and the requests, codes and tokens by which users let them in.

use jiff::Timestamp;
use polymnemo_memory::{
    AppAccess, Ctx, Error, OauthClient, Result, TokenHash,
    ports::{
        CodeDecision, Family, NewAuthorization, PresentedRefresh, RedeemedCode, RefreshDecision, Refreshed, TokenPair,
    },
};
use polymnemo_types::{AppId, UserId};
use sea_orm::QueryResult;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    PgStore,
    apps::{choice_to_sql, grants},
    memories::{from_sql, optional_from_sql, optional_to_sql, to_sql},
    transaction::{Scope, Transaction, get},
    users::{USER_COLUMNS, user},
};

/// The purpose of the secrets under which requests are kept.
pub(crate) const REQUEST: &str = "authorization request";

/// The columns of `oauth_families f join apps a` that [`family`] reads.
const FAMILY_COLUMNS: &str =
    "f.id as family_id, f.user_id as family_user_id, f.secret, f.resource, f.ends_at, a.can_write";

impl PgStore {
    pub(crate) async fn upsert_client(&self, client: &OauthClient, at: Timestamp, most_unused: u32) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        transaction
            .run(
                "insert into oauth_clients (id, name, redirect_uris, domain, created_at, fresh_until)
                 values ($1, $2, $3, $4, $5, $6)
                 on conflict (id) do update set name = excluded.name, redirect_uris = excluded.redirect_uris,
                     domain = excluded.domain, fresh_until = excluded.fresh_until",
                vec![
                    client.id.clone().into(),
                    client.name.clone().into(),
                    client.redirect_uris.clone().into(),
                    client.domain.clone().into(),
                    to_sql(at),
                    optional_to_sql(client.fresh_until),
                ],
            )
            .await?;
        transaction
            .run(
                "delete from oauth_clients where id in (
                     select id from oauth_clients where used_at is null order by created_at desc offset $1
                 )",
                vec![i64::from(most_unused).into()],
            )
            .await?;
        transaction.commit().await
    }

    pub(crate) async fn client_by_id(&self, id: &str) -> Result<Option<OauthClient>> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one(
                "select id, name, redirect_uris, domain, fresh_until from oauth_clients where id = $1",
                vec![id.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map(|row| {
            Ok(OauthClient {
                id: get(&row, "id")?,
                name: get(&row, "name")?,
                redirect_uris: get(&row, "redirect_uris")?,
                domain: get(&row, "domain")?,
                fresh_until: optional_from_sql(&row, "fresh_until")?,
            })
        })
        .transpose()
    }

    pub(crate) async fn sweep_apps(
        &self,
        unused_since: Timestamp,
        calls_before: Timestamp,
        now: Timestamp,
    ) -> Result<u64> {
        let transaction = self.begin(Scope::Background).await?;
        let mut gone = 0;
        for (statement, time) in [
            ("delete from oauth_clients where used_at is null and created_at < $1", unused_since),
            ("delete from app_calls where at < $1", calls_before),
            ("delete from oauth_families where ends_at < $1", now),
            // Until its family ends, a token that is over still tells that it was used twice.
            ("delete from oauth_codes where used_at is null and expires_at < $1", now),
        ] {
            gone += transaction.run(statement, vec![to_sql(time)]).await?;
        }
        transaction.commit().await?;
        Ok(gone)
    }

    pub(crate) async fn insert_authorization(&self, ctx: &Ctx, new: &NewAuthorization) -> Result<AppId> {
        let NewAuthorization { request, grants, at, ends_at, .. } = new;
        let (namespaces, all_but) = choice_to_sql(&grants.namespaces);
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "insert into apps (id, user_id, door, client_id, name, domain, redirect_host, can_read, can_write,
                     namespaces, all_but, granted_at, expires_at)
                 values ($1, $2, 'oauth_app', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
                 on conflict (user_id, door, client_id) do update set name = excluded.name, domain = excluded.domain,
                     redirect_host = excluded.redirect_host, can_read = excluded.can_read,
                     can_write = excluded.can_write, namespaces = excluded.namespaces, all_but = excluded.all_but,
                     granted_at = excluded.granted_at, expires_at = excluded.expires_at, paused_at = null,
                     revoked_at = null
                 returning id",
                vec![
                    Uuid::now_v7().into(),
                    ctx.user.id.0.into(),
                    request.client_id.clone().into(),
                    request.client_name.clone().into(),
                    request.domain.clone().into(),
                    request.redirect_host.clone().into(),
                    grants.can_read.into(),
                    grants.can_write.into(),
                    namespaces,
                    all_but.into(),
                    to_sql(*at),
                    to_sql(*ends_at),
                ],
            )
            .await?
            .ok_or_else(|| Error::internal("an app just let in is not there"))?;
        let app: Uuid = get(&row, "id")?;
        let family = Uuid::now_v7();
        transaction
            .run(
                "insert into oauth_families (id, user_id, app_id, secret, resource, created_at, ends_at)
                 values ($1, $2, $3, $4, $5, $6, $7)",
                vec![
                    family.into(),
                    ctx.user.id.0.into(),
                    app.into(),
                    new.secret.to_vec().into(),
                    request.resource.clone().into(),
                    to_sql(*at),
                    to_sql(*ends_at),
                ],
            )
            .await?;
        transaction
            .run(
                "delete from oauth_families where id in (
                     select id from oauth_families where app_id = $1 order by created_at desc offset $2
                 )",
                vec![app.into(), MOST_FAMILIES.into()],
            )
            .await?;
        transaction
            .run(
                "insert into oauth_codes (hash, user_id, family_id, client_id, redirect_uri, challenge, expires_at)
                 values ($1, $2, $3, $4, $5, $6, $7)",
                vec![
                    new.code.to_vec().into(),
                    ctx.user.id.0.into(),
                    family.into(),
                    request.client_id.clone().into(),
                    request.redirect_uri.clone().into(),
                    request.code_challenge.clone().into(),
                    to_sql(new.code_expires_at),
                ],
            )
            .await?;
        // The client is used from now on, so it stays.
        transaction
            .run(
                "update oauth_clients set used_at = $2 where id = $1",
                vec![request.client_id.clone().into(), to_sql(*at)],
            )
            .await?;
        transaction.commit().await?;
        Ok(AppId(app))
    }

    pub(crate) async fn redeem_code(
        &self,
        code: &TokenHash,
        at: Timestamp,
        first: CodeDecision<'_>,
    ) -> Result<Option<RedeemedCode>> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one(
                &format!(
                    "select c.client_id, c.redirect_uri, c.challenge, c.expires_at, c.used_at, {FAMILY_COLUMNS}
                     from oauth_codes c join oauth_families f on f.id = c.family_id join apps a on a.id = f.app_id
                     where c.hash = $1 for update of c"
                ),
                vec![code.to_vec().into()],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let redeemed = RedeemedCode {
            client_id: get(&row, "client_id")?,
            redirect_uri: get(&row, "redirect_uri")?,
            challenge: get(&row, "challenge")?,
            resource: get(&row, "resource")?,
            is_fresh: get::<Option<OffsetDateTime>>(&row, "used_at")?.is_none(),
            is_in_time: at < from_sql(get(&row, "expires_at")?)?,
            family: family(&row)?,
        };
        if redeemed.is_fresh {
            transaction
                .run("update oauth_codes set used_at = $2 where hash = $1", vec![code.to_vec().into(), to_sql(at)])
                .await?;
            if let Some(pair) = first(&redeemed) {
                transaction.insert_pair(&redeemed.family, &pair).await?;
            }
        } else {
            transaction.end_family(redeemed.family.id).await?;
        }
        transaction.commit().await?;
        Ok(Some(redeemed))
    }

    pub(crate) async fn use_refresh_token(
        &self,
        token: &TokenHash,
        grace_since: Timestamp,
        next: RefreshDecision<'_>,
    ) -> Result<Refreshed> {
        let transaction = self.begin(Scope::Background).await?;
        // Of several uses at once the others wait here, and then find the pair that the first one made.
        let row = transaction
            .one(
                &format!(
                    "select a.client_id, t.refresh_expires_at, t.refreshed_at, {FAMILY_COLUMNS}
                     from oauth_tokens t join oauth_families f on f.id = t.family_id join apps a on a.id = f.app_id
                     where t.refresh_hash = $1 for update of t"
                ),
                vec![token.to_vec().into()],
            )
            .await?;
        let Some(row) = row else { return Ok(Refreshed::Unknown) };
        let presented = PresentedRefresh {
            client_id: get(&row, "client_id")?,
            resource: get(&row, "resource")?,
            family: family(&row)?,
            expires_at: from_sql(get(&row, "refresh_expires_at")?)?,
            refreshed_at: optional_from_sql(&row, "refreshed_at")?,
        };
        let Some(pair) = next(&presented) else { return Ok(Refreshed::Refused(presented)) };
        match presented.refreshed_at {
            None => {
                transaction
                    .run(
                        "update oauth_tokens set refreshed_at = $2 where refresh_hash = $1",
                        vec![token.to_vec().into(), to_sql(pair.at)],
                    )
                    .await?;
                transaction.insert_pair(&presented.family, &pair).await?;
            }
            Some(refreshed_at) => {
                let row = transaction
                    .one(
                        "select used_at is not null or refreshed_at is not null as used from oauth_tokens
                         where refresh_hash = $1 for update",
                        vec![pair.refresh.to_vec().into()],
                    )
                    .await?;
                let was_used = row.map_or(Ok(true), |row| get(&row, "used"))?;
                // An answer that was lost on the way is given again; a token that leaked ends everything.
                if was_used && refreshed_at < grace_since {
                    transaction.end_family(presented.family.id).await?;
                    transaction.commit().await?;
                    return Ok(Refreshed::Reused);
                }
                transaction
                    .run(
                        "update oauth_tokens set access_expires_at = $2 where refresh_hash = $1",
                        vec![pair.refresh.to_vec().into(), to_sql(pair.access_expires_at)],
                    )
                    .await?;
            }
        }
        transaction.commit().await?;
        Ok(Refreshed::Issued(presented))
    }

    pub(crate) async fn end_family_of(&self, token: &TokenHash, client_id: Option<&str>, at: Timestamp) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        let ended = transaction
            .one(
                "delete from oauth_families f using oauth_tokens t, apps a
                 where t.family_id = f.id and a.id = f.app_id and (t.refresh_hash = $1 or t.access_hash = $1)
                   and ($2::text is null or a.client_id = $2)
                 returning f.app_id",
                vec![token.to_vec().into(), client_id.map(str::to_owned).into()],
            )
            .await?;
        if let Some(row) = ended {
            // An app that signed out everywhere it was is let in no longer.
            transaction
                .run(
                    "update apps set revoked_at = $2
                     where id = $1 and revoked_at is null
                       and not exists (select from oauth_families where app_id = $1)",
                    vec![get::<Uuid>(&row, "app_id")?.into(), to_sql(at)],
                )
                .await?;
        }
        transaction.commit().await
    }

    pub(crate) async fn access_by_token(&self, token: &TokenHash, at: Timestamp) -> Result<Option<AppAccess>> {
        let transaction = self.begin(Scope::Background).await?;
        let row = transaction
            .one(
                &format!(
                    "select a.id as app_id, a.name as app_name, a.can_read, a.can_write, a.namespaces, a.all_but,
                         a.expires_at, a.paused_at, f.resource, t.access_expires_at, t.used_at, {USER_COLUMNS}
                     from oauth_tokens t
                     join oauth_families f on f.id = t.family_id
                     join apps a on a.id = f.app_id and a.revoked_at is null
                     join users u on u.id = a.user_id
                     where t.access_hash = $1"
                ),
                vec![token.to_vec().into()],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        if get::<Option<OffsetDateTime>>(&row, "used_at")?.is_none() {
            transaction
                .run(
                    "update oauth_tokens set used_at = $2 where access_hash = $1 and used_at is null",
                    vec![token.to_vec().into(), to_sql(at)],
                )
                .await?;
        }
        transaction.commit().await?;
        let time = |column| optional_from_sql(&row, column);
        Ok(Some(AppAccess {
            app: AppId(get(&row, "app_id")?),
            name: get(&row, "app_name")?,
            user: user(&row)?,
            grants: grants(&row)?.into(),
            resource: get(&row, "resource")?,
            expires_at: from_sql(get(&row, "access_expires_at")?)?,
            app_expires_at: time("expires_at")?,
            paused_at: time("paused_at")?,
        }))
    }
}

/// The most lettings in of one app that stand side by side: one for each machine that it runs on.
const MOST_FAMILIES: i64 = 50;

impl Transaction {
    async fn insert_pair(&self, family: &Family, pair: &TokenPair) -> Result<()> {
        self.run(
            "insert into oauth_tokens (refresh_hash, access_hash, user_id, family_id, created_at, access_expires_at,
                 refresh_expires_at)
             values ($1, $2, $3, $4, $5, $6, $7)",
            vec![
                pair.refresh.to_vec().into(),
                pair.access.to_vec().into(),
                family.user.0.into(),
                family.id.into(),
                to_sql(pair.at),
                to_sql(pair.access_expires_at),
                to_sql(pair.refresh_expires_at),
            ],
        )
        .await?;
        Ok(())
    }

    /// Ends a letting in, with its tokens and codes.
    async fn end_family(&self, id: Uuid) -> Result<()> {
        self.run("delete from oauth_families where id = $1", vec![id.into()]).await?;
        Ok(())
    }
}

/// Reads a row with [`FAMILY_COLUMNS`].
fn family(row: &QueryResult) -> Result<Family> {
    Ok(Family {
        id: get(row, "family_id")?,
        user: UserId(get(row, "family_user_id")?),
        secret: get(row, "secret")?,
        ends_at: from_sql(get(row, "ends_at")?)?,
        can_write: get(row, "can_write")?,
    })
}
