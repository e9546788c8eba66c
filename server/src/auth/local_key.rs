use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rand::RngExt;

use crate::config::Secret;

/// The key of the local user, made when the settings name none and kept in the data directory, so
/// that a client once set up keeps working.
#[derive(Debug)]
pub struct LocalKey {
    /// The key.
    pub key: Secret,
    /// The file it is kept in, readable by its owner only.
    pub path: PathBuf,
}

/// Tells a reader, and a scanner of leaked secrets, what the text is.
const PREFIX: &str = "polymnemo_";
const RANDOM_BYTES: usize = 24;

impl LocalKey {
    /// Reads the key from the data directory, which must be there, or makes one. Processes that start at the same time
    /// agree on one key.
    ///
    /// # Errors
    ///
    /// Where the file can't be read or written, or holds no key.
    pub fn load_or_create(data: &Path) -> io::Result<Self> {
        let path = data.join("api-key");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(&path)?;
                fs::read_to_string(&path)?
            }
            other => other?,
        };
        let key = text.trim();
        if key.len() < 16 || !key.chars().all(|character| character.is_ascii_graphic()) {
            return Err(io::Error::other(format!("{} holds no key; delete the file to have one made", path.display())));
        }
        Ok(Self { key: Secret::new(key), path })
    }
}

/// Writes a new key beside its place and links it there, which fails where another process was
/// first: then its key stands. A reader never sees half a key.
fn create(path: &Path) -> io::Result<()> {
    let random: [u8; RANDOM_BYTES] = rand::rng().random();
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let key = format!("{PREFIX}{}\n", hex::encode(random));
    let written = write_private(&draft, &key).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    });
    // The draft goes away whether or not all went well; if it can't, the key is in place anyway.
    let _ = fs::remove_file(&draft);
    written
}

fn write_private(path: &Path, text: &str) -> io::Result<()> {
    use io::Write;
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_made_once_is_private_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let first = LocalKey::load_or_create(data).unwrap();
        assert!(first.key.expose().starts_with(PREFIX));
        assert_eq!(first.key.expose().len(), PREFIX.len() + 2 * RANDOM_BYTES);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&first.path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(LocalKey::load_or_create(data).unwrap().key, first.key);
        assert_eq!(fs::read_dir(data).unwrap().count(), 1, "no draft is left behind");
    }

    #[test]
    fn processes_that_start_together_agree_on_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("api-key");
        create(&path).unwrap();
        let key = fs::read_to_string(&path).unwrap();
        create(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), key);
    }

    #[test]
    fn a_damaged_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("api-key"), "\n").unwrap();
        let message = LocalKey::load_or_create(folder.path()).unwrap_err().to_string();
        assert!(message.contains("api-key holds no key"), "{message}");
    }
}
