//! Sessions: whole conversations, kept word for word.

mod index;
mod read;
mod save;
mod search;
mod turns;

pub(super) use save::{given_messages, hash as hash_of_message, made_title};
pub(super) use turns::Turns;

use polymnemo_types::{MemoryId, Session, limits};

use super::{
    MemoryService,
    index::{heading_of, terms},
};
use crate::{Ctx, Error, Result, ports::NewChunk};

impl MemoryService {
    /// One session without its messages.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn session(&self, ctx: &Ctx, id: MemoryId) -> Result<Session> {
        ctx.check_read()?;
        self.store.session(ctx, self.embedder.model(), id).await?.ok_or(Error::NotFound(id))
    }

    /// Gives a session of the caller another title. (Moving and forgetting it are as for every memory.)
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], [`Error::Invalid`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn rename_session(&self, ctx: &Ctx, id: MemoryId, title: &str) -> Result<Session> {
        let title = self::title(title)?
            .ok_or_else(|| Error::Invalid("`title` is empty. Say in a few words what the session is about.".into()))?;
        let session = self.session(ctx, id).await?;
        let memory = self.own_memory(ctx, id).await?.memory;
        ctx.check_write(&memory.namespace)?;
        let heading = heading_of(memory.occurred_at, &ctx.user.time_zone, &memory.tags, memory.source.as_deref());
        let chunk = title_chunk(heading, &title).await?;
        if !self.store.set_title(ctx, self.embedder.model(), id, &title, chunk).await? {
            return Err(Error::NotFound(id));
        }
        self.pending.notify_one();
        Ok(Session { title, ..session })
    }
}

/// A title; nothing when empty.
fn title(title: &str) -> Result<Option<String>> {
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ").replace('\0', "\u{FFFD}");
    if title.chars().count() > limits::TITLE_CHARS || title.chars().any(char::is_control) {
        return Err(Error::Invalid(format!(
            "`title` has at most {} characters and none that control. Say in a few words what the session is about.",
            limits::TITLE_CHARS
        )));
    }
    Ok((!title.is_empty()).then_some(title))
}

/// The passage that makes a title searchable. It is so short that every model reads it whole.
pub(super) async fn title_chunk(heading: String, title: &str) -> Result<NewChunk> {
    let terms = terms(vec![(heading, title.to_owned())]).await?;
    let (terms, length) = terms.into_iter().next().unwrap_or_default();
    Ok(NewChunk { range: 0..title.len(), terms, length, vector: None, by_keyword_only: false })
}
