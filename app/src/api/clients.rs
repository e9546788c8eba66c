//! The clients that a person has connected.

use leptos::{prelude::*, server_fn::codec::GetUrl};
use polymnemo_types::ClientSighting;

use super::WebError;

/// The caller's clients, the last seen one first.
///
/// # Errors
///
/// Those of the service.
#[server(endpoint = "connected_clients", input = GetUrl)]
pub async fn connected_clients() -> Result<Vec<ClientSighting>, WebError> {
    let ctx = super::caller()?;
    let service = expect_context::<crate::WebContext>().service;
    Ok(service.list_sightings(&ctx).await?)
}
