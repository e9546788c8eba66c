//! Writing what comes back from an export.

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result,
    export::{
        AppRecord, CallRecord, MediaRecord, NamespaceRecord, SessionRecord, SettingsRecord, SightingRecord, TokenRecord,
    },
    ports::{Model, Restored, RestoredAccount, RestoredMemory, RestoredMessage, RestoringSession, SessionBegun},
    transcript,
};
use polymnemo_types::{ImportId, ImportOutcome, MemoryId, UserId};
use sea_orm::Value;
use uuid::Uuid;

use crate::{
    PgStore,
    apps::is_action,
    export::{app_record, namespace_record, session_record, settings, token_record},
    index,
    memories::{kind_to_sql, optional_to_sql, to_sql},
    sightings::door_from_sql,
    transaction::{Scope, Transaction, get, to_int, unsigned},
    uploads::size_to_sql,
};

fn conflict(reason: impl Into<String>) -> Restored {
    Restored::Conflict(reason.into())
}

fn count(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

impl PgStore {
    pub(crate) async fn taken_ids(&self, user: UserId, ids: &[Uuid]) -> Result<Vec<Uuid>> {
        let transaction = self.begin(Scope::Background).await?;
        let rows = transaction
            .all(
                "select id from memories where id = any($1) and user_id <> $2
                 union select id from uploads where id = any($1) and user_id <> $2
                 union select id from api_tokens where id = any($1) and user_id <> $2
                 union select id from apps where id = any($1) and user_id <> $2",
                vec![ids.to_vec().into(), user.0.into()],
            )
            .await?;
        transaction.commit().await?;
        rows.iter().map(|row| get(row, "id")).collect()
    }

    pub(crate) async fn count_own_memories(&self, ctx: &Ctx, ids: &[MemoryId]) -> Result<u64> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "select count(*) from memories where id = any($1) and user_id = $2",
                vec![ids.into(), ctx.user.id.0.into()],
            )
            .await?;
        transaction.commit().await?;
        row.map_or(Ok(0), |row| unsigned(get::<i64>(&row, "count")?))
    }

    pub(crate) async fn put_account_back(
        &self,
        ctx: &Ctx,
        given: &SettingsRecord,
        namespaces: &[NamespaceRecord],
    ) -> Result<RestoredAccount> {
        let user: Value = ctx.user.id.0.into();
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let row = transaction
            .one(
                "select default_namespace, time_zone, language, theme, not exists (
                     select from memories where user_id = u.id
                 ) and not exists (
                     select from namespaces n where n.user_id = u.id and n.name <> u.default_namespace
                 ) as is_empty
                 from users u where id = $1 for update",
                vec![user.clone()],
            )
            .await?
            .ok_or_else(|| Error::internal("the user is not there"))?;
        let (own, is_empty) = (settings(&row)?, get::<bool>(&row, "is_empty")?);
        let mut restored = RestoredAccount::default();
        for namespace in namespaces {
            let shared_here = self.shared_by_setting(&namespace.name);
            let was_open = namespace.shared || namespace.shared_by_server;
            let existing = transaction
                .one(
                    "select name, shared_by_owner, shared_by_setting, created_at from namespaces
                     where user_id = $1 and name = $2 for update",
                    vec![user.clone(), namespace.name.clone().into()],
                )
                .await?;
            let existing = existing.as_ref().map(namespace_record).transpose()?;
            if !was_open && (shared_here || existing.as_ref().is_some_and(|existing| existing.shared) && !is_empty) {
                restored.exposed.push(namespace.name.clone());
                restored.namespaces.push(conflict("everyone on this server could read it, which was private"));
                continue;
            }
            let outcome = match existing {
                Some(existing) if !is_empty => {
                    if existing.shared == namespace.shared {
                        Restored::Unchanged
                    } else {
                        conflict("it is there, and shared otherwise")
                    }
                }
                existing => {
                    transaction
                        .run(
                            "insert into namespaces (user_id, name, shared_by_owner, shared_by_setting, created_at)
                             values ($1, $2, $3, $4, $5)
                             on conflict (user_id, name) do update
                                 set shared_by_owner = excluded.shared_by_owner, created_at = excluded.created_at",
                            vec![
                                user.clone(),
                                namespace.name.clone().into(),
                                namespace.shared.into(),
                                shared_here.into(),
                                to_sql(namespace.created_at),
                            ],
                        )
                        .await?;
                    let is_same = existing.is_some_and(|existing| existing.created_at == namespace.created_at);
                    if is_same { Restored::Unchanged } else { Restored::Added }
                }
            };
            restored.namespaces.push(outcome);
        }
        let is_open = |name: &str| {
            self.shared_by_setting(name)
                || namespaces.iter().any(|namespace| namespace.name == name && namespace.shared)
        };
        restored.settings = Some(if own == *given {
            Restored::Unchanged
        } else if !is_empty {
            conflict("this account has settings of its own")
        } else if is_open(&given.default_namespace) {
            conflict("everyone on this server could read the default namespace")
        } else {
            transaction
                .run(
                    "update users set default_namespace = $2, time_zone = $3, language = $4, theme = $5 where id = $1",
                    vec![
                        user.clone(),
                        given.default_namespace.clone().into(),
                        given.time_zone.clone().into(),
                        given.language.clone().into(),
                        given.theme.clone().into(),
                    ],
                )
                .await?;
            // What was made for a new user, and is not in the export, was of no use.
            if !namespaces.iter().any(|namespace| namespace.name == own.default_namespace) {
                transaction
                    .run(
                        "delete from namespaces n using users u
                         where u.id = $1 and n.user_id = u.id and n.name = $2 and n.name <> u.default_namespace",
                        vec![user.clone(), own.default_namespace.clone().into()],
                    )
                    .await?;
            }
            Restored::Added
        });
        transaction.commit().await?;
        Ok(restored)
    }

    pub(crate) async fn put_tokens_back(
        &self,
        ctx: &Ctx,
        tokens: &[TokenRecord],
        at: Timestamp,
    ) -> Result<Vec<Restored>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let mut outcomes = Vec::with_capacity(tokens.len());
        for token in tokens {
            // Nobody knows a secret whose digest this is.
            let added = transaction
                .run(
                    "insert into api_tokens (id, user_id, name, hash, hint, can_write, in_url, namespaces, created_at,
                         expires_at, last_used_at, paused_at, calls, revoked_at, restored_at)
                     values ($1, $2, $3, uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()), $4, $5, $6, $7, $8,
                         $9, $10, $11, $12, coalesce($13, $14),
                         case when $13::timestamptz is null then $14::timestamptz end)
                     on conflict do nothing",
                    vec![
                        token.id.into(),
                        ctx.user.id.0.into(),
                        token.name.clone().into(),
                        token.hint.clone().into(),
                        token.can_write.into(),
                        token.in_url.into(),
                        token.namespaces.clone().into(),
                        to_sql(token.created_at),
                        optional_to_sql(token.expires_at),
                        optional_to_sql(token.last_used_at),
                        optional_to_sql(token.paused_at),
                        count(token.calls),
                        optional_to_sql(token.revoked_at),
                        to_sql(at),
                    ],
                )
                .await?;
            if added > 0 {
                outcomes.push(Restored::Added);
                continue;
            }
            let row = transaction
                .one(
                    "select id, name, hint, can_write, in_url, namespaces, created_at, expires_at, last_used_at, paused_at,
                         calls, nullif(revoked_at, restored_at) as revoked_at
                     from api_tokens where id = $1 and user_id = $2",
                    vec![token.id.into(), ctx.user.id.0.into()],
                )
                .await?;
            let there = row.as_ref().map(token_record).transpose()?;
            // It may have been used or ended since.
            let is_same = there.is_some_and(|there| {
                (there.name, there.hint, there.created_at) == (token.name.clone(), token.hint.clone(), token.created_at)
            });
            outcomes.push(if is_same { Restored::Unchanged } else { conflict("another token is in its place") });
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    pub(crate) async fn put_apps_back(&self, ctx: &Ctx, apps: &[AppRecord], at: Timestamp) -> Result<Vec<Restored>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let mut outcomes = Vec::with_capacity(apps.len());
        for app in apps {
            if door_from_sql(&app.door).is_err() {
                outcomes.push(conflict("this server knows no such kind of app"));
                continue;
            }
            // A key of the settings has no secret here, and what it may do is its owner's decision still.
            let ended = if app.expires_at.is_some() { optional_to_sql(Some(at)) } else { optional_to_sql(None) };
            let added = transaction
                .run(
                    "insert into apps (id, user_id, door, client_id, name, domain, redirect_host, can_read, can_write,
                         namespaces, all_but, granted_at, expires_at, last_used_at, paused_at, calls, revoked_at, restored_at)
                     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, coalesce($17, $18),
                         case when $17::timestamptz is null then $18::timestamptz end)
                     on conflict do nothing",
                    vec![
                        app.id.into(),
                        ctx.user.id.0.into(),
                        app.door.clone().into(),
                        app.client_id.clone().into(),
                        app.name.clone().into(),
                        app.domain.clone().into(),
                        app.redirect_host.clone().into(),
                        app.can_read.into(),
                        app.can_write.into(),
                        app.namespaces.clone().into(),
                        app.all_but.into(),
                        to_sql(app.granted_at),
                        optional_to_sql(app.expires_at),
                        optional_to_sql(app.last_used_at),
                        optional_to_sql(app.paused_at),
                        count(app.calls),
                        optional_to_sql(app.revoked_at),
                        ended,
                    ],
                )
                .await?;
            if added > 0 {
                outcomes.push(Restored::Added);
                continue;
            }
            let row = transaction
                .one(
                    "select id, door, client_id, name, domain, redirect_host, can_read, can_write, namespaces, all_but,
                         granted_at, expires_at, last_used_at, paused_at, calls,
                         nullif(revoked_at, restored_at) as revoked_at
                     from apps where id = $1 and user_id = $2",
                    vec![app.id.into(), ctx.user.id.0.into()],
                )
                .await?;
            let there = row.as_ref().map(app_record).transpose()?;
            let is_same = there.is_some_and(|there| there.door == app.door && there.client_id == app.client_id);
            outcomes.push(if is_same { Restored::Unchanged } else { conflict("this app is connected here anew") });
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    pub(crate) async fn put_calls_back(&self, ctx: &Ctx, calls: &[CallRecord]) -> Result<Vec<Restored>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let mut outcomes = Vec::with_capacity(calls.len());
        // How often the same call was met in this batch: that many of it may be there.
        let mut met: HashMap<String, i64> = HashMap::new();
        for call in calls {
            if !is_action(&call.action) {
                outcomes.push(conflict("this server knows no such call"));
                continue;
            }
            let key = serde_json::to_string(call).map_err(|error| Error::Internal(error.into()))?;
            let met = met.entry(key).or_default();
            *met += 1;
            let memories: Vec<Uuid> = call.memories.iter().map(|id| id.0).collect();
            let added = transaction
                .run(
                    "with there as (
                         select count(*) as calls from app_calls
                         where user_id = $1 and app_id = $2 and at = $3 and action = $4
                           and query is not distinct from $5 and memories = $6
                     ),
                     -- What is left of one of which something was erased gets it back.
                     whole_again as (
                         update app_calls set query = $5, memories = $6
                         where $7 > (select calls from there) and ctid = (
                             select ctid from app_calls
                             where user_id = $1 and app_id = $2 and at = $3 and action = $4
                               and query is null and memories <@ $6 and (memories <> $6 or $5::text is not null)
                             limit 1
                         )
                         returning 1
                     )
                     insert into app_calls (user_id, app_id, at, action, query, memories)
                     select $1, $2, $3, $4, $5, $6
                     where $7 > (select calls from there) and not exists (select from whole_again)",
                    vec![
                        ctx.user.id.0.into(),
                        call.app.into(),
                        to_sql(call.at),
                        call.action.clone().into(),
                        call.query.clone().into(),
                        memories.into(),
                        (*met).into(),
                    ],
                )
                .await?;
            outcomes.push(if added > 0 { Restored::Added } else { Restored::Unchanged });
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    pub(crate) async fn put_sightings_back(&self, ctx: &Ctx, sightings: &[SightingRecord]) -> Result<Vec<Restored>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let mut outcomes = Vec::with_capacity(sightings.len());
        for sighting in sightings {
            if door_from_sql(&sighting.door).is_err() {
                outcomes.push(conflict("this server knows no such kind of client"));
                continue;
            }
            let added = transaction
                .run(
                    "insert into client_sightings (user_id, client, door, last_seen_at) values ($1, $2, $3, $4)
                     on conflict do nothing",
                    vec![
                        ctx.user.id.0.into(),
                        sighting.client.clone().into(),
                        sighting.door.clone().into(),
                        to_sql(sighting.last_seen_at),
                    ],
                )
                .await?;
            // One that was seen since is the same one.
            outcomes.push(if added > 0 { Restored::Added } else { Restored::Unchanged });
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    pub(crate) async fn put_memories_back(
        &self,
        ctx: &Ctx,
        model: &Model,
        import: Option<ImportId>,
        memories: Vec<RestoredMemory>,
    ) -> Result<Vec<Restored>> {
        let model_number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let namespaces = transaction.own_namespaces_by_name(ctx, &memories).await?;
        transaction.lock_namespaces(&namespaces.values().copied().collect::<Vec<_>>()).await?;
        let mut outcomes = Vec::with_capacity(memories.len());
        let (mut indexed, mut added) = (Vec::new(), Vec::new());
        for memory in &memories {
            let Some(&namespace) = namespaces.get(&memory.record.namespace) else {
                outcomes.push(conflict("its namespace is not there any more"));
                continue;
            };
            let outcome = transaction.put_memory_back(ctx, memory, namespace).await?;
            if outcome == Restored::Added {
                if let Some(media) = &memory.media
                    && !transaction.put_media_back(ctx, media).await?
                {
                    return Err(Error::Unavailable {
                        part: "file storage",
                        source: "an object was deleted before it was referred to".into(),
                    });
                }
                if memory.record.forgotten_at.is_none() {
                    indexed.push(in_index(memory, namespace));
                }
                added.push(memory.record.id);
            }
            outcomes.push(outcome);
        }
        if let Some(import) = import {
            transaction.note_memories(ctx.user.id, import, ImportOutcome::Created, &added).await?;
        }
        if !indexed.is_empty() {
            index::add(&transaction, (model, model_number), &indexed).await?;
        }
        transaction.commit().await?;
        Ok(outcomes)
    }

    pub(crate) async fn begin_to_put_session_back(
        &self,
        ctx: &Ctx,
        model: &Model,
        import: Option<ImportId>,
        memory: RestoredMemory,
        session: SessionRecord,
    ) -> Result<SessionBegun> {
        let model_number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        // As whoever saves one of this name.
        let name = format!("{}:{}", ctx.user.id, session.key);
        transaction.run("select pg_advisory_xact_lock(hashtextextended($1, 5))", vec![name.into()]).await?;
        let id = memory.record.id;
        let there = transaction.memory_records(ctx.user.id, &[id]).await?.remove(&id);
        if let Some((record, revisions, _)) = there {
            let row = transaction
                .one(
                    "select memory_id, key, form, metadata, last_at from sessions where memory_id = $1",
                    vec![id.0.into()],
                )
                .await?;
            let is_same = record == memory.record
                && revisions == memory.revisions
                && row.as_ref().map(session_record).transpose()?.is_some_and(|there| there == session);
            return Ok(if is_same {
                SessionBegun::Same
            } else {
                SessionBegun::Conflict("it is there with another title, other labels or a later state".into())
            });
        }
        if memory.record.forgotten_at.is_none() {
            let other = transaction
                .one(
                    "select m.id from sessions s join memories m on m.id = s.memory_id
                     where s.user_id = $1 and s.key = $2 and m.forgotten_at is null limit 1",
                    vec![ctx.user.id.0.into(), session.key.clone().into()],
                )
                .await?;
            if let Some(other) = other {
                let other: Uuid = get(&other, "id")?;
                return Ok(SessionBegun::Conflict(format!("a client calls another session the same, {other}")));
            }
        }
        let namespaces = transaction.own_namespaces_by_name(ctx, std::slice::from_ref(&memory)).await?;
        let Some(&namespace) = namespaces.get(&memory.record.namespace) else {
            return Ok(SessionBegun::Conflict("its namespace is not there any more".into()));
        };
        match transaction.put_memory_back(ctx, &memory, namespace).await? {
            Restored::Added => {}
            Restored::Unchanged => return Ok(SessionBegun::Same),
            Restored::Conflict(reason) => return Ok(SessionBegun::Conflict(reason)),
        }
        transaction
            .run(
                "insert into sessions (memory_id, user_id, namespace_id, key, form, metadata, last_at)
                 values ($1, $2, $3, $4, $5, $6, $7)",
                vec![
                    id.0.into(),
                    ctx.user.id.0.into(),
                    namespace.into(),
                    session.key.into(),
                    session.form.into(),
                    session.metadata.into(),
                    to_sql(session.last_at),
                ],
            )
            .await?;
        let model = model.clone();
        let user = ctx.user.id;
        Ok(SessionBegun::Begun(Box::new(Restoring {
            transaction,
            user,
            import,
            memory,
            namespace,
            model,
            model_number,
            parts: 0,
        })))
    }
}

