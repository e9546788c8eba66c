//! Folders, with all that is in them.

use std::{fs, path::Path};

use super::{
    archive::{self, Archive},
    listing::{File, Listing, Place},
    modified, unreadable,
};
use crate::{Reason, detect, detect::Kind, paths};

/// Lists a folder. Links are not followed: they lead out of it, and in rings.
pub(crate) fn list(listing: &mut Listing, root: usize) -> Result<(), Reason> {
    let path = listing.roots.get(root).map(|root| root.path.clone()).unwrap_or_default();
    let mut media = 0;
    let mut folders = vec![(path, String::new(), 0)];
    while let Some((folder, prefix, depth)) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(unreadable(&error)),
            Err(error) => {
                listing.skip(listing.label(root, &prefix), None, unreadable(&error));
                continue;
            }
        };
        for entry in entries.flatten() {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if paths::is_litter(&name) {
                continue;
            }
            let label = listing.label(root, &name);
            if !listing.counts() {
                listing.skip(label, None, Reason::TooManyFiles(listing.limits.entries));
                return Ok(());
            }
            let metadata = match entry.metadata() {
                Ok(metadata) => metadata,
                Err(error) => {
                    listing.skip(label, None, unreadable(&error));
                    continue;
                }
            };
            if metadata.is_symlink() {
                listing.skip(label, None, Reason::Link);
            } else if metadata.is_dir() {
                if depth >= listing.limits.depth {
                    listing.skip(label, None, Reason::TooDeep(listing.limits.depth));
                } else {
                    folders.push((entry.path(), format!("{name}/"), depth + 1));
                }
            } else if metadata.is_file() {
                if detect::is_media(&name) {
                    media += 1;
                } else {
                    add(listing, root, name, &entry.path(), &metadata);
                }
            }
        }
    }
    if media > 0 {
        listing.skip(listing.label(root, ""), None, Reason::NotForImport(others(media)));
    }
    Ok(())
}

fn add(listing: &mut Listing, root: usize, name: String, path: &Path, metadata: &fs::Metadata) {
    let label = listing.label(root, &name);
    let is_archive = archive::is_one(path);
    let added = match is_archive {
        Ok(true) => Archive::open(path, listing.limits.entries).and_then(|mut archive| {
            let inner = listing.add_root(path, label.clone(), true);
            archive::list(listing, inner, &mut archive)
        }),
        Ok(false) => fs::File::open(path).map_err(|error| unreadable(&error)).map(|file| {
            let place = Place::Path(path.to_owned());
            let modified = modified(metadata);
            let bytes = metadata.len();
            let found =
                File { root, name, place, bytes, most: u64::MAX, is_gzip: false, kind: Kind::Unknown, modified };
            listing.add_file(found, file, false);
        }),
        Err(error) => Err(unreadable(&error)),
    };
    if let Err(reason) = added {
        listing.skip(label, None, reason);
    }
}

/// Files of which only the number is told: there can be thousands.
pub(crate) fn others(count: usize) -> String {
    format!("{count} {} with pictures, sounds or other data", if count == 1 { "file" } else { "files" })
}
