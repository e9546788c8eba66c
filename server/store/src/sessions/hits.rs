use std::collections::HashMap;

use polymnemo_memory::{Result, ports::Passage, transcript};
use polymnemo_types::{MemoryId, MessageBeginning, MessageHit, limits};
use sea_orm::QueryResult;
use uuid::Uuid;

use super::format_from_sql;
use crate::{
    memories::optional_from_sql,
    transaction::{Transaction, get, unsigned},
};

/// The longest message of which the beginning is read from its blocks, in bytes.
const READ_BYTES: usize = 100_000;

/// Where in its session a passage is; nothing where the memory is none. A title stands before the first message.
pub(crate) fn message_hit(row: &QueryResult) -> Result<Option<MessageHit>> {
    let Some(session_id) = get::<Option<String>>(row, "key")? else { return Ok(None) };
    Ok(Some(MessageHit {
        session_id,
        title: get(row, "title")?,
        number: unsigned(get::<Option<i32>>(row, "number")?.unwrap_or(1))?,
        messages: unsigned(get::<Option<i32>>(row, "messages")?.unwrap_or_default())?,
        role: get::<Option<String>>(row, "role")?.unwrap_or_default(),
        at: optional_from_sql(row, "said_at")?,
        neighbours: Vec::new(),
    }))
}

impl Transaction {
    /// Adds the messages before and after to passages of sessions, all of them with one statement.
    pub(crate) async fn add_neighbours(&self, passages: &mut [Passage]) -> Result<()> {
        let (sessions, numbers): (Vec<Uuid>, Vec<i32>) = passages
            .iter()
            .filter_map(|passage| Some((passage.memory.id.0, i32::try_from(passage.message.as_ref()?.number).ok()?)))
            .unzip();
        if sessions.is_empty() {
            return Ok(());
        }
        let rows = self
            .all(
                &format!(
                    "select g.memory_id, a.number as anchor, g.number, g.role, g.format,
                         case when g.format = 'text' then left(g.content, {chars})
                             when g.bytes <= {READ_BYTES} then g.content else '' end as content
                     from unnest($1::uuid[], $2::int[]) as a (id, number)
                     join messages g on g.memory_id = a.id and g.number in (a.number - 1, a.number + 1)
                     order by g.memory_id, g.number",
                    chars = limits::PREVIEW_CHARS
                ),
                vec![sessions.into(), numbers.into()],
            )
            .await?;
        let mut neighbours: HashMap<(MemoryId, u32), Vec<MessageBeginning>> = HashMap::new();
        for row in &rows {
            let anchor: u32 = unsigned(get::<i32>(row, "anchor")?)?;
            let role: String = get(row, "role")?;
            let words = transcript::words(
                &role,
                format_from_sql(&get::<String>(row, "format")?)?,
                &get::<String>(row, "content")?,
            );
            let text = if words.said.is_empty() { words.aside } else { words.said };
            neighbours.entry((MemoryId(get(row, "memory_id")?), anchor)).or_default().push(MessageBeginning {
                number: unsigned(get::<i32>(row, "number")?)?,
                role,
                beginning: text.chars().take(limits::PREVIEW_CHARS).collect(),
            });
        }
        for passage in passages {
            if let Some(message) = &mut passage.message {
                message.neighbours = neighbours.remove(&(passage.memory.id, message.number)).unwrap_or_default();
            }
        }
        Ok(())
    }
}
