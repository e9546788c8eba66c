//! Erasing with proof: what goes, what stays, what is looked at again, and the receipt.

mod account;
mod hiding;
mod interrupted;
mod leftovers;
mod pages;
mod receipts;
mod targets;
mod tenancy;
mod world;
