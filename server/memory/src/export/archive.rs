//! The files of an export, packed or not, read without trusting them.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use zip::{ZipArchive, result::ZipError};

use super::manifest::{self, FORMAT, Manifest, VERSION};
use crate::{Error, Result};

/// The most files that an export may hold. What is known of them is held in memory while it is read.
const MOST_FILES: u64 = 1_000_000;

/// The greatest length of the list of them in the zip file.
const MOST_LISTED_BYTES: u64 = 256 << 20;

/// The greatest length of the manifest.
const MOST_MANIFEST_BYTES: u64 = 512 << 20;

/// Zip files may unpack to far more than they are. Beyond this length no more than so many times is believed: text of people
/// comes to some ten times.
const BELIEVED_ANYWAY: u64 = 1 << 30;
const MOST_RATIO: u64 = 200;

/// Where the files of an export are.
#[derive(Debug)]
pub enum ExportFiles {
    /// In a zip file.
    Zip {
        /// The zip file.
        file: File,
        /// The folder in it, with `/` at its end; empty where there is none, as in an export that was just fetched.
        folder: String,
    },
    /// In the folder that it was unpacked to.
    Folder(PathBuf),
}

impl From<File> for ExportFiles {
    fn from(file: File) -> Self {
        Self::Zip { file, folder: String::new() }
    }
}

enum Files {
    Zip { zip: ZipArchive<BufReader<File>>, folder: String },
    Folder(PathBuf),
}

/// An export that is open.
pub(super) struct Archive {
    files: Files,
    /// How many bytes may still be unpacked.
    left: u64,
    believed: u64,
}

impl Archive {
    /// Opens an export and reads its manifest.
    pub(super) fn open(place: ExportFiles) -> Result<(Self, Manifest)> {
        let (files, believed) = match place {
            ExportFiles::Zip { mut file, folder } => {
                let length = file.metadata().map_err(disk)?.len();
                check_directory(&mut file, length)?;
                file.rewind().map_err(disk)?;
                let zip = ZipArchive::new(BufReader::with_capacity(64 << 10, file)).map_err(not_whole)?;
                if zip.len() as u64 > MOST_FILES {
                    return Err(too_many());
                }
                (Files::Zip { zip, folder }, BELIEVED_ANYWAY.max(length.saturating_mul(MOST_RATIO)))
            }
            // What is there is no longer than it is.
            ExportFiles::Folder(folder) => (Files::Folder(folder.canonicalize().map_err(disk)?), u64::MAX),
        };
        let mut archive = Self { files, left: believed, believed };
        let mut bytes = Vec::new();
        let found = archive.read(manifest::PATH, |reader| {
            reader.take(MOST_MANIFEST_BYTES).read_to_end(&mut bytes)?;
            Ok(())
        })?;
        if !found {
            return Err(Error::Invalid(format!(
                "This is not an export of polymnemo: it has no {}. Nothing was imported.",
                manifest::PATH
            )));
        }
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|_| {
            Error::Invalid(format!(
                "This is not an export of polymnemo, or it is damaged: its {} can't be read. Nothing was imported.",
                manifest::PATH
            ))
        })?;
        if manifest.format != FORMAT {
            return Err(Error::Invalid("This is not an export of polymnemo. Nothing was imported.".into()));
        }
        if manifest.version != VERSION {
            return Err(Error::Invalid(format!(
                "This export is of version {} of the format, this server knows version {VERSION}. Nothing was imported. \
                 Update the server first.",
                manifest.version
            )));
        }
        Ok((archive, manifest))
    }

    /// Lets as much be unpacked as at the beginning.
    pub(super) fn believe_again(&mut self) {
        self.left = self.believed;
    }

    /// Lets `work` read a file, which is unpacked on the way; false where there is none of this path. What is wrong with it
    /// comes as an error of the reader.
    pub(super) fn read(&mut self, path: &str, work: impl FnOnce(&mut dyn Read) -> io::Result<()>) -> Result<bool> {
        let inner: Box<dyn Read + '_> = match &mut self.files {
            Files::Zip { zip, folder } => match zip.by_name(&format!("{folder}{path}")) {
                Ok(entry) => Box::new(entry),
                Err(ZipError::FileNotFound) => return Ok(false),
                Err(error) => return Err(not_whole(error)),
            },
            Files::Folder(folder) => match in_folder(folder, path) {
                Ok(Some(file)) => Box::new(BufReader::new(file)),
                Ok(None) => return Ok(false),
                Err(error) => return Err(disk(error)),
            },
        };
        let mut bounded = Bounded { inner, left: &mut self.left };
        work(&mut bounded).map_err(|error| unreadable(path, &error))?;
        Ok(true)
    }
}

