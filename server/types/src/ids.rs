use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A text that should be an id and is not one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an id; an id looks like 0198c0de-7a11-7000-8000-000000000000")]
pub struct InvalidId {
    /// The beginning of what was given, for the message.
    pub given: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                Uuid::try_parse(text.trim())
                    .map(Self)
                    .map_err(|_| InvalidId { given: text.chars().take(60).collect() })
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string" })
            }
        }
    };
}

id! {
    /// A memory's id: one UUIDv7 whatever the memory's length, the same through all its revisions.
    MemoryId
}

id! {
    /// A user's id. It never comes from a client: it is the outcome of authentication.
    UserId
}

id! {
    /// An API token's id. It is not the token's secret and lets nobody in.
    TokenId
}

id! {
    /// An export's id.
    ExportId
}

id! {
    /// The id of an app's entry: what an OAuth client, an API token or a key may do for one user.
    AppId
}

id! {
    /// The id of an import.
    ImportId
}

id! {
    /// The id of an erasure and of its receipt. It is random: whoever knows it may read the receipt.
    ErasureId
}
