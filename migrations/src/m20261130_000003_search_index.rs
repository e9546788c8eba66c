//! What makes memories searchable: passages, their vectors, and a keyword index for BM25.

crate::sql_migration!(
    r"
create table chunks (
    id bigint generated always as identity primary key,
    memory_id uuid not null references memories on delete cascade,
    namespace_id integer not null,
    ordinal integer not null,
    -- Where the passage begins in the memory's text, in bytes of UTF-8.
    start_byte integer not null,
    text text not null,
    -- The number of terms, repetitions counted.
    length integer not null,
    unique (memory_id, ordinal)
);
create index chunks_namespace on chunks (namespace_id, id);

create table models (
    id smallint generated always as identity primary key,
    -- Names the exact weights.
    name text not null unique,
    dimension integer not null check (dimension > 0),
    created_at timestamptz not null default now()
);

-- In a table of their own and never moved out of line: beside their texts the vectors would be
-- TOASTed, and an exact scan would cost several times as much. Each model has an HNSW index of its
-- own, made when the model is first seen.
create table vectors (
    chunk_id bigint not null references chunks on delete cascade,
    model_id smallint not null references models,
    memory_id uuid not null,
    namespace_id integer not null,
    dimension integer not null,
    embedding halfvec not null,
    primary key (model_id, chunk_id),
    check (vector_dims(embedding) = dimension)
);
alter table vectors alter column embedding set storage plain;
create index vectors_namespace on vectors (namespace_id, model_id);
create index vectors_chunk on vectors (chunk_id);

-- Passages that still lack a vector of a model; emptied in the background.
create table embedding_queue (
    model_id smallint not null references models,
    chunk_id bigint not null references chunks on delete cascade,
    namespace_id integer not null,
    primary key (model_id, chunk_id)
);
create index embedding_queue_chunk on embedding_queue (chunk_id);
create index embedding_queue_namespace on embedding_queue (namespace_id, model_id);

-- The vocabulary of each namespace, with document frequencies (a document is a passage).
create table terms (
    id bigint generated always as identity primary key,
    namespace_id integer not null references namespaces on delete cascade,
    document_count integer not null,
    term text not null,
    unique (namespace_id, term)
) with (fillfactor = 80);

-- Which passage holds which term. `impact` is the term's share of the passage's BM25 score, but for
-- the term's weight; it orders the postings of a term, so that the best of a common word are read without the
-- rest. No foreign keys: at some forty rows a passage their checks would double the cost of
-- storing; the one place that deletes passages deletes these first.
create table postings (
    chunk_id bigint not null,
    term_id bigint not null,
    namespace_id integer not null,
    impact real not null,
    primary key (chunk_id, term_id)
);
create index postings_impact on postings (term_id, impact desc) include (chunk_id, namespace_id);
"
);
