//! How much there is.

use polymnemo_memory::Result;
use polymnemo_types::{ErasedCounts, ErasedStore, ErasureSubject, ImportId, UserId};
use sea_orm::Value;
use uuid::Uuid;

use super::{counts_of, uploads_of};
use crate::transaction::{Transaction, get, unsigned};

/// A condition on `memories m`, with its values, of which the first is the user.
pub(super) struct Selected {
    pub(super) condition: String,
    pub(super) values: Vec<Value>,
}

impl Selected {
    /// The memories that an erasure is of, before they are put apart.
    pub(super) fn of(user: UserId, subject: &ErasureSubject) -> Self {
        let own: Value = user.0.into();
        // What is being erased already is not erased again.
        let visible = "m.user_id = $1 and m.namespace_id in (select id from namespaces where user_id = $1 and erasure_id is null)";
        let (condition, values) = match subject {
            ErasureSubject::Memories { ids } => {
                let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
                (format!("{visible} and m.id = any($2)"), vec![own, ids.into()])
            }
            ErasureSubject::Namespace { number, .. } => {
                (format!("{visible} and m.namespace_id = $2"), vec![own, (*number).into()])
            }
            ErasureSubject::App { id } => (format!("{visible} and m.app_id = $2"), vec![own, id.0.into()]),
            // What an import made has the time that was noted for it; sessions that it only added to were there before. A memory
            // that it gave another text goes as a whole: what it said before was an earlier state of the same thing.
            ErasureSubject::Import { id } => (
                format!(
                    "{visible} and exists (
                         select from import_items t
                         where t.memory_id = m.id and t.import_id = $2 and t.user_id = $1
                           and (t.at = m.created_at or t.outcome = 'updated')
                     )"
                ),
                vec![own, id.0.into()],
            ),
            ErasureSubject::Account => ("m.user_id = $1".to_owned(), vec![own]),
        };
        Self { condition, values }
    }
}

/// The sessions of a user, the first value, that were there before an import, the second one, and to which it added, each
/// with the time of that.
pub(super) const GROWN: &str = "select t.memory_id, t.at from import_items t
    join memories m on m.id = t.memory_id and m.user_id = t.user_id and m.created_at <> t.at
    where t.user_id = $1 and t.import_id = $2 and t.outcome = 'grown'";

/// What is left in [`GROWN`] of what messages `r` said between the import and a later change.
pub(super) fn grown_before() -> String {
    format!(
        "exists (
             select from messages g join ({GROWN}) grown on grown.memory_id = g.memory_id
             where g.id = r.message_id and grown.at = r.stored_at
         )"
    )
}

/// What [`Transaction::count_rows`] counts.
const ROWS: [ErasedStore; 9] = [
    ErasedStore::Memories,
    ErasedStore::Sessions,
    ErasedStore::Files,
    ErasedStore::FileBytes,
    ErasedStore::StoredObjects,
    ErasedStore::Revisions,
    ErasedStore::Messages,
    ErasedStore::MessageRevisions,
    ErasedStore::Tags,
];

/// What [`Transaction::count_passages`] counts.
const INDEX: [ErasedStore; 5] = [
    ErasedStore::Passages,
    ErasedStore::Vectors,
    ErasedStore::EmbeddingQueue,
    ErasedStore::Postings,
    ErasedStore::Terms,
];

/// What only an account has, by the table that it is in.
const OF_ACCOUNT: [ErasedStore; 9] = [
    ErasedStore::Namespaces,
    ErasedStore::Apps,
    ErasedStore::ApiTokens,
    ErasedStore::OauthFamilies,
    ErasedStore::OauthCodes,
    ErasedStore::OauthTokens,
    ErasedStore::ClientSightings,
    ErasedStore::Identities,
    ErasedStore::AppCalls,
];

