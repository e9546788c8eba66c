//! Forms that need no script.
//!
//! A form of a page posts to the page's own address and names the server function that it calls
//! (see [`CallForm`](crate::components::CallForm)). The server runs the function. Where all went
//! well it redirects to where the form says; else it answers with the page itself, which finds
//! here what was typed and what was wrong with it. So nothing that was typed is lost, no error
//! and no secret is ever part of a URL, and there is one way for browsers with and without
//! JavaScript.

use leptos::prelude::*;
#[cfg(feature = "ssr")]
use leptos::server_fn::ServerFn;
use leptos_router::hooks::use_location;
use polymnemo_types::ApiError;
#[cfg(feature = "ssr")]
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A form that was just sent, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SentForm {
    /// The path of the server function.
    pub(crate) call: String,
    /// The names and values of the form's fields, in the order of the page.
    pub(crate) fields: Vec<(String, String)>,
    /// What the server function gave.
    pub(crate) outcome: Result<serde_json::Value, ApiError>,
}

impl SentForm {
    /// The name of the field that holds the path of the server function.
    pub(crate) const CALL: &str = "call";
    /// The name of the field that holds where to go when all went well.
    pub(crate) const THEN: &str = "then";

    /// Makes the form that led to this page known to everything on it, until the person goes to
    /// another page: then what it holds is forgotten, as it may be a secret.
    pub(crate) fn provide() {
        let sent = SharedValue::new(Self::of_request).into_inner();
        let sent = StoredValue::new(sent);
        provide_context(sent);
    }

    /// Forgets the form as soon as the person goes to another page. To be called below the router.
    pub(crate) fn forget_on_leaving() {
        let Some(sent) = use_context::<StoredValue<Option<Self>>>() else { return };
        let path = use_location().pathname;
        Effect::new(move |before: Option<String>| {
            let path = path.get();
            if before.is_some_and(|before| before != path) {
                sent.set_value(None);
            }
            path
        });
    }

    #[cfg(feature = "ssr")]
    /// The form that was sent, if it called this server function.
    pub(crate) fn calling<Call: ServerFn>() -> Option<Self> {
        Self::any().filter(|sent| sent.call == Call::PATH)
    }

    /// The form that was sent, whatever it called.
    pub(crate) fn any() -> Option<Self> {
        use_context::<StoredValue<Option<Self>>>()?.try_get_value().flatten()
    }

    /// What the (first) field of this name held.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Whether a field of this name held this value.
    pub(crate) fn has(&self, name: &str, value: &str) -> bool {
        self.fields.iter().any(|(given, held)| given == name && held == value)
    }

    /// What went wrong.
    pub(crate) fn error(&self) -> Option<&ApiError> {
        self.outcome.as_ref().err()
    }

    #[cfg(feature = "ssr")]
    /// What the server function gave, where all went well.
    pub(crate) fn answer<Answer: DeserializeOwned>(&self) -> Option<Answer> {
        serde_json::from_value(self.outcome.clone().ok()?).ok()
    }

    #[cfg(feature = "ssr")]
    fn of_request() -> Option<Self> {
        use_context::<http::request::Parts>()?.extensions.get::<Self>().cloned()
    }

    /// In the browser there is no request: what the server knew came with the page.
    #[cfg(not(feature = "ssr"))]
    fn of_request() -> Option<Self> {
        None
    }
}
