//! Memories, their labels and their earlier states.

crate::sql_migration!(
    r"
create table memories (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    namespace_id integer not null references namespaces on delete cascade,
    kind text not null check (kind in ('memory', 'session', 'media')),
    content text not null,
    content_hash bytea not null check (octet_length(content_hash) = 32),
    -- In the order given; the table `tags` holds the same, for searching.
    tags text[] not null default '{}',
    source text,
    client text,
    occurred_at timestamptz not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    revision integer not null default 1 check (revision > 0),
    -- What this memory corrects, as asked; `superseded_by` of the other one is what counts.
    supersedes uuid[] not null default '{}',
    superseded_by uuid,
    superseded_at timestamptz,
    -- Set while it is in the trash. A memory in the trash has no passages, so no search can find it.
    forgotten_at timestamptz,
    idempotency_key text,
    check ((superseded_by is null) = (superseded_at is null))
);

-- The same text twice in one namespace is one memory.
create unique index memories_content on memories (namespace_id, content_hash)
    where forgotten_at is null and superseded_by is null;
create unique index memories_idempotency_key on memories (user_id, idempotency_key)
    where idempotency_key is not null and forgotten_at is null;
create index memories_newest on memories (namespace_id, created_at desc, id desc) where forgotten_at is null;
create index memories_occurred on memories (namespace_id, occurred_at, id) where forgotten_at is null;
create index memories_source on memories (namespace_id, source) where forgotten_at is null and source is not null;
create index memories_superseded_by on memories (superseded_by) where superseded_by is not null;
create index memories_trash on memories (namespace_id, forgotten_at desc, id desc) where forgotten_at is not null;

-- A table, not an index on the array: under row-level security only leakproof operators may use an
-- index, and containment of arrays is not one of them.
create table tags (
    memory_id uuid not null references memories on delete cascade,
    tag text not null,
    namespace_id integer not null,
    primary key (memory_id, tag)
);
create index tags_tag on tags (namespace_id, tag, memory_id);

-- The state that each change replaced.
create table revisions (
    memory_id uuid not null references memories on delete cascade,
    revision integer not null,
    user_id uuid not null,
    namespace text not null,
    content text not null,
    tags text[] not null,
    source text,
    client text,
    occurred_at timestamptz not null,
    -- When this state began.
    created_at timestamptz not null,
    primary key (memory_id, revision)
);
"
);
