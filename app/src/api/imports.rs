//! Bringing in what other products know, and taking that back.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::{Import, ImportId, ImportLine, ImportOutcome, Page};

use super::WebError;

/// The most imports and lines of a report that a page shows.
#[cfg(feature = "ssr")]
const ON_A_PAGE: u32 = 50;

/// A page of the caller's imports, the last ones first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "list_imports", input = GetUrl)]
pub async fn list_imports(
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<Import>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.imports(&ctx, cursor.as_deref(), Some(ON_A_PAGE)).await?)
}

/// An import of the caller.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "read_import", input = GetUrl)]
pub async fn read_import(
    /// The import.
    id: ImportId,
) -> Result<Import, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.import(&ctx, id).await?)
}

/// A page of the report of an import of the caller.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "import_report", input = GetUrl)]
pub async fn import_report(
    /// The import.
    id: ImportId,
    /// Only what this became of.
    #[server(default)]
    outcome: Option<ImportOutcome>,
    /// From the page before.
    #[server(default)]
    cursor: Option<String>,
) -> Result<Page<ImportLine>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.import_lines(&ctx, id, outcome.as_slice(), cursor.as_deref(), Some(ON_A_PAGE)).await?)
}

/// Lets an import come in that was looked through.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "confirm_import")]
pub async fn confirm_import(
    /// The import.
    id: ImportId,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.confirm_import(&ctx, id).await?;
    Ok(())
}

/// Stops an import.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "cancel_import")]
pub async fn cancel_import(
    /// The import.
    id: ImportId,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.cancel_import(&ctx, id).await?)
}

/// Takes an import back.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "undo_import")]
pub async fn undo_import(
    /// The import.
    id: ImportId,
) -> Result<(), WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    service.undo_import(&ctx, id).await?;
    Ok(())
}
