use polymnemo_memory::{Ctx, Error, Result};
use polymnemo_types::{LanguageSetting, SettingsChange, Theme};
use sea_orm::Value;

use crate::{PgStore, transaction::Scope};

impl PgStore {
    pub(crate) async fn update_settings(&self, ctx: &Ctx, change: &SettingsChange) -> Result<bool> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        if let Some(name) = &change.default_namespace {
            let id = transaction.lock_own_namespace(ctx, name, self.shared_by_setting(name)).await?;
            if transaction.one("select from namespaces where id = $1 and shared", vec![id.into()]).await?.is_some() {
                return Ok(false);
            }
        }
        transaction
            .run(
                "update users set time_zone = coalesce($2, time_zone),
                     language = case when $3 then $4 else language end,
                     theme = coalesce($5, theme),
                     default_namespace = coalesce($6, default_namespace)
                 where id = $1",
                vec![
                    ctx.user.id.0.into(),
                    change.time_zone.clone().into(),
                    change.language.is_some().into(),
                    language_to_sql(change.language.unwrap_or_default()),
                    change.theme.map(theme_to_sql).into(),
                    change.default_namespace.clone().into(),
                ],
            )
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    pub(crate) async fn new_session_secret(&self, ctx: &Ctx) -> Result<()> {
        let transaction = self.begin(Scope::User(ctx.user.id)).await?;
        transaction.run("update users set session_secret = default where id = $1", vec![ctx.user.id.0.into()]).await?;
        transaction.commit().await
    }
}

fn language_to_sql(language: LanguageSetting) -> Value {
    let name = match language {
        LanguageSetting::Browser => None,
        LanguageSetting::English => Some("en"),
        LanguageSetting::Chinese => Some("zh"),
    };
    name.into()
}

pub(crate) fn language_from_sql(name: Option<&str>) -> Result<LanguageSetting> {
    match name {
        None => Ok(LanguageSetting::Browser),
        Some("en") => Ok(LanguageSetting::English),
        Some("zh") => Ok(LanguageSetting::Chinese),
        Some(_) => Err(Error::internal("the database holds an unknown language")),
    }
}

fn theme_to_sql(theme: Theme) -> &'static str {
    match theme {
        Theme::System => "system",
        Theme::Light => "light",
        Theme::Dark => "dark",
    }
}

pub(crate) fn theme_from_sql(name: &str) -> Result<Theme> {
    match name {
        "system" => Ok(Theme::System),
        "light" => Ok(Theme::Light),
        "dark" => Ok(Theme::Dark),
        _ => Err(Error::internal("the database holds an unknown theme")),
    }
}