/// A file of this path in a folder; nothing where there is none, or where the path or a link leads out of the folder.
fn in_folder(folder: &Path, path: &str) -> io::Result<Option<File>> {
    let file = match folder.join(path).canonicalize() {
        Ok(file) if file.starts_with(folder) && file.is_file() => file,
        Ok(_) => return Ok(None),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    File::open(file).map(Some)
}

/// What is wrong with a file of an export.
pub(super) fn unreadable(path: &str, error: &io::Error) -> Error {
    match error.get_ref().and_then(|error| error.downcast_ref::<Told>()) {
        Some(Told(reason)) => damaged(path, reason),
        None => damaged(path, "it is damaged or was cut off"),
    }
}

/// The answer to an export that is damaged.
pub(super) fn damaged(path: &str, reason: &str) -> Error {
    Error::Invalid(format!(
        "The export is not whole: {path}: {reason}. Nothing was imported; fetch the export once more."
    ))
}

/// A reason that was found while reading.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Told(pub(super) String);

impl Told {
    /// As an error of a reader.
    pub(super) fn io(reason: impl Into<String>) -> io::Error {
        io::Error::other(Self(reason.into()))
    }
}

/// Ends where more is unpacked than is believed.
struct Bounded<'a, R> {
    inner: R,
    left: &'a mut u64,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        *self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| Told::io("it unpacks to far more than an export of this length holds"))?;
        Ok(read)
    }
}

/// Looks at the end of a zip file, before what it lists is read into memory.
fn check_directory(file: &mut File, length: u64) -> Result<()> {
    const END: usize = 22;
    let tail = length.min(END as u64 + 65_535 + 20);
    file.seek(SeekFrom::Start(length - tail)).map_err(disk)?;
    let mut bytes = Vec::new();
    file.take(tail).read_to_end(&mut bytes).map_err(disk)?;
    let number = |at: usize, length: usize| -> u64 {
        let bytes = bytes.get(at..at + length).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, &byte| (number << 8) | u64::from(byte))
    };
    // Each that may be one: which of them counts is found out later.
    let mut found = false;
    for at in 0..bytes.len().saturating_sub(3) {
        let most = match bytes.get(at..at + 4) {
            Some(b"PK\x05\x06") => (number(at + 10, 2), number(at + 12, 4)),
            // Its zip64 counterpart lies before it; where that is farther away, the list is short enough or refused below.
            Some(b"PK\x06\x06") => (number(at + 32, 8), number(at + 40, 8)),
            _ => continue,
        };
        found = true;
        let is_in_zip64 = most.0 == 0xFFFF || most.1 == 0xFFFF_FFFF;
        if !is_in_zip64 && (most.0 > MOST_FILES || most.1 > MOST_LISTED_BYTES) {
            return Err(too_many());
        }
        if is_in_zip64 && !bytes.windows(4).any(|four| four == b"PK\x06\x06") {
            return Err(not_an_archive());
        }
    }
    if found { Ok(()) } else { Err(not_an_archive()) }
}

fn too_many() -> Error {
    Error::Invalid(format!("The file holds more than {MOST_FILES} files, which no export does. Nothing was imported."))
}

fn not_an_archive() -> Error {
    Error::Invalid(
        "This is no zip file, or its end is missing: it may have been cut off while it was fetched. Nothing was imported."
            .into(),
    )
}

fn not_whole(error: ZipError) -> Error {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof && error.raw_os_error().is_some() => {
            disk(error)
        }
        _ => Error::Invalid("The zip file is damaged, so nothing was imported. Fetch the export once more.".into()),
    }
}

pub(super) fn disk(error: io::Error) -> Error {
    Error::Unavailable { part: "disk", source: error.into() }
}
