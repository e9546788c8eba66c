//! Sessions: conversations, message by message.
//!
//! A session is a memory of the kind `session`, so that search, labels, namespaces, grants and the trash hold for it as
//! for any other; its content is its title. The passages of its messages are passages of that memory.

crate::sql_migration!(
    r"
create table sessions (
    memory_id uuid primary key references memories on delete cascade,
    user_id uuid not null,
    namespace_id integer not null,
    -- What the client calls it. Of several with the same one in the trash and the store only one is in the store.
    key text not null,
    form text not null check (form in ('messages', 'text')),
    -- The JSON object that the client gave, as it gave it.
    metadata text,
    messages integer not null default 0,
    parts integer not null default 0,
    bytes bigint not null default 0,
    -- How many passages the search index has of it.
    passages integer not null default 0,
    -- The time of its last message, else when it was last saved.
    last_at timestamptz not null
);
create index sessions_key on sessions (user_id, key);
create index sessions_last on sessions (namespace_id, last_at desc, memory_id desc);

create table messages (
    id bigint generated always as identity primary key,
    memory_id uuid not null references sessions on delete cascade,
    namespace_id integer not null,
    -- The place in the session, from 1.
    number integer not null,
    -- The number of parts of all messages before it. A part is what one page shows whole.
    first_part integer not null,
    parts integer not null,
    role text not null,
    said_at timestamptz,
    -- What the client calls it.
    client_id text,
    format text not null check (format in ('text', 'blocks')),
    content text not null,
    bytes integer generated always as (octet_length(content)) stored,
    -- SHA-256 of role, format and content.
    hash bytea not null check (octet_length(hash) = 32),
    revision integer not null default 1,
    stored_at timestamptz not null,
    -- Whether the search index has its passages.
    indexed boolean not null default false,
    -- Deferred: a message that comes in between moves all later ones.
    unique (memory_id, number) deferrable initially deferred
);
create index messages_part on messages (memory_id, first_part);
create index messages_unindexed on messages (memory_id, number) where not indexed;

-- What messages said before they were changed.
create table message_revisions (
    message_id bigint not null references messages on delete cascade,
    revision integer not null,
    user_id uuid not null,
    role text not null,
    said_at timestamptz,
    format text not null,
    content text not null,
    -- When this state began.
    stored_at timestamptz not null,
    primary key (message_id, revision)
);

-- Which message a passage is of; null for the passages of other memories, and for the title.
alter table chunks add column message_id bigint references messages on delete cascade;
create index chunks_message on chunks (message_id) where message_id is not null;

-- The message that a memory was taken from.
alter table memories add column origin_message bigint references messages on delete set null;
create index memories_origin on memories (origin_message) where origin_message is not null;

do $$
declare
    name text;
begin
    foreach name in array array['sessions', 'messages', 'message_revisions'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
    end loop;
    foreach name in array array['sessions', 'messages'] loop
        execute format($policy$
            create policy own on %I
                using (
                    namespace_id in (select id from namespaces where user_id = (select polymnemo_user_id()))
                    or (select polymnemo_is_background())
                )
        $policy$, name);
        execute format($policy$
            create policy shared on %I for select
                using (namespace_id in (select id from namespaces where shared))
        $policy$, name);
    end loop;
    create policy own on message_revisions
        using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));
end
$$;
"
);
