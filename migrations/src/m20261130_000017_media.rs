//! Media: files whose bytes are kept in a storage of their own, and uploads that are under way.

crate::sql_migration!(
    r"
-- A file that was announced and is not confirmed yet. The memory that it becomes gets its id.
create table uploads (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    namespace text not null,
    filename text not null,
    content_type text not null,
    size bigint not null check (size > 0),
    sha256 bytea check (octet_length(sha256) = 32),
    description text not null,
    tags text[] not null default '{}',
    client text,
    -- The app or API token that announced it.
    app_id uuid,
    -- Where in the storage the bytes arrive.
    object_key text not null unique,
    in_parts boolean not null,
    -- What the storage calls an upload in parts; null until the first part is asked for.
    parts_handle text,
    -- SHA-256 of the secret in the address of its upload page.
    page_hash bytea not null unique check (octet_length(page_hash) = 32),
    created_at timestamptz not null,
    expires_at timestamptz not null
);
create index uploads_user on uploads (user_id, created_at);
create index uploads_expiry on uploads (expires_at);

alter table uploads enable row level security;
alter table uploads force row level security;
create policy own on uploads
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- The file of a memory of the kind `media`.
create table media (
    memory_id uuid primary key references memories on delete cascade,
    user_id uuid not null references users on delete cascade,
    filename text not null,
    content_type text not null,
    size bigint not null check (size > 0),
    sha256 bytea check (octet_length(sha256) = 32),
    object_key text not null unique,
    -- A small image of it; null where there is none, which is final once it was tried.
    thumbnail_key text unique,
    thumbnail_at timestamptz
);

alter table media enable row level security;
alter table media force row level security;
create policy own on media
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));
create policy shared on media for select using (exists (
    select from memories m join namespaces n on n.id = m.namespace_id where m.id = memory_id and n.shared
));

create index memories_media on memories (namespace_id, created_at desc, id desc)
    where kind = 'media' and forgotten_at is null;

-- Objects of the storage that nothing refers to, or, before `due_at`, nothing may ever come to refer to. The rows are
-- written by the transaction that drops the last reference, or before an object is made, and read by a job that
-- deletes the objects: so an interruption at any moment strands none.
create table objects_to_delete (
    object_key text primary key,
    -- Whose it was; no reference, for it outlives the user.
    user_id uuid not null,
    parts_handle text,
    due_at timestamptz not null,
    -- Since when someone is deleting it. From then on it can't be claimed any more.
    taken_at timestamptz
);
create index objects_to_delete_due on objects_to_delete (due_at);

alter table objects_to_delete enable row level security;
alter table objects_to_delete force row level security;
create policy own on objects_to_delete
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- By trigger, because rows also go with their user, namespace or memory, whoever deletes that: an administrator, too, who
-- works for no user.
create function polymnemo_media_deleted() returns trigger language plpgsql as $$
declare
    before text := coalesce(current_setting('polymnemo.background', true), '');
begin
    perform set_config('polymnemo.background', 'on', true);
    insert into objects_to_delete (object_key, user_id, due_at)
        select key, old.user_id, now() from unnest(array[old.object_key, old.thumbnail_key]) as key
        where key is not null
        on conflict do nothing;
    perform set_config('polymnemo.background', before, true);
    return null;
end
$$;
create trigger media_deleted after delete on media for each row execute function polymnemo_media_deleted();

-- Requests that were signed for an upload stay good until it expires, and may be on their way a little longer; so what
-- they bring is looked for then.
create function polymnemo_upload_deleted() returns trigger language plpgsql as $$
declare
    before text := coalesce(current_setting('polymnemo.background', true), '');
begin
    perform set_config('polymnemo.background', 'on', true);
    insert into objects_to_delete (object_key, user_id, parts_handle, due_at)
        select old.object_key, old.user_id, old.parts_handle, old.expires_at + interval '1 hour'
        where not exists (select from media where object_key = old.object_key)
        on conflict do nothing;
    perform set_config('polymnemo.background', before, true);
    return null;
end
$$;
create trigger upload_deleted after delete on uploads for each row execute function polymnemo_upload_deleted();

-- Random bytes that the server signs with: the same on every replica and after every restart.
create table server_secrets (
    name text primary key,
    secret bytea not null check (octet_length(secret) >= 32)
);
alter table server_secrets enable row level security;
alter table server_secrets force row level security;
create policy background on server_secrets using ((select polymnemo_is_background()));
"
);
