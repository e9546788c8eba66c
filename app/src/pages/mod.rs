//! The pages, a file per route.

mod not_found;
mod welcome;

pub(crate) use self::{not_found::NotFound, welcome::Welcome};
