//! The parts that pages are made of, a file per component.

mod code_block;
mod copy_button;
mod frame;
mod status_line;
mod with_code;

pub(crate) use self::{
    code_block::CodeBlock, copy_button::CopyButton, frame::Frame, status_line::StatusLine, with_code::with_code,
};
