//! Sessions: finding them and reading one.

#[cfg(feature = "ssr")]
pub(crate) mod blocks;
pub mod changes;
#[cfg(feature = "ssr")]
mod json;
mod selection;
#[cfg(feature = "ssr")]
pub(crate) mod transcript;

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{MemoryId, Page, Session};
use serde::{Deserialize, Serialize};

use super::{
    WebError,
    memories::{Choices, Markup, Moment, Piece},
};

pub use selection::SessionSelection;
#[cfg(feature = "ssr")]
pub(crate) use selection::{SessionPlace, message_path, session_path};

/// The messages on a page of a transcript, and in each part that a living page loads.
pub const PART: u32 = 40;

/// Finds the sessions that a selection selects, those with the latest messages first.
///
/// # Errors
///
/// Those of [`list_sessions`](polymnemo_memory::MemoryService::list_sessions).
#[server(endpoint = "find_sessions", input = GetUrl)]
pub async fn find_sessions(
    /// What to find.
    #[server(default)]
    selection: SessionSelection,
) -> Result<Page<Session>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let request = selection.request(&ctx.user.time_zone)?;
    Ok(service.list_sessions(&ctx, request).await?)
}

/// Tells what a person can choose from to narrow the list of sessions.
///
/// # Errors
///
/// Those of [`facets`](polymnemo_memory::MemoryService::facets).
#[server(endpoint = "list_session_choices", input = GetUrl)]
pub async fn list_session_choices() -> Result<Choices, WebError> {
    use polymnemo_types::{Kind, ListRequest};

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let sessions = ListRequest { kind: Some(Kind::Session), ..ListRequest::default() };
    let namespaces = service.namespaces(&ctx, "", super::memories::NAMESPACES);
    let (namespaces, facets) = futures::future::try_join(namespaces, service.facets(&ctx, &sessions)).await?;
    Ok(Choices { namespaces, facets })
}

/// Gives a session without its messages.
///
/// # Errors
///
/// Those of [`session`](polymnemo_memory::MemoryService::session).
#[server(endpoint = "get_session", input = GetUrl)]
pub async fn get_session(
    /// The session.
    id: MemoryId,
) -> Result<Session, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.session(&ctx, id).await?)
}

/// Messages of a session, to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transcript {
    /// The number of the first of them.
    pub from: u32,
    /// How many they are.
    pub count: u32,
    /// What they say.
    pub markup: Markup,
}

/// Gives a part of a session's transcript: up to [`PART`] messages, from a number on. Of a long message it is the
/// beginning, but for one that is wanted whole.
///
/// # Errors
///
/// Those of [`messages`](polymnemo_memory::MemoryService::messages).
#[server(endpoint = "read_transcript", input = GetUrl)]
pub async fn read_transcript(
    /// The session.
    id: MemoryId,
    /// The number of the first message.
    from: u32,
    /// The message that is wanted whole.
    whole: Option<u32>,
) -> Result<Transcript, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let session = service.session(&ctx, id).await?;
    Ok(transcript::read(&service, &ctx, &session, SessionPlace { from, marked: None, whole }).await?)
}

/// A place inside one session that a search found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundMessage {
    /// The place of the message in the session.
    pub number: u32,
    /// Who speaks.
    pub role: String,
    /// When it was said.
    pub at: Option<Moment>,
    /// The passage that fits.
    pub text: Vec<Piece>,
}

/// The places that a search inside one session shows.
#[cfg(feature = "ssr")]
const PLACES: u32 = polymnemo_types::limits::PAGE_MAX;

/// Finds the messages of a session that fit a query, the best first.
///
/// # Errors
///
/// Those of [`search_session`](polymnemo_memory::MemoryService::search_session).
#[server(endpoint = "search_session", input = GetUrl)]
pub async fn search_session(
    /// The session.
    id: MemoryId,
    /// What to look for.
    q: String,
) -> Result<Vec<FoundMessage>, WebError> {
    use super::memories::{Marker, moment};

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let found = service.search_session(&ctx, id, &q, Some(PLACES)).await?;
    let mut marker = Marker::default();
    let found = found.into_iter().map(|found| FoundMessage {
        number: found.number,
        role: found.role,
        at: found.at.map(moment),
        text: marker.excerpt(&found.passage, &found.matched),
    });
    Ok(found.collect())
}

/// A message with the states that it has had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatesOfMessage {
    /// What the session is about.
    pub title: String,
    /// The states, the current one first.
    pub states: Vec<MessageState>,
}

/// One of the states of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageState {
    /// Its number, from 1.
    pub revision: u32,
    /// What it says, as it was given.
    pub text: String,
    /// The same, formatted.
    pub markup: Markup,
}

/// Gives a message whole, with what it said before.
///
/// # Errors
///
/// Those of [`message`](polymnemo_memory::MemoryService::message).
#[server(endpoint = "message_states", input = GetUrl)]
pub async fn message_states(
    /// The session.
    id: MemoryId,
    /// The place of the message in it.
    number: u32,
) -> Result<StatesOfMessage, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let (session, message) =
        futures::future::try_join(service.session(&ctx, id), service.message(&ctx, id, number)).await?;
    let mut messages = vec![message];
    // What it said before is for its owner alone.
    if session.memory.own && messages.iter().any(|message| message.revision > 1) {
        messages.extend(service.message_revisions(&ctx, id, number).await?);
    }
    let states = messages.into_iter().map(|message| MessageState {
        revision: message.revision,
        markup: Markup(transcript::markup_of(&message)),
        text: message.content,
    });
    Ok(StatesOfMessage { title: session.title, states: states.collect() })
}

/// What a message says, to be remembered by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordsToRemember {
    /// What was said, without tools and thoughts.
    pub words: String,
    /// What the session is about.
    pub title: String,
    /// The namespace that the session is in, where it is the caller's own.
    pub namespace: Option<String>,
}

/// Gives the words of a message, as far as a memory has room for them.
///
/// # Errors
///
/// Those of [`message`](polymnemo_memory::MemoryService::message).
#[server(endpoint = "message_words", input = GetUrl)]
pub async fn message_words(
    /// The session.
    id: MemoryId,
    /// The place of the message in it.
    number: u32,
) -> Result<WordsToRemember, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let (session, message) =
        futures::future::try_join(service.session(&ctx, id), service.message(&ctx, id, number)).await?;
    let words = blocks::words(&blocks::of_message(&message));
    let room = words.floor_char_boundary(polymnemo_types::limits::CONTENT_BYTES);
    Ok(WordsToRemember {
        words: words.get(..room).unwrap_or_default().trim().to_owned(),
        title: session.title,
        namespace: session.memory.own.then_some(session.memory.namespace),
    })
}
