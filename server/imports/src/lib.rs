//! Reads what other products export, into conversations and memories that are alike whoever wrote them.
//!
//! This crate only reads: it knows no database, no network and no user. [`Input::open`] looks at the names and at the
//! beginnings of the files it is given, [`Input::read`] gives one item after the other. What is broken is given as
//! [`Skipped`] with its reason, and the reading goes on behind it: people's exports are years old, re-saved, cut off
//! and from versions that nobody documented.
//!
//! To read another product: a folder or file here that makes items of a parsed row, a [`Source`], and a line in
//! `detect.rs` that says how its files are known. Nothing is known by its name alone.

pub mod blocks;
mod change;
mod chatgpt;
mod claude;
mod claude_code;
mod conversation;
mod detect;
mod digest;
mod input;
mod item;
mod json;
mod limits;
mod markdown;
mod mem0;
mod memory;
mod paths;
mod server_memory;
mod times;
mod tree;

pub use input::{Input, OpenError, ReadError};
pub use item::{
    Artifact, Attachment, Branch, Conversation, Found, Item, Memory, MemoryKind, Message, MessageContent, OwnExport,
    Reason, Skipped, Source,
};
pub use limits::Limits;
