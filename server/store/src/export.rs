//! Reading all that a user has, as it was at one moment.
//!
//! Each part is a cursor over the keys of its records, sorted once, each with the length of its text. The records themselves
//! are then read by their keys, a few megabytes at a time, however long single ones are.

use std::collections::{HashMap, VecDeque};

use async_trait::async_trait;
use polymnemo_memory::{
    Ctx, Error, Result,
    export::{
        AppRecord, CallRecord, IdentityRecord, MediaRecord, MemoryRecord, MessageOf, MessageRecord,
        MessageRevisionRecord, NamespaceRecord, Part, Record, RevisionRecord, SessionRecord, SettingsRecord,
        SightingRecord, TokenRecord, UserRecord,
    },
    ports::{OwnMessage, OwnRecord, Snapshot},
};
use polymnemo_types::{MemoryId, UserId};
use sea_orm::QueryResult;
use uuid::Uuid;

use crate::{
    PgStore,
    memories::{from_sql, kind_from_sql, optional_from_sql},
    transaction::{Scope, Transaction, get, unsigned},
};

/// How many keys are read at once.
const KEYS: usize = 1_000;

/// How many bytes of texts are read at once, at least one record.
const BYTES: i64 = 4 << 20;

/// How many records are read at once whatever their length.
const RECORDS: usize = 500;

/// One moment for all that is read; and whoever waits for the storage meanwhile is not cut off.
const AT_ONE_MOMENT: &str = "set transaction isolation level repeatable read, read only; \
    set local idle_in_transaction_session_timeout = 0";

struct PgSnapshot {
    transaction: Transaction,
    user: UserId,
    open: HashMap<Part, Keys>,
}

/// Where the reading of a part is.
#[derive(Default)]
struct Keys {
    waiting: VecDeque<Key>,
    at_end: bool,
}

/// By what a record is read, and the length of its text.
#[derive(Debug, Clone, Copy)]
struct Key {
    id: Uuid,
    number: i64,
    further: i64,
    bytes: i64,
}

impl PgStore {
    pub(crate) async fn begin_snapshot(&self, ctx: &Ctx) -> Result<Box<dyn Snapshot>> {
        let user = ctx.user.id;
        let transaction = self.begin_with(Scope::User(user), AT_ONE_MOMENT).await?;
        Ok(Box::new(PgSnapshot { transaction, user, open: HashMap::new() }))
    }
}

#[async_trait]
impl Snapshot for PgSnapshot {
    async fn extent(&mut self) -> Result<(u64, u64)> {
        let row = self
            .transaction
            .one(
                "select (select count(*) from memories where user_id = $1)
                     + (select coalesce(sum(messages), 0)::bigint from sessions where user_id = $1)
                     + (select count(*) from revisions where user_id = $1)
                     + (select count(*) from app_calls where user_id = $1) as records,
                     (select coalesce(sum(size), 0)::bigint from media where user_id = $1) as bytes",
                vec![self.user.0.into()],
            )
            .await?
            .ok_or_else(|| Error::internal("counting gave nothing"))?;
        Ok((unsigned(get::<i64>(&row, "records")?)?, unsigned(get::<i64>(&row, "bytes")?)?))
    }

    async fn user(&mut self) -> Result<(UserRecord, SettingsRecord)> {
        let row = self
            .transaction
            .one(
                "select id, name, created_at, default_namespace, time_zone, language, theme from users where id = $1",
                vec![self.user.0.into()],
            )
            .await?
            .ok_or_else(|| Error::Missing("There is no such user any more.".into()))?;
        let identities = self
            .transaction
            .all(
                "select issuer, subject, created_at from identities where user_id = $1
                 order by issuer collate \"C\", subject collate \"C\"",
                vec![self.user.0.into()],
            )
            .await?;
        let identity = |row: &QueryResult| {
            Ok(IdentityRecord {
                issuer: get(row, "issuer")?,
                subject: get(row, "subject")?,
                created_at: from_sql(get(row, "created_at")?)?,
            })
        };
        let user = UserRecord {
            id: get(&row, "id")?,
            name: get(&row, "name")?,
            created_at: from_sql(get(&row, "created_at")?)?,
            identities: identities.iter().map(identity).collect::<Result<_>>()?,
        };
        Ok((user, settings(&row)?))
    }

