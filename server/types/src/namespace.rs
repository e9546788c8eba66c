use serde::{Deserialize, Serialize};

/// A namespace of the caller's own, with what its owner decides about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceDetails {
    /// Its name.
    pub name: String,
    /// True where `remember` stores here when no namespace is given.
    pub default: bool,
    /// True where its owner made it readable by everyone on this server.
    pub shared_by_owner: bool,
    /// True where the server's settings make every namespace of this name readable by everyone.
    pub shared_by_setting: bool,
    /// How many memories are in it: as many as a list of it has.
    pub memories: u64,
    /// How many more are in it that others correct.
    pub superseded: u64,
    /// How many of its memories are in the trash.
    pub forgotten: u64,
}

impl NamespaceDetails {
    /// Whether everyone on this server may read it.
    #[must_use]
    pub fn shared(&self) -> bool {
        self.shared_by_owner || self.shared_by_setting
    }
}
