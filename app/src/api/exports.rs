//! The caller's exports.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{Export, ExportId};

use super::WebError;

/// The caller's exports, the newest first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "exports", input = GetUrl)]
pub async fn exports() -> Result<Vec<Export>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.list_exports(&ctx).await?)
}

/// Asks for an export of all that the caller has.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "request_export")]
pub async fn request_export() -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.request_export(&ctx).await?;
    Ok(())
}

/// Deletes an export, or gives one up that is under way.
///
/// # Errors
///
/// Those of the service: where there is none.
#[server(endpoint = "delete_export")]
pub async fn delete_export(
    /// The export.
    id: ExportId,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.delete_export(&ctx, id).await?;
    Ok(())
}
