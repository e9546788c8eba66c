//! The tools, a file for each.

mod confirm_upload;
mod create_upload;
mod forget;
mod get_download_url;
mod get_memory;
mod list_memories;
mod list_sessions;
mod load_session;
mod ping;
mod recall;
mod remember;
mod save_session;
mod update;

use std::sync::{Arc, OnceLock};

use futures::{FutureExt as _, future::BoxFuture};
use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ApiError, MemoryId};
use rmcp::model::{CallToolResult, JsonObject, Tool as ToolDefinition, ToolAnnotations};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::{
    answer::{Answer, Form},
    arguments, error, schema,
};

/// Which tools a client sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Toolset {
    /// The memory tools.
    #[default]
    Default,
}

impl Toolset {
    /// The tools, in the order in which every list shows them: what is used most comes first.
    pub(crate) fn tools(self) -> Vec<ToolEntry> {
        match self {
            Self::Default => vec![
                ToolEntry::of::<recall::Recall>(),
                ToolEntry::of::<remember::Remember>(),
                ToolEntry::of::<list_memories::ListMemories>(),
                ToolEntry::of::<get_memory::GetMemory>(),
                ToolEntry::of::<update::Update>(),
                ToolEntry::of::<forget::Forget>(),
                ToolEntry::of::<save_session::SaveSession>(),
                ToolEntry::of::<load_session::LoadSession>(),
                ToolEntry::of::<list_sessions::ListSessions>(),
                ToolEntry::of::<create_upload::CreateUpload>(),
                ToolEntry::of::<confirm_upload::ConfirmUpload>(),
                ToolEntry::of::<get_download_url::GetDownloadUrl>(),
                ToolEntry::of::<ping::Ping>(),
            ],
        }
    }
}

/// Whether the tool that answers under this name changes anything; nothing where none does.
#[must_use]
pub fn tool_writes(name: &str) -> Option<bool> {
    static TOOLS: OnceLock<Vec<ToolEntry>> = OnceLock::new();
    let tools = TOOLS.get_or_init(|| Toolset::Default.tools());
    let tool = tools.iter().find(|tool| tool.is_called(name))?;
    Some(!matches!(tool.definition.effect, Effect::Reads))
}

/// What clients are told of a tool, and what they are told when it is stopped.
pub(crate) struct Definition {
    /// The published name. It never changes; an older or likelier name goes to `aliases`.
    pub(crate) name: &'static str,
    /// Other names under which it answers; they are not listed.
    pub(crate) aliases: &'static [&'static str],
    /// The name for people.
    pub(crate) title: &'static str,
    /// What it does, returns and where it ends. It describes and never tells a model what to do:
    /// that belongs to the server's instructions.
    pub(crate) description: &'static str,
    /// What calling it can do.
    pub(crate) effect: Effect,
    /// What to do when it took too long.
    pub(crate) when_timed_out: &'static str,
}

/// What calling a tool can do to the store. None of them reaches beyond it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Effect {
    /// It only reads.
    Reads,
    /// It adds, and a repeated call adds nothing.
    Adds,
    /// It adds, and a repeated call adds once more.
    AddsEachTime,
    /// It changes or removes what is there.
    Changes {
        /// Whether a repeated call changes nothing more.
        idempotent: bool,
    },
}

/// One operation of the service as a tool.
pub(crate) trait Tool: Send + Sync + 'static {
    /// What the caller gives.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// What the caller gets.
    type Answer: Answer + Send;

    /// What clients are told of it.
    const DEFINITION: Definition;

    /// Calls the service.
    fn call(
        service: &MemoryService,
        ctx: &Ctx,
        arguments: Self::Arguments,
    ) -> impl Future<Output = Result<Self::Answer, ApiError>> + Send;
}

type Call = for<'a> fn(
    &'a ToolEntry,
    &'a MemoryService,
    &'a Ctx,
    JsonObject,
    Form,
) -> BoxFuture<'a, Result<CallToolResult, serde_json::Error>>;

/// A tool in the list of a server.
#[derive(Clone)]
pub(crate) struct ToolEntry {
    pub(crate) definition: &'static Definition,
    published: ToolDefinition,
    call: Call,
}

impl ToolEntry {
    fn of<T: Tool>() -> Self {
        let definition = &T::DEFINITION;
        let (reads, destroys, idempotent) = match definition.effect {
            Effect::Reads => (true, false, true),
            Effect::Adds => (false, false, true),
            Effect::AddsEachTime => (false, false, false),
            Effect::Changes { idempotent } => (false, true, idempotent),
        };
        let annotations = ToolAnnotations::from_raw(
            Some(definition.title.to_owned()),
            Some(reads),
            Some(destroys),
            Some(idempotent),
            Some(false),
        );
        let published =
            ToolDefinition::new(definition.name, definition.description, schema::of_input::<T::Arguments>())
                .with_title(definition.title)
                .with_annotations(annotations)
                .with_raw_output_schema(Arc::new(schema::of_output::<T::Answer>()));
        Self { definition, published, call: call::<T> }
    }

    /// Whether the tool answers under this name.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.definition.name == name || self.definition.aliases.contains(&name)
    }

    /// The definition as it is listed for a client that gets its results in this form.
    pub(crate) fn published(&self, form: Form) -> ToolDefinition {
        let mut published = self.published.clone();
        if !form.is_structured() {
            // A declared schema promises structured content, which this form does not have.
            published.output_schema = None;
        }
        published
    }

    /// Calls the tool.
    ///
    /// # Errors
    ///
    /// The answer can't be written as JSON, which is a fault of this crate.
    pub(crate) fn call<'a>(
        &'a self,
        service: &'a MemoryService,
        ctx: &'a Ctx,
        arguments: JsonObject,
        form: Form,
    ) -> BoxFuture<'a, Result<CallToolResult, serde_json::Error>> {
        (self.call)(self, service, ctx, arguments, form)
    }
}

