//! What the caller let in: apps, tokens and keys.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{AppCall, AppId, Page};
use serde::{Deserialize, Serialize};

use super::WebError;

/// The namespaces that a form means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// All of them, later ones included.
    All,
    /// Those whose boxes are ticked.
    Chosen,
}

/// A page of what the caller let in, the newest first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "list_apps", input = GetUrl)]
pub async fn list_apps(
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<polymnemo_types::App>, WebError> {
    use polymnemo_types::limits;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.list_apps(&ctx, cursor.as_deref(), Some(limits::PAGE_MAX)).await?)
}

/// One of them.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "app", input = GetUrl)]
pub async fn app(
    /// The app.
    id: AppId,
) -> Result<polymnemo_types::App, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.app(&ctx, id).await?)
}

/// A page of what it saw and did, the latest first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "app_calls", input = GetUrl)]
pub async fn app_calls(
    /// The app.
    id: AppId,
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<AppCall>, WebError> {
    use polymnemo_types::limits;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.app_calls(&ctx, id, cursor.as_deref(), Some(limits::PAGE_MAX)).await?)
}

/// Changes what it may do.
///
/// # Errors
///
/// Those of the service: no namespace, or an app that can't be changed.
#[server(endpoint = "change_app")]
pub async fn change_app(
    /// The app.
    id: AppId,
    /// Whether it may write, too.
    can_write: bool,
    /// Where.
    namespaces: Which,
    /// The namespaces that are chosen.
    #[server(default)]
    names: Vec<String>,
    /// Besides these, those that are made later.
    #[server(default)]
    later: bool,
) -> Result<(), WebError> {
    use polymnemo_types::{AppGrants, NamespaceChoice};

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    let namespaces = match namespaces {
        Which::All => NamespaceChoice::All,
        Which::Chosen => service.choose_namespaces(&ctx, &names, later).await?,
    };
    service.change_app(&ctx, id, &AppGrants { can_read: true, can_write, namespaces }).await?;
    Ok(())
}

/// Pauses it, or lets it go on.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "pause_app")]
pub async fn pause_app(
    /// The app.
    id: AppId,
    /// Whether it is to be paused.
    paused: bool,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.pause_app(&ctx, id, paused).await?;
    Ok(())
}

/// Ends its access.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "revoke_app")]
pub async fn revoke_app(
    /// The app.
    id: AppId,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.revoke_app(&ctx, id).await?;
    Ok(())
}
