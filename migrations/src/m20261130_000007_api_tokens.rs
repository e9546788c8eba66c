//! Tokens for clients without a browser: CI, cron, agents.

crate::sql_migration!(
    r"
create table api_tokens (
    id uuid primary key,
    user_id uuid not null references users on delete cascade,
    name text not null,
    -- SHA-256 of the token, which is kept nowhere itself.
    hash bytea not null unique check (octet_length(hash) = 32),
    -- Its first characters, by which its owner knows it again.
    hint text not null,
    can_write boolean not null,
    -- The namespaces it is good for, by name; all of them, later ones included, when null.
    namespaces text[],
    created_at timestamptz not null,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz
);
create index api_tokens_user on api_tokens (user_id, id);

alter table api_tokens enable row level security;
alter table api_tokens force row level security;
create policy own on api_tokens
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));
"
);
