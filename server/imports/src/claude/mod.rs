//! What Claude exports: conversations, projects and what it remembers, as the account's export, as single files of browser
//! extensions, and in parts since August 2026.

mod artifacts;
mod conversation;
mod memories;
mod projects;

pub(crate) use conversation::conversation;
pub(crate) use memories::memories;
pub(crate) use projects::project;
use serde_json::{Map, Value};

/// The files that the list of downloads names.
pub(crate) fn downloads(list: &Map<String, Value>) -> Vec<String> {
    crate::json::list(list, "data_files")
        .iter()
        .filter_map(|file| crate::json::text(file.as_object()?, "filename").map(str::to_owned))
        .collect()
}
