//! The files that are imported.

mod archive;
mod bytes;
mod folder;
mod listing;
mod reading;
mod winners;

use std::{
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use listing::Listing;

use crate::{Found, Limits, Reason};

/// Why nothing can be imported.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No path was given.
    #[error("say what to import: a zip as it was downloaded, a folder or a file")]
    Nothing,
    /// None of the paths can be read; this is the first one.
    #[error("{}: {reason}", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// Why.
        reason: Reason,
    },
}

/// Why the reading ended before its end.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file that was there is not there any more.
    #[error("{}: {reason}", path.display())]
    Gone {
        /// The path.
        path: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
}

/// What an import reads: files and folders as the person has them.
#[derive(Debug)]
pub struct Input {
    listing: Listing,
    limits: Limits,
    total_bytes: u64,
}

/// A path that was given, or an archive in a folder that was.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    /// What it is called in reports: its name, or all of the path where another has the same name.
    pub(crate) label: String,
    pub(crate) is_archive: bool,
}

impl Input {
    /// Opens zips, folders and single files. Nothing is read but directories and the beginnings of files.
    ///
    /// # Errors
    /// Where there is nothing that could be read at all. Otherwise what can't be read comes as skipped.
    pub fn open(paths: &[PathBuf]) -> Result<Self, OpenError> {
        Self::open_within(paths, Limits::default())
    }

    /// Like [`Input::open`], with other limits.
    ///
    /// # Errors
    /// As there.
    pub fn open_within(paths: &[PathBuf], limits: Limits) -> Result<Self, OpenError> {
        let mut listing = Listing::new(limits);
        let mut refused = Vec::new();
        let mut sorted: Vec<&PathBuf> = paths.iter().collect();
        sorted.sort_by_key(|path| crate::paths::sorted_by(&path.to_string_lossy()));
        sorted.dedup();
        for path in &sorted {
            if let Err(reason) = listing.add_path(path, label(path, paths)) {
                refused.push(((*path).clone(), reason));
            }
        }
        if refused.len() == sorted.len() {
            return Err(match refused.into_iter().next() {
                Some((path, reason)) => OpenError::Unusable { path, reason },
                None => OpenError::Nothing,
            });
        }
        for (path, reason) in refused {
            listing.skip(label(&path, paths), None, reason);
        }
        listing.finish();
        let total_bytes = listing.files.iter().filter(|file| file.kind.is_read()).map(|file| file.bytes).sum();
        Ok(Self { listing, limits, total_bytes })
    }

    /// The bytes there are to read, unpacked.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// Reads all there is, in the same order each time. Goes on behind what is broken; ends early where `each` breaks off.
    ///
    /// # Errors
    /// Where a file is gone since it was opened.
    pub fn read(&self, each: &mut dyn FnMut(Found) -> ControlFlow<()>) -> Result<(), ReadError> {
        reading::read(self, each)
    }
}

/// The name of a path; all of it where another path has that name.
fn label(path: &Path, paths: &[PathBuf]) -> String {
    // `.` is called as the folder is, so that what is in it is known again however it is given.
    let name = |path: &Path| match path.file_name() {
        Some(name) => Some(name.to_string_lossy().into_owned()),
        None => path.canonicalize().ok()?.file_name().map(|name| name.to_string_lossy().into_owned()),
    };
    let own = name(path);
    let is_alone = !paths.iter().any(|other| other != path && name(other) == own);
    match own {
        Some(own) if is_alone => own,
        _ => path.display().to_string(),
    }
}

/// What the system says, in a word.
fn unreadable(error: &io::Error) -> Reason {
    Reason::Unreadable(match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "the permission is missing".to_owned(),
        _ => error.to_string(),
    })
}

/// When a file was last changed.
fn modified(metadata: &fs::Metadata) -> Option<jiff::Timestamp> {
    metadata.modified().ok().and_then(|time| jiff::Timestamp::try_from(time).ok())
}
