//! A zip file that is written to the disk by a thread of its own, while what goes into it is still being read.

use std::{
    fs::File,
    io::{self, Write as _},
};

use bytes::Bytes;
use jiff::{Timestamp, tz::TimeZone};
use sha2::{Digest as _, Sha256};
use tokio::{sync::mpsc, task::JoinHandle};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::manifest::ListedFile;
use crate::{Error, Result};

/// How many pieces wait to be written: with [`PIECE`] that bounds what is held of an export.
const WAITING: usize = 8;

/// Lines are gathered to pieces of this length in bytes.
const PIECE: usize = 128 << 10;

enum Command {
    Begin { path: String, compressed: bool },
    Bytes(Bytes),
    Finish,
}

/// A zip file that is being written.
pub(super) struct ZipFile {
    commands: mpsc::Sender<Command>,
    writing: JoinHandle<io::Result<()>>,
    /// The file in it that is being written.
    current: Option<Current>,
}

struct Current {
    path: String,
    digest: Sha256,
    bytes: u64,
    records: Option<u64>,
    gathered: Vec<u8>,
}

impl ZipFile {
    /// Writes into this file, which must be empty. `at` is the time that the files in it bear.
    pub(super) fn new(file: File, at: Timestamp) -> Self {
        let (commands, received) = mpsc::channel(WAITING);
        let writing = tokio::task::spawn_blocking(move || write(file, at, received));
        Self { commands, writing, current: None }
    }

    /// Begins a file; `records` where its records are to be counted.
    pub(super) async fn begin(&mut self, path: &str, compressed: bool, records: bool) -> Result<()> {
        self.send(Command::Begin { path: path.to_owned(), compressed }).await?;
        self.current = Some(Current {
            path: path.to_owned(),
            digest: Sha256::new(),
            bytes: 0,
            records: records.then_some(0),
            gathered: Vec::new(),
        });
        Ok(())
    }

    /// Adds to the file that was begun.
    pub(super) async fn write(&mut self, bytes: Bytes) -> Result<()> {
        let Some(current) = &mut self.current else { return Err(Error::internal("no file was begun")) };
        current.digest.update(&bytes);
        current.bytes += bytes.len() as u64;
        self.send(Command::Bytes(bytes)).await
    }

    /// Adds a text to the file that was begun.
    pub(super) async fn text(&mut self, text: &str) -> Result<()> {
        let Some(current) = &mut self.current else { return Err(Error::internal("no file was begun")) };
        current.gathered.extend_from_slice(text.as_bytes());
        if current.gathered.len() >= PIECE { self.flush().await } else { Ok(()) }
    }

    /// Adds a record to the file that was begun: one line of JSON.
    pub(super) async fn line(&mut self, record: &impl serde::Serialize) -> Result<()> {
        let Some(current) = &mut self.current else { return Err(Error::internal("no file was begun")) };
        serde_json::to_writer(&mut current.gathered, record).map_err(|error| Error::Internal(error.into()))?;
        current.gathered.push(b'\n');
        if let Some(records) = &mut current.records {
            *records += 1;
        }
        if current.gathered.len() >= PIECE { self.flush().await } else { Ok(()) }
    }

    async fn flush(&mut self) -> Result<()> {
        let gathered = self.current.as_mut().map(|current| std::mem::take(&mut current.gathered)).unwrap_or_default();
        if gathered.is_empty() { Ok(()) } else { self.write(gathered.into()).await }
    }

    /// Ends the file that was begun.
    pub(super) async fn end(&mut self) -> Result<ListedFile> {
        self.flush().await?;
        let Some(current) = self.current.take() else { return Err(Error::internal("no file was begun")) };
        Ok(ListedFile {
            path: current.path,
            records: current.records,
            bytes: current.bytes,
            sha256: hex::encode(current.digest.finalize()),
        })
    }

    /// Brings all of it to the disk.
    pub(super) async fn finish(mut self) -> Result<()> {
        self.send(Command::Finish).await?;
        self.writing.await.map_err(|error| Error::Internal(error.into()))?.map_err(not_written)
    }

    async fn send(&mut self, command: Command) -> Result<()> {
        if self.commands.send(command).await.is_ok() {
            return Ok(());
        }
        // The thread gave up, and says why.
        match (&mut self.writing).await {
            Ok(Err(error)) => Err(not_written(error)),
            Ok(Ok(())) => Err(Error::internal("an export was finished before its end")),
            Err(error) => Err(Error::Internal(error.into())),
        }
    }
}

fn not_written(error: io::Error) -> Error {
    Error::Unavailable { part: "disk", source: error.into() }
}

fn write(file: File, at: Timestamp, mut commands: mpsc::Receiver<Command>) -> io::Result<()> {
    let options = SimpleFileOptions::default()
        .last_modified_time(date_time(at))
        .unix_permissions(0o644)
        // How long a file will be is not known when it begins.
        .large_file(true);
    let mut zip = ZipWriter::new(io::BufWriter::with_capacity(1 << 20, file));
    while let Some(command) = commands.blocking_recv() {
        match command {
            Command::Begin { path, compressed } => {
                let method = if compressed { CompressionMethod::Deflated } else { CompressionMethod::Stored };
                zip.start_file(path, options.compression_method(method))?;
            }
            Command::Bytes(bytes) => zip.write_all(&bytes)?,
            Command::Finish => {
                let file = zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
                return file.sync_all();
            }
        }
    }
    // Whoever wrote it was dropped.
    Err(io::ErrorKind::Interrupted.into())
}

/// The time as a zip file knows it: in UTC, to two seconds.
fn date_time(at: Timestamp) -> zip::DateTime {
    let at = at.to_zoned_datetime(TimeZone::UTC);
    let part = |part: i8| u8::try_from(part).unwrap_or_default();
    let year = u16::try_from(at.year()).unwrap_or_default();
    zip::DateTime::from_date_and_time(
        year,
        part(at.month()),
        part(at.day()),
        part(at.hour()),
        part(at.minute()),
        part(at.second()),
    )
    .unwrap_or_default()
}
