//! What mem0 and OpenMemory export.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    Reason, Source,
    digest::Digest,
    json::{id, list, object, text},
    memory::Draft,
    times::time,
};

/// A memory: as the API gives it, as a line of OpenMemory's backup, or as a row of its database.
pub(crate) fn memory(row: &Map<String, Value>, categories: &HashMap<String, String>) -> Result<Draft, Reason> {
    let content =
        ["memory", "content", "text", "data"].iter().find_map(|name| text(row, name)).ok_or(Reason::NothingInIt)?;
    if text(row, "state") == Some("deleted") || row.get("deleted_at").is_some_and(|time| !time.is_null()) {
        return Err(Reason::NotForImport("it was deleted there".to_owned()));
    }
    let source_id = ["id", "memory_id", "uuid"].iter().find_map(|name| id(row, name));
    let source_id = source_id.unwrap_or_else(|| {
        let mut digest = Digest::default();
        digest.add(content);
        format!("made-{}", digest.name())
    });
    let mut memory = Draft::new(Source::Mem0, source_id, content);
    let metadata = ["metadata", "metadata_"].iter().find_map(|name| object(row, name));
    let named = list(row, "categories").iter().filter_map(|category| match category {
        Value::String(name) => Some(name.clone()),
        Value::Object(category) => text(category, "name").map(str::to_owned),
        _ => None,
    });
    let numbered = list(row, "category_ids").iter().filter_map(|id| categories.get(id.as_str()?).cloned());
    let described = metadata.into_iter().flat_map(|metadata| {
        let tags = list(metadata, "tags").iter().filter_map(|tag| tag.as_str().map(str::to_owned));
        text(metadata, "category").map(str::to_owned).into_iter().chain(tags)
    });
    memory.tags = named.chain(numbered).chain(described).collect();
    memory.created_at = time(row.get("created_at"));
    memory.updated_at = time(row.get("updated_at"));
    memory.occurred_at = ["timestamp", "event_date"].iter().find_map(|name| time(row.get(*name)));
    memory.namespace_hint = ["user_id", "agent_id", "run_id"].iter().find_map(|name| id(row, name));
    Ok(memory)
}

/// The names of categories, where the rows give only their ids.
pub(crate) fn categories(document: &Map<String, Value>) -> HashMap<String, String> {
    let named = |category: &Value| {
        let category = category.as_object()?;
        Some((id(category, "id")?, text(category, "name")?.to_owned()))
    };
    list(document, "categories").iter().filter_map(named).collect()
}
