//! Exports: all that a user has, as a file to take away; and what came back from one.

crate::sql_migration!(
    r"
create table exports (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    state text not null check (state in ('queued', 'running', 'ready', 'failed', 'expired')),
    requested_at timestamptz not null,
    finished_at timestamptz,
    -- From when on a finished one is gone.
    expires_at timestamptz,
    -- How much of the work is done, in thousandths.
    progress integer not null default 0,
    -- How often the work was begun.
    attempts integer not null default 0,
    bytes bigint,
    sha256 bytea check (octet_length(sha256) = 32),
    -- What is in it, as JSON.
    counts text,
    -- Where in the storage it is.
    object_key text unique,
    check ((state = 'ready') = (object_key is not null))
);
create unique index exports_under_way on exports (user_id) where state in ('queued', 'running');
create index exports_user on exports (user_id, requested_at desc, id desc);
create index exports_open on exports (requested_at, id) where state in ('queued', 'running');
create index exports_expiry on exports (expires_at) where state = 'ready';

alter table exports enable row level security;
alter table exports force row level security;
create policy own on exports
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- As that of media, and also where an export lets its object go without being deleted itself.
create function polymnemo_export_gone() returns trigger language plpgsql as $$
declare
    before text := coalesce(current_setting('polymnemo.background', true), '');
begin
    perform set_config('polymnemo.background', 'on', true);
    insert into objects_to_delete (object_key, user_id, due_at)
        select old.object_key, old.user_id, now() where old.object_key is not null
        on conflict do nothing;
    perform set_config('polymnemo.background', before, true);
    return null;
end
$$;
create trigger export_deleted after delete on exports for each row execute function polymnemo_export_gone();
create trigger export_expired after update on exports for each row
    when (old.object_key is distinct from new.object_key) execute function polymnemo_export_gone();

-- Reading all that a user has, in the order of ids.
create index memories_user on memories (user_id, id);

-- Tokens and apps that came back from an export are ended: their secrets did not come along. Where this is the same time as
-- `revoked_at`, it was not their owner who ended them.
alter table api_tokens add column restored_at timestamptz;
alter table apps add column restored_at timestamptz;
"
);
