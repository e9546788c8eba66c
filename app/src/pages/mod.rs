//! The pages, a file per route.

#[cfg(feature = "ssr")]
mod app_calls;
#[cfg(feature = "ssr")]
mod apps;
mod beside;
#[cfg(feature = "ssr")]
mod connect;
#[cfg(feature = "ssr")]
mod consent;
#[cfg(feature = "ssr")]
mod edit_memory;
#[cfg(feature = "ssr")]
mod grant_fields;
#[cfg(feature = "ssr")]
mod kept_form;
mod memories;
#[cfg(feature = "ssr")]
mod memory;
#[cfg(feature = "ssr")]
mod memory_fields;
#[cfg(feature = "ssr")]
mod memory_header;
#[cfg(feature = "ssr")]
mod memory_history;
#[cfg(feature = "ssr")]
mod namespaces;
#[cfg(feature = "ssr")]
mod new_memory;
#[cfg(feature = "ssr")]
mod no_such_memory;
mod not_found;
#[cfg(feature = "ssr")]
mod settings;
#[cfg(feature = "ssr")]
mod sign_in;
#[cfg(feature = "ssr")]
mod tokens;
#[cfg(feature = "ssr")]
mod trash;
mod welcome;

#[cfg(feature = "ssr")]
pub(crate) use self::{
    app_calls::AppCalls, apps::Apps, beside::is_asked_for_alone, connect::Connect, consent::Consent,
    kept_form::KeptForm, namespaces::Namespaces, settings::Settings, sign_in::SignIn, tokens::Tokens, trash::Trash,
};
pub(crate) use self::{
    beside::Beside,
    memories::{BelowMemories, Memories},
    not_found::NotFound,
    welcome::Welcome,
};
// What the server makes alone.
#[cfg(not(feature = "ssr"))]
pub(crate) use crate::components::{
    PageOnServer as AppCalls, PageOnServer as Apps, PageOnServer as Connect, PageOnServer as Consent,
    PageOnServer as KeptForm, PageOnServer as Namespaces, PageOnServer as Settings, PageOnServer as SignIn,
    PageOnServer as Tokens, PageOnServer as Trash,
};
