//! An export: all that a user has, in one file, in a documented format (`server/EXPORT.md`), written and read without ever
//! being held in memory.

mod archive;
mod check;
mod manifest;
mod names;
mod readable;
mod record;
mod write;
mod zip_file;

pub use archive::ExportFiles;
pub use check::CheckedExport;
pub use manifest::{FORMAT, ListedFile, Manifest, ManifestUser, Missing, VERSION};
pub use record::{
    AppRecord, CallRecord, IdentityRecord, MediaRecord, MemoryRecord, MessageOf, MessageRecord, MessageRevisionRecord,
    NamespaceRecord, Part, Record, RevisionRecord, SessionRecord, SettingsRecord, SightingRecord, TokenRecord,
    UserRecord,
};
pub use write::{Exported, Source, write};

pub(crate) use check::{Lines, own_id};
