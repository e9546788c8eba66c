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
mod message;
#[cfg(feature = "ssr")]
mod missing;
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
#[cfg(feature = "ssr")]
mod uploader;
#[cfg(feature = "hydrate")]
mod uploads;
mod with_code;
#[cfg(feature = "ssr")]
mod your_data;

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
    filters::{Choice, Filters, Select, periods},
    foreign::{Foreign, harmless},
    frame::{Mark, OtherLanguage},
    keyboard_help::KeyboardHelp,
    message::{Message, MessageView, said, speaker},
    missing::{Missing, answer_not_found},
    navigation::Navigation,
    on_server::on_server,
    page::TextPage,
    pager::Pager,
    time::{Time, exact, time_zone},
    uploader::Uploader,
    your_data::YourDataTabs,
};
#[cfg(not(feature = "ssr"))]
pub(crate) use self::{
    live_form::{Sent, post},
    on_server::{
        OnServer, OnServer as Filters, OnServer as KeyboardHelp, OnServer as Navigation, PageOnServer, keep_title,
        title_of_page,
    },
};
