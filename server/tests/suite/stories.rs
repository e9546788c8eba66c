//! Stories about the server, told through its real router or its real binary.
//!
//! They are one test binary, because linking one takes longer than running it.

mod busy_model;
mod callers;
mod first_start;
mod halting;
mod health;
mod identity;
mod log;
mod pooler;
mod settings;
mod sharing_the_database;
mod tenancy;
mod transport;
mod web;
