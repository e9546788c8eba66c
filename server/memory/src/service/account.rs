use polymnemo_types::{SettingsChange, UserId, UserSettings};

use super::{MemoryService, validate};
use crate::{Account, Ctx, Error, Identity, Result};

/// The greatest length of a user's name, in characters; a longer one is cut.
const NAME_CHARS: usize = 100;

impl MemoryService {
    /// The user of an identity that a provider has just vouched for, made when seen for the first time. `name` is what
    /// the provider calls them now.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn sign_in(&self, identity: &Identity, name: &str) -> Result<Account> {
        let name = validate::foreign_name(name, NAME_CHARS).unwrap_or_else(|| identity.subject.clone());
        self.store.sign_in(identity, &name, &self.defaults).await
    }

    /// The user with this id; nothing once they are removed, so their sessions end with the next request.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`].
    pub async fn account(&self, id: UserId) -> Result<Option<Account>> {
        self.store.account(id).await
    }

    /// What the caller has chosen for themselves.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn settings(&self, ctx: &Ctx) -> Result<UserSettings> {
        ctx.check_person()?;
        let account = self.store.account(ctx.user.id).await?.ok_or_else(|| {
            Error::Forbidden("Your account is not there any more. Sign in again to begin a new one.".into())
        })?;
        Ok(UserSettings {
            name: account.user.name,
            time_zone: account.user.time_zone.iana_name().unwrap_or("UTC").to_owned(),
            language: account.language,
            theme: account.theme,
            default_namespace: account.user.default_namespace,
        })
    }

    /// Changes settings: all that are given, or none where one is not valid. Gives the settings as they are then.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for an unknown time zone, a bad name of a namespace, or one that is shared; [`Error::Forbidden`],
    /// [`Error::Unavailable`].
    pub async fn change_settings(&self, ctx: &Ctx, change: SettingsChange) -> Result<UserSettings> {
        ctx.check_person()?;
        let change = SettingsChange {
            time_zone: change.time_zone.as_deref().map(validate::time_zone).transpose()?,
            default_namespace: change.default_namespace.as_deref().map(validate::namespace).transpose()?,
            ..change
        };
        if !self.store.change_settings(ctx, &change).await? {
            return Err(Error::Invalid(format!(
                "Everyone on this server can read `{}`, so it can't be the default: whatever a client stores without \
                 naming a namespace would be public. Choose a private one.",
                change.default_namespace.unwrap_or_default()
            )));
        }
        self.settings(ctx).await
    }

    /// Ends all sessions of the caller, this one included.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn sign_out_everywhere(&self, ctx: &Ctx) -> Result<()> {
        ctx.check_person()?;
        self.store.renew_session_secret(ctx).await
    }

    /// The names of all time zones that can be chosen, sorted.
    #[must_use]
    pub fn time_zones() -> Vec<String> {
        let mut names: Vec<String> = jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
        names.sort_unstable();
        names
    }
}
