//! The pages, a file per route.

#[cfg(feature = "ssr")]
mod connect;
#[cfg(feature = "ssr")]
mod kept_form;
#[cfg(feature = "ssr")]
mod namespaces;
mod not_found;
#[cfg(feature = "ssr")]
mod settings;
mod sign_in;
#[cfg(feature = "ssr")]
mod tokens;
mod welcome;

#[cfg(feature = "ssr")]
pub(crate) use self::{
    connect::Connect, kept_form::KeptForm, namespaces::Namespaces, settings::Settings, tokens::Tokens,
};
pub(crate) use self::{not_found::NotFound, sign_in::SignIn, welcome::Welcome};
// What the server makes alone.
#[cfg(not(feature = "ssr"))]
pub(crate) use crate::components::{
    PageOnServer as Connect, PageOnServer as KeptForm, PageOnServer as Namespaces, PageOnServer as Settings,
    PageOnServer as Tokens,
};
