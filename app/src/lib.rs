#![doc = include_str!("../README.md")]
#![recursion_limit = "256"]
#![expect(unreachable_pub, reason = "the component macro makes a public function for each component, wherever it is")]

pub mod api;
mod app;
#[cfg(feature = "ssr")]
mod clients;
mod components;
mod form;
pub mod i18n;
mod pages;
pub mod paths;
#[cfg(feature = "ssr")]
mod web;

pub use app::App;
#[cfg(feature = "ssr")]
pub use web::{
    AppProblem, BrowserKey, ConnectionTest, LONGEST_FORM, Site, WebContext, app_problem_page, explain_errors, files,
    is_public, routes, shell, sign_in_page,
};
