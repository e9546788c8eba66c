//! A whole instance as a folder, and back: the database by `pg_dump`, and every file that it refers to.
//!
//! ```text
//! backup.json      what it is, with the length and SHA-256 of the other files; written last
//! database.dump    all tables, as pg_dump writes them (`-Fc`)
//! blobs.jsonl      the files, a line each: key, type, length, SHA-256
//! blobs/ab/ab12…   their bytes
//! api-key          the key of the local user, where one was made
//! ```

use std::{
    fs,
    io::{self, BufRead as _, BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
    process::Stdio,
};

use bytes::BytesMut;
use futures::StreamExt as _;
use jiff::Timestamp;
use polymnemo_memory::ports::{BlobStore, Origin};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncReadExt as _;
use url::Url;

use crate::{
    Error,
    cli::say,
    compose::{self, BareDatabase, Database},
    config::Config,
};

const FORMAT: &str = "polymnemo-backup";
const VERSION: u32 = 1;
const MANIFEST: &str = "backup.json";
const DUMP: &str = "database.dump";
const BLOBS: &str = "blobs.jsonl";
const KEY: &str = "api-key";

/// The length of the parts in which greater files go into a storage.
const PART: usize = 8 << 20;

/// Where to.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupOptions {
    /// The folder to make; it must not be there yet
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
}

/// Where from.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreOptions {
    /// A folder that `polymnemo backup` made
    #[arg(value_name = "FOLDER")]
    from: PathBuf,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    created_at: Timestamp,
    generator: String,
    database: String,
    /// Files, and the length of all of them.
    blobs: u64,
    blob_bytes: u64,
    files: Vec<Listed>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    path: String,
    bytes: u64,
    sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Blob {
    key: String,
    content_type: String,
    bytes: u64,
    sha256: String,
}

fn on_disk(path: &Path) -> impl Fn(io::Error) -> Error {
    let path = path.display().to_string();
    move |error| Error::Failed(format!("{path}: {error}"))
}

fn from_service(error: &polymnemo_memory::Error) -> Error {
    Error::Failed(compose::cause(error))
}

/// Makes a backup, beside a running server or without one.
pub(crate) async fn backup(config: Config, options: BackupOptions) -> Result<(), Error> {
    let output = std::path::absolute(&options.output).map_err(on_disk(&options.output))?;
    if output.exists() {
        return Err(Error::Failed(format!("{} is there already; give a new name", output.display())));
    }
    let tool = tool(&config, "pg_dump")?;
    // Only a whole backup gets the name.
    let parent = output.parent().unwrap_or(Path::new("/"));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".polymnemo-backup-");
    // It holds everything of everyone.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.tempdir_in(parent).map_err(on_disk(parent))?;
    let database = Database::open(&config).await?;
    let made = make(&config, &database, &tool, folder.path()).await;
    database.close().await;
    let manifest = made?;
    let folder = folder.keep();
    fs::rename(&folder, &output).map_err(on_disk(&output))?;
    say(&format!(
        "{}: the database and {} files of together {} bytes",
        output.display(),
        manifest.blobs,
        manifest.blob_bytes
    ));
    Ok(())
}

async fn make(config: &Config, database: &Database, tool: &Path, folder: &Path) -> Result<Manifest, Error> {
    let describe = database.describe().await.map_err(|error| from_service(&error))?;
    // The database first: what it refers to was there before, and bytes never change.
    let connection = Connection::new(&database.url_for_dump(config), folder)?;
    let mut command = connection.command(tool);
    command.args(["--format=custom", "--no-owner", "--no-privileges", "--enable-row-security", "--file"]);
    command.arg(folder.join(DUMP));
    run(command, "pg_dump").await?;
    connection.remove()?;
    let (blobs, blob_bytes) = match compose::storage(config, &Origin::default(), &[0; 32]).await? {
        Some(storage) => save_blobs(database, storage.store.as_ref(), folder).await?,
        None => {
            fs::write(folder.join(BLOBS), "").map_err(on_disk(folder))?;
            (0, 0)
        }
    };
    let mut files = vec![listed(folder, DUMP)?, listed(folder, BLOBS)?];
    let key = config.directories.data.join(KEY);
    if key.is_file() {
        fs::copy(&key, folder.join(KEY)).map_err(on_disk(&key))?;
        files.push(listed(folder, KEY)?);
    }
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        created_at: Timestamp::now(),
        generator: concat!("polymnemo ", env!("CARGO_PKG_VERSION")).to_owned(),
        database: describe,
        blobs,
        blob_bytes,
        files,
    };
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| Error::Failed(error.to_string()))?;
    fs::write(folder.join(MANIFEST), text + "\n").map_err(on_disk(folder))?;
    Ok(manifest)
}

