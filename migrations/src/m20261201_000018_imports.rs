//! Imports: what was brought in from other products, so that it comes in once and can be taken back.

crate::sql_migration!(
    r"
create table imports (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    state text not null check (
        state in ('planning', 'planned', 'running', 'done', 'cancelled', 'failed', 'undoing', 'undone')
    ),
    files text[] not null,
    -- JSON.
    options text not null,
    plan text,
    -- The folder in which files from a browser wait; null where they were read from where the person has them.
    folder text,
    bytes_read bigint not null default 0,
    total_bytes bigint not null default 0,
    error text,
    created_at timestamptz not null,
    started_at timestamptz,
    finished_at timestamptz,
    -- Who is at work on it, and until when others leave it to them. A process that dies lets go by that.
    worker uuid,
    worker_until timestamptz
);
create index imports_newest on imports (user_id, created_at desc, id desc);
create index imports_under_way on imports (created_at) where state in ('planning', 'running', 'undoing');

-- What was found, in the order of reading, which is the same each time: an import that was interrupted goes on behind
-- the last of them.
create table import_items (
    import_id uuid not null references imports on delete cascade,
    ordinal bigint not null,
    user_id uuid not null references users on delete cascade,
    -- The product, and what it calls this. Together they tell whether it came in before.
    source text,
    source_id text,
    -- Only of what was left out; all else has its title where it is stored.
    label text,
    outcome text not null,
    reason text,
    is_session boolean not null,
    -- What it is here, or is to become. No foreign key: it is noted before it is written, and stays noted when the
    -- person has it erased, so that it does not come in again unasked.
    memory_id uuid,
    digest bytea,
    -- How many messages were added.
    messages integer not null default 0,
    -- When it was written: what came in with it has this as its time of storing.
    at timestamptz not null,
    -- The time of the last change to it, as the import left it. Where that is another one, someone else changed it since.
    left_at timestamptz not null,
    primary key (import_id, ordinal)
);
create index import_items_source on import_items (user_id, source, source_id, at desc) where source_id is not null;
create index import_items_memory on import_items (memory_id) where memory_id is not null;

do $$
declare
    name text;
begin
    foreach name in array array['imports', 'import_items'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format($policy$
            create policy own on %I
                using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()))
        $policy$, name);
    end loop;
end
$$;
"
);
