//! What a filtered search looks up for each memory that matches, or for each posting, is read from indexes alone.

crate::sql_migration!(
    r"
drop index memories_occurred;
create index memories_occurred on memories (namespace_id, occurred_at, id) include (user_id, superseded_by)
    where forgotten_at is null;
create index memories_live on memories (id) include (user_id, namespace_id, superseded_by) where forgotten_at is null;
create index chunks_memory on chunks (id) include (memory_id, namespace_id);
create index chunks_of_memory on chunks (memory_id) include (id, namespace_id, length);
"
);
