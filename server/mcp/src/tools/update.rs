use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ApiError, IndexState, UpdateRequest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool, memory_id};
use crate::answer::{Answer, Lines};

/// The tool `update`.
pub(crate) struct Update;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The id of the memory to change, from recall or list_memories.
    #[schemars(regex(pattern = super::ID_PATTERN))]
    id: String,
    /// The new text, in place of all of the old one. Left out: the text stays.
    #[schemars(length(min = 1, max = 1_048_576))]
    content: Option<String>,
    /// The new labels, in place of all the old ones; an empty list removes them. Left out: they stay.
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Option<Vec<String>>,
    /// The new source; an empty text removes it. Left out: it stays.
    #[schemars(length(max = 200))]
    source: Option<String>,
    /// The namespace to move the memory to. Left out: it stays where it is.
    #[schemars(length(min = 1, max = 64))]
    namespace: Option<String>,
    /// The new time it speaks of: a date (2026-03-01, in the user's time zone) or an RFC 3339 time.
    #[schemars(length(min = 4, max = 40))]
    occurred_at: Option<String>,
    /// The revision that was read; if the memory was changed since, nothing is written and the answer says so.
    #[schemars(range(min = 1, max = 2_147_483_647))]
    expected_revision: Option<u32>,
}

/// The memory after the change.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Changed {
    /// The memory's id.
    id: String,
    /// Its namespace.
    namespace: String,
    /// Its revision.
    revision: u32,
    /// False where it already was as asked and nothing was written.
    changed: bool,
    /// complete: it is found by meaning and keyword; pending: by keyword, and by meaning in a moment.
    index: IndexState,
}

impl Tool for Update {
    type Answer = Changed;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "update",
        aliases: &["update_memory"],
        title: "Change a memory",
        description: "Changes one of the user's own memories in place: its text, labels, source, time or namespace; what \
            is left out stays. The whole new text is indexed again. The state before is kept as a revision that the user \
            can look at and restore. Returns the new revision; with expected_revision, a memory that was changed in the \
            meantime is left alone and reported. A fact that became outdated, rather than was written down wrongly, \
            keeps its history when remember stores the new one with supersedes.",
        effect: Effect::Changes { idempotent: true },
        when_timed_out: "The memory was changed wholly or not at all. get_memory shows its revision; repeating the same \
            call is safe.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Changed, ApiError> {
        let request = UpdateRequest {
            id: memory_id(&arguments.id)?,
            content: arguments.content,
            tags: arguments.tags,
            source: arguments.source,
            namespace: arguments.namespace,
            occurred_at: arguments.occurred_at,
            expected_revision: arguments.expected_revision,
        };
        let updated = service.update(ctx, request).await?;
        Ok(Changed {
            id: updated.id.to_string(),
            namespace: updated.namespace,
            revision: updated.revision,
            changed: updated.changed,
            index: updated.index,
        })
    }
}

impl Answer for Changed {
    fn short_text(&self) -> Lines {
        let Self { id, namespace, revision, .. } = self;
        Lines::one(match self.changed {
            true => format!("Changed: [{id}] in the namespace {namespace} is at revision {revision} now."),
            false => format!("[{id}] already was like that; it stays at revision {revision}."),
        })
    }
}
