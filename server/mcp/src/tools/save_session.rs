use std::borrow::Cow;

use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{ApiError, IndexProgress, MessageContent, NewMessage, SaveSessionRequest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Definition, Effect, Tool};
use crate::answer::{Answer, Lines, one_line};

/// The tool `save_session`.
pub(crate) struct SaveSession;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The conversation's id, chosen by the client: the same id is the same session, which goes on.
    #[schemars(length(min = 1, max = 200))]
    session_id: String,
    /// The messages in their order: all so far, or those that are new. Either this or content.
    #[schemars(length(max = 200_000))]
    messages: Option<Vec<Message>>,
    /// The whole transcript so far as one text, in place of messages.
    #[schemars(length(min = 1, max = 67_108_864))]
    content: Option<String>,
    /// The namespace it goes to. Left out: the user's own private one.
    #[schemars(length(min = 1, max = 64))]
    namespace: Option<String>,
    /// What it is about, in a few words. Left out: the beginning of the first message.
    #[schemars(length(min = 1, max = 200))]
    title: Option<String>,
    /// A JSON object to keep with it, for the client's own use.
    metadata: Option<Map<String, Value>>,
}

/// A message, with whatever the client has in it.
#[derive(Debug)]
struct Message(NewMessage);

/// Members under which clients give the time of a message.
const TIMES: [&str; 4] = ["at", "timestamp", "created_at", "time"];

/// Members under which clients give the id of a message.
const IDS: [&str; 3] = ["id", "uuid", "message_id"];

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Map::<String, Value>::deserialize(deserializer)?;
        let role = match members.shift_remove("role") {
            Some(Value::String(role)) => role,
            _ => return Err(serde::de::Error::custom("a message needs a `role`, such as user or assistant")),
        };
        let at = first_text(&mut members, &TIMES).or_else(|| first_count(&mut members, &TIMES));
        let id = first_text(&mut members, &IDS);
        members.retain(|_, value| !value.is_null());
        let content = match members.shift_remove("content") {
            // Tool calls, names and whatever else there is beside the content are part of the message.
            content if !members.is_empty() => {
                let mut all = Map::new();
                all.extend(content.map(|content| ("content".to_owned(), content)));
                all.extend(members);
                MessageContent::Blocks(Value::Object(all).to_string())
            }
            None => MessageContent::Text(String::new()),
            Some(Value::String(text)) => MessageContent::Text(text),
            Some(blocks) => MessageContent::Blocks(blocks.to_string()),
        };
        Ok(Self(NewMessage { role, content, at, id }))
    }
}

/// Takes the first of these members that is a text.
fn first_text(members: &mut Map<String, Value>, names: &[&str]) -> Option<String> {
    let name = names.iter().find(|name| members.get(**name).is_some_and(Value::is_string))?;
    match members.shift_remove(*name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Takes the first of these members that counts time since 1970, in seconds or in milliseconds; gives it as RFC 3339.
fn first_count(members: &mut Map<String, Value>, names: &[&str]) -> Option<String> {
    /// Seconds have this many only after the year 5000, milliseconds since 1973.
    const MILLISECONDS_FROM: f64 = 1e11;
    let time = |name: &str| {
        let count = members.get(name)?.as_f64().filter(|count| *count > 0.0)?;
        let milliseconds = if count < MILLISECONDS_FROM { count * 1_000.0 } else { count };
        jiff::Timestamp::from_millisecond(milliseconds.round() as i64).ok()
    };
    let (name, at) = names.iter().find_map(|name| Some((*name, time(name)?.to_string())))?;
    members.shift_remove(name);
    Some(at)
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "role": {
                    "type": "string",
                    "description": "Who speaks: user, assistant, system or tool.",
                    "maxLength": 64,
                },
                "content": {
                    "type": "string",
                    "description": "What is said, word for word. A list of content blocks is taken too, and kept as it is.",
                    "maxLength": 4_194_304,
                },
                "at": {
                    "type": "string",
                    "description": "When it was said: an RFC 3339 time, or a date in the user's time zone.",
                    "maxLength": 40,
                },
                "id": {
                    "type": "string",
                    "description": "The message's own id, if it has one: the same id is the same message.",
                    "maxLength": 200,
                },
            },
            "required": ["role", "content"],
        })
    }
}

