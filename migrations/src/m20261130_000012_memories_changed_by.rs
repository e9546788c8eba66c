//! Who stored a memory stays what it was, whoever changes it later.

crate::sql_migration!(
    r"
-- `client` is the one that stored the memory, this the one that made its current state.
alter table memories add column changed_by text;

-- Row-level security holds for this as for any other statement.
set local polymnemo.background = 'on';
update memories set changed_by = client where client is not null;
update memories set client = first.client from revisions first
    where first.memory_id = memories.id and first.revision = 1;
set local polymnemo.background = '';
"
);
