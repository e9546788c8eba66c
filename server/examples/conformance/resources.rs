//! The resources that the suite prescribes.

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::json;

use crate::content::PNG;

const TEXT: &str = "test://static-text";
const BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

/// Every resource that has a fixed URI.
pub(crate) fn list() -> Vec<Resource> {
    vec![
        Resource::new(TEXT, "static-text").with_description("A text").with_mime_type("text/plain"),
        Resource::new(BINARY, "static-binary").with_description("An image").with_mime_type("image/png"),
        Resource::new(WATCHED, "watched-resource")
            .with_description("A text to subscribe to")
            .with_mime_type("text/plain"),
    ]
}

/// The resources that have a number.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "template")
        .with_description("Data by number")
        .with_mime_type("application/json")
}

/// Reads a resource.
pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match uri {
        TEXT => ResourceContents::text("This is the content of the static text resource.", uri),
        WATCHED => ResourceContents::text("This text never changes.", uri),
        BINARY => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        _ => {
            let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
            let Some(id) = id.filter(|id| !id.is_empty() && !id.contains('/')) else {
                return Err(ErrorData::resource_not_found("Resource not found", Some(json!({ "uri": uri }))));
            };
            let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}
