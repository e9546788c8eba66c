//! What ChatGPT exports: conversations. What it remembers is in them, as calls of a tool and as context that is not shown.

mod canvas;
mod content;
mod conversation;
mod marks;
mod memories;

pub(crate) use conversation::conversation;
