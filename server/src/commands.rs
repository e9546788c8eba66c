//! What the binary can do: a file per command.

pub(crate) mod doctor;
pub(crate) mod migrate;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod sign_in_link;
pub(crate) mod stdio;
