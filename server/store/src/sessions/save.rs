use std::collections::BTreeMap;

use jiff::Timestamp;
use polymnemo_memory::{
    Ctx, Error, Result,
    ports::{GivenMessage, Model, NewChunk, SessionSaved, SessionState},
    transcript::{self, Known, Merge, Peek, Placement},
};
use polymnemo_types::{MemoryId, MessageFormat, SessionForm, limits};
use sea_orm::QueryResult;
use sha2::{Digest as _, Sha256};

use super::{form_from_sql, form_to_sql, format_from_sql, format_to_sql};
use crate::{
    PgStore, index,
    memories::{optional_from_sql, optional_to_sql, to_sql},
    transaction::{Scope, Transaction, get, to_int, unsigned},
};

/// How many messages go into the database with one statement, and how many bytes of them.
const BATCH: (usize, usize) = (2_000, 4 << 20);

/// A session that is there, locked.
struct Found {
    id: MemoryId,
    namespace_id: i32,
    namespace: String,
    form: SessionForm,
    bytes: u64,
}

/// A message that is there.
struct Stored {
    id: i64,
    known: Known,
    number: i32,
    first_part: i32,
    parts: i32,
}

/// The place of a message in its session.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Spot {
    number: i32,
    first_part: i32,
}

impl PgStore {
    pub(super) async fn write_session(
        &self,
        ctx: &Ctx,
        state: SessionState,
        given: &[GivenMessage],
    ) -> Result<SessionSaved> {
        let model_number = self.model_number(&state.model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let found = match transaction.find_and_lock(ctx, &state).await? {
            Some(found) => Some(found),
            None if ctx.covers(&state.namespace) => None,
            None => return Ok(SessionSaved::Forbidden(state.namespace)),
        };
        if let Some(found) = &found
            && found.form != state.form
        {
            return Ok(SessionSaved::OtherForm(found.form));
        }
        let created = found.is_none();
        let session = match found {
            Some(found) => found,
            None => transaction.make(ctx, &state, self.shared_by_setting(&state.namespace)).await?,
        };
        let stored = if created { Vec::new() } else { transaction.stored(session.id).await? };
        let known: Vec<Known> = stored.iter().map(|stored| stored.known.clone()).collect();
        let of_given: Vec<Known> = given.iter().map(|message| message.known.clone()).collect();
        let peek = transaction.peek(&stored, &known, given, &of_given).await?;
        let merge = transcript::merge(state.form, &known, &of_given, peek);

        let count = |is: fn(&Placement) -> bool| merge.placements.iter().filter(|placement| is(placement)).count();
        let appended = count(|placement| matches!(placement, Placement::New(_)));
        let revised = count(|placement| matches!(placement, Placement::Changed(_)));
        let unchanged = given.len() - appended - revised;
        let messages = (stored.len() + appended) as u64;
        let bytes = session.bytes
            + given
                .iter()
                .zip(&merge.placements)
                .filter(|(_, placement)| !matches!(placement, Placement::Kept(_)))
                .map(|(message, _)| message.content.len() as u64)
                .sum::<u64>();
        if messages > u64::from(limits::SESSION_MESSAGES) || bytes > limits::SESSION_BYTES {
            return Ok(SessionSaved::TooLong { messages, bytes });
        }

        let write = Write {
            ctx,
            session: &session,
            stored: &stored,
            given,
            keeps_every_state: state.keeps_every_state,
            at: state.at,
        };
        if appended + revised + merge.gone.len() > 0 || created {
            transaction.apply(&write, &merge).await?;
        }
        transaction.note_ids(&write, &merge).await?;
        transaction.finish_session(&write, &state, &merge).await?;
        if created || (state.is_title_asked && transaction.title(session.id).await?.as_ref() != Some(&state.title)) {
            let title = Title {
                session: session.id,
                namespace: session.namespace_id,
                title: &state.title,
                tags: if created { &state.tags } else { &[] },
                chunk: &state.title_chunk,
                model: (&state.model, model_number),
            };
            transaction.index_title(&title).await?;
        }
        transaction.commit().await?;
        let short = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Ok(SessionSaved::Done {
            id: session.id,
            namespace: session.namespace,
            created,
            appended: short(appended),
            revised: short(revised),
            unchanged: short(unchanged),
        })
    }

    pub(super) async fn change_title(
        &self,
        ctx: &Ctx,
        model: &Model,
        id: MemoryId,
        title: &str,
        chunk: &NewChunk,
    ) -> Result<bool> {
        let model_number = self.model_number(model).await?;
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        let Some(namespace) = transaction.lock_session(ctx, id).await? else { return Ok(false) };
        let title = Title { session: id, namespace, title, tags: &[], chunk, model: (model, model_number) };
        transaction.index_title(&title).await?;
        transaction.run("update memories set updated_at = now() where id = $1", vec![id.0.into()]).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

/// A title to be given to a session, with its place in the index.
struct Title<'a> {
    session: MemoryId,
    namespace: i32,
    title: &'a str,
    /// Labels to index with it.
    tags: &'a [String],
    chunk: &'a NewChunk,
    model: (&'a Model, i16),
}

/// What is being written, and what was there.
struct Write<'a> {
    ctx: &'a Ctx,
    session: &'a Found,
    stored: &'a [Stored],
    given: &'a [GivenMessage],
    keeps_every_state: bool,
    at: Timestamp,
}

impl Write<'_> {
    /// The given messages that become of stored ones what `of` says, each with that one.
    fn pairs<'a>(
        &'a self,
        merge: &'a Merge,
        of: impl Fn(Placement) -> Option<usize> + 'a,
    ) -> impl Iterator<Item = (&'a GivenMessage, &'a Stored)> + 'a {
        let placed = self.given.iter().zip(&merge.placements);
        placed.filter_map(move |(message, &placement)| Some((message, self.stored.get(of(placement)?)?)))
    }
}

