use jiff::Timestamp;
use polymnemo_memory::{Ctx, Result, transcript};
use polymnemo_types::MemoryId;
use uuid::Uuid;

use crate::{
    PgStore, index,
    memories::{from_sql, to_sql},
    transaction::{Scope, Transaction, get, to_int},
};

impl PgStore {
    pub(crate) async fn take_messages_back(&self, ctx: &Ctx, session: MemoryId, at: Timestamp) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        if transaction.lock_session(ctx, session).await?.is_none() {
            return Ok(false);
        }
        transaction.take_back(session, at).await?;
        transaction.commit().await?;
        Ok(true)
    }
}

impl Transaction {
    /// Takes back what came into a session at this time. The session is locked.
    pub(crate) async fn take_back(&self, session: MemoryId, at: Timestamp) -> Result<()> {
        let rows = self
            .all(
                // Where what it said before was erased, all that is left came at this time.
                "select id, not exists (select from message_revisions r where r.message_id = g.id) as is_new
                 from messages g where memory_id = $1 and stored_at = $2 order by number",
                vec![session.0.into(), to_sql(at)],
            )
            .await?;
        let (mut new, mut changed): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
        for row in &rows {
            if get(row, "is_new")? { &mut new } else { &mut changed }.push(get(row, "id")?);
        }
        let both: Vec<i64> = new.iter().chain(&changed).copied().collect();
        if both.is_empty() {
            return Ok(());
        }
        let unused = index::remove_messages(self, &both).await?;
        index::drop_unused(self, unused).await?;
        self.run("delete from messages where id = any($1)", vec![new.into()]).await?;
        for message in changed {
            self.say_again(message).await?;
        }
        self.renumber(session).await
    }

    /// Has a message say what it said before its last change.
    async fn say_again(&self, message: i64) -> Result<()> {
        let before = self
            .one(
                "delete from message_revisions where message_id = $1 and revision = (
                     select max(revision) from message_revisions where message_id = $1
                 )
                 returning revision, role, format, content, stored_at",
                vec![message.into()],
            )
            .await?;
        let Some(before) = before else { return Ok(()) };
        let content: String = get(&before, "content")?;
        let parts = to_int(transcript::parts(&content).len());
        // The digest is that of `GivenMessage`: role, format and content with NUL in between.
        self.run(
            r"update messages set role = $2, format = $3, content = $4, parts = $5, stored_at = $6, indexed = false,
                 revision = $7,
                 hash = sha256(convert_to($2, 'UTF8') || '\x00'::bytea || convert_to($3, 'UTF8') || '\x00'::bytea
                     || convert_to($4, 'UTF8'))
             where id = $1",
            vec![
                message.into(),
                get::<String>(&before, "role")?.into(),
                get::<String>(&before, "format")?.into(),
                content.into(),
                parts.into(),
                to_sql(from_sql(get(&before, "stored_at")?)?),
                get::<i32>(&before, "revision")?.into(),
            ],
        )
        .await?;
        Ok(())
    }

    /// Gives the messages of a session their places anew, and the session its sums.
    async fn renumber(&self, session: MemoryId) -> Result<()> {
        let id: Uuid = session.0;
        self.run(
            "update messages m set number = new.number, first_part = new.first_part
             from (
                 select id, row_number() over (order by number)::int as number,
                     (sum(parts) over (order by number) - parts)::int as first_part
                 from messages where memory_id = $1
             ) new
             where m.id = new.id and (m.number, m.first_part) <> (new.number, new.first_part)",
            vec![id.into()],
        )
        .await?;
        self.sum_up_session(session).await?;
        self.run(
            "update sessions set last_at = coalesce((select max(said_at) from messages where memory_id = $1), last_at)
             where memory_id = $1",
            vec![id.into()],
        )
        .await?;
        self.run(
            "update memories set occurred_at = s.last_at, updated_at = now() from sessions s
             where memories.id = $1 and s.memory_id = memories.id",
            vec![id.into()],
        )
        .await?;
        Ok(())
    }
}
