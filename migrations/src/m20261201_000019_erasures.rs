//! Erasing with proof: what is being erased, and the receipts for what was.

crate::sql_migration!(
    r"
-- Neither table refers to `users`: what they hold outlives an account that is erased. They hold no word of what is erased.
create table erasures (
    -- Random, because it is the address of the receipt, too.
    id uuid primary key,
    user_id uuid not null,
    target jsonb not null,
    state text not null check (state in ('running', 'done')),
    requested_at timestamptz not null,
    -- Through what, and by which client.
    door text not null,
    client text,
    -- How much there was in each store, and how much is deleted so far.
    before jsonb not null,
    erased jsonb not null default '{}',
    -- Until when requests are good that were signed for uploads that were given up.
    uploads_until timestamptz,
    -- What was in the way the last time, and when to try again.
    problem text,
    retry_at timestamptz,
    rounds integer not null default 0,
    finished_at timestamptz
);
create index erasures_user on erasures (user_id, requested_at desc, id desc);
create index erasures_running on erasures (requested_at, id) where state = 'running';

create table receipts (
    id uuid primary key references erasures,
    user_id uuid not null,
    issued_at timestamptz not null,
    document text not null,
    -- Ed25519 over the document.
    signature bytea not null check (octet_length(signature) = 64),
    key_id text not null
);
create index receipts_user on receipts (user_id);

-- What was deleted, by its ids, until it was looked for everywhere once more.
create table erased_memories (
    erasure_id uuid not null references erasures on delete cascade,
    memory_id uuid not null,
    primary key (erasure_id, memory_id)
);
create table erased_passages (
    erasure_id uuid not null references erasures on delete cascade,
    chunk_id bigint not null,
    primary key (erasure_id, chunk_id)
);
create table erased_objects (
    erasure_id uuid not null references erasures on delete cascade,
    object_key text not null,
    parts_handle text,
    primary key (erasure_id, object_key)
);

do $$
declare
    name text;
begin
    foreach name in array array['erasures', 'receipts', 'erased_memories', 'erased_passages', 'erased_objects'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
    end loop;
    foreach name in array array['erasures', 'receipts'] loop
        execute format($policy$
            create policy own on %I
                using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()))
        $policy$, name);
    end loop;
    foreach name in array array['erased_memories', 'erased_passages', 'erased_objects'] loop
        execute format('create policy background on %I using ((select polymnemo_is_background()))', name);
    end loop;
end
$$;

-- What is to be erased is put into a namespace that is marked so, or its namespace is. From then on nobody sees it but the job
-- that deletes it: memories are read through their namespaces, and so are all that hangs on them.
alter table namespaces add column erasure_id uuid;
create index namespaces_erasure on namespaces (erasure_id) where erasure_id is not null;
create policy not_being_erased on namespaces as restrictive
    using (erasure_id is null or (select polymnemo_is_background()));

-- The app, token or key that stored it: what a client calls itself can be anything.
alter table memories add column app_id uuid;
create index memories_app on memories (app_id) where app_id is not null;

-- As far as it was noted. The first memory of a call that stores is the one that was stored, unless it was there before; so
-- the first such call counts, and it was made at the time of the memory.
set local polymnemo.background = 'on';
update memories set app_id = first.app_id
from (
    select distinct on (memories[1]) memories[1] as id, app_id, user_id, action, at from app_calls
    where action in ('remember', 'save_session', 'upload') and memories[1] is not null
    order by memories[1], id
) first
where memories.id = first.id and memories.user_id = first.user_id
  and (first.action = 'upload' or first.at between created_at - interval '1 minute' and created_at + interval '1 minute');
set local polymnemo.background = '';
"
);
