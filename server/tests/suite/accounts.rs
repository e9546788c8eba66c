//! What a person does with their account and their whole memory in the web app, told through the service: settings,
//! tokens, namespaces, changes to many memories and their undoing, history, and erasing.

mod bulk;
mod clients;
mod erase;
mod facets;
mod history;
mod namespaces;
mod people;
mod relabel;
mod settings;
mod tenancy;
mod tokens;

use polymnemo_memory::{Ctx, Identity, MemoryService};
use polymnemo_types::{MemoryId, RecallRequest, RememberRequest};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};

use crate::support::{TestApp, noon, with_clock};

/// What the service is told of a request that this user sends from the web app.
async fn person(service: &MemoryService, user: &str) -> Ctx {
    let user = service.sign_in(&Identity::named(user), user).await.unwrap().user;
    Ctx::of_person(user)
}

fn text(content: &str) -> RememberRequest {
    RememberRequest { content: content.to_owned(), ..RememberRequest::default() }
}

async fn remember(service: &MemoryService, ctx: &Ctx, request: RememberRequest) -> MemoryId {
    service.remember(ctx, request).await.unwrap().id
}

/// The ids that a recall finds.
async fn found(service: &MemoryService, ctx: &Ctx, query: &str) -> Vec<MemoryId> {
    let request = RecallRequest { query: query.to_owned(), ..RecallRequest::default() };
    service.recall(ctx, request).await.unwrap().hits.into_iter().map(|hit| hit.memory.id).collect()
}

/// Texts of a query's only column.
async fn column(database: &DatabaseConnection, sql: &str) -> Vec<String> {
    let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), sql)).await.unwrap();
    rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

/// Every row of every table that has this text anywhere in it, as `table: row`.
async fn rows_that_hold(app: &TestApp, needle: &str) -> Vec<String> {
    let database = app.database().await;
    let tables =
        column(&database, "select tablename::text from pg_tables where schemaname = 'public' order by 1").await;
    assert!(tables.len() > 12, "{tables:?}");
    let mut rows = Vec::new();
    for table in tables {
        let sql = format!(
            "select '{table}: ' || r::text from {table} r where position(lower('{needle}') in lower(r::text)) > 0"
        );
        rows.extend(column(&database, &sql).await);
    }
    rows
}