/// What a store is called as a table or column.
pub(super) fn column(store: ErasedStore) -> String {
    let name = serde_json::to_value(store).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

impl Transaction {
    /// Everything that an erasure would take, and how many memories, sessions and files of it are in the trash.
    pub(super) async fn count_target(
        &self,
        user: UserId,
        subject: &ErasureSubject,
        name: &Option<String>,
    ) -> Result<(ErasedCounts, u64)> {
        let Selected { condition, values } = Selected::of(user, subject);
        let (mut counts, in_trash) = self.count_rows(&condition, values.clone()).await?;
        let chunks = format!("c.memory_id in (select m.id from memories m where {condition})");
        counts.add(&self.count_passages(&chunks, values.clone()).await?);
        let (uploads, upload_values) = uploads_of(user, subject, name.as_deref());
        let row = self.one(&format!("select count(*) from uploads where {uploads}"), upload_values).await?;
        let uploads: u64 = unsigned(row.map_or(Ok(0_i64), |row| get(&row, "count"))?)?;
        for store in [ErasedStore::Uploads, ErasedStore::StoredObjects] {
            *counts.0.entry(store).or_default() += uploads;
        }
        match subject {
            ErasureSubject::Account => counts.add(&self.count_account(user).await?),
            ErasureSubject::Import { id } => counts.add(&self.count_grown(user, *id).await?),
            ErasureSubject::Namespace { default, .. } => {
                counts.0.insert(ErasedStore::Namespaces, u64::from(!default));
            }
            _ => {}
        }
        if *subject != ErasureSubject::Account {
            let calls = match subject {
                ErasureSubject::App { .. } => "app_id = $2 or ",
                _ => "",
            };
            let row = self
                .one(
                    &format!(
                        "with gone as materialized (select m.id from memories m where {condition})
                         select
                             (select count(*) from app_calls where user_id = $1 and ({calls}exists (
                                 select from unnest(memories) as id where id in (select id from gone)
                             ))) as app_calls,
                             (select count(*) from memories o where o.user_id = $1 and o.supersedes <> '{{}}'
                                 and o.id not in (select id from gone)
                                 and exists (select from unnest(o.supersedes) as id where id in (select id from gone))
                             ) as \"references\""
                    ),
                    values,
                )
                .await?;
            if let Some(row) = row {
                counts.add(&counts_of(&row, &[ErasedStore::AppCalls, ErasedStore::References])?);
            }
        }
        Ok((counts, in_trash))
    }

    /// Counts what an import added to sessions that were there before.
    pub(super) async fn count_grown(&self, user: UserId, import: ImportId) -> Result<ErasedCounts> {
        let values = || -> Vec<Value> { vec![user.0.into(), import.0.into()] };
        let messages = format!(
            "select g.id from messages g join ({GROWN}) grown on grown.memory_id = g.memory_id and grown.at = g.stored_at"
        );
        let row = self
            .one(
                &format!(
                    "select count(*) filter (where not is_changed) as messages,
                         count(*) filter (where is_changed)
                             + (select count(*) from message_revisions r where {}) as message_revisions
                     from (
                         select exists (select from message_revisions r where r.message_id = g.id) as is_changed
                         from messages g where g.id in ({messages})
                     ) changed",
                    grown_before()
                ),
                values(),
            )
            .await?;
        let mut counts = match row {
            Some(row) => counts_of(&row, &[ErasedStore::Messages, ErasedStore::MessageRevisions])?,
            None => ErasedCounts::default(),
        };
        counts.add(&self.count_passages(&format!("c.message_id in ({messages})"), values()).await?);
        Ok(counts)
    }

    /// Counts memories and what hangs on them, but for their passages; and how many of them are in the trash.
    pub(super) async fn count_rows(&self, condition: &str, values: Vec<Value>) -> Result<(ErasedCounts, u64)> {
        let row = self
            .one(
                &format!(
                    "with gone as materialized (select m.id, m.kind, m.forgotten_at from memories m where {condition}),
                     files as materialized (
                         select size, object_key, thumbnail_key from media where memory_id in (select id from gone)
                     )
                     select
                         (select count(*) from gone where kind = 'memory') as memories,
                         (select count(*) from gone where kind = 'session') as sessions,
                         (select count(*) from gone where kind = 'media') as files,
                         (select coalesce(sum(size), 0)::bigint from files) as file_bytes,
                         (select count(object_key) + count(thumbnail_key) from files) as stored_objects,
                         (select count(*) from revisions where memory_id in (select id from gone)) as revisions,
                         (select count(*) from messages where memory_id in (select id from gone)) as messages,
                         (select count(*) from messages g join message_revisions r on r.message_id = g.id
                             where g.memory_id in (select id from gone)) as message_revisions,
                         (select count(*) from tags where memory_id in (select id from gone)) as tags,
                         (select count(*) from gone where forgotten_at is not null) as in_trash"
                ),
                values,
            )
            .await?;
        let Some(row) = row else { return Ok(Default::default()) };
        Ok((counts_of(&row, &ROWS)?, unsigned(get::<i64>(&row, "in_trash")?)?))
    }

    /// Counts what the index has of passages, by a condition on `chunks c`.
    pub(super) async fn count_passages(&self, condition: &str, values: Vec<Value>) -> Result<ErasedCounts> {
        let row = self
            .one(
                &format!(
                    "with gone as materialized (select c.id from chunks c where {condition}),
                     posted as materialized (
                         select p.term_id, count(*) as count from postings p
                         where p.chunk_id in (select id from gone) group by p.term_id
                     )
                     select
                         (select count(*) from gone) as passages,
                         (select count(*) from vectors where chunk_id in (select id from gone)) as vectors,
                         (select count(*) from embedding_queue where chunk_id in (select id from gone)) as embedding_queue,
                         (select coalesce(sum(count), 0)::bigint from posted) as postings,
                         (select count(*) from posted join terms t on t.id = posted.term_id
                             where t.document_count <= posted.count) as terms"
                ),
                values,
            )
            .await?;
        row.map_or_else(|| Ok(ErasedCounts::default()), |row| counts_of(&row, &INDEX))
    }

    /// Counts what only an account has, but for its sign-in sessions.
    pub(super) async fn count_account(&self, user: UserId) -> Result<ErasedCounts> {
        let each = OF_ACCOUNT.map(|store| {
            let table = column(store);
            format!("(select count(*) from {table} where user_id = $1) as {table}")
        });
        let row = self
            .one(
                &format!("select {}, (select count(*) from users where id = $1) as users", each.join(", ")),
                vec![user.0.into()],
            )
            .await?;
        let stores = [OF_ACCOUNT.as_slice(), &[ErasedStore::Users]].concat();
        row.map_or_else(|| Ok(ErasedCounts::default()), |row| counts_of(&row, &stores))
    }

    /// Counts sign-in sessions, for the background only.
    pub(super) async fn count_browser_sessions(&self, user: UserId) -> Result<ErasedCounts> {
        let row = self
            .one(
                "select count(*) as browser_sessions from browser_sessions
                 where position($1 in data::text) > 0 and expires_at > now()",
                vec![user.to_string().into()],
            )
            .await?;
        row.map_or_else(|| Ok(ErasedCounts::default()), |row| counts_of(&row, &[ErasedStore::BrowserSessions]))
    }
}
