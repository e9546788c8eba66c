//! Erasing with proof: what goes, what stays, what is looked at again, and the receipt.

#![expect(clippy::unwrap_used, clippy::panic, reason = "that is how a test fails")]

#[path = "../support/mod.rs"]
mod support;

mod account;
mod hiding;
mod interrupted;
mod leftovers;
mod pages;
mod receipts;
mod targets;
mod tenancy;
mod world;
