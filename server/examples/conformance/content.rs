//! Small media, and JSON as the protocol's types.

use rmcp::ErrorData;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// No samples at 8 kHz.
pub(crate) const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

/// A fixture that is written as JSON, as the suite describes it.
pub(crate) fn from_json<T: DeserializeOwned>(fixture: Value) -> Result<T, ErrorData> {
    serde_json::from_value(fixture)
        .map_err(|error| ErrorData::internal_error(format!("a fixture is wrong: {error}"), None))
}