    async fn next(&mut self, part: Part) -> Result<Vec<Record>> {
        let keys = self.next_keys(part).await?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.transaction.records(part, &keys, self.user).await
    }

    async fn end(self: Box<Self>) -> Result<()> {
        self.transaction.commit().await
    }
}

impl PgSnapshot {
    /// The keys of the next records: as many as fit.
    async fn next_keys(&mut self, part: Part) -> Result<Vec<Key>> {
        let cursor = format!("export_{}", format!("{part:?}").to_lowercase());
        if !self.open.contains_key(&part) {
            let sql = format!("declare {cursor} no scroll cursor for {}", keys_of(part, self.user));
            self.transaction.run_unprepared(&sql).await?;
            self.open.insert(part, Keys::default());
        }
        let keys = self.open.entry(part).or_default();
        if keys.waiting.is_empty() && !keys.at_end {
            let rows = self.transaction.all(&format!("fetch forward {KEYS} from {cursor}"), vec![]).await?;
            keys.at_end = rows.len() < KEYS;
            for row in &rows {
                keys.waiting.push_back(Key {
                    id: get(row, "id")?,
                    number: get(row, "number")?,
                    further: get(row, "further")?,
                    bytes: get(row, "bytes")?,
                });
            }
        }
        let (mut next, mut bytes) = (Vec::new(), 0);
        while next.len() < RECORDS
            && let Some(key) = keys.waiting.front()
            && (next.is_empty() || bytes + key.bytes <= BYTES)
        {
            bytes += key.bytes;
            next.extend(keys.waiting.pop_front());
        }
        Ok(next)
    }
}

/// The keys of a part, in its order. The user's id is ours, so it may stand in the text.
fn keys_of(part: Part, user: UserId) -> String {
    let nil = "'00000000-0000-0000-0000-000000000000'::uuid as id";
    match part {
        Part::Namespaces => format!(
            "select {nil}, id::bigint as number, 0::bigint as further, 0::bigint as bytes
             from namespaces where user_id = '{user}' order by name collate \"C\""
        ),
        Part::Memories => format!(
            "select id, 0::bigint as number, 0::bigint as further, octet_length(content)::bigint as bytes
             from memories where user_id = '{user}' order by id"
        ),
        Part::ReadableMemories => format!(
            "select m.id, 0::bigint as number, 0::bigint as further, octet_length(m.content)::bigint as bytes
             from memories m join namespaces n on n.id = m.namespace_id
             where m.user_id = '{user}' and m.forgotten_at is null and m.kind <> 'session'
             order by n.name collate \"C\", m.occurred_at, m.id"
        ),
        Part::Revisions => format!(
            "select r.memory_id as id, r.revision::bigint as number, 0::bigint as further,
                 octet_length(r.content)::bigint as bytes
             from revisions r join memories m on m.id = r.memory_id
             where m.user_id = '{user}' order by r.memory_id, r.revision"
        ),
        Part::Sessions => format!(
            "select memory_id as id, 0::bigint as number, 0::bigint as further,
                 coalesce(octet_length(metadata), 0)::bigint as bytes
             from sessions where user_id = '{user}' order by memory_id"
        ),
        Part::ReadableSessions => format!(
            "select s.memory_id as id, 0::bigint as number, 0::bigint as further,
                 coalesce(octet_length(s.metadata), 0)::bigint as bytes
             from sessions s join memories m on m.id = s.memory_id
             where s.user_id = '{user}' and m.forgotten_at is null order by s.memory_id"
        ),
        Part::Messages | Part::ReadableMessages => format!(
            "select g.memory_id as id, g.id as number, 0::bigint as further, g.bytes::bigint as bytes
             from messages g join sessions s on s.memory_id = g.memory_id
             where s.user_id = '{user}' order by g.memory_id, g.number"
        ),
        Part::MessageRevisions => format!(
            "select g.memory_id as id, r.message_id as number, r.revision::bigint as further,
                 octet_length(r.content)::bigint as bytes
             from message_revisions r join messages g on g.id = r.message_id
             join sessions s on s.memory_id = g.memory_id
             where s.user_id = '{user}' order by g.memory_id, g.number, r.revision"
        ),
        Part::Media => format!(
            "select memory_id as id, 0::bigint as number, 0::bigint as further, 0::bigint as bytes
             from media where user_id = '{user}' order by memory_id"
        ),
        Part::Tokens => format!(
            "select id, 0::bigint as number, 0::bigint as further, 0::bigint as bytes
             from api_tokens where user_id = '{user}' order by id"
        ),
        Part::Apps => format!(
            "select id, 0::bigint as number, 0::bigint as further, 0::bigint as bytes
             from apps where user_id = '{user}' order by id"
        ),
        Part::Calls => format!(
            "select {nil}, id as number, 0::bigint as further, cardinality(memories)::bigint * 16 as bytes
             from app_calls where user_id = '{user}' order by id"
        ),
        Part::Sightings => format!(
            "select {nil}, row_number() over (order by client collate \"C\", door collate \"C\") as number,
                 0::bigint as further, 0::bigint as bytes
             from client_sightings where user_id = '{user}' order by number"
        ),
    }
}

