//! What a person chooses for themselves, and the secret that their sessions are bound to.

crate::sql_migration!(
    r"
alter table users
    -- The language of the web app; what the browser prefers when null.
    add column language text check (language in ('en', 'zh')),
    add column theme text not null default 'system' check (theme in ('system', 'light', 'dark')),
    -- Random, and never the same for two users. Each session holds what it was when the session began, so a new one
    -- signs the user out everywhere.
    add column session_secret bytea not null default (uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
"
);
