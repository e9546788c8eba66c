//! Changing sessions. Each function here works from a plain form, and answers with a [`Notice`] of what it did.

use leptos::prelude::*;
use polymnemo_types::MemoryId;

use crate::api::{WebError, changes::Notice};
#[cfg(feature = "ssr")]
use crate::api::{caller, changes::Deed};

/// Gives a session another title.
///
/// # Errors
///
/// Those of [`rename_session`](polymnemo_memory::MemoryService::rename_session).
#[server(endpoint = "rename_session")]
pub async fn rename_session(
    /// The session.
    id: MemoryId,
    /// What it is about.
    title: String,
) -> Result<Notice, WebError> {
    let ctx = caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.rename_session(&ctx, id, &title).await?;
    Ok(Notice::of(Deed::SessionRenamed))
}

/// Moves a session to another namespace.
///
/// # Errors
///
/// Those of [`change_memories`](polymnemo_memory::MemoryService::change_memories).
#[server(endpoint = "move_session")]
pub async fn move_session(
    /// The session.
    id: MemoryId,
    /// The namespace to move to.
    namespace: String,
) -> Result<Notice, WebError> {
    let ctx = caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let change = polymnemo_types::BulkChange {
        ids: vec![id],
        namespace: Some(namespace),
        ..polymnemo_types::BulkChange::default()
    };
    Ok(Notice::of_report(Deed::SessionMoved, service.change_memories(&ctx, change).await?))
}

/// Puts a session into the trash.
///
/// # Errors
///
/// Those of [`change_memories`](polymnemo_memory::MemoryService::change_memories).
#[server(endpoint = "forget_session")]
pub async fn forget_session(
    /// The session.
    id: MemoryId,
) -> Result<Notice, WebError> {
    let ctx = caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let change = polymnemo_types::BulkChange { ids: vec![id], forget: true, ..polymnemo_types::BulkChange::default() };
    Ok(Notice::of_report(Deed::SessionForgotten, service.change_memories(&ctx, change).await?))
}