fn in_index(memory: &RestoredMemory, namespace: i32) -> index::Indexed<'_> {
    index::Indexed {
        memory: memory.record.id,
        namespace,
        content: &memory.record.content,
        tags: &memory.record.tags,
        chunks: &memory.chunks,
        first_ordinal: 0,
        message: None,
    }
}

impl Transaction {
    async fn own_namespaces_by_name(&self, ctx: &Ctx, memories: &[RestoredMemory]) -> Result<HashMap<String, i32>> {
        let names: Vec<String> = memories.iter().map(|memory| memory.record.namespace.clone()).collect();
        let rows = self
            .all(
                "select id, name from namespaces where user_id = $1 and name = any($2)",
                vec![ctx.user.id.0.into(), names.into()],
            )
            .await?;
        rows.iter().map(|row| Ok((get(row, "name")?, get(row, "id")?))).collect()
    }

    /// Inserts a memory with its earlier states, unless something is in its place.
    async fn put_memory_back(&self, ctx: &Ctx, memory: &RestoredMemory, namespace: i32) -> Result<Restored> {
        let record = &memory.record;
        let added = self
            .run(
                "insert into memories (id, user_id, namespace_id, kind, content, content_hash, tags, source, client,
                     changed_by, occurred_at, created_at, updated_at, revision, supersedes, superseded_by, superseded_at,
                     forgotten_at, idempotency_key, origin_message)
                 select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18::timestamptz,
                     -- A retry may have stored another memory since.
                     case when $18::timestamptz is not null or not exists (
                         select from memories other
                         where other.user_id = $2 and other.idempotency_key = $19 and other.forgotten_at is null
                     ) then $19 end,
                     (select id from messages where memory_id = $20 and number = $21)
                 on conflict do nothing",
                vec![
                    record.id.0.into(),
                    ctx.user.id.0.into(),
                    namespace.into(),
                    kind_to_sql(record.kind),
                    record.content.clone().into(),
                    memory.hash.to_vec().into(),
                    record.tags.clone().into(),
                    record.source.clone().into(),
                    record.client.clone().into(),
                    record.changed_by.clone().into(),
                    to_sql(record.occurred_at),
                    to_sql(record.created_at),
                    to_sql(record.updated_at),
                    to_int(record.revision).into(),
                    record.supersedes.iter().map(|id| id.0).collect::<Vec<_>>().into(),
                    record.superseded_by.map(|id| id.0).into(),
                    optional_to_sql(record.superseded_at),
                    optional_to_sql(record.forgotten_at),
                    record.idempotency_key.clone().into(),
                    record.origin.map(|origin| origin.session.0).into(),
                    record.origin.map(|origin| to_int(origin.number)).into(),
                ],
            )
            .await?;
        if added == 0 {
            return self.what_is_there(memory, namespace).await;
        }
        for revision in &memory.revisions {
            self.run(
                "insert into revisions (memory_id, revision, user_id, namespace, content, tags, source, client,
                     occurred_at, created_at)
                 values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                vec![
                    record.id.0.into(),
                    to_int(revision.revision).into(),
                    ctx.user.id.0.into(),
                    revision.namespace.clone().into(),
                    revision.content.clone().into(),
                    revision.tags.clone().into(),
                    revision.source.clone().into(),
                    revision.client.clone().into(),
                    to_sql(revision.occurred_at),
                    to_sql(revision.created_at),
                ],
            )
            .await?;
        }
        Ok(Restored::Added)
    }

    async fn what_is_there(&self, memory: &RestoredMemory, namespace: i32) -> Result<Restored> {
        let twin = self
            .one(
                "select id from memories
                 where namespace_id = $1 and content_hash = $2 and forgotten_at is null and superseded_by is null",
                vec![namespace.into(), memory.hash.to_vec().into()],
            )
            .await?;
        Ok(match twin {
            Some(twin) => conflict(format!("the same text is there as the memory {}", get::<Uuid>(&twin, "id")?)),
            None => conflict("another memory is in its place"),
        })
    }

    /// Inserts the file of a memory. False where its object is being deleted.
    async fn put_media_back(&self, ctx: &Ctx, media: &MediaRecord) -> Result<bool> {
        let digest: Option<Vec<u8>> = media.sha256.as_deref().and_then(|digits| hex::decode(digits).ok());
        self.run(
            "insert into media (memory_id, user_id, filename, content_type, size, sha256, object_key)
             values ($1, $2, $3, $4, $5, $6, $7)",
            vec![
                media.id.0.into(),
                ctx.user.id.0.into(),
                media.filename.clone().into(),
                media.content_type.clone().into(),
                size_to_sql(media.size)?,
                digest.into(),
                media.object_key.clone().into(),
            ],
        )
        .await?;
        self.claim_object(ctx, &media.object_key).await
    }
}