fn changed(placement: Placement) -> Option<usize> {
    match placement {
        Placement::Changed(place) => Some(place),
        Placement::Kept(_) | Placement::New(_) => None,
    }
}

fn kept(placement: Placement) -> Option<usize> {
    match placement {
        Placement::Kept(place) => Some(place),
        Placement::Changed(_) | Placement::New(_) => None,
    }
}

fn part_count(content: &str) -> i32 {
    to_int(transcript::parts(content).len())
}

impl Transaction {
    /// The live session of this name, with its namespace locked; and whoever else saves one of this name waits until the
    /// transaction ends, also where there is none yet.
    async fn find_and_lock(&self, ctx: &Ctx, state: &SessionState) -> Result<Option<Found>> {
        let name = format!("{}:{}", ctx.user.id, state.key);
        self.run("select pg_advisory_xact_lock(hashtextextended($1, 5))", vec![name.into()]).await?;
        // It may be moved before its namespace is locked, but seldom.
        for _ in 0..8 {
            let rows = self.all(FIND, find_values(ctx, state)).await?;
            let mut found = None;
            for row in &rows {
                let candidate = self::found(row)?;
                if ctx.covers(&candidate.namespace) {
                    found = Some(candidate);
                    break;
                }
            }
            let Some(found) = found else { return Ok(None) };
            self.lock_namespaces(&[found.namespace_id]).await?;
            let still = self
                .one(
                    "select from memories where id = $1 and namespace_id = $2 and forgotten_at is null for update",
                    vec![found.id.0.into(), found.namespace_id.into()],
                )
                .await?;
            if still.is_some() {
                return Ok(Some(found));
            }
        }
        Err(Error::Invalid(
            "The session is being moved by others at the same time. Nothing was stored; try again.".into(),
        ))
    }

    async fn title(&self, id: MemoryId) -> Result<Option<String>> {
        let row = self.one("select content from memories where id = $1", vec![id.0.into()]).await?;
        row.map(|row| get(&row, "content")).transpose()
    }

