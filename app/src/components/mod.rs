//! The parts that pages are made of, a file per component.

#[cfg(feature = "ssr")]
mod call_form;
#[cfg(feature = "ssr")]
mod code_block;
mod copy_button;
mod enliven;
#[cfg(feature = "ssr")]
mod fault;
#[cfg(feature = "ssr")]
mod field;
mod frame;
mod on_server;
mod pager;
mod status_line;
mod time;
mod trouble;
mod with_code;

#[cfg(not(feature = "ssr"))]
pub(crate) use self::on_server::{OnServer, PageOnServer, keep_title};
#[cfg(feature = "ssr")]
pub(crate) use self::{
    call_form::CallForm, code_block::CodeBlock, fault::Fault, field::TextField, frame::Mark, on_server::on_server,
    time::time_zone,
};
pub(crate) use self::{
    copy_button::CopyButton,
    enliven::enliven,
    frame::Frame,
    pager::Pager,
    status_line::StatusLine,
    time::{Now, Time},
    trouble::Trouble,
    with_code::with_code,
};
