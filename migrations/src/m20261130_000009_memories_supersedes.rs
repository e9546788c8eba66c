//! Finding the few memories that correct others: erasing one takes it out of what they name.

crate::sql_migration!("create index memories_supersedes on memories (user_id) where supersedes <> '{}';");
