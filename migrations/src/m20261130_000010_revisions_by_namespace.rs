//! Renaming a namespace renames it in the history of its user's memories too.

crate::sql_migration!("create index revisions_namespace on revisions (user_id, namespace);");
