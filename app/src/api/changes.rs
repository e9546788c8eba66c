//! Changing memories. Each function here works from a plain form as well as on a living page, and
//! answers with a [`Notice`] of what it did.

pub(crate) mod notice;

use leptos::prelude::*;
use polymnemo_types::MemoryId;

use super::WebError;

pub use self::notice::{Deed, Notice, TakeNotice, take_notice};

/// The path of a memory's page.
#[must_use]
pub fn memory_path(id: MemoryId) -> String {
    format!("/memories/{id}")
}

/// Keeps a text, and goes to its page.
///
/// # Errors
///
/// Those of [`remember`](polymnemo_memory::MemoryService::remember).
#[server(endpoint = "remember")]
pub async fn remember(
    /// The text.
    content: String,
    /// Where it goes; to the default namespace where empty.
    namespace: String,
    /// Its labels, with commas between them.
    tags: String,
    /// Where it comes from.
    source: String,
    /// The session that it was taken from.
    #[server(default)]
    session: Option<MemoryId>,
    /// The place of the message in that.
    #[server(default)]
    message: Option<u32>,
) -> Result<Notice, WebError> {
    use polymnemo_types::{MessagePlace, RememberRequest, RememberStatus};

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let request = RememberRequest {
        content: unix_lines(content),
        namespace: given(namespace),
        tags: tags_of(&tags),
        source: given(source),
        origin: session.zip(message).map(|(session, number)| MessagePlace { session, number }),
        ..RememberRequest::default()
    };
    let remembered = service.remember(&ctx, request).await?;
    leptos_axum::redirect(&memory_path(remembered.id));
    Ok(Notice::of(match remembered.status {
        RememberStatus::Stored => Deed::Remembered,
        RememberStatus::AlreadyStored => Deed::Known,
    }))
}

/// Changes a memory that is still at the revision that the person read.
///
/// # Errors
///
/// Those of [`update`](polymnemo_memory::MemoryService::update).
#[server(endpoint = "update_memory")]
pub async fn update_memory(
    /// The memory.
    id: MemoryId,
    /// The revision that the person read.
    revision: u32,
    /// The new text.
    content: String,
    /// The namespace.
    namespace: String,
    /// The labels, with commas between them.
    tags: String,
    /// Where it comes from.
    source: String,
    /// The time it speaks of, as the person left it.
    occurred_at: String,
    /// The time it speaks of, as the form showed it: what is shown leaves out the seconds, and must
    /// not take them away.
    occurred_at_shown: String,
) -> Result<Notice, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let request = polymnemo_types::UpdateRequest {
        id,
        content: Some(unix_lines(content)),
        tags: Some(tags_of(&tags)),
        source: Some(source),
        namespace: given(namespace),
        occurred_at: Some(occurred_at).filter(|time| *time != occurred_at_shown),
        expected_revision: Some(revision),
    };
    let updated = service.update(&ctx, request).await?;
    Ok(Notice::of(if updated.changed { Deed::Saved } else { Deed::Unchanged }))
}

/// Labels and moves memories.
///
/// # Errors
///
/// Those of [`change_memories`](polymnemo_memory::MemoryService::change_memories).
#[server(endpoint = "change_memories")]
pub async fn change_memories(
    /// The memories.
    #[server(default)]
    ids: Vec<MemoryId>,
    /// Labels to add, with commas between them.
    add_tags: String,
    /// Labels to take away, with commas between them.
    remove_tags: String,
    /// The namespace to move to; where empty, they stay where they are.
    namespace: String,
) -> Result<Notice, WebError> {
    let change = polymnemo_types::BulkChange {
        ids,
        add_tags: tags_of(&add_tags),
        remove_tags: tags_of(&remove_tags),
        namespace: given(namespace),
        forget: false,
    };
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(Notice::of_report(Deed::Changed, service.change_memories(&ctx, change).await?))
}

/// Puts memories into the trash.
///
/// # Errors
///
/// Those of [`change_memories`](polymnemo_memory::MemoryService::change_memories).
#[server(endpoint = "forget_memories")]
pub async fn forget_memories(
    /// The memories.
    #[server(default)]
    ids: Vec<MemoryId>,
) -> Result<Notice, WebError> {
    let change = polymnemo_types::BulkChange { ids, forget: true, ..Default::default() };
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(Notice::of_report(Deed::Forgotten, service.change_memories(&ctx, change).await?))
}

/// Takes memories out of the trash.
///
/// # Errors
///
/// Those of [`undo_change`](polymnemo_memory::MemoryService::undo_changes).
#[server(endpoint = "restore_memories")]
pub async fn restore_memories(
    /// The memories.
    #[server(default)]
    ids: Vec<MemoryId>,
) -> Result<Notice, WebError> {
    let undo = polymnemo_types::BulkUndo { restore: ids, ..Default::default() };
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(Notice::of_report(Deed::Restored, service.undo_changes(&ctx, undo).await?))
}

/// Deletes memories that are in the trash, for good.
///
/// # Errors
///
/// Those of [`erase`](polymnemo_memory::MemoryService::erase).
#[server(endpoint = "erase_memories")]
pub async fn erase_memories(
    /// The memories.
    #[server(default)]
    ids: Vec<MemoryId>,
) -> Result<Notice, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(Notice::of_count(Deed::Erased, service.erase(&ctx, &ids).await?.ids.len()))
}

/// Gives a memory back the state that it had at an earlier revision.
///
/// # Errors
///
/// Those of [`restore_revision`](polymnemo_memory::MemoryService::restore_revision).
#[server(endpoint = "restore_revision")]
pub async fn restore_revision(
    /// The memory.
    id: MemoryId,
    /// The revision to go back to.
    revision: u32,
    /// The revision that the person took for the current one.
    current: u32,
) -> Result<Notice, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let updated = service.restore_revision(&ctx, id, revision, Some(current)).await?;
    Ok(Notice::of(if updated.changed { Deed::Reverted } else { Deed::Unchanged }))
}

/// Undoes what a [`Notice`] told of.
///
/// # Errors
///
/// Those of [`undo_change`](polymnemo_memory::MemoryService::undo_changes).
#[server(endpoint = "undo_change")]
pub async fn undo_change(
    /// [`Notice::undo`], unchanged.
    undo: String,
) -> Result<Notice, WebError> {
    let undo = notice::read_undo(&undo)?;
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(Notice::of_report(Deed::Undone, service.undo_changes(&ctx, undo).await?))
}

/// What a field holds, if anything.
#[cfg(feature = "ssr")]
pub(super) fn given(text: String) -> Option<String> {
    (!text.trim().is_empty()).then_some(text)
}

/// The labels in a field.
#[cfg(feature = "ssr")]
pub(super) fn tags_of(text: &str) -> Vec<String> {
    text.split([',', '，', '、']).map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect()
}

/// A text as it was typed: forms send line ends as CR LF.
#[cfg(feature = "ssr")]
pub(super) fn unix_lines(text: String) -> String {
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text }
}
