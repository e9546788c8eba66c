use jiff::tz::TimeZone;
use polymnemo_types::{
    Action, MemoryId, MessageContent, MessageFormat, NewMessage, SaveSessionRequest, SavedSession, SessionForm, limits,
};
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{title, title_chunk};
use crate::{
    Ctx, Error, Result,
    ports::{GivenMessage, SessionSaved, SessionState},
    service::{MemoryService, index::heading_of, validate},
    transcript::{self, Known, Piece},
    when,
};

/// The length of a title that a session gets from its first message, in characters.
const MADE_TITLE_CHARS: usize = 80;

/// The longest pieces of a text with NUL characters, in bytes: as JSON, in which the database keeps them, six times as long.
const ESCAPED_BYTES: usize = limits::MESSAGE_PART_BYTES / 6 - 2;

impl MemoryService {
    /// Keeps a conversation. What is new is added, what is the same is left as it is, and a message that says something else
    /// than before keeps its former text as a revision. Everything is on disk when this returns; what is not in the search
    /// index by then follows in the background.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`], [`Error::Forbidden`], [`Error::Unavailable`]. Nothing is stored then.
    pub async fn save_session(&self, ctx: &Ctx, request: SaveSessionRequest) -> Result<SavedSession> {
        if !ctx.grants.write {
            ctx.check_write("")?;
        }
        let key = key("session_id", &request.session_id)?.ok_or_else(|| {
            Error::Invalid("`session_id` is empty. Give each conversation an id of its own that stays the same.".into())
        })?;
        let namespace = validate::namespace(request.namespace.as_deref().unwrap_or(&ctx.user.default_namespace))?;
        let asked_title = request.title.as_deref().map(title).transpose()?.flatten();
        let metadata = request.metadata.as_deref().map(metadata).transpose()?;
        let (form, messages) = match (request.content, request.messages) {
            (Some(text), None) => (SessionForm::Text, text_messages(&text)?),
            (None, Some(messages)) => (SessionForm::Messages, given_messages(messages, &ctx.user.time_zone)?),
            _ => {
                return Err(Error::Invalid(
                    "Give either `messages`, a list of messages with role and content, or `content`, the transcript as one \
                     text. Nothing was stored."
                        .into(),
                ));
            }
        };
        let at = self.now();
        let is_title_asked = asked_title.is_some();
        let title = asked_title.unwrap_or_else(|| made_title(form, &messages, &key));
        let title_chunk = title_chunk(heading_of(at, &ctx.user.time_zone, &[], None), &title).await?;
        let state = SessionState {
            id: MemoryId(Uuid::now_v7()),
            key: key.clone(),
            namespace,
            title,
            is_title_asked,
            title_chunk,
            model: self.embedder.model().clone(),
            form,
            metadata,
            tags: Vec::new(),
            source: None,
            keeps_every_state: false,
            at,
        };
        let (id, namespace, created, appended, revised, unchanged) =
            match self.save_in_turn(ctx, state, messages).await? {
                SessionSaved::Done { id, namespace, created, appended, revised, unchanged } => {
                    (id, namespace, created, appended, revised, unchanged)
                }
                SessionSaved::OtherForm(form) => return Err(other_form(&key, form)),
                SessionSaved::TooLong { messages, bytes } => return Err(too_long(messages, bytes)),
                SessionSaved::Forbidden(namespace) => {
                    ctx.check_write(&namespace)?;
                    return Err(Error::internal("a session may not be written where the caller may write"));
                }
            };
        self.record_call(ctx, Action::SaveSession, None, vec![id]);
        if appended + revised > 0 || created {
            self.index_at_once(id).await;
        }
        let session = self.store.session(ctx, self.embedder.model(), id).await?.ok_or(Error::NotFound(id))?;
        Ok(SavedSession { id, session_id: key, namespace, created, appended, revised, unchanged, index: session.index })
    }
}

impl MemoryService {
    pub(in crate::service) async fn save_in_turn(
        &self,
        ctx: &Ctx,
        state: SessionState,
        messages: Vec<GivenMessage>,
    ) -> Result<SessionSaved> {
        let _turn = self.saving.wait(&(ctx.user.id, &state.key)).await;
        self.store.save_session(ctx, state, messages).await
    }
}

/// What a client calls a session or a message; nothing when empty.
pub(super) fn key(field: &str, key: &str) -> Result<Option<String>> {
    let key = key.trim();
    if key.chars().count() > limits::SESSION_ID_CHARS || key.chars().any(char::is_control) {
        return Err(Error::Invalid(format!(
            "`{field}` has at most {} characters and no line breaks.",
            limits::SESSION_ID_CHARS
        )));
    }
    Ok((!key.is_empty()).then(|| key.to_owned()))
}

