use polymnemo_types::{NamespaceDetails, Page};

use super::{MemoryService, cursor, validate};
use crate::{Ctx, Error, Result, ports::NamespaceChanged};

/// Which list a cursor belongs to.
const LIST: char = 'n';

impl MemoryService {
    /// A page of the caller's own namespaces, by name, with exact counts.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad limit or cursor; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn own_namespaces(
        &self,
        ctx: &Ctx,
        cursor: Option<&str>,
        limit: Option<u32>,
    ) -> Result<Page<NamespaceDetails>> {
        ctx.check_person()?;
        let limit = validate::limit(limit)?;
        let after = cursor.map(|cursor| cursor::to_key::<String>(LIST, cursor)).transpose()?;
        let mut page = self.store.own_namespaces(ctx, after.as_deref(), limit + 1).await?;
        page.next_cursor = cursor::next(LIST, &mut page.items, limit, |namespace| namespace.name.clone());
        Ok(page)
    }

    /// One of the caller's own namespaces, with exact counts.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`], [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn own_namespace(&self, ctx: &Ctx, name: &str) -> Result<NamespaceDetails> {
        ctx.check_person()?;
        self.store.own_namespace(ctx, &validate::namespace(name)?).await?.ok_or_else(|| missing(name))
    }

    /// Makes an empty namespace.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a bad name or one that the caller has already; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn create_namespace(&self, ctx: &Ctx, name: &str) -> Result<NamespaceDetails> {
        ctx.check_person()?;
        let name = validate::namespace(name)?;
        if !self.store.create_namespace(ctx, &name).await? {
            return Err(taken(&name));
        }
        self.own_namespace(ctx, &name).await
    }

    /// Gives a namespace another name. Its memories keep their ids, their history follows, and so do the default of the
    /// settings and the tokens that are good for it.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]; [`Error::Invalid`] for a bad name, one that the caller has already, or one that the
    /// settings share with everyone; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn rename_namespace(&self, ctx: &Ctx, name: &str, new_name: &str) -> Result<NamespaceDetails> {
        ctx.check_person()?;
        let (name, new_name) = (validate::namespace(name)?, validate::namespace(new_name)?);
        if name != new_name {
            refuse(self.store.rename_namespace(ctx, &name, &new_name).await?, &name, &new_name)?;
        }
        self.own_namespace(ctx, &new_name).await
    }

    /// Makes a namespace readable by everyone on this server, or private again. Only its owner ever writes to it.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]; [`Error::Invalid`] for sharing the default one; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn share_namespace(&self, ctx: &Ctx, name: &str, shared: bool) -> Result<NamespaceDetails> {
        ctx.check_person()?;
        let name = validate::namespace(name)?;
        match self.store.share_namespace(ctx, &name, shared).await? {
            NamespaceChanged::IsDefault => {
                return Err(Error::Invalid(format!(
                    "`{name}` is your default namespace, so whatever a client stores without naming one would become \
                     readable by everyone. Choose another default in the settings first."
                )));
            }
            changed => refuse(changed, &name, &name)?,
        }
        self.own_namespace(ctx, &name).await
    }

    /// Deletes an empty namespace.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`]; [`Error::Invalid`] where it holds memories, if only in the trash, or is the default one;
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn delete_namespace(&self, ctx: &Ctx, name: &str) -> Result<()> {
        ctx.check_person()?;
        let name = validate::namespace(name)?;
        refuse(self.store.delete_namespace(ctx, &name).await?, &name, &name)
    }
}

/// Why a change to a namespace was not made.
fn refuse(changed: NamespaceChanged, name: &str, new_name: &str) -> Result<()> {
    Err(match changed {
        NamespaceChanged::Done => return Ok(()),
        NamespaceChanged::Missing => missing(name),
        NamespaceChanged::NameTaken => taken(new_name),
        NamespaceChanged::NameIsShared => Error::Invalid(format!(
            "This server shares every namespace called `{new_name}`, so all memories in `{name}` would become readable \
             by everyone. Choose another name, or move single memories there."
        )),
        NamespaceChanged::IsDefault => Error::Invalid(format!(
            "`{name}` is your default namespace. Choose another one in the settings first, then delete it."
        )),
        NamespaceChanged::NotEmpty { memories: 0, forgotten } => Error::Invalid(format!(
            "`{name}` still has {forgotten} memories in the trash. Restore and move them, or erase them; then delete it."
        )),
        NamespaceChanged::NotEmpty { memories, .. } => Error::Invalid(format!(
            "`{name}` still holds {memories} memories. Move or forget them first; only an empty namespace can be deleted."
        )),
    })
}

fn missing(name: &str) -> Error {
    Error::Missing(format!("You have no namespace `{name}`. Take its name from the list of your namespaces."))
}

fn taken(name: &str) -> Error {
    Error::Invalid(format!("You have a namespace `{name}` already. Choose another name, or use that one."))
}
