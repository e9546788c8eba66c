//! Which clients a user has connected, and when each was last seen.

crate::sql_migration!(
    r"
create table client_sightings (
    user_id uuid not null references users on delete cascade,
    -- The client's own name for itself; empty where it gives none.
    client text not null,
    door text not null,
    last_seen_at timestamptz not null,
    primary key (user_id, client, door)
);

alter table client_sightings enable row level security;
alter table client_sightings force row level security;
create policy own on client_sightings
    using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));
"
);
