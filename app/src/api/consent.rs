//! What an app asks for that sent a person here. The page alone reads it, so there is no server function for it.

use std::str::FromStr;

use http::request::Parts;
use leptos::prelude::*;
use polymnemo_types::{App, AuthorizationRequest};
use serde::{Deserialize, Serialize};

use super::{WebError, caller};
use crate::{BrowserKey, WebContext};

/// A request that waits for the caller's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingConsent {
    /// What the app asks for.
    pub(crate) request: AuthorizationRequest,
    /// What the caller decided about it before.
    pub(crate) before: Option<App>,
    /// Who would let it in.
    pub(crate) viewer: String,
}

/// Why an answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConsentProblem {
    /// No namespace was chosen.
    Namespaces,
    /// The database does not answer.
    Unavailable,
}

impl FromStr for ConsentProblem {
    type Err = ();

    fn from_str(code: &str) -> Result<Self, ()> {
        match code {
            "namespaces" => Ok(Self::Namespaces),
            "unavailable" => Ok(Self::Unavailable),
            _ => Err(()),
        }
    }
}

/// The request of this id; `None` where there is none that this browser brought.
pub(crate) async fn pending_consent(id: &str) -> Result<Option<PendingConsent>, WebError> {
    let ctx = caller()?;
    let service = expect_context::<WebContext>().service;
    let browser = use_context::<Parts>().and_then(|parts| parts.extensions.get::<BrowserKey>().cloned());
    let Some(BrowserKey(browser)) = browser else { return Ok(None) };
    let Some(request) = service.authorization_request(id, &browser).await? else { return Ok(None) };
    let before = service.app_of_client(&ctx, &request.client_id).await?;
    Ok(Some(PendingConsent { request, before, viewer: ctx.user.name }))
}
