//! What signing in to the web app needs to keep: sessions of browsers, and secrets that work once.
//!
//! Neither table holds a secret itself, only its SHA-256: whoever reads the database, or an old
//! copy of it, can't get in with what is there.

crate::sql_migration!(
    r"
create table browser_sessions (
    -- SHA-256 of the id in the browser's cookie.
    hash bytea primary key check (octet_length(hash) = 32),
    data jsonb not null,
    expires_at timestamptz not null
);
create index browser_sessions_expiry on browser_sessions (expires_at);

-- A sign-in that is under way at the identity provider, or a link that signs in: each can be taken
-- out once.
create table one_time_secrets (
    hash bytea primary key check (octet_length(hash) = 32),
    -- What it is for; a secret for one thing is none for another.
    purpose text not null,
    data jsonb not null,
    expires_at timestamptz not null
);
create index one_time_secrets_expiry on one_time_secrets (expires_at);

-- They are looked up before it is known who asks, so no user's transaction has anything to see here.
do $$
declare
    name text;
begin
    foreach name in array array['browser_sessions', 'one_time_secrets'] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format(
            'create policy background on %I using ((select polymnemo_is_background()))', name);
    end loop;
end
$$;
"
);
