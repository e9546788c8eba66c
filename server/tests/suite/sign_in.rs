//! How people get into the web app, how they stay there and how they get out; who tries in vain;
//! and the tokens that they make for clients.

mod access_tokens;
mod capability;
mod forged;
mod forms;
mod github;
mod link;
mod oidc;
mod sessions;
mod strangers;
mod tokens;

use sea_orm::ConnectionTrait as _;

use crate::support::{TestApp, app, signed_in, text};

/// Runs a statement past all row-level security; gives the number of rows it affected.
async fn run(app: &TestApp, sql: &str) -> u64 {
    app.database().await.execute_unprepared(sql).await.unwrap().rows_affected()
}

/// What became of an attempt to sign in that failed: the word in the address of the sign-in page.
fn problem(address: &str) -> String {
    assert!(address.starts_with("/sign-in?"), "{address} is not the sign-in page");
    crate::support::parameter(address, "problem").unwrap_or_default()
}
