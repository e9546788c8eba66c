//! Stories of sessions: kept word for word, stored once, found again, forgotten.

mod at_once;
mod changing;
mod finding;
mod large;
mod loading;
mod saving;
mod turns;

use std::time::Duration;

use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::{
    LoadSessionRequest, MemoryId, MessageContent, MessageFormat, MessagePart, NewMessage, SaveSessionRequest,
    SavedSession,
};

fn said(role: &str, content: &str) -> NewMessage {
    NewMessage { role: role.into(), content: MessageContent::Text(content.into()), ..NewMessage::default() }
}

fn blocks(role: &str, json: &str) -> NewMessage {
    NewMessage { role: role.into(), content: MessageContent::Blocks(json.into()), ..NewMessage::default() }
}

fn with_id(id: &str, message: NewMessage) -> NewMessage {
    NewMessage { id: Some(id.into()), ..message }
}

fn session(key: &str, messages: Vec<NewMessage>) -> SaveSessionRequest {
    SaveSessionRequest { session_id: key.into(), messages: Some(messages), ..SaveSessionRequest::default() }
}

fn transcript(key: &str, content: &str) -> SaveSessionRequest {
    SaveSessionRequest { session_id: key.into(), content: Some(content.into()), ..SaveSessionRequest::default() }
}

/// How many messages were new, changed and there.
fn counts(saved: &SavedSession) -> (u32, u32, u32) {
    (saved.appended, saved.revised, saved.unchanged)
}

/// All parts of a session, read page by page.
async fn load(service: &MemoryService, ctx: &Ctx, name: &str, page_size: u32) -> Vec<MessagePart> {
    let mut parts = Vec::new();
    let mut page = 1;
    loop {
        let request =
            LoadSessionRequest { session_id: name.into(), page: Some(page), page_size: Some(page_size), message: None };
        let read = service.load_session(ctx, request).await.unwrap();
        assert!(read.parts.len() <= page_size as usize);
        parts.extend(read.parts);
        if page == read.pages {
            return parts;
        }
        page += 1;
    }
}

/// What a session says, message for message: its parts put together.
fn together(parts: &[MessagePart]) -> Vec<(String, MessageFormat, String)> {
    let mut messages: Vec<(String, MessageFormat, String)> = Vec::new();
    for part in parts {
        match part.part {
            1 => messages.push((part.role.clone(), part.format, part.content.clone())),
            _ => messages.last_mut().unwrap().2.push_str(&part.content),
        }
        assert_eq!(part.number as usize, messages.len());
    }
    messages
}

/// What was given, in the same shape.
fn given(messages: &[NewMessage]) -> Vec<(String, MessageFormat, String)> {
    messages
        .iter()
        .map(|message| match &message.content {
            MessageContent::Text(text) => (message.role.clone(), MessageFormat::Text, text.clone()),
            MessageContent::Blocks(json) => (message.role.clone(), MessageFormat::Blocks, json.clone()),
        })
        .collect()
}

/// Waits until a session is searchable in every way.
async fn is_indexed(service: &MemoryService, ctx: &Ctx, id: MemoryId) {
    for _ in 0..1_200 {
        if service.session(ctx, id).await.unwrap().index.is_complete() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let index = service.session(ctx, id).await.unwrap().index;
    assert!(index.is_complete(), "{index:?}");
}