    /// Gives a session its title. Its namespace must be locked.
    async fn index_title(&self, title: &Title<'_>) -> Result<()> {
        self.run(
            "update memories set content = $2 where id = $1",
            vec![title.session.0.into(), title.title.to_owned().into()],
        )
        .await?;
        let unused = index::remove_title(self, title.session).await?;
        let indexed = index::Indexed {
            memory: title.session,
            namespace: title.namespace,
            content: title.title,
            tags: title.tags,
            chunks: std::slice::from_ref(title.chunk),
            first_ordinal: 0,
            message: None,
        };
        index::add(self, title.model, &[indexed]).await?;
        index::drop_unused(self, unused).await
    }

    async fn make(&self, ctx: &Ctx, state: &SessionState, shared: bool) -> Result<Found> {
        let namespace_id = self.lock_own_namespace(ctx, &state.namespace, shared).await?;
        let hash: [u8; 32] = Sha256::digest(format!("session {}", state.id)).into();
        self.run(
            "insert into memories (id, user_id, namespace_id, kind, content, content_hash, client, changed_by,
                 occurred_at, created_at, updated_at, tags, source, app_id)
             values ($1, $2, $3, 'session', $4, $5, $6, $6, $7, $7, $7, $8, $9, $10)",
            vec![
                state.id.0.into(),
                ctx.user.id.0.into(),
                namespace_id.into(),
                state.title.clone().into(),
                hash.to_vec().into(),
                ctx.client.clone().into(),
                to_sql(state.at),
                state.tags.clone().into(),
                state.source.clone().into(),
                ctx.app.map(|app| app.0).into(),
            ],
        )
        .await?;
        self.run(
            "insert into sessions (memory_id, user_id, namespace_id, key, form, metadata, last_at)
             values ($1, $2, $3, $4, $5, $6, $7)",
            vec![
                state.id.0.into(),
                ctx.user.id.0.into(),
                namespace_id.into(),
                state.key.clone().into(),
                form_to_sql(state.form).into(),
                state.metadata.clone().into(),
                to_sql(state.at),
            ],
        )
        .await?;
        let namespace = state.namespace.clone();
        Ok(Found { id: state.id, namespace_id, namespace, form: state.form, bytes: 0 })
    }

    async fn stored(&self, id: MemoryId) -> Result<Vec<Stored>> {
        let rows = self
            .all(
                "select id, hash, client_id, said_at, number, first_part, parts from messages
                 where memory_id = $1 order by number",
                vec![id.0.into()],
            )
            .await?;
        rows.iter().map(stored).collect()
    }

    /// Looks at the first message that differs.
    async fn peek(
        &self,
        stored: &[Stored],
        known: &[Known],
        given: &[GivenMessage],
        of_given: &[Known],
    ) -> Result<Peek> {
        let mut peek = Peek::at(known, of_given);
        let (Some(stored), Some(message)) = (stored.get(peek.common), given.get(peek.common)) else { return Ok(peek) };
        let row = self
            .one("select role, format, content from messages where id = $1", vec![stored.id.into()])
            .await?
            .ok_or_else(|| Error::internal("a message just read is not there"))?;
        let is_alike = get::<String>(&row, "role")? == message.role
            && format_from_sql(&get::<String>(&row, "format")?)? == MessageFormat::Text
            && message.format == MessageFormat::Text;
        let content: String = get(&row, "content")?;
        peek.goes_on = is_alike && message.content.starts_with(&content);
        peek.falls_short = is_alike && content.starts_with(&message.content);
        Ok(peek)
    }

    async fn apply(&self, write: &Write<'_>, merge: &Merge) -> Result<()> {
        let gone = self.keep_gone(write, merge).await?;
        let changing: Vec<i64> = write.pairs(merge, changed).map(|(_, stored)| stored.id).collect();
        self.keep_and_change(write, merge).await?;
        let unindexed: Vec<i64> = changing.into_iter().chain(gone.iter().copied()).collect();
        if !unindexed.is_empty() {
            let unused = index::remove_messages(self, &unindexed).await?;
            index::drop_unused(self, unused).await?;
        }
        if !gone.is_empty() {
            self.run("delete from messages where id = any($1)", vec![gone.clone().into()]).await?;
        }
        let new = self.place(write, merge, &gone).await?;
        self.insert(write, &new).await
    }

    /// Keeps the pieces that a text no longer has in the revisions of those before them; gives their ids.
    async fn keep_gone(&self, write: &Write<'_>, merge: &Merge) -> Result<Vec<i64>> {
        let id = |place: usize| write.stored.get(place).map(|stored| stored.id);
        let mut groups: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for &(gone, into) in &merge.gone {
            groups.entry(into).or_default().extend(id(gone));
        }
        for (into, gone) in &groups {
            let is_kept = merge.placements.contains(&Placement::Kept(*into));
            self.run(
                "with before as (
                     insert into message_revisions (message_id, revision, user_id, role, said_at, format, content, stored_at)
                     select m.id, m.revision, $2, m.role, m.said_at, m.format, m.content || (
                         select string_agg(gone.content, '' order by gone.number) from messages gone where gone.id = any($3)
                     ), m.stored_at
                     from messages m where m.id = $1
                     returning message_id
                 )
                 update messages set revision = revision + 1, stored_at = $4
                 from before where id = message_id and $5",
                vec![
                    id(*into).into(),
                    write.ctx.user.id.0.into(),
                    gone.clone().into(),
                    to_sql(write.at),
                    is_kept.into(),
                ],
            )
            .await?;
        }
        Ok(groups.into_values().flatten().collect())
    }

    /// Changes messages, and keeps what they said before, unless they only go on.
    async fn keep_and_change(&self, write: &Write<'_>, merge: &Merge) -> Result<()> {
        let pairs: Vec<(&GivenMessage, &Stored)> = write.pairs(merge, changed).collect();
        for batch in pairs.chunk_by(same_batch()) {
            let mut new = Columns::default();
            batch.iter().for_each(|(message, _)| new.push(message));
            self.run(
                "with new as (
                     select id, role, format, content, hash, parts, nullif(said_at, '')::timestamptz as said_at,
                         nullif(client_id, '') as client_id
                     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::int[], $7::text[],
                         $8::text[]) as new (id, role, format, content, hash, parts, said_at, client_id)
                 ),
                 old as (
                     -- Where what came after it is kept with it, there is more to it than that it goes on.
                     select m.*, not $11 and m.format = 'text' and new.format = 'text' and m.role = new.role
                         and starts_with(new.content, m.content) and not exists (
                             select from message_revisions kept
                             where kept.message_id = m.id and kept.revision = m.revision
                         ) as goes_on
                     from messages m join new on new.id = m.id
                 ),
                 kept as (
                     insert into message_revisions (message_id, revision, user_id, role, said_at, format, content, stored_at)
                     select id, revision, $9, role, said_at, format, content, stored_at from old where not goes_on
                     on conflict do nothing
                 )
                 update messages m set role = new.role, format = new.format, content = new.content, hash = new.hash,
                     parts = new.parts, said_at = coalesce(new.said_at, m.said_at),
                     client_id = coalesce(m.client_id, new.client_id), stored_at = $10, indexed = false,
                     revision = m.revision + case when old.goes_on then 0 else 1 end
                 from new join old on old.id = new.id where m.id = new.id",
                vec![
                    batch.iter().map(|(_, stored)| stored.id).collect::<Vec<_>>().into(),
                    new.roles.into(),
                    new.formats.into(),
                    new.contents.into(),
                    new.hashes.into(),
                    new.parts.into(),
                    new.times.into(),
                    new.client_ids.into(),
                    write.ctx.user.id.0.into(),
                    to_sql(write.at),
                    write.keeps_every_state.into(),
                ],
            )
            .await?;
        }
        Ok(())
    }

    /// Gives all messages their places; those of the new ones are the outcome.
    async fn place<'a>(&self, write: &Write<'a>, merge: &Merge, gone: &[i64]) -> Result<Vec<(&'a GivenMessage, Spot)>> {
        let mut new_before: BTreeMap<usize, Vec<&'a GivenMessage>> = BTreeMap::new();
        let mut parts: Vec<i32> = write.stored.iter().map(|stored| stored.parts).collect();
        for (message, placement) in write.given.iter().zip(&merge.placements) {
            match *placement {
                Placement::New(place) => new_before.entry(place).or_default().push(message),
                Placement::Changed(place) => {
                    if let Some(parts) = parts.get_mut(place) {
                        *parts = part_count(&message.content);
                    }
                }
                Placement::Kept(_) => {}
            }
        }
        let mut next = Spot { number: 1, first_part: 0 };
        let mut take = |parts: i32| {
            let spot = next;
            next = Spot { number: spot.number + 1, first_part: spot.first_part + parts };
            spot
        };
        let (mut new, mut moved) = (Vec::new(), Vec::new());
        for place in 0..=write.stored.len() {
            for message in new_before.remove(&place).unwrap_or_default() {
                new.push((message, take(part_count(&message.content))));
            }
            let (Some(stored), Some(&parts)) = (write.stored.get(place), parts.get(place)) else { continue };
            if gone.contains(&stored.id) {
                continue;
            }
            let spot = take(parts);
            if spot != (Spot { number: stored.number, first_part: stored.first_part }) {
                moved.push((stored.id, spot));
            }
        }
        if !moved.is_empty() {
            self.run(
                "update messages set number = new.number, first_part = new.first_part
                 from unnest($1::bigint[], $2::int[], $3::int[]) as new (id, number, first_part)
                 where messages.id = new.id",
                vec![
                    moved.iter().map(|(id, _)| *id).collect::<Vec<_>>().into(),
                    moved.iter().map(|(_, spot)| spot.number).collect::<Vec<_>>().into(),
                    moved.iter().map(|(_, spot)| spot.first_part).collect::<Vec<_>>().into(),
                ],
            )
            .await?;
        }
        Ok(new)
    }

    async fn insert(&self, write: &Write<'_>, new: &[(&GivenMessage, Spot)]) -> Result<()> {
        for batch in new.chunk_by(same_batch()) {
            let mut columns = Columns::default();
            batch.iter().for_each(|(message, _)| columns.push(message));
            self.run(
                "insert into messages (memory_id, namespace_id, stored_at, number, first_part, role, format, content, hash,
                     parts, said_at, client_id)
                 select $1, $2, $3, number, first_part, role, format, content, hash, parts, nullif(said_at, '')::timestamptz,
                     nullif(client_id, '')
                 from unnest($4::int[], $5::int[], $6::text[], $7::text[], $8::text[], $9::bytea[], $10::int[], $11::text[],
                     $12::text[])
                     as new (number, first_part, role, format, content, hash, parts, said_at, client_id)",
                vec![
                    write.session.id.0.into(),
                    write.session.namespace_id.into(),
                    to_sql(write.at),
                    batch.iter().map(|(_, spot)| spot.number).collect::<Vec<_>>().into(),
                    batch.iter().map(|(_, spot)| spot.first_part).collect::<Vec<_>>().into(),
                    columns.roles.into(),
                    columns.formats.into(),
                    columns.contents.into(),
                    columns.hashes.into(),
                    columns.parts.into(),
                    columns.times.into(),
                    columns.client_ids.into(),
                ],
            )
            .await?;
        }
        Ok(())
    }

    /// Notes ids of messages that had none before.
    async fn note_ids(&self, write: &Write<'_>, merge: &Merge) -> Result<()> {
        let named: Vec<(i64, &str)> = write
            .pairs(merge, kept)
            .filter(|(_, stored)| stored.known.client_id.is_none())
            .filter_map(|(message, stored)| Some((stored.id, message.known.client_id.as_deref()?)))
            .collect();
        if named.is_empty() {
            return Ok(());
        }
        self.run(
            "update messages set client_id = new.client_id
             from unnest($1::bigint[], $2::text[]) as new (id, client_id) where messages.id = new.id",
            vec![
                named.iter().map(|(id, _)| *id).collect::<Vec<_>>().into(),
                named.iter().map(|(_, name)| (*name).to_owned()).collect::<Vec<_>>().into(),
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes what is said of the session as a whole.
    async fn finish_session(&self, write: &Write<'_>, state: &SessionState, merge: &Merge) -> Result<()> {
        let is_changed =
            merge.placements.iter().any(|placement| !matches!(placement, Placement::Kept(_))) || !merge.gone.is_empty();
        let of_stored = write.stored.iter().filter_map(|stored| stored.known.at);
        let last_said = write.given.iter().filter_map(|message| message.known.at).chain(of_stored).max();
        let last_at = last_said.or(is_changed.then_some(write.at));
        let id = write.session.id.0;
        self.run(
            "update sessions set metadata = coalesce($2, metadata), last_at = coalesce($3, last_at) where memory_id = $1",
            vec![id.into(), state.metadata.clone().into(), optional_to_sql(last_at)],
        )
        .await?;
        if !is_changed {
            return Ok(());
        }
        self.sum_up_session(write.session.id).await?;
        self.run(
            "update memories set occurred_at = coalesce($2, occurred_at), updated_at = $3, changed_by = $4 where id = $1",
            vec![id.into(), optional_to_sql(last_at), to_sql(write.at), write.ctx.client.clone().into()],
        )
        .await?;
        Ok(())
    }
}

/// Live sessions of this name, those in the wanted namespace first.
const FIND: &str = "select s.memory_id, s.form, s.bytes, m.namespace_id, n.name
    from sessions s join memories m on m.id = s.memory_id join namespaces n on n.id = m.namespace_id
    where s.user_id = $1 and s.key = $2 and m.forgotten_at is null
    order by n.name = $3 desc, m.updated_at desc, m.id desc";

fn find_values(ctx: &Ctx, state: &SessionState) -> Vec<sea_orm::Value> {
    vec![ctx.user.id.0.into(), state.key.clone().into(), state.namespace.clone().into()]
}

fn found(row: &QueryResult) -> Result<Found> {
    Ok(Found {
        id: MemoryId(get(row, "memory_id")?),
        namespace_id: get(row, "namespace_id")?,
        namespace: get(row, "name")?,
        form: form_from_sql(&get::<String>(row, "form")?)?,
        bytes: unsigned(get::<i64>(row, "bytes")?)?,
    })
}

fn stored(row: &QueryResult) -> Result<Stored> {
    let hash = get::<Vec<u8>>(row, "hash")?;
    Ok(Stored {
        id: get(row, "id")?,
        known: Known {
            hash: hash.try_into().map_err(|_| Error::internal("the database holds a hash of another length"))?,
            client_id: get(row, "client_id")?,
            at: optional_from_sql(row, "said_at")?,
        },
        number: get(row, "number")?,
        first_part: get(row, "first_part")?,
        parts: get(row, "parts")?,
    })
}

/// Messages as columns, for `unnest`.
#[derive(Default)]
struct Columns {
    roles: Vec<String>,
    formats: Vec<String>,
    contents: Vec<String>,
    hashes: Vec<Vec<u8>>,
    parts: Vec<i32>,
    /// In RFC 3339; empty for none, as arrays here have no nulls.
    times: Vec<String>,
    /// Empty for none.
    client_ids: Vec<String>,
}

impl Columns {
    fn push(&mut self, message: &GivenMessage) {
        self.roles.push(message.role.clone());
        self.formats.push(format_to_sql(message.format).to_owned());
        self.contents.push(message.content.clone());
        self.hashes.push(message.known.hash.to_vec());
        self.parts.push(part_count(&message.content));
        self.times.push(message.known.at.map(|at| at.to_string()).unwrap_or_default());
        self.client_ids.push(message.known.client_id.clone().unwrap_or_default());
    }
}

/// Says of two neighbours whether they go into the database with one statement.
fn same_batch<'a, T>() -> impl FnMut(&(&'a GivenMessage, T), &(&'a GivenMessage, T)) -> bool {
    let (mut count, mut bytes) = (0, 0);
    move |one, _| {
        count += 1;
        bytes += one.0.content.len();
        let fits = count < BATCH.0 && bytes < BATCH.1;
        if !fits {
            (count, bytes) = (0, 0);
        }
        fits
    }
}
