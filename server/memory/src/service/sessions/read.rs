use polymnemo_types::{
    Action, ListSessionsRequest, LoadSessionRequest, MemoryId, MessageFormat, MessagePart, Origin, Page, Session,
    SessionForm, SessionPage, limits,
};

use super::save::key;
use crate::{
    Ctx, Error, Result,
    ports::SessionFilter,
    service::{MemoryService, cursor, validate},
    transcript, when,
};

/// The most earlier states of a message that are read.
const REVISIONS: u32 = 50;

impl MemoryService {
    /// A page of a session, word for word.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where there is no such session or message; [`Error::Invalid`] for a page that there isn't;
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn load_session(&self, ctx: &Ctx, request: LoadSessionRequest) -> Result<SessionPage> {
        ctx.check_read()?;
        let page_size = match request.page_size {
            None => limits::SESSION_PAGE_DEFAULT,
            Some(size @ 1..=limits::SESSION_PAGE_MAX) => size,
            Some(size) => {
                return Err(Error::Invalid(format!(
                    "`page_size` must be from 1 to {}, you gave {size}.",
                    limits::SESSION_PAGE_MAX
                )));
            }
        };
        let session = self.find_session(ctx, &request.session_id).await?;
        let id = session.memory.id;
        self.record_call(ctx, Action::LoadSession, None, vec![id]);
        let pages = session.parts.div_ceil(page_size).max(1);
        let page = match (request.page, request.message) {
            (Some(_), Some(_)) => {
                return Err(Error::Invalid(
                    "Give either `page` or `message`, not both: each says where to read.".into(),
                ));
            }
            (None, None) => 1,
            (Some(page), None) if (1..=pages).contains(&page) => page,
            (Some(page), None) => {
                return Err(Error::Invalid(format!(
                    "`page` must be from 1 to {pages} with {page_size} parts on a page, you gave {page}."
                )));
            }
            (None, Some(number)) => {
                let part = self.store.part_of_message(ctx, id, number).await?;
                part.ok_or_else(|| no_such_message(number, session.messages))? / page_size + 1
            }
        };
        let first = (page - 1) * page_size;
        let messages = self.store.messages_by_part(ctx, id, first, page_size).await?;
        let mut parts = Vec::new();
        for (first_part, mut message) in messages {
            let whole = std::mem::take(&mut message.content);
            let ranges = transcript::parts(&whole);
            let count = u32::try_from(ranges.len()).unwrap_or(u32::MAX);
            for (part, range) in (0..count).zip(ranges) {
                if (first..first + page_size).contains(&(first_part + part)) {
                    let content = whole.get(range).unwrap_or_default().to_owned();
                    let message = MessagePart { content, part: part + 1, parts: count, ..message.clone() };
                    parts.push(if session.form == SessionForm::Text { unescaped(message)? } else { message });
                }
            }
        }
        Ok(SessionPage { session, page, page_size, pages, parts })
    }

    /// The session that a client calls so, or that has this id.
    async fn find_session(&self, ctx: &Ctx, name: &str) -> Result<Session> {
        let name = key("session_id", name)?.ok_or_else(|| {
            Error::Invalid("`session_id` is empty. list_sessions shows the sessions that there are.".into())
        })?;
        let model = self.embedder.model();
        if let Some(session) = self.store.session_by_key(ctx, model, &name).await? {
            return Ok(session);
        }
        let by_id = match name.parse::<MemoryId>() {
            Ok(id) => self.store.session(ctx, model, id).await?,
            Err(_) => None,
        };
        by_id.ok_or_else(|| {
            let shown: String = name.chars().take(60).collect();
            Error::Missing(format!(
                "There is no session `{shown}`. list_sessions shows those that there are; recall finds what was said in them."
            ))
        })
    }

