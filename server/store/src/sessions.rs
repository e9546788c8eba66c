//! Sessions and their messages.

pub(crate) mod hits;
mod index;
mod port;
mod read;
mod save;
mod take_back;

use polymnemo_memory::{Ctx, Error, Result};
use polymnemo_types::{MemoryId, MessageFormat, SessionForm};

use crate::transaction::{Transaction, get};

impl Transaction {
    /// Locks a session of the caller's own, and its namespace before it; gives the namespace. Nothing where there is no such
    /// session, or it is moved or forgotten meanwhile: whoever does that has the last word.
    async fn lock_session(&self, ctx: &Ctx, id: MemoryId) -> Result<Option<i32>> {
        let row = self
            .one(
                "select m.namespace_id from memories m join sessions s on s.memory_id = m.id
                 where m.id = $1 and m.user_id = $2 and m.forgotten_at is null",
                vec![id.0.into(), ctx.user.id.0.into()],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let namespace: i32 = get(&row, "namespace_id")?;
        self.lock_namespaces(&[namespace]).await?;
        let still = self
            .one(
                "select from memories where id = $1 and namespace_id = $2 and forgotten_at is null for update",
                vec![id.0.into(), namespace.into()],
            )
            .await?;
        Ok(still.map(|_| namespace))
    }

    /// Gives a session the sums of its messages.
    pub(crate) async fn sum_up_session(&self, id: MemoryId) -> Result<()> {
        self.run(
            "update sessions set messages = sums.messages, parts = sums.parts, bytes = sums.bytes
             from (
                 select count(*) as messages, coalesce(sum(parts), 0) as parts, coalesce(sum(bytes), 0) as bytes
                 from messages where memory_id = $1
             ) sums
             where memory_id = $1",
            vec![id.0.into()],
        )
        .await?;
        Ok(())
    }
}

/// What a format is called in the database.
fn format_to_sql(format: MessageFormat) -> &'static str {
    match format {
        MessageFormat::Text => "text",
        MessageFormat::Blocks => "blocks",
    }
}

fn format_from_sql(name: &str) -> Result<MessageFormat> {
    match name {
        "text" => Ok(MessageFormat::Text),
        "blocks" => Ok(MessageFormat::Blocks),
        _ => Err(Error::internal("the database holds a message of an unknown format")),
    }
}

/// What a form is called in the database.
fn form_to_sql(form: SessionForm) -> &'static str {
    match form {
        SessionForm::Messages => "messages",
        SessionForm::Text => "text",
    }
}

fn form_from_sql(name: &str) -> Result<SessionForm> {
    match name {
        "messages" => Ok(SessionForm::Messages),
        "text" => Ok(SessionForm::Text),
        _ => Err(Error::internal("the database holds a session of an unknown form")),
    }
}