struct Restoring {
    transaction: Transaction,
    user: UserId,
    import: Option<ImportId>,
    memory: RestoredMemory,
    namespace: i32,
    model: Model,
    model_number: i16,
    /// The number of parts of the messages so far.
    parts: i32,
}

/// Messages, or what they said before, as columns for `unnest`. Arrays here have no nulls: what is missing is empty.
#[derive(Default)]
struct Columns {
    numbers: Vec<i32>,
    revisions: Vec<i32>,
    first_parts: Vec<i32>,
    parts: Vec<i32>,
    roles: Vec<String>,
    said_at: Vec<String>,
    client_ids: Vec<String>,
    formats: Vec<String>,
    contents: Vec<String>,
    hashes: Vec<Vec<u8>>,
    stored_at: Vec<String>,
}

#[async_trait]
impl RestoringSession for Restoring {
    async fn add(&mut self, messages: Vec<RestoredMessage>) -> Result<()> {
        let (mut new, mut before) = (Columns::default(), Columns::default());
        let time = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
        for RestoredMessage { record, revisions, hash } in messages {
            let parts = to_int(transcript::parts(&record.content).len());
            new.numbers.push(to_int(record.number));
            new.revisions.push(to_int(record.revision));
            new.first_parts.push(self.parts);
            new.parts.push(parts);
            new.roles.push(record.role);
            new.said_at.push(time(record.said_at));
            new.client_ids.push(record.client_id.unwrap_or_default());
            new.formats.push(record.format);
            new.contents.push(record.content);
            new.hashes.push(hash.to_vec());
            new.stored_at.push(record.stored_at.to_string());
            self.parts += parts;
            for revision in revisions {
                before.numbers.push(to_int(revision.number));
                before.revisions.push(to_int(revision.revision));
                before.roles.push(revision.role);
                before.said_at.push(time(revision.said_at));
                before.formats.push(revision.format);
                before.contents.push(revision.content);
                before.stored_at.push(revision.stored_at.to_string());
            }
        }
        let session: Value = self.memory.record.id.0.into();
        self.transaction
            .run(
                "insert into messages (memory_id, namespace_id, number, revision, first_part, parts, role, said_at,
                     client_id, format, content, hash, stored_at)
                 select $1, $2, number, revision, first_part, parts, role, nullif(said_at, '')::timestamptz,
                     nullif(client_id, ''), format, content, hash, stored_at::timestamptz
                 from unnest($3::int[], $4::int[], $5::int[], $6::int[], $7::text[], $8::text[], $9::text[], $10::text[],
                     $11::text[], $12::bytea[], $13::text[])
                     as new (number, revision, first_part, parts, role, said_at, client_id, format, content, hash, stored_at)",
                vec![
                    session.clone(),
                    self.namespace.into(),
                    new.numbers.into(),
                    new.revisions.into(),
                    new.first_parts.into(),
                    new.parts.into(),
                    new.roles.into(),
                    new.said_at.into(),
                    new.client_ids.into(),
                    new.formats.into(),
                    new.contents.into(),
                    new.hashes.into(),
                    new.stored_at.into(),
                ],
            )
            .await?;
        if before.numbers.is_empty() {
            return Ok(());
        }
        self.transaction
            .run(
                "insert into message_revisions (message_id, revision, user_id, role, said_at, format, content, stored_at)
                 select g.id, old.revision, $2, old.role, nullif(old.said_at, '')::timestamptz, old.format, old.content,
                     old.stored_at::timestamptz
                 from unnest($3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
                     as old (number, revision, role, said_at, format, content, stored_at)
                 join messages g on g.memory_id = $1 and g.number = old.number",
                vec![
                    session,
                    self.user.0.into(),
                    before.numbers.into(),
                    before.revisions.into(),
                    before.roles.into(),
                    before.said_at.into(),
                    before.formats.into(),
                    before.contents.into(),
                    before.stored_at.into(),
                ],
            )
            .await?;
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        self.transaction.sum_up_session(self.memory.record.id).await?;
        if self.memory.record.forgotten_at.is_none() {
            // Only now, so that other writers of the namespace wait for a moment only.
            self.transaction.lock_namespaces(&[self.namespace]).await?;
            let indexed = [in_index(&self.memory, self.namespace)];
            index::add(&self.transaction, (&self.model, self.model_number), &indexed).await?;
        }
        if let Some(import) = self.import {
            let session = [self.memory.record.id];
            self.transaction.note_memories(self.user, import, ImportOutcome::Created, &session).await?;
        }
        self.transaction.commit().await
    }
}