    /// A page of sessions, those with the latest messages first.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad filter, limit or cursor; [`Error::NamespaceNotFound`]; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn list_sessions(&self, ctx: &Ctx, request: ListSessionsRequest) -> Result<Page<Session>> {
        ctx.check_read()?;
        let zone = &ctx.user.time_zone;
        let words = request.query.as_deref().map(str::trim).filter(|words| !words.is_empty());
        let filter = SessionFilter {
            words: words.map(validate::query).transpose()?,
            namespace: request.namespace.as_deref().map(validate::namespace).transpose()?,
            client: validate::client(request.client.as_deref())?,
            after: request.after.map(|text| when::parse("after", &text, zone)).transpose()?,
            before: request.before.map(|text| when::parse("before", &text, zone)).transpose()?,
        };
        let limit = validate::limit(request.limit)?;
        let place = request.cursor.as_deref().map(cursor::to_place).transpose()?;
        let (mut page, next) = self.store.sessions(ctx, self.embedder.model(), &filter, place, limit).await?;
        if page.total == 0 {
            self.check_namespace(ctx, filter.namespace.as_deref()).await?;
        }
        page.next_cursor = next.map(cursor::from_place);
        self.record_call(ctx, Action::ListSessions, None, page.items.iter().map(|item| item.memory.id).collect());
        Ok(page)
    }

    /// Up to `count` messages of a session from number `from` on, each with its beginning: its first part, at most
    /// [`limits::MESSAGE_VIEW_BYTES`] long. One with more has more than one part.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Invalid`] for a bad count; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn messages(&self, ctx: &Ctx, id: MemoryId, from: u32, count: u32) -> Result<Vec<MessagePart>> {
        if !(1..=limits::MESSAGE_VIEWS).contains(&count) {
            return Err(Error::Invalid(format!(
                "`count` must be from 1 to {}, you gave {count}.",
                limits::MESSAGE_VIEWS
            )));
        }
        let session = self.session(ctx, id).await?;
        let most = limits::MESSAGE_VIEW_BYTES;
        let characters = u32::try_from(most).ok();
        let messages = self.store.messages(ctx, id, from, count, characters).await?;
        messages
            .into_iter()
            .map(|mut message| {
                message.content.truncate(message.content.floor_char_boundary(most));
                let is_whole = message.content.len() as u64 == message.bytes;
                message.parts = if is_whole { 1 } else { 2 };
                if session.form == SessionForm::Text && is_whole { unescaped(message) } else { Ok(message) }
            })
            .collect()
    }

    /// A whole message of a session.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`]; [`Error::Missing`] where the session has no such message; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn message(&self, ctx: &Ctx, id: MemoryId, number: u32) -> Result<MessagePart> {
        let session = self.session(ctx, id).await?;
        let message = self.store.messages(ctx, id, number, 1, None).await?.pop();
        let message = message.ok_or_else(|| no_such_message(number, session.messages))?;
        let message = MessagePart { parts: 1, ..message };
        if session.form == SessionForm::Text { unescaped(message) } else { Ok(message) }
    }

    /// The earlier states of a message of the caller, the latest first.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn message_revisions(&self, ctx: &Ctx, id: MemoryId, number: u32) -> Result<Vec<MessagePart>> {
        self.session(ctx, id).await?;
        self.own_memory(ctx, id).await?;
        self.store.message_revisions(ctx, id, number, REVISIONS).await
    }

    /// The message that a memory was taken from, if it is one of a session that the caller may still read.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn origin(&self, ctx: &Ctx, id: MemoryId) -> Result<Option<Origin>> {
        ctx.check_read()?;
        self.store.origin(ctx, id).await
    }
}

fn no_such_message(number: u32, messages: u32) -> Error {
    Error::Missing(format!("There is no message {number}: the session has {messages}, counted from 1."))
}

/// A piece of a text as it was given: one with NUL characters is kept as JSON, so short that it has one part.
fn unescaped(message: MessagePart) -> Result<MessagePart> {
    match message.format {
        MessageFormat::Text => Ok(message),
        MessageFormat::Blocks => {
            let content: String =
                serde_json::from_str(&message.content).map_err(|error| Error::Internal(error.into()))?;
            Ok(MessagePart { content, format: MessageFormat::Text, ..message })
        }
    }
}