fn metadata(json: &str) -> Result<String> {
    let is_object = json.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(json).is_ok();
    if !is_object || json.len() > limits::METADATA_BYTES {
        return Err(Error::Invalid(format!(
            "`metadata` is a JSON object of at most {} bytes.",
            limits::METADATA_BYTES
        )));
    }
    // PostgreSQL can't hold NUL; in JSON it is written without one, so there is none.
    Ok(json.to_owned())
}

/// The messages of a transcript that came as one text.
fn text_messages(text: &str) -> Result<Vec<GivenMessage>> {
    if text.is_empty() {
        return Err(Error::Invalid("`content` is empty. Give the transcript.".into()));
    }
    check_size(text.len() as u64, 1)?;
    let mut messages = Vec::new();
    for piece in transcript::pieces(text) {
        if piece.text.contains('\0') {
            messages.extend(escaped(piece));
        } else {
            messages.push(message(piece.role, MessageFormat::Text, piece.text.to_owned(), None, None));
        }
    }
    check_size(text.len() as u64, messages.len())?;
    Ok(messages)
}

/// A piece with NUL characters, which the database can't hold, as JSON.
fn escaped<'a>(piece: Piece<'a>) -> impl Iterator<Item = GivenMessage> + 'a {
    let mut rest = piece.text;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at_checked(rest.floor_char_boundary(ESCAPED_BYTES))?;
        rest = after;
        let json = serde_json::Value::from(part).to_string();
        (!part.is_empty()).then(|| message(piece.role, MessageFormat::Blocks, json, None, None))
    })
}

/// Messages as they are given, checked.
pub(in crate::service) fn given_messages(messages: Vec<NewMessage>, zone: &TimeZone) -> Result<Vec<GivenMessage>> {
    if messages.is_empty() {
        return Err(Error::Invalid("`messages` is empty. Give the messages of the conversation.".into()));
    }
    let count = messages.len();
    let mut bytes = 0;
    let mut given = Vec::with_capacity(count);
    for (place, new) in messages.into_iter().enumerate() {
        let number = place + 1;
        let in_message = |error| match error {
            Error::Invalid(message) => {
                Error::Invalid(format!("Message {number} of {count}: {message} Nothing was stored."))
            }
            error => error,
        };
        let (format, content) = content(new.content).map_err(in_message)?;
        bytes += content.len() as u64;
        let role = role(&new.role).map_err(in_message)?;
        let at = new.at.as_deref().filter(|at| !at.trim().is_empty());
        let at = at.map(|at| when::parse("at", at, zone)).transpose().map_err(in_message)?;
        let id = new.id.as_deref().map(|id| key("id", id)).transpose().map_err(in_message)?.flatten();
        given.push(message(&role, format, content, at, id));
    }
    check_size(bytes, count)?;
    Ok(given)
}

fn content(content: MessageContent) -> Result<(MessageFormat, String)> {
    let (format, content) = match content {
        // PostgreSQL can't hold NUL; as JSON it is written without one.
        MessageContent::Text(text) if text.contains('\0') => {
            (MessageFormat::Blocks, serde_json::Value::from(text).to_string())
        }
        MessageContent::Text(text) => (MessageFormat::Text, text),
        MessageContent::Blocks(json) => {
            if serde_json::from_str::<IgnoredAny>(&json).is_err() {
                return Err(Error::Invalid("`content` is not JSON, although it is said to be content blocks.".into()));
            }
            (MessageFormat::Blocks, json)
        }
    };
    if content.len() > limits::MESSAGE_BYTES {
        return Err(Error::Invalid(format!(
            "`content` is {} bytes long, a message may have {}. Leave out what is attached, or store it as a file.",
            content.len(),
            limits::MESSAGE_BYTES
        )));
    }
    Ok((format, content))
}

fn role(role: &str) -> Result<String> {
    let role = role.trim();
    if role.chars().count() > limits::ROLE_CHARS || role.chars().any(char::is_control) {
        return Err(Error::Invalid(format!(
            "`role` has at most {} characters and no line breaks.",
            limits::ROLE_CHARS
        )));
    }
    Ok(role.to_owned())
}

fn message(
    role: &str,
    format: MessageFormat,
    content: String,
    at: Option<jiff::Timestamp>,
    client_id: Option<String>,
) -> GivenMessage {
    let known = Known { hash: hash(role, format, &content), client_id, at };
    GivenMessage { known, role: role.to_owned(), format, content }
}

/// By what a message is recognised.
pub(in crate::service) fn hash(role: &str, format: MessageFormat, content: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(role);
    hash.update(match format {
        MessageFormat::Text => "\0text\0",
        MessageFormat::Blocks => "\0blocks\0",
    });
    hash.update(content);
    hash.finalize().into()
}

fn check_size(bytes: u64, messages: usize) -> Result<()> {
    if bytes > limits::SESSION_BYTES || messages as u64 > u64::from(limits::SESSION_MESSAGES) {
        return Err(too_long(messages as u64, bytes));
    }
    Ok(())
}

