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

use sea_orm::{ConnectionTrait, Statement};

use crate::support::{Browser, TestApp, location};

/// A server whose sign-in links are for alice.
async fn app() -> TestApp {
    TestApp::builder().setting("POLYMNEMO_STDIO_USER", "alice").start().await
}

/// A browser that is signed in by a link.
async fn signed_in(app: &TestApp) -> Browser {
    let browser = app.browser();
    assert_eq!(location(&browser.get(&app.sign_in_link().await).await), "/");
    browser
}

/// Runs a statement past all row-level security; gives the number of rows it affected.
async fn run(app: &TestApp, sql: &str) -> u64 {
    app.database().await.execute_unprepared(sql).await.unwrap().rows_affected()
}

/// The first column of the first row, as text.
async fn text(app: &TestApp, sql: &str) -> String {
    let database = app.database().await;
    let statement = Statement::from_string(database.get_database_backend(), sql);
    database.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}

/// What became of an attempt to sign in that failed: the word in the address of the sign-in page.
fn problem(address: &str) -> String {
    assert!(address.starts_with("/sign-in?"), "{address} is not the sign-in page");
    crate::support::parameter(address, "problem").unwrap_or_default()
}