async fn save_blobs(database: &Database, store: &dyn BlobStore, folder: &Path) -> Result<(u64, u64), Error> {
    let (mut count, mut total) = (0, 0);
    let list = folder.join(BLOBS);
    let mut lines = BufWriter::new(fs::File::create(&list).map_err(on_disk(&list))?);
    let mut after = String::new();
    loop {
        let objects = database.objects(&after).await.map_err(|error| from_service(&error))?;
        let Some((last, _)) = objects.last() else { break };
        after.clone_from(last);
        for (key, content_type) in objects {
            let Some(mut pieces) = store.read(&key, None).await.map_err(|error| from_service(&error))? else {
                // Erased since the database was saved, or lost before.
                let _ = writeln!(io::stderr(), "The bytes of the object {key} are not there.");
                continue;
            };
            let path = blob_path(folder, &key)?;
            let mut file = BufWriter::new(fs::File::create(&path).map_err(on_disk(&path))?);
            let (mut digest, mut bytes) = (Sha256::new(), 0);
            while let Some(piece) = pieces.next().await {
                let piece = piece.map_err(|error| Error::Failed(format!("the object {key}: {error}")))?;
                digest.update(&piece);
                bytes += piece.len() as u64;
                file.write_all(&piece).map_err(on_disk(&path))?;
            }
            file.flush().map_err(on_disk(&path))?;
            let blob = Blob { key, content_type, bytes, sha256: hex::encode(digest.finalize()) };
            let line = serde_json::to_string(&blob).map_err(|error| Error::Failed(error.to_string()))?;
            writeln!(lines, "{line}").map_err(on_disk(&list))?;
            count += 1;
            total += bytes;
        }
    }
    lines.flush().map_err(on_disk(&list))?;
    Ok((count, total))
}

/// Where the bytes of an object are in a backup. Keys are ours; nothing else gets near a path.
fn blob_path(folder: &Path, key: &str) -> Result<PathBuf, Error> {
    let is_plain = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '.';
    let start = key.get(..2).filter(|_| key.chars().all(is_plain) && !key.contains("..") && !key.starts_with('.'));
    let start = start.ok_or_else(|| Error::Failed(format!("`{key}` is no key of an object")))?;
    let folder = folder.join("blobs").join(start);
    fs::create_dir_all(&folder).map_err(on_disk(&folder))?;
    Ok(folder.join(key))
}

/// Restores an instance from a backup, into a database in which nothing is yet.
pub(crate) async fn restore(config: Config, options: RestoreOptions) -> Result<(), Error> {
    let folder = &options.from;
    let manifest = check(folder)?;
    let tool = tool(&config, "pg_restore")?;
    let storage = compose::storage(&config, &Origin::default(), &[0; 32]).await?;
    if storage.is_none() && manifest.blobs > 0 {
        return Err(Error::Failed(format!(
            "the backup holds {} files, and POLYMNEMO_BLOB_BACKEND is none; set it to local or s3",
            manifest.blobs
        )));
    }
    let bare = BareDatabase::open(&config).await?;
    let restored = restore_database(&bare, &tool, folder).await;
    bare.close().await;
    restored?;
    if let Some(storage) = storage {
        put_blobs(storage.store.as_ref(), folder).await?;
    }
    let (saved, key) = (folder.join(KEY), config.directories.data.join(KEY));
    if saved.is_file() && !key.exists() {
        config.directories.make_data().map_err(on_disk(&config.directories.data))?;
        fs::copy(&saved, &key).map_err(on_disk(&key))?;
    }
    // Brings the schema up to date, where the backup is of an earlier version.
    let database = Database::open(&config).await?;
    let finished = database.forget_exports().await.map_err(|error| from_service(&error));
    database.close().await;
    finished?;
    say(&format!("Restored the instance of {}: the database and {} files.", manifest.created_at, manifest.blobs));
    Ok(())
}

