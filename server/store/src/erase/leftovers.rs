//! Looking everywhere for what was deleted, and deleting what is found.

use jiff::Timestamp;
use polymnemo_memory::{Result, ports::ErasureStep};
use polymnemo_types::{ErasedCounts, ErasureCheck, ErasureId, ErasureSubject};
use sea_orm::Value;
use uuid::Uuid;

use super::batch::Locked;
use crate::{
    PgStore,
    memories::to_sql,
    transaction::{Scope, Transaction, get, unsigned},
};

/// What the statements below are told: the erasure, its user and the time; and what was deleted.
const ASKED: &str = "with asked as (select $1::uuid as erasure, $2::uuid as owner, $3::timestamptz as now),
    gone as (select memory_id from erased_memories where erasure_id = $1),
    passages as (select chunk_id from erased_passages where erasure_id = $1),
    objects as (select object_key from erased_objects where erasure_id = $1),
    own as (select id from namespaces where user_id = $2)";

/// What is looked for.
enum By {
    Memories,
    Passages,
    Objects,
    Nothing,
}

/// Where to look: the name of the place, what is looked for there, and what finds it.
const PLACES: &[(&str, By, &str)] = &[
    ("memories", By::Memories, "memories where id in (select memory_id from gone)"),
    ("memories.superseded_by", By::Memories, "memories where superseded_by in (select memory_id from gone)"),
    (
        "memories.supersedes",
        By::Memories,
        "memories where user_id = $2 and supersedes <> '{}'
             and exists (select from unnest(supersedes) as id where id in (select memory_id from gone))",
    ),
    ("revisions", By::Memories, "revisions where memory_id in (select memory_id from gone)"),
    ("tags", By::Memories, "tags where memory_id in (select memory_id from gone)"),
    ("sessions", By::Memories, "sessions where memory_id in (select memory_id from gone)"),
    ("messages", By::Memories, "messages where memory_id in (select memory_id from gone)"),
    (
        "message_revisions",
        By::Memories,
        "message_revisions r where r.user_id = $2 and not exists (select from messages g where g.id = r.message_id)",
    ),
    (
        "memories.origin_message",
        By::Memories,
        "memories m where m.user_id = $2 and m.origin_message is not null
             and not exists (select from messages g where g.id = m.origin_message)",
    ),
    ("media", By::Memories, "media where memory_id in (select memory_id from gone)"),
    ("uploads", By::Memories, "uploads where id in (select memory_id from gone)"),
    (
        "app_calls",
        By::Memories,
        "app_calls where user_id = $2
             and exists (select from unnest(memories) as id where id in (select memory_id from gone))",
    ),
    ("chunks by memory", By::Memories, "chunks where memory_id in (select memory_id from gone)"),
    ("chunks", By::Passages, "chunks where id in (select chunk_id from passages)"),
    ("vectors", By::Passages, "vectors where chunk_id in (select chunk_id from passages)"),
    ("embedding_queue", By::Passages, "embedding_queue where chunk_id in (select chunk_id from passages)"),
    ("postings", By::Passages, "postings where chunk_id in (select chunk_id from passages)"),
    (
        "terms",
        By::Passages,
        "terms t where t.namespace_id in (select id from own)
             and not exists (select from postings p where p.term_id = t.id)",
    ),
    ("namespaces", By::Nothing, "namespaces where erasure_id = $1"),
    (
        "objects_to_delete",
        By::Objects,
        "objects_to_delete where object_key in (select object_key from objects) and due_at <= $3",
    ),
];

/// Tables that know users and outlive them: these hold no content.
const OUTLIVE: &str = "'erasures', 'receipts', 'objects_to_delete'";

impl PgStore {
    pub(super) async fn find_leftovers(&self, id: ErasureId, now: Timestamp) -> Result<Vec<ErasureCheck>> {
        let transaction = self.begin(Scope::Background).await?;
        let Some(locked) = transaction.wait_for_erasure(id).await? else { return Ok(Vec::new()) };
        let checks = transaction.find(&locked, now).await?;
        transaction.commit().await?;
        Ok(checks)
    }

    pub(super) async fn count_again(&self, id: ErasureId) -> Result<ErasedCounts> {
        let transaction = self.begin(Scope::Background).await?;
        let Some(locked) = transaction.wait_for_erasure(id).await? else { return Ok(ErasedCounts::default()) };
        let counts = transaction.recount(&locked).await?;
        transaction.commit().await?;
        Ok(counts)
    }

    pub(super) async fn delete_leftovers(&self, id: ErasureId) -> Result<()> {
        let transaction = self.begin(Scope::Background).await?;
        let Some(locked) = transaction.wait_for_erasure(id).await? else { return Ok(()) };
        transaction.delete_found(&locked).await?;
        transaction.run("update erasures set rounds = rounds + 1 where id = $1", vec![id.0.into()]).await?;
        transaction.commit().await?;
        // Namespaces and the account come last, as the first time.
        while self.delete_batch(id).await? == ErasureStep::More {}
        while self.delete_rest(id).await? == ErasureStep::More {
            while self.delete_batch(id).await? == ErasureStep::More {}
        }
        Ok(())
    }
}

