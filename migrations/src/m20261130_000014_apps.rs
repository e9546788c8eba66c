//! Apps: the clients that users let in by OAuth, what each may do, and what each did.

crate::sql_migration!(
    r"
-- OAuth clients. They are nobody's: each user decides about them for himself, in `apps`.
create table oauth_clients (
    -- What the client calls itself in requests: random where it registered here, else the URL of its own document.
    id text primary key,
    name text not null,
    redirect_uris text[] not null,
    -- The domain of the document; null where the client registered itself, for then nobody vouches for its name.
    domain text,
    created_at timestamptz not null,
    -- Until when the copy of the document is good; null where there is none.
    fresh_until timestamptz,
    -- When a person last let it in.
    used_at timestamptz
);
create index oauth_clients_unused on oauth_clients (created_at) where used_at is null;

-- What a client may do for a user.
create table apps (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    -- What it comes through: an OAuth client, or a key of the settings.
    door text not null,
    -- The OAuth client; empty for a key.
    client_id text not null,
    name text not null,
    domain text,
    redirect_host text,
    can_read boolean not null,
    can_write boolean not null,
    -- By name: all namespaces, later ones included, when null; else those listed, or, with all_but, all others.
    namespaces text[],
    all_but boolean not null default false,
    granted_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    calls bigint not null default 0,
    paused_at timestamptz,
    revoked_at timestamptz,
    unique (user_id, door, client_id)
);
create index apps_user on apps (user_id, id);

alter table apps enable row level security;
alter table apps force row level security;
create policy own on apps
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- One letting in of an app, with all tokens that follow from it.
create table oauth_families (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    app_id uuid not null references apps on delete cascade,
    -- Whoever holds a token of the family and this can compute the next one. By itself it opens nothing.
    secret bytea not null,
    resource text not null,
    created_at timestamptz not null,
    ends_at timestamptz not null
);
create index oauth_families_app on oauth_families (app_id, created_at);

alter table oauth_families enable row level security;
alter table oauth_families force row level security;
create policy own on oauth_families
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- Authorization codes, by SHA-256. They stay a while after use, so that a second use is known as one.
create table oauth_codes (
    hash bytea primary key check (octet_length(hash) = 32),
    user_id uuid not null references users on delete cascade,
    family_id uuid not null references oauth_families on delete cascade,
    client_id text not null,
    redirect_uri text not null,
    challenge text not null,
    expires_at timestamptz not null,
    used_at timestamptz
);
create index oauth_codes_family on oauth_codes (family_id);

alter table oauth_codes enable row level security;
alter table oauth_codes force row level security;
create policy own on oauth_codes
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- Pairs of an access and a refresh token, by SHA-256, as they were issued.
create table oauth_tokens (
    refresh_hash bytea primary key check (octet_length(refresh_hash) = 32),
    access_hash bytea not null unique check (octet_length(access_hash) = 32),
    user_id uuid not null references users on delete cascade,
    family_id uuid not null references oauth_families on delete cascade,
    created_at timestamptz not null,
    access_expires_at timestamptz not null,
    refresh_expires_at timestamptz not null,
    -- When the access token was first used, and when the refresh token was: then there is a next pair.
    used_at timestamptz,
    refreshed_at timestamptz
);
create index oauth_tokens_family on oauth_tokens (family_id, created_at);

alter table oauth_tokens enable row level security;
alter table oauth_tokens force row level security;
create policy own on oauth_tokens
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

-- What each app did with memories.
create table app_calls (
    id bigint generated always as identity primary key,
    user_id uuid not null references users on delete cascade,
    -- An app or an API token.
    app_id uuid not null,
    at timestamptz not null,
    action text not null,
    query text,
    memories uuid[] not null
);
create index app_calls_app on app_calls (user_id, app_id, id);
create index app_calls_at on app_calls (at);

alter table app_calls enable row level security;
alter table app_calls force row level security;
create policy own on app_calls
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));

alter table api_tokens add column calls bigint not null default 0, add column paused_at timestamptz;
"
);
