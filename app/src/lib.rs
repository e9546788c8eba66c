#![doc = include_str!("../README.md")]
#![expect(unreachable_pub, reason = "the component macro makes a public function for each component, wherever it is")]

pub mod api;
mod app;
mod components;
pub mod i18n;
mod pages;
#[cfg(feature = "ssr")]
mod web;

pub use app::App;
#[cfg(feature = "ssr")]
pub use web::{Site, WebContext, routes, shell};