/// What became of the session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Saved {
    /// The session's id among all memories, for load_session, recall and forget.
    id: String,
    /// The id that the client gave it.
    session_id: String,
    /// The namespace it is in.
    namespace: String,
    /// True where there was no session of this id before.
    created: bool,
    /// How many messages are new.
    appended: u32,
    /// How many say something else than before; what they said is kept.
    revised: u32,
    /// How many were stored already.
    unchanged: u32,
    /// How far it is searchable. What is missing follows by itself within moments.
    index: IndexProgress,
}

impl Tool for SaveSession {
    type Answer = Saved;
    type Arguments = Arguments;

    const DEFINITION: Definition = Definition {
        name: "save_session",
        aliases: &[],
        title: "Save a conversation",
        description: "Keeps a whole conversation word for word, so that it can be read again in any app (load_session) and \
            each of its messages can be recalled. Takes the messages with role and content, or the transcript as one text. \
            Saving again with the same session_id adds what is new, whether all messages are given or only the new ones; \
            what is there already is stored once, and a changed message keeps its former text. The session goes to the \
            user's own private namespace unless another one is named. Single facts are better kept with remember.",
        effect: Effect::Adds,
        when_timed_out: "It may have been saved or not. Save it again with the same session_id: nothing is stored twice. A \
            very long conversation can be saved in parts.",
    };

    async fn call(service: &MemoryService, ctx: &Ctx, arguments: Arguments) -> Result<Saved, ApiError> {
        let messages = arguments.messages.map(|messages| messages.into_iter().map(|message| message.0).collect());
        let request = SaveSessionRequest {
            session_id: arguments.session_id,
            content: arguments.content,
            messages,
            namespace: arguments.namespace,
            title: arguments.title,
            metadata: arguments.metadata.map(|metadata| Value::Object(metadata).to_string()),
        };
        let saved = service.save_session(ctx, request).await?;
        Ok(Saved {
            id: saved.id.to_string(),
            session_id: saved.session_id,
            namespace: saved.namespace,
            created: saved.created,
            appended: saved.appended,
            revised: saved.revised,
            unchanged: saved.unchanged,
            index: saved.index,
        })
    }
}

impl Answer for Saved {
    fn short_text(&self) -> Lines {
        let state = if self.created { "Saved as a new session" } else { "Saved" };
        let mut text = format!(
            "{state}: [{}] {} in {}. {} new, {} changed, {} as before; {} messages in all.",
            self.id,
            one_line(&self.session_id, 60),
            self.namespace,
            self.appended,
            self.revised,
            self.unchanged,
            self.index.messages
        );
        if self.index.searchable < self.index.messages {
            text.push_str(&format!(
                " {} of them are searchable by now, the rest follows by itself.",
                self.index.searchable
            ));
        }
        Lines::one(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(json: Value) -> NewMessage {
        serde_json::from_value::<Message>(json).unwrap().0
    }

    #[test]
    fn messages_are_taken_as_clients_have_them() {
        let plain =
            message(json!({ "role": "user", "content": "Hi\n", "id": "m-1", "timestamp": "2026-03-01T10:00:00Z" }));
        assert_eq!(plain.content, MessageContent::Text("Hi\n".into()));
        assert_eq!((plain.id.as_deref(), plain.at.as_deref()), (Some("m-1"), Some("2026-03-01T10:00:00Z")));
        let blocks = message(json!({ "role": "assistant", "content": [{ "type": "text", "text": "b" }] }));
        assert_eq!(blocks.content, MessageContent::Blocks(r#"[{"type":"text","text":"b"}]"#.into()));
        let call = message(json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c", "n": 1.0 }] }));
        assert_eq!(call.content, MessageContent::Blocks(r#"{"tool_calls":[{"id":"c","n":1.0}]}"#.into()));
        assert_eq!(message(json!({ "role": "user" })).content, MessageContent::Text(String::new()));
        for (count, at) in [
            (json!(1_700_000_000), "2023-11-14T22:13:20Z"),
            (json!(1_700_000_000_250_i64), "2023-11-14T22:13:20.25Z"),
            (json!(1_700_000_000.5), "2023-11-14T22:13:20.5Z"),
        ] {
            let counted = message(json!({ "role": "user", "content": "x", "timestamp": count }));
            assert_eq!((counted.at.as_deref(), counted.content), (Some(at), MessageContent::Text("x".into())));
        }
        let error = serde_json::from_value::<Message>(json!({ "content": "x" })).unwrap_err().to_string();
        assert!(error.contains("`role`"), "{error}");
    }
}
