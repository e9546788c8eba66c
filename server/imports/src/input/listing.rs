//! What files there are, and what each of them is.

use std::{
    cell::Cell,
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

use super::{Root, archive, archive::Archive, bytes, folder, modified, unreadable};
use crate::{
    Limits, OwnExport, Reason, Skipped, Source,
    detect::{self, Kind},
    json::splitter::Layout,
    paths,
};

/// How much of a file is looked at, and how much where that tells nothing.
const HEADS: [u64; 2] = [64 << 10, 4 << 20];

/// A file.
#[derive(Debug)]
pub(crate) struct File {
    /// Which of the roots it is in.
    pub(crate) root: usize,
    /// Where in it: empty for a root that is the file.
    pub(crate) name: String,
    pub(crate) place: Place,
    /// How large it is, unpacked.
    pub(crate) bytes: u64,
    /// How large it may become: more than that is a bomb.
    pub(crate) most: u64,
    pub(crate) is_gzip: bool,
    pub(crate) kind: Kind,
    pub(crate) modified: Option<jiff::Timestamp>,
}

/// Where a file is.
#[derive(Debug)]
pub(crate) enum Place {
    Path(PathBuf),
    Entry(usize),
}

/// All files.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) limits: Limits,
    pub(crate) roots: Vec<Root>,
    pub(crate) files: Vec<File>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) own: Vec<OwnExport>,
    /// How many files there are, also those that are not read.
    pub(crate) count: usize,
    /// How many bytes all files have that are read.
    bytes: u64,
}