async fn restore_database(bare: &BareDatabase, tool: &Path, folder: &Path) -> Result<(), Error> {
    let tables = bare.tables().await?;
    if tables > 0 {
        return Err(Error::Failed(format!(
            "the database holds {tables} tables already; a backup is restored into an empty one. Point \
             POLYMNEMO_DATABASE_URL, or POLYMNEMO_DATA_DIR for the embedded one, to a new place"
        )));
    }
    let temporary = tempfile::tempdir().map_err(on_disk(&std::env::temp_dir()))?;
    let connection = Connection::new(bare.url(), temporary.path())?;
    // Extensions are there already or made by whoever may; the dump would have them by the superuser.
    let mut listing = connection.command(tool);
    listing.arg("--list").arg(folder.join(DUMP)).stdout(Stdio::piped());
    let listed = listing.output().await.map_err(|error| Error::Failed(format!("pg_restore: {error}")))?;
    let contents = String::from_utf8_lossy(&listed.stdout);
    let wanted: String =
        contents.lines().filter(|line| !line.contains(" EXTENSION ")).map(|line| format!("{line}\n")).collect();
    let list = temporary.path().join("list");
    fs::write(&list, wanted).map_err(on_disk(&list))?;
    let mut command = connection.command(tool);
    command.args([
        "--no-owner",
        "--no-privileges",
        "--single-transaction",
        "--exit-on-error",
        "--dbname",
        "service=polymnemo",
    ]);
    command.arg("--use-list").arg(&list).arg(folder.join(DUMP));
    run(command, "pg_restore").await
}

async fn put_blobs(store: &dyn BlobStore, folder: &Path) -> Result<(), Error> {
    let list = folder.join(BLOBS);
    for line in BufReader::new(fs::File::open(&list).map_err(on_disk(&list))?).lines() {
        let blob = blob_of(&line.map_err(on_disk(&list))?)?;
        let path = blob_path(folder, &blob.key)?;
        let failed = |error: polymnemo_memory::Error| from_service(&error);
        if store.head(&blob.key).await.map_err(failed)?.is_some_and(|object| object.size == blob.bytes) {
            // What was interrupted goes on.
            continue;
        }
        let mut file = tokio::fs::File::open(&path).await.map_err(on_disk(&path))?;
        if blob.bytes <= PART as u64 {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).await.map_err(on_disk(&path))?;
            store.put(&blob.key, &blob.content_type, bytes.into()).await.map_err(failed)?;
            continue;
        }
        let handle = store.begin_parts(&blob.key, &blob.content_type).await.map_err(failed)?;
        let mut left = blob.bytes;
        let mut number = 0;
        while left > 0 {
            let mut part = BytesMut::zeroed(PART.min(usize::try_from(left).unwrap_or(PART)));
            file.read_exact(&mut part).await.map_err(on_disk(&path))?;
            left -= part.len() as u64;
            number += 1;
            store.put_part(&blob.key, &handle, number, part.freeze()).await.map_err(failed)?;
        }
        let parts = store.parts(&blob.key, &handle).await.map_err(failed)?.unwrap_or_default();
        store.complete_parts(&blob.key, &handle, &parts).await.map_err(failed)?;
    }
    Ok(())
}

fn blob_of(line: &str) -> Result<Blob, Error> {
    serde_json::from_str(line).map_err(|error| Error::Failed(format!("{BLOBS} can't be read: {error}")))
}

/// Looks at every byte of a backup.
fn check(folder: &Path) -> Result<Manifest, Error> {
    let path = folder.join(MANIFEST);
    let text = fs::read_to_string(&path).map_err(on_disk(&path))?;
    let manifest: Manifest = serde_json::from_str(&text)
        .map_err(|_| Error::Failed(format!("{} is no backup of polymnemo", folder.display())))?;
    if manifest.format != FORMAT || manifest.version != VERSION {
        return Err(Error::Failed(format!("{} is no backup that this version knows", folder.display())));
    }
    for expected in &manifest.files {
        let found = listed(folder, &expected.path)?;
        if (found.bytes, &found.sha256) != (expected.bytes, &expected.sha256) {
            return Err(damaged(&folder.join(&expected.path)));
        }
    }
    let list = folder.join(BLOBS);
    for line in BufReader::new(fs::File::open(&list).map_err(on_disk(&list))?).lines() {
        let blob = blob_of(&line.map_err(on_disk(&list))?)?;
        let path = blob_path(folder, &blob.key)?;
        let (bytes, sha256) = digest(&path)?;
        if (bytes, sha256) != (blob.bytes, blob.sha256) {
            return Err(damaged(&path));
        }
    }
    Ok(manifest)
}

