//! The service: one file for each verb.

mod account;
mod apps;
mod authorization;
mod background;
mod bulk;
mod clients;
mod cursor;
mod erase;
mod export;
mod forget;
mod history;
mod imports;
mod index;
mod media;
mod namespaces;
mod read;
mod recall;
mod remember;
mod restore;
mod sessions;
mod status;
mod tokens;
mod update;
mod validate;

use std::sync::Arc;

use tokio::sync::{Notify, OnceCell};

use crate::{
    UserDefaults,
    noise::Background,
    ports::{Clock, Embedder, Files, Store},
};

pub use authorization::client_name;
pub use export::ExportPlace;
pub use restore::{CountedKind, OnRestore, RestoreCount, RestoreProblem, RestoreProgress, RestoreReport, RestoreStep};

pub(crate) use media::digest_of;

/// The memory service. Cheap to clone; every door holds one.
#[derive(Clone)]
pub struct MemoryService {
    store: Arc<dyn Store>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    defaults: Arc<UserDefaults>,
    /// Told whenever passages were stored without a vector.
    pending: Arc<Notify>,
    /// Told whenever messages were stored without passages.
    unindexed: Arc<Notify>,
    /// Who saves a session waits for whoever else saves it, before a connection of the database waits, too.
    saving: Arc<sessions::Turns>,
    /// What similarities are measured against.
    background: Arc<OnceCell<Background>>,
    /// The clients whose last sighting is noted already.
    seen: Arc<clients::Seen>,
    /// Where files are kept; nothing where they are not.
    files: Option<Arc<Files>>,
    /// The small images that are being made.
    thumbnails: media::Thumbnails,
    /// Told whenever there is something to delete from the storage.
    deletions: Arc<Notify>,
    /// Told whenever there is something to do on an import.
    imports: Arc<Notify>,
    /// Where the files of imports wait that came from a browser.
    import_folder: Option<Arc<std::path::Path>>,
    /// Told whenever an erasure begins.
    erasures: Arc<Notify>,
    /// For how many days whoever runs the server keeps backups, as stated.
    backup_days: Option<u32>,
    /// Exports: where they are kept, and who is told that one was asked for.
    exporting: export::Exporting,
}

impl MemoryService {
    /// A service over these parts; `defaults` is what a new user starts with.
    #[must_use]
    pub fn new(
        store: Arc<dyn Store>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        defaults: UserDefaults,
    ) -> Self {
        Self {
            store,
            embedder,
            clock,
            defaults: Arc::new(defaults),
            pending: Arc::new(Notify::new()),
            unindexed: Arc::new(Notify::new()),
            saving: Arc::default(),
            background: Arc::new(OnceCell::new()),
            seen: Arc::default(),
            files: None,
            thumbnails: media::Thumbnails::default(),
            deletions: Arc::new(Notify::new()),
            imports: Arc::new(Notify::new()),
            import_folder: None,
            erasures: Arc::new(Notify::new()),
            backup_days: None,
            exporting: export::Exporting::default(),
        }
    }

    /// The same service, which keeps files there.
    #[must_use]
    pub fn with_files(self, files: Files) -> Self {
        Self { files: Some(Arc::new(files)), ..self }
    }

    /// The same service, in which files to import wait in a folder of their own below this one.
    #[must_use]
    pub fn with_import_folder(self, folder: &std::path::Path) -> Self {
        Self { import_folder: Some(folder.into()), ..self }
    }

    /// The same service, which tells in receipts that backups are kept for so many days.
    #[must_use]
    pub fn with_backups_for(self, days: Option<u32>) -> Self {
        Self { backup_days: days, ..self }
    }

    /// The time now, as exact as the database keeps it.
    fn now(&self) -> jiff::Timestamp {
        crate::when::to_microseconds(self.clock.now())
    }
}