fn too_long(messages: u64, bytes: u64) -> Error {
    Error::Invalid(format!(
        "The session would have {messages} messages and {bytes} bytes; it may have {} messages and {} bytes. Nothing was \
         stored. Go on in a session of another id.",
        limits::SESSION_MESSAGES,
        limits::SESSION_BYTES
    ))
}

fn other_form(key: &str, form: SessionForm) -> Error {
    let (there, argument) = match form {
        SessionForm::Messages => ("messages", "messages"),
        SessionForm::Text => ("one text", "content"),
    };
    Error::Invalid(format!(
        "The session `{key}` was saved as {there}, and goes on in that form: give `{argument}`, or another session_id. \
         Nothing was stored."
    ))
}

/// What a session is called of which nobody said what it is about: how its first message begins.
pub(in crate::service) fn made_title(form: SessionForm, messages: &[GivenMessage], key: &str) -> String {
    let said = |message: &GivenMessage| {
        let said = transcript::words(&message.role, message.format, &message.content).said;
        if form == SessionForm::Messages || message.role.is_empty() {
            return said;
        }
        // The pieces of a text begin with the name of the speaker, in a line of its own or before a colon.
        let end = said.find([':', '：', '\n']).map_or(0, |place| said.ceil_char_boundary(place + 1));
        said.get(end..).unwrap_or_default().trim_start_matches(['*', '_', ' ']).to_owned()
    };
    let told = messages.iter().filter(|message| message.role != "system").map(said);
    let first = told.take(8).find(|said| !said.trim().is_empty()).unwrap_or_default();
    let mut title = String::new();
    for word in first.chars().take(1_000).collect::<String>().split_whitespace() {
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(word);
    }
    let title: String = title.chars().filter(|char| !char.is_control()).collect();
    match title.char_indices().nth(MADE_TITLE_CHARS) {
        _ if title.is_empty() => key.to_owned(),
        None => title,
        Some((end, _)) => {
            let cut = title.get(..end).unwrap_or_default();
            // Between words, unless that leaves too little.
            let end = cut.rfind(' ').filter(|&end| end > cut.len() / 2).unwrap_or(end);
            format!("{}…", title.get(..end).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(role: &str, content: &str) -> GivenMessage {
        message(role, MessageFormat::Text, content.to_owned(), None, None)
    }

    #[test]
    fn a_title_is_how_the_first_message_begins() {
        let messages =
            [text("system", "Be brief."), text("user", "  Which kettle\nis  quiet? "), text("assistant", "…")];
        assert_eq!(made_title(SessionForm::Messages, &messages, "c-1"), "Which kettle is quiet?");
        let long = made_title(SessionForm::Messages, &[text("user", &"word ".repeat(100))], "c-1");
        assert!(long.chars().count() <= MADE_TITLE_CHARS + 1 && long.ends_with("word…"), "{long}");
        assert_eq!(
            made_title(SessionForm::Messages, &[text("user", "记".repeat(200).as_str())], "c-1").chars().count(),
            MADE_TITLE_CHARS + 1
        );
        assert_eq!(made_title(SessionForm::Messages, &[text("user", " ")], "c-1"), "c-1");
        let transcript = text_messages("**User:** Which kettle?\nAssistant: This one.").expect("valid");
        assert_eq!(made_title(SessionForm::Text, &transcript, "c-1"), "Which kettle?");
    }

    #[test]
    fn a_text_with_nul_comes_back_from_its_pieces() {
        let given = format!("User: a\0b\nAssistant: {}\n", "\0\u{1F9E0}".repeat(2_000));
        let mut read = String::new();
        for message in text_messages(&given).expect("valid") {
            assert!(message.content.len() <= limits::MESSAGE_PART_BYTES && !message.content.contains('\0'));
            match message.format {
                MessageFormat::Text => read.push_str(&message.content),
                MessageFormat::Blocks => {
                    read.push_str(&serde_json::from_str::<String>(&message.content).expect("JSON"))
                }
            }
        }
        assert!(read == given);
    }

    #[test]
    fn what_is_wrong_names_the_message_and_the_field() {
        let new = |at: &str| NewMessage { role: "user".into(), at: Some(at.into()), ..NewMessage::default() };
        let error = given_messages(vec![new("2026-03-01"), new("yesterday")], &TimeZone::UTC).unwrap_err().to_string();
        assert!(error.starts_with("Message 2 of 2: `at` is not a time"), "{error}");
        for wrong in ["[1]", "x", "{"] {
            metadata(wrong).expect_err(wrong);
        }
        assert_eq!(metadata(r#"{"b":1,"a":2}"#).expect("valid"), r#"{"b":1,"a":2}"#);
    }
}