fn damaged(path: &Path) -> Error {
    Error::Failed(format!("{} is damaged: its checksum is another one. Nothing was restored", path.display()))
}

fn listed(folder: &Path, name: &str) -> Result<Listed, Error> {
    let (bytes, sha256) = digest(&folder.join(name))?;
    Ok(Listed { path: name.to_owned(), bytes, sha256 })
}

fn digest(path: &Path) -> Result<(u64, String), Error> {
    let mut file = fs::File::open(path).map_err(on_disk(path))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let read = io::Read::read(&mut file, &mut buffer).map_err(on_disk(path))?;
        if read == 0 {
            return Ok((bytes, hex::encode(digest.finalize())));
        }
        digest.update(buffer.get(..read).unwrap_or_default());
        bytes += read as u64;
    }
}

/// A program of PostgreSQL: that of the embedded one, which knows all versions up to its own, else the one on the PATH.
fn tool(config: &Config, name: &str) -> Result<PathBuf, Error> {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let own = config.directories.runtime.join("postgres").join("bin").join(&file);
    if own.is_file() {
        return Ok(own);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(&file)).find(|path| path.is_file()).ok_or_else(|| {
        Error::Failed(format!(
            "{name} is needed and was found neither in {} nor on the PATH; `polymnemo setup` fetches it",
            own.display()
        ))
    })
}

async fn run(mut command: tokio::process::Command, name: &str) -> Result<(), Error> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true).output();
    let output = output.await.map_err(|error| Error::Failed(format!("{name}: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    Err(Error::Failed(format!("{name} failed: {told}")))
}

/// How programs of PostgreSQL reach the database: by a file that only we can read, for everyone sees their arguments.
struct Connection {
    service: PathBuf,
}

/// What may stand in a URL that PostgreSQL's own programs know, too.
const KNOWN: [&str; 8] =
    ["host", "port", "sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding", "target_session_attrs"];

impl Connection {
    fn new(url: &str, folder: &Path) -> Result<Self, Error> {
        let unusable = |what: &str| Error::Database(format!("POLYMNEMO_DATABASE_URL: {what}"));
        let url = Url::parse(url).map_err(|_| unusable("not a URL"))?;
        let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
        let mut settings = vec![("dbname".to_owned(), decoded(url.path().trim_start_matches('/')))];
        settings.push(("user".to_owned(), decoded(url.username())));
        if let Some(password) = url.password() {
            settings.push(("password".to_owned(), decoded(password)));
        }
        if let Some(host) = url.host_str() {
            settings.push(("host".to_owned(), host.trim_matches(['[', ']']).to_owned()));
        }
        if let Some(port) = url.port() {
            settings.push(("port".to_owned(), port.to_string()));
        }
        for (name, value) in url.query_pairs().filter(|(name, _)| KNOWN.contains(&name.as_ref())) {
            settings.retain(|(known, _)| *known != name);
            settings.push((name.into_owned(), value.into_owned()));
        }
        let mut text = String::from("[polymnemo]\n");
        for (name, value) in settings {
            if value.contains('\n') {
                return Err(unusable("it holds a line break"));
            }
            text.push_str(&format!("{name}={value}\n"));
        }
        let mut file = tempfile::Builder::new().prefix(".connection-").tempfile_in(folder).map_err(on_disk(folder))?;
        file.write_all(text.as_bytes()).map_err(on_disk(folder))?;
        let (_, service) = file.keep().map_err(|error| on_disk(folder)(error.error))?;
        Ok(Self { service })
    }

    fn command(&self, tool: &Path) -> tokio::process::Command {
        let mut command = tokio::process::Command::new(tool);
        command
            .env("PGSERVICEFILE", &self.service)
            .env("PGSERVICE", "polymnemo")
            // Row-level security holds for the role that we are; this is as which it shows everything.
            .env("PGOPTIONS", "-c polymnemo.background=on")
            .env("LC_MESSAGES", "C");
        command
    }

    fn remove(self) -> Result<(), Error> {
        fs::remove_file(&self.service).map_err(on_disk(&self.service))
    }
}
