//! The caller's own namespaces, and what others share.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{NamespaceDetails, NamespaceSummary, Page};

use super::WebError;

/// A page of the caller's own namespaces, by name.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "own_namespaces", input = GetUrl)]
pub async fn own_namespaces(
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<NamespaceDetails>, WebError> {
    use polymnemo_types::limits;

    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.own_namespaces(&ctx, cursor.as_deref(), Some(limits::PAGE_MAX)).await?)
}

/// The most namespaces that [`readable_namespaces`] gives.
#[cfg(feature = "ssr")]
const MOST: u32 = 200;

/// The namespaces that the caller may read, by name, those that others share included.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "readable_namespaces", input = GetUrl)]
pub async fn readable_namespaces() -> Result<Vec<NamespaceSummary>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.namespaces(&ctx, "", MOST).await?)
}

/// Makes a namespace.
///
/// # Errors
///
/// Those of the service: a name that is none, or that is taken.
#[server(endpoint = "create_namespace")]
pub async fn create_namespace(
    /// Its name.
    name: String,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.create_namespace(&ctx, &name).await?;
    Ok(())
}

/// Gives a namespace another name.
///
/// # Errors
///
/// Those of the service: a name that is none, or that is taken.
#[server(endpoint = "rename_namespace")]
pub async fn rename_namespace(
    /// Its name.
    name: String,
    /// Its name from now on.
    new_name: String,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.rename_namespace(&ctx, &name, &new_name).await?;
    Ok(())
}

/// Makes a namespace readable by everyone on this server, or no longer.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "share_namespace")]
pub async fn share_namespace(
    /// Its name.
    name: String,
    /// Whether everyone may read it.
    shared: bool,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.share_namespace(&ctx, &name, shared).await?;
    Ok(())
}

/// Deletes a namespace that is empty and not the default one.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "delete_namespace")]
pub async fn delete_namespace(
    /// Its name.
    name: String,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.delete_namespace(&ctx, &name).await?;
    Ok(())
}
