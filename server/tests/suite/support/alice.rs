//! What stories about a person in a browser begin with.

use sea_orm::{ConnectionTrait as _, Statement};

use super::{Browser, TestApp, location};

/// A server whose sign-in links are for alice.
pub async fn app() -> TestApp {
    TestApp::builder().setting("POLYMNEMO_STDIO_USER", "alice").start().await
}

/// A browser that is signed in by a link.
pub async fn signed_in(app: &TestApp) -> Browser {
    let browser = app.browser();
    assert_eq!(location(&browser.get(&app.sign_in_link().await).await), "/");
    browser
}

/// The first column of the first row, as text, past all row-level security.
pub async fn text(app: &TestApp, sql: &str) -> String {
    let database = app.database().await;
    let statement = Statement::from_string(database.get_database_backend(), sql);
    database.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index(0).unwrap()
}
