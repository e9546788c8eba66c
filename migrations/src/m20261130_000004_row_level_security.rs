//! Row-level security: the second wall between users, behind the conditions in the queries.
//!
//! Each transaction of the store says for whom it works: `polymnemo.user_id` for a request,
//! `polymnemo.background` for the jobs that serve all users. Without either no row is seen.

crate::sql_migration!(
    r"
create function polymnemo_user_id() returns uuid language sql stable parallel safe as
    $$ select nullif(current_setting('polymnemo.user_id', true), '')::uuid $$;

create function polymnemo_is_background() returns boolean language sql stable parallel safe as
    $$ select coalesce(current_setting('polymnemo.background', true), '') = 'on' $$;

-- `force`: the policies hold for the owner of the tables too, as which the server connects.
do $$
declare
    name text;
begin
    foreach name in array array[
        'users', 'identities', 'namespaces', 'memories', 'tags', 'revisions',
        'chunks', 'vectors', 'embedding_queue', 'terms', 'postings'
    ] loop
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
    end loop;

    -- The function calls stand in sub-selects so that they are evaluated once a query, not once a row.
    foreach name in array array['namespaces', 'memories', 'revisions'] loop
        execute format($policy$
            create policy own on %I
                using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()))
        $policy$, name);
    end loop;
    create policy shared on namespaces for select using (shared);
    create policy shared on memories for select
        using (namespace_id in (select id from namespaces where shared));

    foreach name in array array['tags', 'chunks', 'vectors', 'embedding_queue', 'terms', 'postings'] loop
        execute format($policy$
            create policy own on %I
                using (
                    namespace_id in (select id from namespaces where user_id = (select polymnemo_user_id()))
                    or (select polymnemo_is_background())
                )
        $policy$, name);
        execute format($policy$
            create policy shared on %I for select
                using (namespace_id in (select id from namespaces where shared))
        $policy$, name);
    end loop;

    create policy own on users
        using (id = (select polymnemo_user_id()) or (select polymnemo_is_background()));
    -- What is shared carries its author's name.
    create policy shared on users for select
        using (id in (select user_id from namespaces where shared));
    create policy own on identities
        using (user_id = (select polymnemo_user_id()) or (select polymnemo_is_background()));
end
$$;
"
);