/// The columns that [`memory_record`] reads.
const MEMORY: &str =
    "m.id, n.name as namespace, m.kind, m.content, m.tags, m.source, m.client, m.changed_by, m.occurred_at,
    m.created_at, m.updated_at, m.revision, m.supersedes, m.superseded_by, m.superseded_at, m.forgotten_at,
    m.idempotency_key, o.memory_id as origin_session, o.number as origin_number";

/// Where they come from.
const FROM_MEMORIES: &str = "join memories m on m.id = k.id join namespaces n on n.id = m.namespace_id
    left join messages o on o.id = m.origin_message";

const KEYS_TABLE: &str =
    "unnest($1::uuid[], $2::bigint[], $3::bigint[]) with ordinality k (id, number, further, place)";

impl Transaction {
    /// The records of these keys, in their order.
    async fn records(&self, part: Part, keys: &[Key], user: UserId) -> Result<Vec<Record>> {
        let values = || {
            vec![
                keys.iter().map(|key| key.id).collect::<Vec<_>>().into(),
                keys.iter().map(|key| key.number).collect::<Vec<_>>().into(),
                keys.iter().map(|key| key.further).collect::<Vec<_>>().into(),
                user.0.into(),
            ]
        };
        // Each names the user, whatever the keys are.
        let sql = match part {
            Part::Namespaces => format!(
                "select n.name, n.shared_by_owner, n.shared_by_setting, n.created_at
                 from {KEYS_TABLE} join namespaces n on n.id = k.number where n.user_id = $4 order by k.place"
            ),
            Part::Memories | Part::ReadableMemories => {
                format!("select {MEMORY} from {KEYS_TABLE} {FROM_MEMORIES} where m.user_id = $4 order by k.place")
            }
            Part::Revisions => format!(
                "select r.memory_id, r.revision, r.namespace, r.content, r.tags, r.source, r.client, r.occurred_at,
                     r.created_at
                 from {KEYS_TABLE} join revisions r on r.memory_id = k.id and r.revision = k.number::int
                 join memories m on m.id = r.memory_id where m.user_id = $4 order by k.place"
            ),
            Part::Sessions => format!(
                "select s.memory_id, s.key, s.form, s.metadata, s.last_at
                 from {KEYS_TABLE} join sessions s on s.memory_id = k.id where s.user_id = $4 order by k.place"
            ),
            Part::ReadableSessions => format!(
                "select s.memory_id, s.key, s.form, s.metadata, s.last_at, {MEMORY}
                 from {KEYS_TABLE} {FROM_MEMORIES} join sessions s on s.memory_id = k.id
                 where s.user_id = $4 order by k.place"
            ),
            Part::Messages | Part::ReadableMessages => format!(
                "select {MESSAGE} from {KEYS_TABLE} join messages g on g.id = k.number
                 join sessions s on s.memory_id = g.memory_id where s.user_id = $4 order by k.place"
            ),
            Part::MessageRevisions => format!(
                "select {MESSAGE_REVISION}
                 from {KEYS_TABLE} join message_revisions r on r.message_id = k.number and r.revision = k.further::int
                 join messages g on g.id = r.message_id join sessions s on s.memory_id = g.memory_id
                 where s.user_id = $4 order by k.place"
            ),
            Part::Media => format!(
                "select f.memory_id, f.filename, f.content_type, f.size, f.sha256, f.object_key
                 from {KEYS_TABLE} join media f on f.memory_id = k.id where f.user_id = $4 order by k.place"
            ),
            Part::Tokens => format!(
                "select t.id, t.name, t.hint, t.can_write, t.in_url, t.namespaces, t.created_at, t.expires_at,
                     t.last_used_at, t.paused_at, t.calls, nullif(t.revoked_at, t.restored_at) as revoked_at
                 from {KEYS_TABLE} join api_tokens t on t.id = k.id where t.user_id = $4 order by k.place"
            ),
            Part::Apps => format!(
                "select a.id, a.door, a.client_id, a.name, a.domain, a.redirect_host, a.can_read, a.can_write,
                     a.namespaces, a.all_but, a.granted_at, a.expires_at, a.last_used_at, a.paused_at, a.calls,
                     nullif(a.revoked_at, a.restored_at) as revoked_at
                 from {KEYS_TABLE} join apps a on a.id = k.id where a.user_id = $4 order by k.place"
            ),
            Part::Calls => format!(
                "select c.app_id, c.at, c.action, c.query, c.memories
                 from {KEYS_TABLE} join app_calls c on c.id = k.number where c.user_id = $4 order by k.place"
            ),
            // They are few, and have no key of their own.
            Part::Sightings => format!(
                "select c.client, c.door, c.last_seen_at
                 from {KEYS_TABLE} join (
                     select client, door, last_seen_at,
                         row_number() over (order by client collate \"C\", door collate \"C\") as number
                     from client_sightings where user_id = $4
                 ) c on c.number = k.number order by k.place"
            ),
        };
        let rows = self.all(&sql, values()).await?;
        let mut records = Vec::with_capacity(rows.len());
        for row in &rows {
            let record = match part {
                Part::Namespaces => Record::Namespace(namespace_record(row)?),
                Part::Memories | Part::ReadableMemories => Record::Memory(memory_record(row)?),
                Part::Revisions => Record::Revision(revision_record(row)?),
                Part::Sessions => Record::Session(session_record(row)?),
                Part::ReadableSessions => {
                    records.push(Record::Memory(memory_record(row)?));
                    Record::Session(session_record(row)?)
                }
                Part::Messages | Part::ReadableMessages => Record::Message(message_record(row)?),
                Part::MessageRevisions => Record::MessageRevision(message_revision_record(row)?),
                Part::Media => Record::Media(media_record(row)?),
                Part::Tokens => Record::Token(token_record(row)?),
                Part::Apps => Record::App(app_record(row)?),
                Part::Calls => Record::Call(call_record(row)?),
                Part::Sightings => Record::Sighting(SightingRecord {
                    client: get(row, "client")?,
                    door: get(row, "door")?,
                    last_seen_at: from_sql(get(row, "last_seen_at")?)?,
                }),
            };
            records.push(record);
        }
        Ok(records)
    }

    /// These memories of a user, with their earlier states and files.
    pub(crate) async fn memory_records(&self, user: UserId, ids: &[MemoryId]) -> Result<HashMap<MemoryId, OwnRecord>> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let values = || vec![ids.clone().into(), user.0.into()];
        let rows = self
            .all(
                &format!("select {MEMORY} from unnest($1::uuid[]) k (id) {FROM_MEMORIES} where m.user_id = $2"),
                values(),
            )
            .await?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in &rows {
            let record = memory_record(row)?;
            found.insert(record.id, (record, Vec::new(), None));
        }
        if found.is_empty() {
            return Ok(found);
        }
        let rows = self
            .all(
                "select r.memory_id, r.revision, r.namespace, r.content, r.tags, r.source, r.client, r.occurred_at,
                     r.created_at
                 from revisions r join memories m on m.id = r.memory_id
                 where r.memory_id = any($1) and m.user_id = $2 order by r.memory_id, r.revision",
                values(),
            )
            .await?;
        for row in &rows {
            let record = revision_record(row)?;
            if let Some((_, revisions, _)) = found.get_mut(&record.id) {
                revisions.push(record);
            }
        }
        let rows = self
            .all(
                "select memory_id, filename, content_type, size, sha256, object_key
                 from media where memory_id = any($1) and user_id = $2",
                values(),
            )
            .await?;
        for row in &rows {
            let record = media_record(row)?;
            if let Some((_, _, media)) = found.get_mut(&record.id) {
                *media = Some(record);
            }
        }
        Ok(found)
    }
}

