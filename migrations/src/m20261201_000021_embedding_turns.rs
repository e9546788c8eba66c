//! The queue of the embedder, by namespace and age: each namespace has its turn.

crate::sql_migration!(
    r"
create index embedding_queue_turn on embedding_queue (model_id, namespace_id, chunk_id);
drop index embedding_queue_namespace;
"
);
