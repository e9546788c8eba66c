//! What the binary can do: a file per command.

pub(crate) mod backup;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod migrate;
pub(crate) mod serve;
pub(crate) mod setup;
pub(crate) mod sign_in_link;
pub(crate) mod stdio;
pub(crate) mod verify_receipt;