impl PgStore {
    pub(crate) async fn messages_from(
        &self,
        ctx: &Ctx,
        session: MemoryId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<OwnMessage>> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let values = || {
            vec![
                session.0.into(),
                ctx.user.id.0.into(),
                i64::from(from).into(),
                (i64::from(from) + i64::from(limit)).into(),
            ]
        };
        let condition = "g.memory_id = $1 and s.user_id = $2 and g.number >= $3 and g.number < $4";
        let rows = transaction
            .all(
                &format!(
                    "select {MESSAGE} from messages g join sessions s on s.memory_id = g.memory_id
                     where {condition} order by g.number"
                ),
                values(),
            )
            .await?;
        let mut messages = rows.iter().map(|row| Ok((message_record(row)?, Vec::new()))).collect::<Result<Vec<_>>>()?;
        let rows = transaction
            .all(
                &format!(
                    "select {MESSAGE_REVISION} from message_revisions r join messages g on g.id = r.message_id
                     join sessions s on s.memory_id = g.memory_id where {condition} order by g.number, r.revision"
                ),
                values(),
            )
            .await?;
        transaction.commit().await?;
        for row in &rows {
            let revision = message_revision_record(row)?;
            if let Some((_, revisions)) = messages.iter_mut().find(|(message, _)| message.number == revision.number) {
                revisions.push(revision);
            }
        }
        Ok(messages)
    }
}

