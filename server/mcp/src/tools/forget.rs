use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::ApiError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Definition, Effect, Tool, memory_ids};
use crate::{
    answer::{Answer, Lines},
    arguments::invalid,
    view::local_time,
};

/// The tool `forget`.
pub(crate) struct Forget;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The id of the memory to forget, from recall or list_memories.
    #[schemars(regex(pattern = super::ID_PATTERN))]
    id: Option<String>,
    /// The ids of several memories to forget at once: all of them, or none if one does not exist.
    #[serde(default)]
    #[schemars(length(max = 100), inner(regex(pattern = super::ID_PATTERN)))]
    ids: Vec<String>,
}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Gone {
    /// The memories that are in the trash now.
    ids: Vec<String>,
    /// Until when the user can take them out of the trash again.
    trash_until: String,
}

impl Tool for Forget {
    type Answer = Gone;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "forget",
        aliases: &["forget_memory"],
        title: "Forget memories",
        description: "Removes one or several of the user's own memories, given by id or ids. A forgotten memory is no \
            longer recalled, listed or readable from this moment on; it stays in the user's trash for 30 days, where the \
            user can restore it in the web app, and is then deleted. Returns the ids and the day until which they can be \
            restored. Nothing is forgotten by similarity or by search: exactly these ids. Forgetting a memory twice does \
            no harm.",
        effect: Effect::Changes { idempotent: true },
        when_timed_out: "All of the memories were forgotten or none. Repeat the same call: forgetting twice does no harm.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Gone, ApiError> {
        let mut given = arguments.ids;
        given.extend(arguments.id);
        if given.is_empty() {
            return Err(invalid(
                "forget needs the argument `id` (one memory) or `ids` (several). Nothing was forgotten. \
                 Take the ids from the answer of recall or list_memories.",
            ));
        }
        let forgotten = service.forget(ctx, &memory_ids(&given)?).await?;
        Ok(Gone {
            ids: forgotten.ids.iter().map(ToString::to_string).collect(),
            trash_until: local_time(forgotten.trash_until, &ctx.user.time_zone),
        })
    }
}

impl Answer for Gone {
    fn short_text(&self) -> Lines {
        let until = self.trash_until.get(..10).unwrap_or(&self.trash_until);
        let memories = match self.ids.as_slice() {
            [id] => format!("[{id}]"),
            ids => format!("{} memories", ids.len()),
        };
        Lines::one(format!("Forgot {memories}. The user can restore them from the trash until {until}."))
    }
}
