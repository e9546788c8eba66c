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
mod erase;
#[cfg(feature = "ssr")]
mod exports;
#[cfg(feature = "ssr")]
mod grant_fields;
#[cfg(feature = "ssr")]
mod import;
#[cfg(feature = "ssr")]
mod imports;
#[cfg(feature = "ssr")]
mod kept_form;
#[cfg(feature = "ssr")]
mod media;
#[cfg(feature = "ssr")]
mod media_card;
#[cfg(feature = "ssr")]
mod media_file;
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
mod message;
#[cfg(feature = "ssr")]
mod namespaces;
#[cfg(feature = "ssr")]
mod new_memory;
#[cfg(feature = "ssr")]
mod no_such_memory;
mod not_found;
mod session;
#[cfg(feature = "ssr")]
mod sessions;
#[cfg(feature = "ssr")]
mod settings;
#[cfg(feature = "ssr")]
mod sign_in;
#[cfg(feature = "ssr")]
mod tokens;
#[cfg(feature = "ssr")]
mod trash;
#[cfg(feature = "ssr")]
mod upload;
mod welcome;

#[cfg(feature = "ssr")]
pub(crate) use self::{
    app_calls::AppCalls,
    apps::Apps,
    beside::is_asked_for_alone,
    connect::Connect,
    consent::Consent,
    erase::{Erase, ErasureDetail},
    exports::Exports,
    import::ImportDetail,
    imports::Imports,
    kept_form::KeptForm,
    media::MediaFiles,
    media_file::MediaFile,
    message::MessageDetail,
    namespaces::Namespaces,
    sessions::Sessions,
    settings::Settings,
    sign_in::SignIn,
    tokens::Tokens,
    trash::Trash,
    upload::Upload,
};
pub(crate) use self::{
    beside::Beside,
    memories::{BelowMemories, Memories},
    not_found::NotFound,
    session::SessionDetail,
    welcome::Welcome,
};
// What the server makes alone.
#[cfg(not(feature = "ssr"))]
pub(crate) use crate::components::{
    PageOnServer as AppCalls, PageOnServer as Apps, PageOnServer as Connect, PageOnServer as Consent,
    PageOnServer as Erase, PageOnServer as ErasureDetail, PageOnServer as Exports, PageOnServer as ImportDetail,
    PageOnServer as Imports, PageOnServer as KeptForm, PageOnServer as MediaFile, PageOnServer as MediaFiles,
    PageOnServer as MessageDetail, PageOnServer as Namespaces, PageOnServer as Sessions, PageOnServer as Settings,
    PageOnServer as SignIn, PageOnServer as Tokens, PageOnServer as Trash, PageOnServer as Upload,
};