const MESSAGE: &str =
    "g.memory_id, g.number, g.role, g.said_at, g.client_id, g.format, g.content, g.revision, g.stored_at";

const MESSAGE_REVISION: &str = "g.memory_id, g.number, r.revision, r.role, r.said_at, r.format, r.content, r.stored_at";

pub(crate) fn settings(row: &QueryResult) -> Result<SettingsRecord> {
    Ok(SettingsRecord {
        default_namespace: get(row, "default_namespace")?,
        time_zone: get(row, "time_zone")?,
        language: get(row, "language")?,
        theme: get(row, "theme")?,
    })
}

pub(crate) fn namespace_record(row: &QueryResult) -> Result<NamespaceRecord> {
    Ok(NamespaceRecord {
        name: get(row, "name")?,
        shared: get(row, "shared_by_owner")?,
        shared_by_server: get(row, "shared_by_setting")?,
        created_at: from_sql(get(row, "created_at")?)?,
    })
}

fn memory_record(row: &QueryResult) -> Result<MemoryRecord> {
    let session: Option<Uuid> = get(row, "origin_session")?;
    let number: Option<i32> = get(row, "origin_number")?;
    let origin = match (session, number) {
        (Some(session), Some(number)) => Some(MessageOf { session: MemoryId(session), number: unsigned(number)? }),
        _ => None,
    };
    Ok(MemoryRecord {
        id: MemoryId(get(row, "id")?),
        kind: kind_from_sql(&get::<String>(row, "kind")?)?,
        namespace: get(row, "namespace")?,
        content: get(row, "content")?,
        tags: get(row, "tags")?,
        source: get(row, "source")?,
        client: get(row, "client")?,
        changed_by: get(row, "changed_by")?,
        occurred_at: from_sql(get(row, "occurred_at")?)?,
        created_at: from_sql(get(row, "created_at")?)?,
        updated_at: from_sql(get(row, "updated_at")?)?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        supersedes: get::<Vec<Uuid>>(row, "supersedes")?.into_iter().map(MemoryId).collect(),
        superseded_by: get::<Option<Uuid>>(row, "superseded_by")?.map(MemoryId),
        superseded_at: optional_from_sql(row, "superseded_at")?,
        forgotten_at: optional_from_sql(row, "forgotten_at")?,
        idempotency_key: get(row, "idempotency_key")?,
        origin,
    })
}

