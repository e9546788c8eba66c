use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ApiError, IndexState, RememberRequest, RememberStatus};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool, memory_ids};
use crate::answer::{Answer, Lines, one_line};

/// The tool `remember`.
pub(crate) struct Remember;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The text to keep, understandable on its own; at most 1 MiB.
    #[schemars(length(min = 1, max = 1_048_576))]
    content: String,
    /// The namespace to store it in; a new name makes a new, private one. Left out: the user's own.
    #[schemars(length(min = 1, max = 64))]
    namespace: Option<String>,
    /// Labels to find it by.
    #[serde(default)]
    #[schemars(length(max = 32), inner(length(min = 1, max = 64)))]
    tags: Vec<String>,
    /// Where the text comes from, when not from the user: a person, an app, a page.
    #[schemars(length(min = 1, max = 200))]
    source: Option<String>,
    /// When it happened or was said: a date (2026-03-01, in the user's time zone) or an RFC 3339
    /// time. Left out: now.
    #[schemars(length(min = 4, max = 40))]
    occurred_at: Option<String>,
    /// Ids of the memories that this one corrects; they are kept as history and no longer recalled.
    #[serde(default)]
    #[schemars(length(max = 100), inner(regex(pattern = super::ID_PATTERN)))]
    supersedes: Vec<String>,
    /// A key of the caller's choice: a second call with the same key and text stores nothing twice.
    #[schemars(length(min = 1, max = 200))]
    idempotency_key: Option<String>,
}

/// What became of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Stored {
    /// The memory's id, new or found.
    id: String,
    /// stored: a new memory; already_stored: the user had this text in this namespace, nothing was written.
    status: RememberStatus,
    /// The namespace it is in.
    namespace: String,
    /// Its current revision, from 1.
    revision: u32,
    /// complete: it is found by meaning and keyword; pending: by keyword, and by meaning in a moment.
    index: IndexState,
    /// Memories that say nearly the same, the closest first. One that is no longer true can be
    /// named in supersedes of a correction.
    similar_to: Vec<Similar>,
}

/// A memory that says nearly the same.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(inline)]
struct Similar {
    /// Its id.
    id: String,
    /// How its closest passage begins.
    preview: String,
    /// How close they are, from 0 to 1.
    similarity: f64,
}

impl Tool for Remember {
    type Answer = Stored;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "remember",
        aliases: &[],
        title: "Remember something",
        description: "Stores a text in the user's long-term memory, where every app that the user connects finds it \
            again: a fact, a preference, a decision, a note, a whole document up to 1 MiB. Returns its id and whether it \
            is new (stored) or was there before (already_stored), and the ids of memories that say nearly the same. The \
            same text is never stored twice in a namespace, so repeating a call is safe. A text that corrects earlier \
            memories names them in supersedes; update changes the text of one memory instead. What is stored in a \
            shared namespace is readable by everyone who uses this server.",
        effect: Effect::Adds,
        when_timed_out: "The text was stored whole or not at all. Repeat the call with the same text: nothing is \
            stored twice, and the answer tells the id.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Stored, ApiError> {
        let request = RememberRequest {
            content: arguments.content,
            namespace: arguments.namespace,
            tags: arguments.tags,
            source: arguments.source,
            occurred_at: arguments.occurred_at,
            supersedes: memory_ids(&arguments.supersedes)?,
            idempotency_key: arguments.idempotency_key,
            origin: None,
        };
        let remembered = service.remember(ctx, request).await?;
        let similar_to = remembered.similar_to.into_iter().map(|similar| Similar {
            id: similar.id.to_string(),
            preview: one_line(&similar.preview, 200),
            similarity: (f64::from(similar.similarity) * 1_000.0).round() / 1_000.0,
        });
        Ok(Stored {
            id: remembered.id.to_string(),
            status: remembered.status,
            namespace: remembered.namespace,
            revision: remembered.revision,
            index: remembered.index,
            similar_to: similar_to.collect(),
        })
    }
}

impl Answer for Stored {
    fn short_text(&self) -> Lines {
        let mut heading = match self.status {
            RememberStatus::Stored => format!("Stored in the namespace {} as [{}].", self.namespace, self.id),
            RememberStatus::AlreadyStored => {
                format!("Already stored in the namespace {} as [{}]; nothing was written.", self.namespace, self.id)
            }
        };
        if self.index == IndexState::Pending {
            heading.push_str(" It is found by keyword now and by meaning in a moment.");
        }
        if !self.similar_to.is_empty() {
            heading.push_str(" Other memories say nearly the same:");
        }
        let records =
            self.similar_to.iter().map(|similar| format!("[{}] {}", similar.id, one_line(&similar.preview, 100)));
        Lines { heading, records: records.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_became_of_it() {
        let mut stored = Stored {
            id: "0198c0de-7a11-7000-8000-000000000001".into(),
            status: RememberStatus::Stored,
            namespace: "work".into(),
            revision: 1,
            index: IndexState::Pending,
            similar_to: vec![Similar {
                id: "0198c0de-7a11-7000-8000-000000000002".into(),
                preview: "Ada likes tea".into(),
                similarity: 0.97,
            }],
        };
        insta::assert_snapshot!(stored.full_text(), @r"
        Stored in the namespace work as [0198c0de-7a11-7000-8000-000000000001]. It is found by keyword now and by meaning in a moment. Other memories say nearly the same:
        [0198c0de-7a11-7000-8000-000000000002] Ada likes tea
        ");
        stored.status = RememberStatus::AlreadyStored;
        stored.index = IndexState::Complete;
        stored.similar_to.clear();
        assert_eq!(
            stored.full_text(),
            "Already stored in the namespace work as [0198c0de-7a11-7000-8000-000000000001]; nothing was written."
        );
    }
}
