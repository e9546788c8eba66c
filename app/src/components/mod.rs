//! The parts that pages are made of, a file per component.

mod app_frame;
mod bulk_bar;
#[cfg(feature = "ssr")]
mod call_form;
#[cfg(feature = "ssr")]
mod code_block;
#[cfg(not(feature = "ssr"))]
pub(crate) mod draft;
mod enliven;
#[cfg(feature = "ssr")]
mod escape;
#[cfg(feature = "ssr")]
mod fault;
#[cfg(feature = "ssr")]
mod field;
#[cfg(feature = "ssr")]
mod filters;
#[cfg(feature = "ssr")]
mod foreign;
mod frame;
mod keyboard;
#[cfg(feature = "ssr")]
mod keyboard_help;
mod live_form;
mod memory_row;
#[cfg(feature = "ssr")]
mod navigation;
mod on_server;
#[cfg(feature = "ssr")]
mod page;
#[cfg(feature = "ssr")]
mod pager;
mod search_bar;
mod status_line;
mod time;
mod toast;
mod trouble;
mod with_code;

pub(crate) use self::{
    app_frame::AppFrame,
    bulk_bar::BulkBar,
    enliven::enliven,
    frame::Frame,
    keyboard::Keyboard,
    live_form::{Changes, LiveForm, Sending, use_here},
    memory_row::MemoryRow,
    search_bar::SearchBar,
    status_line::StatusLine,
    time::Now,
    toast::{Toast, Toasts},
    trouble::Trouble,
    with_code::with_code,
};
#[cfg(feature = "ssr")]
pub(crate) use self::{
    call_form::CallForm,
    code_block::CodeBlock,
    escape::{escaped, in_textarea},
    fault::Fault,
    field::TextField,
    filters::Filters,
    foreign::{Foreign, harmless},
    frame::{Mark, OtherLanguage},
    keyboard_help::KeyboardHelp,
    navigation::Navigation,
    on_server::on_server,
    page::TextPage,
    pager::Pager,
    time::{Time, exact, time_zone},
};
#[cfg(not(feature = "ssr"))]
pub(crate) use self::{
    live_form::{Sent, post},
    on_server::{
        OnServer, OnServer as Filters, OnServer as KeyboardHelp, OnServer as Navigation, PageOnServer, keep_title,
        title_of_page,
    },
};