fn revision_record(row: &QueryResult) -> Result<RevisionRecord> {
    Ok(RevisionRecord {
        id: MemoryId(get(row, "memory_id")?),
        revision: unsigned(get::<i32>(row, "revision")?)?,
        namespace: get(row, "namespace")?,
        content: get(row, "content")?,
        tags: get(row, "tags")?,
        source: get(row, "source")?,
        client: get(row, "client")?,
        occurred_at: from_sql(get(row, "occurred_at")?)?,
        created_at: from_sql(get(row, "created_at")?)?,
    })
}

pub(crate) fn session_record(row: &QueryResult) -> Result<SessionRecord> {
    Ok(SessionRecord {
        id: MemoryId(get(row, "memory_id")?),
        key: get(row, "key")?,
        form: get(row, "form")?,
        metadata: get(row, "metadata")?,
        last_at: from_sql(get(row, "last_at")?)?,
    })
}

fn message_record(row: &QueryResult) -> Result<MessageRecord> {
    Ok(MessageRecord {
        session: MemoryId(get(row, "memory_id")?),
        number: unsigned(get::<i32>(row, "number")?)?,
        role: get(row, "role")?,
        said_at: optional_from_sql(row, "said_at")?,
        client_id: get(row, "client_id")?,
        format: get(row, "format")?,
        content: get(row, "content")?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        stored_at: from_sql(get(row, "stored_at")?)?,
    })
}

fn message_revision_record(row: &QueryResult) -> Result<MessageRevisionRecord> {
    Ok(MessageRevisionRecord {
        session: MemoryId(get(row, "memory_id")?),
        number: unsigned(get::<i32>(row, "number")?)?,
        revision: unsigned(get::<i32>(row, "revision")?)?,
        role: get(row, "role")?,
        said_at: optional_from_sql(row, "said_at")?,
        format: get(row, "format")?,
        content: get(row, "content")?,
        stored_at: from_sql(get(row, "stored_at")?)?,
    })
}

fn media_record(row: &QueryResult) -> Result<MediaRecord> {
    let digest: Option<Vec<u8>> = get(row, "sha256")?;
    Ok(MediaRecord {
        id: MemoryId(get(row, "memory_id")?),
        filename: get(row, "filename")?,
        content_type: get(row, "content_type")?,
        size: unsigned(get::<i64>(row, "size")?)?,
        sha256: digest.map(hex::encode),
        file: None,
        object_key: get(row, "object_key")?,
    })
}

pub(crate) fn token_record(row: &QueryResult) -> Result<TokenRecord> {
    Ok(TokenRecord {
        id: get(row, "id")?,
        name: get(row, "name")?,
        hint: get(row, "hint")?,
        can_write: get(row, "can_write")?,
        in_url: get(row, "in_url")?,
        namespaces: get(row, "namespaces")?,
        created_at: from_sql(get(row, "created_at")?)?,
        expires_at: optional_from_sql(row, "expires_at")?,
        last_used_at: optional_from_sql(row, "last_used_at")?,
        paused_at: optional_from_sql(row, "paused_at")?,
        revoked_at: optional_from_sql(row, "revoked_at")?,
        calls: unsigned(get::<i64>(row, "calls")?)?,
    })
}

pub(crate) fn app_record(row: &QueryResult) -> Result<AppRecord> {
    Ok(AppRecord {
        id: get(row, "id")?,
        door: get(row, "door")?,
        client_id: get(row, "client_id")?,
        name: get(row, "name")?,
        domain: get(row, "domain")?,
        redirect_host: get(row, "redirect_host")?,
        can_read: get(row, "can_read")?,
        can_write: get(row, "can_write")?,
        namespaces: get(row, "namespaces")?,
        all_but: get(row, "all_but")?,
        granted_at: from_sql(get(row, "granted_at")?)?,
        expires_at: optional_from_sql(row, "expires_at")?,
        last_used_at: optional_from_sql(row, "last_used_at")?,
        paused_at: optional_from_sql(row, "paused_at")?,
        revoked_at: optional_from_sql(row, "revoked_at")?,
        calls: unsigned(get::<i64>(row, "calls")?)?,
    })
}

fn call_record(row: &QueryResult) -> Result<CallRecord> {
    Ok(CallRecord {
        app: get(row, "app_id")?,
        at: from_sql(get(row, "at")?)?,
        action: get(row, "action")?,
        query: get(row, "query")?,
        memories: get::<Vec<Uuid>>(row, "memories")?.into_iter().map(MemoryId).collect(),
    })
}