fn call<'a, T: Tool>(
    entry: &'a ToolEntry,
    service: &'a MemoryService,
    ctx: &'a Ctx,
    arguments: JsonObject,
    form: Form,
) -> BoxFuture<'a, Result<CallToolResult, serde_json::Error>> {
    async move {
        let answer = match arguments::read(entry.definition.name, &entry.published.input_schema, arguments) {
            Ok(arguments) => T::call(service, ctx, arguments).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(mut answer) => form.result(&mut answer),
            Err(error) => Ok(error::result(&error)),
        }
    }
    .boxed()
}

/// What the id of a memory looks like, for the schemas.
const ID_PATTERN: &str = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$";

/// The memory that an argument names.
fn memory_id(given: &str) -> Result<MemoryId, ApiError> {
    given.parse().map_err(|error: polymnemo_types::InvalidId| {
        arguments::invalid(format!("{error}. Take the id from the answer of recall or list_memories."))
    })
}

/// The memories that an argument names.
fn memory_ids(given: &[String]) -> Result<Vec<MemoryId>, ApiError> {
    given.iter().map(|id| memory_id(id)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn published(form: Form) -> Vec<Value> {
        let tools = Toolset::Default.tools();
        tools.iter().map(|tool| serde_json::to_value(tool.published(form)).unwrap()).collect()
    }

    /// The public contract: every change of it shows here and has to be meant.
    #[test]
    fn the_published_tools() {
        insta::with_settings!({ sort_maps => true, prepend_module_to_snapshot => false }, {
            insta::assert_json_snapshot!("tools_list", published(Form::Structured));
        });
    }

    #[test]
    fn names_are_safe_for_every_client_and_unique() {
        let mut names = Vec::new();
        for tool in Toolset::Default.tools() {
            names.extend(tool.definition.aliases.iter().chain([&tool.definition.name]).copied());
        }
        for name in &names {
            assert!(name.len() <= 40 && name.starts_with(|char: char| char.is_ascii_lowercase()), "{name}");
            assert!(
                name.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_'),
                "{name}"
            );
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn descriptions_are_short_and_all_four_hints_explicit() {
        for tool in published(Form::Structured) {
            let name = &tool["name"];
            let description = tool["description"].as_str().unwrap();
            assert!((100..2_000).contains(&description.len()), "{name}: {}", description.len());
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{name}: {hint}");
            }
            assert!(tool["title"].is_string() && tool["annotations"]["title"] == tool["title"], "{name}");
        }
    }

    /// Calls `check` on a schema and on every schema inside it.
    fn each_schema(path: &str, schema: &Value, check: &mut impl FnMut(&str, &serde_json::Map<String, Value>)) {
        let schema = schema.as_object().unwrap_or_else(|| panic!("{path} is no object but {schema}"));
        check(path, schema);
        for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            each_schema(&format!("{path}.{name}"), property, check);
        }
        if let Some(items) = schema.get("items") {
            each_schema(&format!("{path}[]"), items, check);
        }
    }

    #[test]
    fn schemas_are_plain() {
        for tool in published(Form::Structured) {
            for side in ["inputSchema", "outputSchema"] {
                assert_eq!(tool[side]["type"], "object");
                each_schema(&format!("{} {side}", tool["name"]), &tool[side], &mut |path, schema| {
                    assert!(schema.get("type").is_some_and(Value::is_string), "{path} has no single type");
                    let known = [
                        "type",
                        "description",
                        "properties",
                        "required",
                        "additionalProperties",
                        "items",
                        "enum",
                        "minimum",
                        "maximum",
                        "minItems",
                        "maxItems",
                        "minLength",
                        "maxLength",
                        "pattern",
                        "default",
                    ];
                    for keyword in schema.keys() {
                        assert!(known.contains(&keyword.as_str()), "{path} has the keyword {keyword}");
                    }
                });
            }
        }
    }

    #[test]
    fn arguments_are_described_and_bounded() {
        for tool in published(Form::Structured) {
            assert_eq!(tool["inputSchema"]["additionalProperties"], json!(false));
            each_schema(tool["name"].as_str().unwrap(), &tool["inputSchema"], &mut |path, schema| {
                let is_argument = path.contains('.') && !path.ends_with("[]");
                assert!(!is_argument || schema.contains_key("description"), "{path} is not described");
                if schema["type"] == "integer" {
                    assert!(schema.contains_key("minimum") && schema.contains_key("maximum"), "{path} has no range");
                }
                if schema["type"] == "array" {
                    assert!(schema.contains_key("maxItems"), "{path} has no greatest length");
                }
                if schema["type"] == "string" {
                    let bounded = ["maxLength", "enum", "pattern"].iter().any(|keyword| schema.contains_key(*keyword));
                    assert!(bounded, "{path} has no bound");
                }
            });
        }
    }

    #[test]
    fn a_client_without_structured_content_is_promised_none() {
        assert!(published(Form::Structured).iter().all(|tool| tool["outputSchema"].is_object()));
        assert!(published(Form::Both).iter().all(|tool| tool["outputSchema"].is_object()));
        assert!(published(Form::Text).iter().all(|tool| tool.get("outputSchema").is_none()));
    }

    #[test]
    fn an_id_that_is_none_is_answered_with_what_one_looks_like() {
        let message = memory_id("the one about tea").unwrap_err().message;
        assert!(message.contains("0198c0de-") && message.contains("recall"), "{message}");
    }
}
