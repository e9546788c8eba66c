//! What users let in: apps, tokens and keys in one list, and what each of them did.

use jiff::Timestamp;
use polymnemo_memory::{Ctx, Error, Identity, Result, User, UserDefaults, ports::KeyEntry};
use polymnemo_types::{
    Action, App, AppCall, AppGrants, AppId, Door, MemoryId, NamespaceChoice, Page, SeenMemory, limits,
};
use sea_orm::{QueryResult, Value};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, optional_to_sql, to_sql},
    sightings::{door_from_sql, door_to_sql},
    transaction::{Scope, get, to_int, unsigned},
    users::{USER_COLUMNS, user},
};

/// All that the caller, `$1`, let in, with the columns that [`app`] reads.
const APPS: &str = "(
    select id, door, name, domain, redirect_host, can_read, can_write, namespaces, all_but, granted_at, expires_at,
        last_used_at, calls, paused_at, revoked_at, client_id
    from apps where user_id = $1
    union all
    select id, 'api_token', name, null, null, true, can_write, namespaces, false, created_at, expires_at,
        last_used_at, calls, paused_at, revoked_at, ''
    from api_tokens where user_id = $1
) apps";

/// The columns of `apps` that [`app`] reads.
pub(crate) const APP_COLUMNS: &str = "id, door, name, domain, redirect_host, can_read, can_write, namespaces, all_but,
    granted_at, expires_at, last_used_at, calls, paused_at, revoked_at";

