//! Zips, as they are downloaded: with folders in them, larger than 4 GB, cut off, or made to do harm.

use std::{
    fs,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

use zip::{CompressionMethod, ZipArchive, read::ZipFile, result::ZipError};

use super::{
    bytes, folder,
    listing::{File, Listing, Place},
    unreadable,
};
use crate::{Reason, detect, detect::Kind, paths};

/// A zip.
pub(crate) struct Archive(ZipArchive<BufReader<fs::File>>);

/// How large the directory of a zip may be, which is held in memory.
const DIRECTORY: u64 = 128 << 20;

impl Archive {
    /// Opens a zip with at most `most` files.
    pub(crate) fn open(path: &Path, most: usize) -> Result<Self, Reason> {
        let mut file = fs::File::open(path).map_err(|error| unreadable(&error))?;
        // The directory is held as a whole, so how large it is comes first.
        let Some(directory) = directory(&mut file).map_err(|error| unreadable(&error))? else {
            return Err(Reason::CutOffDownload);
        };
        if directory.entries > most as u64 || directory.bytes > DIRECTORY {
            return Err(Reason::TooManyFiles(most));
        }
        file.seek(SeekFrom::Start(0)).map_err(|error| unreadable(&error))?;
        ZipArchive::new(BufReader::new(file)).map(Self).map_err(|error| reason(&error))
    }

    /// The file at this place.
    pub(crate) fn file(&mut self, place: usize) -> Result<ZipFile<'_, BufReader<fs::File>>, Reason> {
        self.0.by_index(place).map_err(|error| reason(&error))
    }
}

fn reason(error: &ZipError) -> Reason {
    match error {
        ZipError::Io(error) => bytes::reason(error),
        ZipError::UnsupportedArchive(what) if *what == ZipError::PASSWORD_REQUIRED => Reason::Encrypted,
        ZipError::UnsupportedArchive(what) => Reason::Packing((*what).to_owned()),
        ZipError::CompressionMethodNotSupported(method) => Reason::Packing(format!("method {method}")),
        ZipError::InvalidPassword => Reason::Encrypted,
        error => Reason::Broken(error.to_string()),
    }
}

/// Whether a file begins as a zip does.
pub(crate) fn is_one(path: &Path) -> io::Result<bool> {
    let mut magic = Vec::new();
    fs::File::open(path)?.take(4).read_to_end(&mut magic)?;
    Ok(matches!(magic.as_slice(), b"PK\x03\x04" | b"PK\x05\x06" | b"PK\x06\x06"))
}

/// Lists a zip.
pub(crate) fn list(listing: &mut Listing, root: usize, archive: &mut Archive) -> Result<(), Reason> {
    let limits = listing.limits;
    let mut media = 0;
    for place in 0..archive.0.len() {
        let Ok(entry) = archive.0.by_index_data(place) else { continue };
        let name = match entry.name() {
            Ok(name) => name.into_owned(),
            Err(_) => String::from_utf8_lossy(entry.name_raw()).into_owned(),
        };
        if entry.is_dir() || paths::is_litter(&name) {
            continue;
        }
        // Names with `..` are shown without.
        let label = listing.label(root, &paths::shown(&name));
        if !listing.counts() {
            listing.skip(label, None, Reason::TooManyFiles(limits.entries));
            return Ok(());
        }
        let (bytes, packed) = (entry.size(), entry.compressed_size());
        let most = packed.saturating_mul(limits.ratio).saturating_add(bytes::ALWAYS);
        let refused = if !paths::is_safe(&name) {
            Some(Reason::UnsafeName)
        } else if entry.is_symlink() {
            Some(Reason::Link)
        } else if name.split('/').count() > limits.depth + 1 {
            Some(Reason::TooDeep(limits.depth))
        } else if bytes > most {
            Some(Reason::Bomb)
        } else if detect::is_media(&name) {
            media += 1;
            continue;
        } else if entry.encrypted() {
            Some(Reason::Encrypted)
        } else if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            Some(Reason::Packing(entry.compression().to_string()))
        } else {
            None
        };
        if let Some(reason) = refused {
            listing.skip(label, None, reason);
            continue;
        }
        let file = File {
            root,
            name,
            place: Place::Entry(place),
            bytes,
            most,
            is_gzip: false,
            kind: Kind::Unknown,
            modified: None,
        };
        match archive.file(place) {
            Ok(reader) => listing.add_file(file, reader, false),
            Err(reason) => listing.skip(label, None, reason),
        }
    }
    if archive.0.has_duplicate_names() {
        let reason = Reason::Broken("it has several files of one name, of which only the last is read".to_owned());
        listing.skip(listing.label(root, ""), None, reason);
    }
    if media > 0 {
        listing.skip(listing.label(root, ""), None, Reason::NotForImport(folder::others(media)));
    }
    Ok(())
}

/// What the end of a zip says of its directory.
struct Directory {
    entries: u64,
    bytes: u64,
}

/// Reads the end of a zip; nothing where it is missing.
fn directory(file: &mut fs::File) -> io::Result<Option<Directory>> {
    /// The end record without its comment, the longest comment, and the pointer to the end record of zip64.
    const END: usize = 22;
    const COMMENT: u64 = 65_535;
    const POINTER: usize = 20;
    let length = file.metadata()?.len();
    let tail_length = length.min(COMMENT + (END + POINTER) as u64);
    file.seek(SeekFrom::Start(length - tail_length))?;
    let mut tail = Vec::new();
    file.take(tail_length).read_to_end(&mut tail)?;
    let Some(end) =
        (0..tail.len().saturating_sub(END - 1)).rev().find(|&place| tail.get(place..place + 4) == Some(b"PK\x05\x06"))
    else {
        return Ok(None);
    };
    let number = |bytes: &[u8], place: usize, length: usize| {
        let digits = bytes.get(place..place + length).unwrap_or_default();
        digits.iter().rev().fold(0u64, |number, &digit| number << 8 | u64::from(digit))
    };
    let small = Directory { entries: number(&tail, end + 10, 2), bytes: number(&tail, end + 12, 4) };
    let pointer = end.checked_sub(POINTER).filter(|&place| tail.get(place..place + 4) == Some(b"PK\x06\x07"));
    let Some(pointer) = pointer else { return Ok(Some(small)) };
    let place = number(&tail, pointer + 8, 8);
    if place >= length {
        return Ok(Some(small));
    }
    file.seek(SeekFrom::Start(place))?;
    let mut record = Vec::new();
    file.take(56).read_to_end(&mut record)?;
    Ok(Some(if record.starts_with(b"PK\x06\x06") {
        Directory { entries: number(&record, 32, 8), bytes: number(&record, 40, 8) }
    } else {
        small
    }))
}