impl Transaction {
    async fn find(&self, locked: &Locked, now: Timestamp) -> Result<Vec<ErasureCheck>> {
        let values = || -> Vec<Value> { vec![locked.id.0.into(), locked.user.0.into(), to_sql(now)] };
        let row = self
            .one(
                &format!(
                    "{ASKED} select (select count(*) from gone) as memories, (select count(*) from passages) as passages,
                         (select count(*) from objects) as objects"
                ),
                values(),
            )
            .await?
            .ok_or_else(|| polymnemo_memory::Error::internal("a count without a row"))?;
        let number = |column| unsigned::<i64, u64>(get(&row, column)?);
        let (memories, passages, objects) = (number("memories")?, number("passages")?, number("objects")?);
        let mut checks = Vec::with_capacity(PLACES.len());
        for (path, by, found) in PLACES {
            let looked_for = match by {
                By::Memories => memories,
                By::Passages => passages,
                By::Objects => objects,
                By::Nothing => 1,
            };
            let found = self.count(&format!("{ASKED} select count(*) from {found}"), values()).await?;
            checks.push(ErasureCheck { path: (*path).to_owned(), looked_for, found });
        }
        if locked.subject == ErasureSubject::Account {
            checks.extend(self.find_account(locked).await?);
        }
        Ok(checks)
    }

    /// Looks for rows of an account that is gone, in every table that knows whose its rows are.
    async fn find_account(&self, locked: &Locked) -> Result<Vec<ErasureCheck>> {
        let user = || -> Vec<Value> { vec![locked.user.0.into()] };
        let mut checks = Vec::new();
        for table in self.tables_of_users().await? {
            let found = self.count(&format!("select count(*) from {table} where user_id = $1"), user()).await?;
            checks.push(ErasureCheck { path: format!("{table} of the account"), looked_for: 1, found });
        }
        let found = self.count("select count(*) from users where id = $1", user()).await?;
        checks.push(ErasureCheck { path: "users".into(), looked_for: 1, found });
        for table in ["browser_sessions", "one_time_secrets"] {
            let sql = format!("select count(*) from {table} where position($1 in data::text) > 0");
            let found = self.count(&sql, vec![locked.user.to_string().into()]).await?;
            checks.push(ErasureCheck { path: table.into(), looked_for: 1, found });
        }
        Ok(checks)
    }

    /// The tables that have a column for the user, but for those that outlive them; later ones included.
    async fn tables_of_users(&self) -> Result<Vec<String>> {
        let rows = self
            .all(
                &format!(
                    "select format('%I', c.relname) as name from pg_class c join pg_attribute a on a.attrelid = c.oid
                     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
                       and a.attname = 'user_id' and not a.attisdropped and c.relname not in ({OUTLIVE})
                     order by 1"
                ),
                vec![],
            )
            .await?;
        rows.iter().map(|row| get(row, "name")).collect()
    }

    async fn count(&self, sql: &str, values: Vec<Value>) -> Result<u64> {
        let row = self.one(sql, values).await?;
        unsigned(row.map_or(Ok(0_i64), |row| get(&row, "count"))?)
    }

    async fn delete_found(&self, locked: &Locked) -> Result<()> {
        let erasure = || -> Vec<Value> { vec![locked.id.0.into()] };
        loop {
            let rows = self
                .all(
                    "select m.id from memories m join erased_memories e on e.memory_id = m.id
                     where e.erasure_id = $1 limit 200",
                    erasure(),
                )
                .await?;
            if rows.is_empty() {
                break;
            }
            self.delete_these(locked, rows.iter().map(|row| get(row, "id")).collect::<Result<Vec<Uuid>>>()?).await?;
        }
        for (table, column) in [
            ("revisions", "memory_id"),
            ("tags", "memory_id"),
            ("sessions", "memory_id"),
            ("media", "memory_id"),
            ("uploads", "id"),
        ] {
            self.run(
                &format!(
                    "delete from {table} where {column} in (select memory_id from erased_memories where erasure_id = $1)"
                ),
                erasure(),
            )
            .await?;
        }
        for table in ["embedding_queue", "vectors"] {
            self.run(
                &format!(
                    "delete from {table} where chunk_id in (select chunk_id from erased_passages where erasure_id = $1)"
                ),
                erasure(),
            )
            .await?;
        }
        // How often a word is left is counted anew: what is left over was perhaps never counted.
        self.run(
            "with gone as (
                 delete from postings where chunk_id in (select chunk_id from erased_passages where erasure_id = $1)
                 returning term_id, chunk_id
             )
             update terms t set document_count = (
                 select count(*) from postings p
                 where p.term_id = t.id and not exists (select from gone where gone.term_id = p.term_id and gone.chunk_id = p.chunk_id)
             )
             where t.id in (select term_id from gone)",
            erasure(),
        )
        .await?;
        self.run(
            "delete from chunks where id in (select chunk_id from erased_passages where erasure_id = $1)",
            erasure(),
        )
        .await?;
        self.run(
            "delete from terms t where t.namespace_id in (select id from namespaces where user_id = $1)
               and not exists (select from postings p where p.term_id = t.id)",
            vec![locked.user.0.into()],
        )
        .await?;
        let rows = self.all("select memory_id from erased_memories where erasure_id = $1", erasure()).await?;
        let ids = rows.iter().map(|row| get(row, "memory_id")).collect::<Result<Vec<Uuid>>>()?;
        self.make_current(ids.clone()).await?;
        self.forget_corrections_of(ids).await?;
        if locked.subject == ErasureSubject::Account {
            for table in self.tables_of_users().await? {
                self.run(&format!("delete from {table} where user_id = $1"), vec![locked.user.0.into()]).await?;
            }
            self.end_browser_sessions(locked.user).await?;
        } else {
            self.scrub_calls(locked).await?;
        }
        Ok(())
    }
}
