//! Counting a hundred thousand memories without reading them.
//!
//! The counts of a list and what its memories have in common are read from these indexes alone. So they hold every column
//! that such a query asks for, the one of row-level security (`user_id`) included. As keys, not by `include`, because
//! equal keys are stored once.

crate::sql_migration!(
    r"
create index memories_current on memories (namespace_id, source, client, kind, user_id)
    where forgotten_at is null and superseded_by is null;
create index memories_superseded on memories (namespace_id, id, user_id)
    where forgotten_at is null and superseded_by is not null;
-- The first of them serves the same queries.
drop index memories_source;
"
);
