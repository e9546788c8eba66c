//! The database schema: one change a file, forward only.
//!
//! A change that old code can't live with comes in three releases: expand, backfill, contract.
//! All pending migrations run in one transaction under an advisory lock (see `PgStore::migrate`),
//! so a failed one leaves nothing behind; a statement that can't run inside a transaction
//! (`create index concurrently`) therefore has no place here.

use sea_orm_migration::{MigrationTrait, MigratorTrait, async_trait};

mod m20261130_000001_users;
mod m20261130_000002_memories;
mod m20261130_000003_search_index;
mod m20261130_000004_row_level_security;
mod m20261130_000005_account_settings;
mod m20261130_000006_sign_in;
mod m20261130_000007_api_tokens;
mod m20261130_000008_client_sightings;
mod m20261130_000009_memories_supersedes;
mod m20261130_000010_revisions_by_namespace;
mod m20261130_000011_memories_counted;
mod m20261130_000012_memories_changed_by;
mod m20261130_000013_filters_from_indexes;
mod m20261130_000014_apps;
mod m20261130_000015_tokens_in_url;
mod m20261130_000016_sessions;
mod m20261130_000017_media;
mod m20261201_000018_imports;
mod m20261201_000019_erasures;
mod m20261201_000020_exports;
mod m20261201_000021_embedding_turns;

/// Knows all migrations, in order.
#[derive(Debug)]
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m20261130_000001_users::Migration),
            Box::new(m20261130_000002_memories::Migration),
            Box::new(m20261130_000003_search_index::Migration),
            Box::new(m20261130_000004_row_level_security::Migration),
            Box::new(m20261130_000005_account_settings::Migration),
            Box::new(m20261130_000006_sign_in::Migration),
            Box::new(m20261130_000007_api_tokens::Migration),
            Box::new(m20261130_000008_client_sightings::Migration),
            Box::new(m20261130_000009_memories_supersedes::Migration),
            Box::new(m20261130_000010_revisions_by_namespace::Migration),
            Box::new(m20261130_000011_memories_counted::Migration),
            Box::new(m20261130_000012_memories_changed_by::Migration),
            Box::new(m20261130_000013_filters_from_indexes::Migration),
            Box::new(m20261130_000014_apps::Migration),
            Box::new(m20261130_000015_tokens_in_url::Migration),
            Box::new(m20261130_000016_sessions::Migration),
            Box::new(m20261130_000017_media::Migration),
            Box::new(m20261201_000018_imports::Migration),
            Box::new(m20261201_000019_erasures::Migration),
            Box::new(m20261201_000020_exports::Migration),
            Box::new(m20261201_000021_embedding_turns::Migration),
        ]
    }
}

/// Defines a migration that runs the given SQL; its name is that of its file.
macro_rules! sql_migration {
    ($sql:expr) => {
        /// See the SQL of this file.
        #[derive(sea_orm_migration::prelude::DeriveMigrationName)]
        pub(crate) struct Migration;

        #[sea_orm_migration::async_trait::async_trait]
        impl sea_orm_migration::MigrationTrait for Migration {
            async fn up(&self, manager: &sea_orm_migration::SchemaManager) -> Result<(), sea_orm_migration::DbErr> {
                use sea_orm_migration::sea_orm::ConnectionTrait as _;
                manager.get_connection().execute_unprepared($sql).await?;
                Ok(())
            }
        }
    };
}
pub(crate) use sql_migration;
