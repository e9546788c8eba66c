//! Tokens for clients that can send no header: good as a part of a URL, too.

crate::sql_migration!(
    r"
-- Off unless its owner chose it: a URL is kept and passed on where a header is not.
alter table api_tokens add column in_url boolean not null default false;
"
);
