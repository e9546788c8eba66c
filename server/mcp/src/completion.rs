//! Completion of the variable in `memory://{namespace}`.

use polymnemo_memory::{Ctx, MemoryService};
use rmcp::{
    ErrorData,
    model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference},
};

use crate::resources::{TEMPLATE, protocol_error};

/// The namespaces that the caller may read and that begin with what was typed.
///
/// # Errors
///
/// Invalid parameters for anything but the one variable there is.
pub(crate) async fn complete(
    service: &MemoryService,
    ctx: &Ctx,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let is_template = matches!(&request.r#ref, Reference::Resource(resource) if resource.uri == TEMPLATE);
    if !is_template || request.argument.name != "namespace" {
        return Err(ErrorData::invalid_params(
            format!("only the argument `namespace` of the resource template {TEMPLATE} can be completed"),
            None,
        ));
    }
    // One more than may be shown tells whether there are more.
    let most = CompletionInfo::MAX_VALUES;
    let asked = u32::try_from(most + 1).unwrap_or(u32::MAX);
    let found = service.namespaces(ctx, &request.argument.value, asked).await.map_err(protocol_error)?;
    let has_more = found.len() > most;
    let total = (!has_more).then(|| u32::try_from(found.len()).unwrap_or(u32::MAX));
    let names = found.into_iter().take(most).map(|namespace| namespace.name).collect();
    let completion = CompletionInfo::with_pagination(names, total, has_more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}
