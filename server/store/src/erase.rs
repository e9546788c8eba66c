//! Erasing with proof.
//!
//! What is to be erased is put into a namespace of its own that is marked so, or its namespace is marked: from then on
//! row-level security shows it to the background only (`not_being_erased`), and so it is hidden everywhere in one moment,
//! however much it is. A new namespace of the old name takes what is stored from then on.

mod batch;
mod count;
mod leftovers;
mod port;
mod records;
mod rest;

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Result,
    ports::{Measured, NewErasure, NothingToErase},
};
use polymnemo_types::{EraseTarget, ErasedCounts, ErasedStore, Erasure, ErasureId, ErasureSubject, ImportId, MemoryId};
use sea_orm::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, optional_from_sql, optional_to_sql, to_sql},
    sightings::door_to_sql,
    transaction::{Scope, Transaction, get, to_int},
};

use self::count::{GROWN, Selected, grown_before};

/// How many beginnings of memories a preview shows, and how long they are.
const BEGINNINGS: (i64, u32) = (10, 120);

/// Requests that were signed for an upload may be on their way a little longer than they are good.
const ON_THEIR_WAY: jiff::SignedDuration = jiff::SignedDuration::from_hours(1);

/// What a target turned out to be.
struct Resolved {
    subject: ErasureSubject,
    name: Option<String>,
}

impl PgStore {
    pub(crate) async fn measure_target(
        &self,
        ctx: &Ctx,
        target: &EraseTarget,
    ) -> Result<Result<Measured, NothingToErase>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let resolved = match transaction.resolve(ctx, target).await? {
            Ok(resolved) => resolved,
            Err(nothing) => return Ok(Err(nothing)),
        };
        let (mut counts, in_trash) = transaction.count_target(ctx.user.id, &resolved.subject, &resolved.name).await?;
        let beginnings = match &resolved.subject {
            ErasureSubject::Memories { ids } => transaction.beginnings(ids).await?,
            _ => Vec::new(),
        };
        let uploads_until = transaction.uploads_until(ctx, &resolved).await?;
        transaction.commit().await?;
        if resolved.subject == ErasureSubject::Account {
            // Whose a sign-in session is, only the background may know.
            let transaction = self.begin(Scope::Background).await?;
            counts.add(&transaction.count_browser_sessions(ctx.user.id).await?);
            transaction.commit().await?;
        }
        Ok(Ok(Measured {
            is_default: matches!(resolved.subject, ErasureSubject::Namespace { default: true, .. }),
            name: resolved.name,
            beginnings,
            counts,
            in_trash,
            uploads_until,
        }))
    }

    pub(crate) async fn begin_to_erase(&self, ctx: &Ctx, new: &NewErasure) -> Result<Result<Erasure, NothingToErase>> {
        let user = ctx.user.id;
        let transaction = self.begin(Scope::Background).await?;
        // One at a time of each user. All their namespaces are locked, in order, so nobody writes meanwhile.
        let lock = user.to_string();
        transaction.run("select pg_advisory_xact_lock(hashtextextended($1, 6))", vec![lock.into()]).await?;
        transaction
            .run("select id from namespaces where user_id = $1 order by id for update", vec![user.0.into()])
            .await?;
        let resolved = match transaction.resolve(ctx, &new.target).await? {
            Ok(resolved) => resolved,
            Err(nothing) => return Ok(Err(nothing)),
        };
        let (mut before, _) = transaction.count_target(user, &resolved.subject, &resolved.name).await?;
        if resolved.subject == ErasureSubject::Account {
            before.add(&transaction.count_browser_sessions(user).await?);
        }
        let uploads_until = transaction.uploads_until(ctx, &resolved).await?;
        let json = |value: Result<serde_json::Value, serde_json::Error>| {
            value.map(Value::from).map_err(|error| polymnemo_memory::Error::Internal(error.into()))
        };
        transaction
            .run(
                "insert into erasures (id, user_id, target, state, requested_at, door, client, before, uploads_until)
                 values ($1, $2, $3, 'running', $4, $5, $6, $7, $8)",
                vec![
                    new.id.0.into(),
                    user.0.into(),
                    json(serde_json::to_value(&resolved.subject))?,
                    to_sql(new.at),
                    door_to_sql(ctx.door),
                    ctx.client.clone().into(),
                    json(serde_json::to_value(&before))?,
                    optional_to_sql(uploads_until),
                ],
            )
            .await?;
        transaction.end_uploads(ctx, new.id, &resolved).await?;
        if let ErasureSubject::Import { id } = &resolved.subject {
            transaction.erase_grown(ctx, new.id, *id).await?;
        }
        match &resolved.subject {
            ErasureSubject::Memories { .. } | ErasureSubject::App { .. } | ErasureSubject::Import { .. } => {
                transaction.set_apart(ctx, new, &resolved.subject).await?;
            }
            ErasureSubject::Namespace { number, default, .. } => {
                transaction.hide_namespace(new.id, *number, *default).await?;
            }
            ErasureSubject::Account => transaction.lock_account(ctx, new.id).await?,
        }
        transaction.commit().await?;
        let erasure = self.one_erasure(Scope::User(user), "id = $1", vec![new.id.0.into()]).await?;
        erasure.map(Ok).ok_or_else(|| polymnemo_memory::Error::internal("an erasure just begun is not there"))
    }
}

