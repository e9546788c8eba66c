//! The pages, a file per route.

mod not_found;
mod sign_in;
mod welcome;

pub(crate) use self::{not_found::NotFound, sign_in::SignIn, welcome::Welcome};
