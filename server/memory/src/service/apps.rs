use polymnemo_types::{Action, App, AppCall, AppGrants, AppId, MemoryId, NamespaceChoice, Page};

use super::{MemoryService, cursor, validate};
use crate::{Ctx, Error, Identity, Result, TokenRefusal, ports::KeyEntry};

/// Which lists cursors belong to.
const LIST: char = 'a';
const CALLS: char = 'c';
/// How many namespaces a choice is made among.
const MOST_NAMESPACES: u32 = 1_000;
/// The longest query that is noted, in characters.
const QUERY_CHARS: usize = 500;
/// The most memories that are noted of one call.
const MEMORIES: usize = 100;

impl MemoryService {
    /// A page of what the caller let in: apps, tokens and keys, the newest first, also those turned away.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad limit or cursor; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn list_apps(&self, ctx: &Ctx, cursor: Option<&str>, limit: Option<u32>) -> Result<Page<App>> {
        ctx.check_person()?;
        let limit = validate::limit(limit)?;
        let after = cursor.map(|cursor| cursor::to_key(LIST, cursor)).transpose()?;
        let mut page = self.store.apps(ctx, after, limit + 1).await?;
        page.next_cursor = cursor::next(LIST, &mut page.items, limit, |app| app.id);
        Ok(page)
    }

    /// One of them.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where it is not the caller's; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn app(&self, ctx: &Ctx, id: AppId) -> Result<App> {
        ctx.check_person()?;
        self.store.app(ctx, id).await?.ok_or_else(|| missing(id))
    }

    /// What the caller decided about an OAuth client before, if they did.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn app_of_client(&self, ctx: &Ctx, client_id: &str) -> Result<Option<App>> {
        ctx.check_person()?;
        self.store.app_of_client(ctx, client_id).await
    }

    /// The choice of these namespaces, with or without those that are made later: then it is kept as all but the others.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a name that is none; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn choose_namespaces(&self, ctx: &Ctx, chosen: &[String], later_too: bool) -> Result<NamespaceChoice> {
        ctx.check_person()?;
        if !later_too {
            return Ok(NamespaceChoice::Only(chosen.to_vec()));
        }
        let all = self.store.namespaces(ctx, "", MOST_NAMESPACES).await?;
        if all.len() >= MOST_NAMESPACES as usize {
            // What the list does not hold would be let through.
            return Err(Error::Invalid(format!(
                "With {MOST_NAMESPACES} namespaces or more, later ones can't be included. Choose all, or only those you name."
            )));
        }
        let others = all.into_iter().map(|namespace| namespace.name).filter(|name| !chosen.contains(name));
        Ok(NamespaceChoice::AllBut(others.collect()))
    }

    /// Changes what an app may do, from its very next call on. What a token may do stays as it was made.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where it is not the caller's, or not theirs to change; [`Error::Invalid`] for a choice that is none;
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn change_app(&self, ctx: &Ctx, id: AppId, grants: &AppGrants) -> Result<()> {
        ctx.check_person()?;
        let grants = app_grants(grants)?;
        if self.store.change_app(ctx, id, &grants).await? { Ok(()) } else { Err(missing(id)) }
    }

    /// Pauses an app, a token or a key, or lets it go on: it can do nothing from its very next call on, and needs no new
    /// letting in afterwards.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where it is not the caller's; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn pause_app(&self, ctx: &Ctx, id: AppId, paused: bool) -> Result<()> {
        ctx.check_person()?;
        let at = paused.then(|| self.now());
        if self.store.pause_app(ctx, id, at).await? { Ok(()) } else { Err(missing(id)) }
    }

    /// Turns an app or a token away: it can do nothing from its very next call on, until the caller lets it in anew. A key of
    /// the settings can only be paused.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] where it is not the caller's; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn revoke_app(&self, ctx: &Ctx, id: AppId) -> Result<()> {
        ctx.check_person()?;
        if self.store.revoke_app(ctx, id, self.now()).await? { Ok(()) } else { Err(missing(id)) }
    }

    /// Removes the entry of an app that was no more than a test.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn discard_app(&self, ctx: &Ctx, client_id: &str) -> Result<()> {
        ctx.check_person()?;
        self.store.discard_app(ctx, client_id).await
    }

    /// A page of what an app saw and did, the latest first.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad limit or cursor; [`Error::Missing`] where it is not the caller's; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn app_calls(
        &self,
        ctx: &Ctx,
        id: AppId,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Page<AppCall>> {
        ctx.check_person()?;
        let limit = validate::limit(limit)?;
        let before = cursor.map(|cursor| cursor::to_key(CALLS, cursor)).transpose()?;
        let mut calls = self.store.calls(ctx, id, before, limit + 1).await?;
        let next_cursor = cursor::next(CALLS, &mut calls, limit, |(number, _)| *number);
        // Read after them, so that the total is never less than what is shown.
        let app = self.app(ctx, id).await?;
        Ok(Page { items: calls.into_iter().map(|(_, call)| call).collect(), total: app.calls, next_cursor })
    }

    /// Who comes with a key that needs no letting in, such as one of the settings, as far as its owner lets it.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn authenticate_key(&self, identity: &Identity, key: KeyEntry<'_>) -> Result<Result<Ctx, TokenRefusal>> {
        let (user, app) = self.store.key_holder(identity, &self.defaults, &key, self.now()).await?;
        if app.paused_at.is_some() {
            return Ok(Err(TokenRefusal::Paused));
        }
        Ok(Ok(Ctx { user, door: key.door, client: None, app: Some(app.id), grants: app.grants.into() }))
    }

    /// Notes what the caller's client did, for the caller to read. It is written after this returns, and a failure is told to
    /// the log: the client has its answer.
    pub(super) fn record_call(&self, ctx: &Ctx, action: Action, query: Option<&str>, memories: Vec<MemoryId>) {
        let Some(app) = ctx.app else { return };
        let query: Option<String> = query.map(|query| query.chars().take(QUERY_CHARS).collect());
        let (store, ctx, now) = (self.store.clone(), ctx.clone(), self.now());
        tokio::spawn(async move {
            let memories = memories.get(..MEMORIES).unwrap_or(&memories);
            if let Err(error) = store.record_call(&ctx, app, now, action, query.as_deref(), memories).await {
                tracing::warn!(%error, cause = ?std::error::Error::source(&error), "a client's call could not be noted");
            }
        });
    }
}

/// What an app is to be allowed, checked.
pub(crate) fn app_grants(grants: &AppGrants) -> Result<AppGrants> {
    if !grants.can_read && !grants.can_write {
        return Err(Error::Invalid("An app that may neither read nor write has no use. Turn it away instead.".into()));
    }
    let names = |names: &[String]| -> Result<Vec<String>> {
        if names.len() > MOST_NAMESPACES as usize {
            return Err(Error::Invalid(format!("`namespaces`: choose at most {MOST_NAMESPACES}.")));
        }
        validate::namespaces(names)
    };
    let namespaces = match &grants.namespaces {
        NamespaceChoice::All => NamespaceChoice::All,
        NamespaceChoice::Only(chosen) if chosen.is_empty() => {
            return Err(Error::Invalid("Choose at least one namespace, or all of them.".into()));
        }
        NamespaceChoice::Only(chosen) => NamespaceChoice::Only(names(chosen)?),
        NamespaceChoice::AllBut(others) => NamespaceChoice::AllBut(names(others)?),
    };
    Ok(AppGrants { namespaces, ..grants.clone() })
}

fn missing(id: AppId) -> Error {
    Error::Missing(format!(
        "You have no app with the id {id} that this can be done to. Take it from the list of your apps."
    ))
}