impl Transaction {
    /// What a target is, where it is the caller's.
    async fn resolve(&self, ctx: &Ctx, target: &EraseTarget) -> Result<Result<Resolved, NothingToErase>> {
        let user: Value = ctx.user.id.0.into();
        Ok(match target {
            EraseTarget::Memories(ids) => {
                let uuids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
                let rows = self
                    .all(
                        "select m.id from memories m join namespaces n on n.id = m.namespace_id
                         where m.id = any($2) and m.user_id = $1 and n.erasure_id is null",
                        vec![user, uuids.into()],
                    )
                    .await?;
                let found = rows.iter().map(|row| Ok(MemoryId(get(row, "id")?))).collect::<Result<Vec<_>>>()?;
                match ids.iter().find(|id| !found.contains(id)) {
                    Some(missing) => Err(NothingToErase::Memory(*missing)),
                    None => Ok(Resolved { subject: ErasureSubject::Memories { ids: ids.clone() }, name: None }),
                }
            }
            EraseTarget::Namespace(name) => {
                let row = self
                    .one(
                        "select n.id, n.name = u.default_namespace as is_default from namespaces n join users u on u.id = n.user_id
                         where n.user_id = $1 and n.name = $2 and n.erasure_id is null",
                        vec![user, name.clone().into()],
                    )
                    .await?;
                match row {
                    Some(row) => Ok(Resolved {
                        subject: ErasureSubject::Namespace {
                            number: get(&row, "id")?,
                            name_sha256: hex::encode(Sha256::digest(name.as_bytes())),
                            default: get(&row, "is_default")?,
                        },
                        name: Some(name.clone()),
                    }),
                    None => Err(NothingToErase::Namespace(name.clone())),
                }
            }
            EraseTarget::App(id) => {
                let row = self
                    .one(
                        "select name from (
                             select id, user_id, name from apps union all select id, user_id, name from api_tokens
                         ) clients where user_id = $1 and id = $2",
                        vec![user, id.0.into()],
                    )
                    .await?;
                match row {
                    Some(row) => {
                        Ok(Resolved { subject: ErasureSubject::App { id: *id }, name: Some(get(&row, "name")?) })
                    }
                    None => Err(NothingToErase::App(*id)),
                }
            }
            EraseTarget::Import(id) => {
                let row = self
                    .one("select files from imports where id = $2 and user_id = $1", vec![user, id.0.into()])
                    .await?;
                match row {
                    Some(row) => Ok(Resolved {
                        subject: ErasureSubject::Import { id: *id },
                        name: Some(get::<Vec<String>>(&row, "files")?.join(", ")),
                    }),
                    None => Err(NothingToErase::Import),
                }
            }
            EraseTarget::Account => {
                Ok(Resolved { subject: ErasureSubject::Account, name: Some(ctx.user.name.clone()) })
            }
        })
    }

    async fn beginnings(&self, ids: &[MemoryId]) -> Result<Vec<String>> {
        let (most, length) = BEGINNINGS;
        let uuids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let rows = self
            .all(
                "select left(content, $2) as beginning from memories where id = any($1) order by created_at desc, id limit $3",
                vec![uuids.into(), to_int(length).into(), most.into()],
            )
            .await?;
        rows.iter().map(|row| get(row, "beginning")).collect()
    }

    /// Until when requests are good that were signed for uploads that go along.
    async fn uploads_until(&self, ctx: &Ctx, resolved: &Resolved) -> Result<Option<Timestamp>> {
        let (condition, values) = uploads_of(ctx.user.id, &resolved.subject, resolved.name.as_deref());
        let row = self.one(&format!("select max(expires_at) as until from uploads where {condition}"), values).await?;
        let until = row.map(|row| optional_from_sql(&row, "until")).transpose()?.flatten();
        Ok(until.and_then(|until| until.checked_add(ON_THEIR_WAY).ok()))
    }

    /// Gives up the uploads that go along, and notes their objects.
    async fn end_uploads(&self, ctx: &Ctx, id: ErasureId, resolved: &Resolved) -> Result<()> {
        let (condition, values) = uploads_of(ctx.user.id, &resolved.subject, resolved.name.as_deref());
        let erasure = values.len() + 1;
        let ended = self
            .run(
                &format!(
                    "with gone as (delete from uploads where {condition} returning object_key, parts_handle)
                 insert into erased_objects (erasure_id, object_key, parts_handle)
                 select ${erasure}, object_key, parts_handle from gone on conflict do nothing"
                ),
                values.into_iter().chain([id.0.into()]).collect(),
            )
            .await?;
        self.add_erased(id, ErasedStore::Uploads, ended).await
    }

    /// Puts memories apart, into a namespace that nobody sees.
    async fn set_apart(&self, ctx: &Ctx, new: &NewErasure, subject: &ErasureSubject) -> Result<()> {
        let row = self
            .one(
                "insert into namespaces (user_id, name, erasure_id) values ($1, $2, $3) returning id",
                vec![ctx.user.id.0.into(), hidden_name(new.id).into(), new.id.0.into()],
            )
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a namespace just made is not there"))?;
        let selected = Selected::of(ctx.user.id, subject);
        let place = selected.values.len() + 1;
        let values = selected.values.into_iter().chain([get::<i32>(&row, "id")?.into(), to_sql(new.at)]).collect();
        let rows = self
            .all(
                &format!(
                    "update memories m set namespace_id = ${place}, forgotten_at = coalesce(forgotten_at, ${}),
                         idempotency_key = null
                     where {} returning m.id",
                    place + 1,
                    selected.condition
                ),
                values,
            )
            .await?;
        let ids = rows.iter().map(|row| get(row, "id")).collect::<Result<Vec<Uuid>>>()?;
        // Labels are counted without a look at their memories.
        let tags = self.run("delete from tags where memory_id = any($1)", vec![ids.clone().into()]).await?;
        self.add_erased(new.id, ErasedStore::Tags, tags).await?;
        self.make_current(ids).await
    }

    /// Deletes what an import added to sessions that were there before. They stay.
    async fn erase_grown(&self, ctx: &Ctx, id: ErasureId, import: ImportId) -> Result<()> {
        let values = || -> Vec<Value> { vec![ctx.user.id.0.into(), import.0.into()] };
        let gone = self.count_grown(ctx.user.id, import).await?;
        for row in &self.all(&format!("{GROWN} order by t.memory_id"), values()).await? {
            let session = MemoryId(get(row, "memory_id")?);
            self.take_back(session, from_sql(get(row, "at")?)?).await?;
            self.set_left(ctx.user.id, import, session).await?;
        }
        self.run(&format!("delete from message_revisions r where {}", grown_before()), values()).await?;
        if self.count_grown(ctx.user.id, import).await?.0.values().any(|&left| left > 0) {
            return Err(polymnemo_memory::Error::internal("something is left of what an import added to sessions"));
        }
        self.note_erased(id, &gone).await
    }

    /// Marks a namespace, which gives up its name; the default one is made anew at once, empty.
    async fn hide_namespace(&self, id: ErasureId, number: i32, default: bool) -> Result<()> {
        let before = self
            .one(
                "select user_id, name, shared_by_owner, shared_by_setting from namespaces where id = $1",
                vec![number.into()],
            )
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a namespace just locked is not there"))?;
        self.run(
            "update namespaces set name = $2, erasure_id = $3, shared_by_owner = false, shared_by_setting = false
             where id = $1",
            vec![number.into(), hidden_name(id).into(), id.0.into()],
        )
        .await?;
        self.run(
            "update memories set idempotency_key = null where namespace_id = $1 and idempotency_key is not null
               and forgotten_at is null",
            vec![number.into()],
        )
        .await?;
        if default {
            self.run(
                "insert into namespaces (user_id, name, shared_by_owner, shared_by_setting) values ($1, $2, $3, $4)",
                vec![
                    get::<Uuid>(&before, "user_id")?.into(),
                    get::<String>(&before, "name")?.into(),
                    get::<bool>(&before, "shared_by_owner")?.into(),
                    get::<bool>(&before, "shared_by_setting")?.into(),
                ],
            )
            .await?;
        }
        Ok(())
    }

    /// Hides all of an account and lets nobody in any more. Whoever proves to be the same person later begins a new one.
    async fn lock_account(&self, ctx: &Ctx, id: ErasureId) -> Result<()> {
        let user = || -> Vec<Value> { vec![ctx.user.id.0.into()] };
        self.run(
            "update namespaces set name = $2 || ' ' || id, erasure_id = $3, shared_by_owner = false,
                 shared_by_setting = false
             where user_id = $1",
            vec![ctx.user.id.0.into(), hidden_name(id).into(), id.0.into()],
        )
        .await?;
        // What follows from an app's entry, its codes and tokens, goes with it.
        for statement in [
            "delete from identities where user_id = $1",
            "delete from api_tokens where user_id = $1",
            "delete from apps where user_id = $1",
            "delete from client_sightings where user_id = $1",
            "update users set session_secret = default where id = $1",
        ] {
            self.run(statement, user()).await?;
        }
        self.end_browser_sessions(ctx.user.id).await
    }
}