impl PgStore {
    pub(crate) async fn list_apps(&self, ctx: &Ctx, after: Option<AppId>, limit: u32) -> Result<Page<App>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let counted = transaction.one(&format!("select count(*) from {APPS}"), vec![ctx.user.id.0.into()]).await?;
        let total: i64 = counted.map_or(Ok(0), |row| get(&row, "count"))?;
        let rows = transaction
            .all(
                &format!("select * from {APPS} where $2::uuid is null or id < $2 order by id desc limit $3"),
                vec![ctx.user.id.0.into(), after.map(|id| id.0).into(), i64::from(limit).into()],
            )
            .await?;
        transaction.commit().await?;
        let items = rows.iter().map(app).collect::<Result<_>>()?;
        Ok(Page { items, total: unsigned(total)?, next_cursor: None })
    }

    pub(crate) async fn get_app(&self, ctx: &Ctx, id: AppId) -> Result<Option<App>> {
        self.one_app(ctx, "id = $2", id.0.into()).await
    }

    pub(crate) async fn get_app_of_client(&self, ctx: &Ctx, client_id: &str) -> Result<Option<App>> {
        self.one_app(ctx, "door = 'oauth_app' and client_id = $2", client_id.into()).await
    }

    async fn one_app(&self, ctx: &Ctx, condition: &str, value: Value) -> Result<Option<App>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(&format!("select * from {APPS} where {condition}"), vec![ctx.user.id.0.into(), value])
            .await?;
        transaction.commit().await?;
        row.as_ref().map(app).transpose()
    }

    pub(crate) async fn update_app(&self, ctx: &Ctx, id: AppId, grants: &AppGrants) -> Result<bool> {
        let (namespaces, all_but) = choice_to_sql(&grants.namespaces);
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let found = transaction
            .run(
                "update apps set can_read = $3, can_write = $4, namespaces = $5, all_but = $6
                 where id = $1 and user_id = $2 and revoked_at is null",
                vec![
                    id.0.into(),
                    ctx.user.id.0.into(),
                    grants.can_read.into(),
                    grants.can_write.into(),
                    namespaces,
                    all_but.into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(found > 0)
    }

    pub(crate) async fn set_paused(&self, ctx: &Ctx, id: AppId, at: Option<Timestamp>) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let mut found = 0;
        for table in ["apps", "api_tokens"] {
            found += transaction
                .run(
                    &format!(
                        "update {table} set paused_at = case when $3::timestamptz is null then null else coalesce(paused_at, $3) end
                         where id = $1 and user_id = $2 and revoked_at is null"
                    ),
                    vec![id.0.into(), ctx.user.id.0.into(), optional_to_sql(at)],
                )
                .await?;
        }
        transaction.commit().await?;
        Ok(found > 0)
    }

    pub(crate) async fn end_app(&self, ctx: &Ctx, id: AppId, at: Timestamp) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let values = || vec![id.0.into(), ctx.user.id.0.into(), to_sql(at)];
        let mut found = transaction
            .run(
                "update apps set revoked_at = coalesce(revoked_at, $3), paused_at = null
                 where id = $1 and user_id = $2 and expires_at is not null",
                values(),
            )
            .await?;
        found += transaction
            .run("update api_tokens set revoked_at = coalesce(revoked_at, $3) where id = $1 and user_id = $2", values())
            .await?;
        // A later letting in begins a new family, so none of these tokens ever comes back.
        transaction
            .run(
                "delete from oauth_families where app_id = $1 and user_id = $2",
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        Ok(found > 0)
    }

    pub(crate) async fn delete_app(&self, ctx: &Ctx, client_id: &str) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let apps: Vec<Uuid> = transaction
            .all(
                "delete from apps where user_id = $1 and door = 'oauth_app' and client_id = $2 returning id",
                vec![ctx.user.id.0.into(), client_id.into()],
            )
            .await?
            .iter()
            .map(|row| get(row, "id"))
            .collect::<Result<_>>()?;
        // After the app itself: a call of it that was still being noted is there by then.
        transaction
            .run(
                "delete from app_calls where user_id = $1 and app_id = any($2)",
                vec![ctx.user.id.0.into(), apps.into()],
            )
            .await?;
        transaction.run("delete from oauth_clients where id = $1", vec![client_id.into()]).await?;
        transaction.commit().await
    }

    pub(crate) async fn holder_of_key(
        &self,
        identity: &Identity,
        defaults: &UserDefaults,
        key: &KeyEntry<'_>,
        at: Timestamp,
    ) -> Result<(User, App)> {
        let transaction = self.begin(Scope::Background).await?;
        // Each request passes here, so what is there already is read at once.
        let known = transaction
            .one(
                &format!(
                    "select {USER_COLUMNS}, app.* from identities i join users u on u.id = i.user_id cross join lateral (
                         select {APP_COLUMNS} from apps where user_id = u.id and door = $3 and client_id = $4
                     ) app
                     where i.issuer = $1 and i.subject = $2"
                ),
                vec![
                    identity.issuer.clone().into(),
                    identity.subject.clone().into(),
                    door_to_sql(key.door),
                    key.client_id.into(),
                ],
            )
            .await?;
        if let Some(row) = known {
            transaction.leave();
            return Ok((user(&row)?, app(&row)?));
        }
        let user = user(&transaction.user_of(identity, &identity.subject, defaults).await?)?;
        let values = || vec![user.id.0.into(), door_to_sql(key.door), key.client_id.into()];
        let select = format!("select {APP_COLUMNS} from apps where user_id = $1 and door = $2 and client_id = $3");
        let mut row = transaction.one(&select, values()).await?;
        if row.is_none() {
            let new = values().into_iter().chain([Uuid::now_v7().into(), key.name.into(), to_sql(at)]).collect();
            transaction
                .run(
                    "insert into apps (user_id, door, client_id, id, name, can_read, can_write, granted_at)
                     values ($1, $2, $3, $4, $5, true, true, $6) on conflict do nothing",
                    new,
                )
                .await?;
            row = transaction.one(&select, values()).await?;
        }
        transaction.commit().await?;
        let app = app(&row.ok_or_else(|| Error::internal("an app just made is not there"))?)?;
        Ok((user, app))
    }

    pub(crate) async fn insert_call(
        &self,
        ctx: &Ctx,
        id: AppId,
        at: Timestamp,
        action: Action,
        query: Option<&str>,
        memories: &[MemoryId],
    ) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let tables: &[&str] = match ctx.door {
            Door::ApiToken => &["api_tokens"],
            // By a key of the settings, or by a token.
            Door::CapabilityPath => &["apps", "api_tokens"],
            _ => &["apps"],
        };
        let mut found = 0;
        for table in tables {
            found += transaction
                .run(
                    &format!(
                        "update {table} set calls = calls + 1, last_used_at = greatest(last_used_at, $3)
                         where id = $1 and user_id = $2"
                    ),
                    vec![id.0.into(), ctx.user.id.0.into(), to_sql(at)],
                )
                .await?;
        }
        if found == 0 {
            // It was deleted since the answer.
            return transaction.commit().await;
        }
        let memories: Vec<Uuid> = memories.iter().map(|id| id.0).collect();
        transaction
            .run(
                // What was erased since the answer is not named again, and neither is what it was found by.
                "insert into app_calls (user_id, app_id, at, action, query, memories)
                 select $1, $2, $3, $4, case when cardinality(there.ids) = cardinality($6::uuid[]) then $5 end, there.ids
                 from (
                     select coalesce(array_agg(given.id order by given.place), '{}') as ids
                     from unnest($6::uuid[]) with ordinality given (id, place)
                     where exists (
                         select from memories m join namespaces n on n.id = m.namespace_id
                         where m.id = given.id and n.erasure_id is null
                     ) or exists (select from uploads p where p.id = given.id)
                 ) there",
                vec![
                    ctx.user.id.0.into(),
                    id.0.into(),
                    to_sql(at),
                    action_to_sql(action).into(),
                    query.map(str::to_owned).into(),
                    memories.into(),
                ],
            )
            .await?;
        transaction.commit().await
    }

    pub(crate) async fn list_calls(
        &self,
        ctx: &Ctx,
        id: AppId,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<(i64, AppCall)>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let rows = transaction
            .all(
                "select id, at, action, query, memories from app_calls
                 where user_id = $1 and app_id = $2 and ($3::bigint is null or id < $3)
                 order by id desc limit $4",
                vec![ctx.user.id.0.into(), id.0.into(), before.into(), i64::from(limit).into()],
            )
            .await?;
        let mut seen: Vec<Uuid> = Vec::new();
        for row in &rows {
            seen.extend(get::<Vec<Uuid>>(row, "memories")?);
        }
        // Row-level security shows what the person may read, others' shared memories included.
        let beginnings = transaction
            .all(
                "select m.id, left(m.content, $2) as beginning from memories m join namespaces n on n.id = m.namespace_id
                 where m.id = any($1) and m.forgotten_at is null and n.erasure_id is null",
                vec![seen.into(), to_int(limits::PREVIEW_CHARS).into()],
            )
            .await?;
        transaction.commit().await?;
        let mut texts = std::collections::HashMap::new();
        for row in &beginnings {
            texts.insert(get::<Uuid>(row, "id")?, get::<String>(row, "beginning")?);
        }
        rows.iter()
            .map(|row| {
                let memories = get::<Vec<Uuid>>(row, "memories")?;
                let call = AppCall {
                    at: from_sql(get(row, "at")?)?,
                    action: action_from_sql(&get::<String>(row, "action")?)?,
                    query: get(row, "query")?,
                    memories: memories
                        .into_iter()
                        .map(|id| SeenMemory { id: MemoryId(id), beginning: texts.get(&id).cloned() })
                        .collect(),
                };
                Ok((get(row, "id")?, call))
            })
            .collect()
    }
}

