//! Users, who they are to an issuer of identities, and their namespaces.

crate::sql_migration!(
    r"
create extension if not exists vector;

create table users (
    id uuid primary key,
    name text not null,
    default_namespace text not null,
    time_zone text not null,
    created_at timestamptz not null default now()
);

-- A user is keyed by what an issuer calls them, never by a name or an e-mail address.
create table identities (
    issuer text not null,
    subject text not null,
    user_id uuid not null references users on delete cascade,
    created_at timestamptz not null default now(),
    primary key (issuer, subject)
);
create index identities_user on identities (user_id);

create table namespaces (
    id integer generated always as identity primary key,
    user_id uuid not null references users on delete cascade,
    name text not null,
    -- Switched on by the owner, or named in the server's settings: either makes it readable by everyone.
    shared_by_owner boolean not null default false,
    shared_by_setting boolean not null default false,
    shared boolean not null generated always as (shared_by_owner or shared_by_setting) stored,
    -- The number of passages: what BM25 needs to know of a collection. Kept by the
    -- transactions that index passages; they lock this row first, so that writers of one namespace
    -- queue here instead of meeting in a deadlock among the terms.
    chunk_count bigint not null default 0,
    created_at timestamptz not null default now(),
    unique (user_id, name)
);
create index namespaces_shared on namespaces (name) where shared;
"
);