impl Listing {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, roots: Vec::new(), files: Vec::new(), skipped: Vec::new(), own: Vec::new(), count: 0, bytes: 0 }
    }

    pub(crate) fn skip(&mut self, file: String, source: Option<Source>, reason: Reason) {
        self.skipped.push(Skipped { source, file, item: None, reason });
    }

    /// Adds a path that was given.
    pub(crate) fn add_path(&mut self, path: &Path, label: String) -> Result<(), Reason> {
        // Links that the person names are followed.
        let metadata = fs::metadata(path).map_err(|error| unreadable(&error))?;
        if metadata.is_dir() {
            let root = self.add_root(path, label, false);
            return folder::list(self, root);
        }
        if !metadata.is_file() {
            return Err(Reason::NotRecognised);
        }
        if archive::is_one(path).map_err(|error| unreadable(&error))? {
            let mut archive = Archive::open(path, self.limits.entries)?;
            let root = self.add_root(path, label, true);
            return archive::list(self, root, &mut archive);
        }
        let root = self.add_root(path, label, false);
        let file = fs::File::open(path).map_err(|error| unreadable(&error))?;
        let bytes = metadata.len();
        let found = File {
            root,
            name: String::new(),
            place: Place::Path(path.to_owned()),
            bytes,
            most: u64::MAX,
            is_gzip: false,
            kind: Kind::Unknown,
            modified: modified(&metadata),
        };
        self.add_file(found, file, true);
        Ok(())
    }

    pub(crate) fn add_root(&mut self, path: &Path, label: String, is_archive: bool) -> usize {
        self.roots.push(Root { path: path.to_owned(), label, is_archive });
        self.roots.len() - 1
    }

    /// What a file is called in reports.
    pub(crate) fn label(&self, root: usize, name: &str) -> String {
        let label = self.roots.get(root).map(|root| root.label.as_str()).unwrap_or_default();
        if name.is_empty() { label.to_owned() } else { format!("{label}/{name}") }
    }

    /// Counts a file; false where there are too many of them.
    pub(crate) fn counts(&mut self) -> bool {
        self.count += 1;
        self.count <= self.limits.entries
    }

    /// Adds a file, with what it begins with read from `reader`.
    pub(crate) fn add_file(&mut self, mut file: File, reader: impl Read, is_named: bool) {
        let label = self.label(file.root, &file.name);
        let name = if file.name.is_empty() { label.clone() } else { file.name.clone() };
        match look(reader, &name, is_named, file.most) {
            Ok((kind, is_gzip)) => {
                file.kind = kind;
                file.is_gzip = is_gzip;
            }
            Err(reason) => return self.skip(label, None, reason),
        }
        if file.kind.is_read() {
            self.bytes = self.bytes.saturating_add(file.bytes);
            if self.bytes > self.limits.total_bytes {
                return self.skip(label, file.kind.source(), Reason::TooMuch(self.limits.total_bytes));
            }
        }
        self.files.push(file);
    }

    /// Puts all in order, and takes out what is not to be read.
    pub(crate) fn finish(&mut self) {
        self.take_own();
        let with_rows: BTreeSet<usize> = self
            .files
            .iter()
            .filter(|file| matches!(&file.kind, Kind::ChatGpt(layout) if *layout != Layout::Script))
            .map(|file| file.root)
            .collect();
        for file in &mut self.files {
            // The page has the same rows as the file beside it.
            if file.kind == Kind::ChatGpt(Layout::Script) && with_rows.contains(&file.root) {
                file.kind = Kind::Aside(Some(Source::ChatGpt), "a page of the same conversations");
            }
        }
        let labels: Vec<String> = self.roots.iter().map(|root| paths::sorted_by(&root.label)).collect();
        self.files.sort_by_cached_key(|file| {
            (labels.get(file.root).cloned(), file.root, paths::sorted_by(&file.name), file.name.clone())
        });
    }

    /// An export of our own is read elsewhere, with all that is beside its manifest.
    fn take_own(&mut self) {
        let manifests: Vec<(usize, String)> = self
            .files
            .iter()
            .filter(|file| file.kind == Kind::Own)
            .map(|file| {
                (file.root, file.name.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default())
            })
            .collect();
        for (root, prefix) in &manifests {
            let is_within = |number: usize, name: &str| number == *root && name.starts_with(prefix.as_str());
            self.files.retain(|file| !is_within(file.root, &file.name));
            let label = self.label(*root, prefix);
            let label = label.trim_end_matches('/');
            self.skipped.retain(|skipped| {
                !skipped.file.strip_prefix(label).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
            if let Some(root) = self.roots.get(*root) {
                // The manifest alone, without what it is of.
                let path = if root.path.is_file() && !root.is_archive { root.path.parent() } else { Some(&*root.path) };
                let path = path.map(Path::to_owned).unwrap_or_default();
                self.own.push(OwnExport { path, is_archive: root.is_archive, prefix: prefix.clone() });
            }
        }
    }
}

/// What a file is, and whether it is packed.
fn look(mut reader: impl Read, name: &str, is_named: bool, most: u64) -> Result<(Kind, bool), Reason> {
    let mut magic = Vec::new();
    (&mut reader).take(4).read_to_end(&mut magic).map_err(|error| bytes::reason(&error))?;
    if magic.starts_with(b"PK\x03\x04") {
        return Err(Reason::NestedArchive);
    }
    let is_gzip = magic.starts_with(&[0x1f, 0x8b]);
    let reader = std::io::Cursor::new(magic).chain(reader);
    let name = if is_gzip { name.strip_suffix(".gz").unwrap_or(name) } else { name };
    let unpacked: Box<dyn Read> =
        if is_gzip { Box::new(flate2::read::MultiGzDecoder::new(reader)) } else { Box::new(reader) };
    let count = Cell::new(0);
    let mut reader = bytes::decoded(bytes::Guard::new(unpacked, &count, most.max(HEADS[1]), Reason::Bomb))
        .map_err(|error| bytes::reason(&error))?;
    let mut head = Vec::new();
    let mut kind = Kind::Unknown;
    for length in HEADS {
        let before = head.len();
        let read = (&mut reader).take(length - before as u64).read_to_end(&mut head);
        kind = detect::kind(&head, name, is_named);
        // What can be read before it breaks may be enough to know it, and the rest is told when it is read.
        if read.is_err() && kind == Kind::Unknown {
            return read.map(|_| (kind, is_gzip)).map_err(|error| bytes::reason(&error));
        }
        if kind != Kind::Unknown || (head.len() as u64) < length {
            break;
        }
    }
    Ok((kind, is_gzip))
}
