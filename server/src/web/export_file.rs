//! Fetching an export: the link on the page stays the same, and what it leads to is signed with each click.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use polymnemo_memory::{Ctx, MemoryService};
use polymnemo_types::ExportId;

use super::see_other;

/// Leads to where an export can be fetched for a little while; back to the page where there is none.
pub(super) async fn fetch(
    State(service): State<Arc<MemoryService>>,
    Extension(ctx): Extension<Ctx>,
    Path(id): Path<String>,
) -> Response {
    let url = match id.parse::<ExportId>() {
        Ok(id) => service.export_url(&ctx, id).await,
        Err(_) => return see_other("/export"),
    };
    match url {
        Ok(url) => see_other(&url),
        Err(error) => {
            // Its time is over, or it was deleted: the page shows which there are.
            tracing::debug!(%error, "an export that is not there was asked for");
            see_other("/export")
        }
    }
}