/// A choice of namespaces as two columns: the names, and whether all but these are meant.
pub(crate) fn choice_to_sql(choice: &NamespaceChoice) -> (Value, bool) {
    match choice {
        NamespaceChoice::All => (None::<Vec<String>>.into(), false),
        NamespaceChoice::Only(names) => (names.clone().into(), false),
        NamespaceChoice::AllBut(names) => (names.clone().into(), true),
    }
}

/// What an app may do, from the columns `can_read`, `can_write`, `namespaces` and `all_but`.
pub(crate) fn grants(row: &QueryResult) -> Result<AppGrants> {
    let namespaces = match (get::<Option<Vec<String>>>(row, "namespaces")?, get::<bool>(row, "all_but")?) {
        (None, _) => NamespaceChoice::All,
        (Some(names), false) => NamespaceChoice::Only(names),
        (Some(names), true) => NamespaceChoice::AllBut(names),
    };
    Ok(AppGrants { can_read: get(row, "can_read")?, can_write: get(row, "can_write")?, namespaces })
}

/// Reads a row with [`APP_COLUMNS`].
pub(crate) fn app(row: &QueryResult) -> Result<App> {
    let time = |column| optional_from_sql(row, column);
    Ok(App {
        id: AppId(get(row, "id")?),
        door: door_from_sql(&get::<String>(row, "door")?)?,
        name: get(row, "name")?,
        domain: get(row, "domain")?,
        redirect_host: get(row, "redirect_host")?,
        grants: grants(row)?,
        granted_at: from_sql(get(row, "granted_at")?)?,
        expires_at: time("expires_at")?,
        last_used_at: time("last_used_at")?,
        calls: unsigned(get::<i64>(row, "calls")?)?,
        paused_at: time("paused_at")?,
        revoked_at: time("revoked_at")?,
    })
}

const ACTIONS: [(Action, &str); 12] = [
    (Action::Recall, "recall"),
    (Action::List, "list"),
    (Action::Get, "get"),
    (Action::Remember, "remember"),
    (Action::Update, "update"),
    (Action::Forget, "forget"),
    (Action::Upload, "upload"),
    (Action::Download, "download"),
    (Action::Namespaces, "namespaces"),
    (Action::SaveSession, "save_session"),
    (Action::LoadSession, "load_session"),
    (Action::ListSessions, "list_sessions"),
];

fn action_to_sql(action: Action) -> &'static str {
    ACTIONS.iter().find(|(known, _)| *known == action).map_or("", |(_, name)| name)
}

/// Whether a name is that of an action.
pub(crate) fn is_action(name: &str) -> bool {
    ACTIONS.iter().any(|(_, known)| *known == name)
}

fn action_from_sql(name: &str) -> Result<Action> {
    let known = ACTIONS.iter().find(|(_, known)| *known == name).map(|(action, _)| *action);
    known.ok_or_else(|| Error::internal("the database holds a call of an unknown kind"))
}