/// The condition on uploads to go along.
fn uploads_of(
    user: polymnemo_types::UserId,
    subject: &ErasureSubject,
    name: Option<&str>,
) -> (&'static str, Vec<Value>) {
    let user: Value = user.0.into();
    match subject {
        ErasureSubject::Memories { ids } => {
            let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
            ("user_id = $1 and id = any($2)", vec![user, ids.into()])
        }
        ErasureSubject::Namespace { .. } => {
            ("user_id = $1 and namespace = $2", vec![user, name.unwrap_or_default().to_owned().into()])
        }
        ErasureSubject::App { id } => ("user_id = $1 and app_id = $2", vec![user, id.0.into()]),
        ErasureSubject::Import { .. } => ("user_id = $1 and false", vec![user]),
        ErasureSubject::Account => ("user_id = $1", vec![user]),
    }
}

/// A name that no namespace of a user can have.
fn hidden_name(id: ErasureId) -> String {
    format!("!{id}")
}

/// Counts from the columns of a row that are called as the stores are.
fn counts_of(row: &sea_orm::QueryResult, stores: &[ErasedStore]) -> Result<ErasedCounts> {
    let mut counts = ErasedCounts::default();
    for &store in stores {
        let count: i64 = get(row, &count::column(store))?;
        counts.0.insert(store, crate::transaction::unsigned(count)?);
    }
    Ok(counts)
}
