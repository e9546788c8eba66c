//! Writing an export.

use std::{
    collections::HashMap,
    fs::File,
    io::{BufRead as _, BufReader, BufWriter, Seek as _, Write as _},
    path::Path,
};

use futures::StreamExt as _;
use jiff::Timestamp;
use polymnemo_types::ExportCounts;

use super::{
    manifest::{self, FORMAT, ListedFile, Manifest, ManifestUser, Missing, VERSION},
    readable::{self, Readable, media_path},
    record::{MediaRecord, MemoryRecord, MessageRecord, Part, Record, SessionRecord},
    zip_file::ZipFile,
};
use crate::{
    Ctx, Error, Result,
    ports::{BlobStore, Exports, Snapshot},
};

/// So many bytes of files are as much work as a record.
const BYTES_PER_RECORD: u64 = 64 << 10;

/// What an export is made of.
pub struct Source<'a> {
    /// Where the records are.
    pub store: &'a dyn Exports,
    /// Where the bytes of files are; nothing where none are kept.
    pub blobs: Option<&'a dyn BlobStore>,
    /// Where what is needed only meanwhile may lie.
    pub temporary: &'a Path,
}

/// An export that was written.
#[derive(Debug, Clone)]
pub struct Exported {
    /// What is in it.
    pub manifest: Manifest,
}

/// Writes all that a user has into this file, which must be empty. `on` is told how much of the work is done, in
/// thousandths.
///
/// # Errors
///
/// [`Error::Unavailable`] where the database, the storage or the disk does not work.
pub async fn write(
    source: Source<'_>,
    ctx: &Ctx,
    file: File,
    now: Timestamp,
    on: &(dyn Fn(u32) + Send + Sync),
) -> Result<Exported> {
    let mut snapshot = source.store.snapshot(ctx).await?;
    let (records, bytes) = snapshot.extent().await?;
    let mut writer = Writer {
        zip: ZipFile::new(file, now),
        files: Vec::new(),
        counts: ExportCounts::default(),
        missing: Vec::new(),
        done: 0,
        // Nearly everything is written twice, once for people.
        work: (records * 2 + bytes / BYTES_PER_RECORD).max(1),
        on,
    };
    writer.zip.begin("README.md", true, false).await?;
    writer.zip.text(readable::README).await?;
    writer.end().await?;

    let (user, settings) = snapshot.user().await?;
    writer.json("user.json", &user).await?;
    writer.json("settings.json", &settings).await?;
    for part in Part::FILES {
        if part != Part::Media {
            writer.part(snapshot.as_mut(), part).await?;
        }
    }
    let media = writer.media_of(snapshot.as_mut(), source.temporary).await?;
    let mut readable = Readable::new(ctx.user.time_zone.clone());
    writer.memories(snapshot.as_mut(), &mut readable, &media).await?;
    writer.sessions(snapshot.as_mut(), &mut readable).await?;
    snapshot.end().await?;
    // From here on the database is not needed any more. Bytes never change; those that are erased meanwhile are missing.
    writer.media(media, source.blobs).await?;

    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        created_at: now,
        generator: concat!("polymnemo ", env!("CARGO_PKG_VERSION")).to_owned(),
        user: ManifestUser { id: user.id, name: user.name },
        counts: writer.counts,
        files: writer.files,
        missing: writer.missing,
    };
    let mut zip = writer.zip;
    zip.begin(manifest::PATH, true, false).await?;
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| Error::Internal(error.into()))?;
    zip.text(&text).await?;
    zip.text("\n").await?;
    zip.end().await?;
    zip.finish().await?;
    on(1000);
    Ok(Exported { manifest })
}

struct Writer<'a> {
    zip: ZipFile,
    files: Vec<ListedFile>,
    counts: ExportCounts,
    missing: Vec<Missing>,
    done: u64,
    work: u64,
    on: &'a (dyn Fn(u32) + Send + Sync),
}

/// The records of the user's files, one a line, on the disk: there may be many.
struct Spool {
    lines: File,
    /// Those that the readable part asks for: where each begins.
    places: HashMap<polymnemo_types::MemoryId, u64>,
}

impl Writer<'_> {
    fn advance(&mut self, work: u64) {
        self.done = (self.done + work).min(self.work);
        (self.on)(u32::try_from(self.done.saturating_mul(999) / self.work).unwrap_or(999));
    }

    async fn end(&mut self) -> Result<()> {
        let file = self.zip.end().await?;
        self.files.push(file);
        Ok(())
    }

    async fn json(&mut self, path: &str, record: &impl serde::Serialize) -> Result<()> {
        self.zip.begin(path, true, false).await?;
        let text = serde_json::to_string_pretty(record).map_err(|error| Error::Internal(error.into()))?;
        self.zip.text(&text).await?;
        self.zip.text("\n").await?;
        self.end().await
    }

    async fn part(&mut self, snapshot: &mut dyn Snapshot, part: Part) -> Result<()> {
        self.zip.begin(part.path(), true, true).await?;
        loop {
            let records = snapshot.next(part).await?;
            if records.is_empty() {
                break;
            }
            self.advance(records.len() as u64);
            for record in records {
                self.count(&record);
                self.zip.line(&record).await?;
            }
        }
        self.end().await
    }

    fn count(&mut self, record: &Record) {
        let counts = &mut self.counts;
        let count = match record {
            Record::Namespace(_) => &mut counts.namespaces,
            Record::Memory(memory) => match memory.kind {
                polymnemo_types::Kind::Memory => &mut counts.memories,
                // These are counted as what they are.
                polymnemo_types::Kind::Session | polymnemo_types::Kind::Media => return,
            },
            Record::Revision(_) => &mut counts.revisions,
            Record::Session(_) => &mut counts.sessions,
            Record::Message(_) => &mut counts.messages,
            Record::MessageRevision(_) => &mut counts.message_revisions,
            Record::Media(_) => &mut counts.media,
            Record::Token(_) => &mut counts.tokens,
            Record::App(_) => &mut counts.apps,
            Record::Call(_) => &mut counts.calls,
            Record::Sighting(_) => return,
        };
        *count += 1;
    }

    /// Notes the user's files, for later.
    async fn media_of(&mut self, snapshot: &mut dyn Snapshot, temporary: &Path) -> Result<Spool> {
        let file = tempfile::tempfile_in(temporary).map_err(disk)?;
        let mut lines = BufWriter::new(file);
        let mut places = HashMap::new();
        let mut place = 0;
        loop {
            let records = snapshot.next(Part::Media).await?;
            if records.is_empty() {
                break;
            }
            for record in records {
                let Record::Media(media) = record else { continue };
                let line =
                    serde_json::to_string(&(&media.object_key, &media)).map_err(|e| Error::Internal(e.into()))?;
                places.insert(media.id, place);
                place += line.len() as u64 + 1;
                lines.write_all(line.as_bytes()).and_then(|()| lines.write_all(b"\n")).map_err(disk)?;
            }
        }
        let lines = lines.into_inner().map_err(|error| disk(error.into_error()))?;
        Ok(Spool { lines, places })
    }

    async fn memories(&mut self, snapshot: &mut dyn Snapshot, readable: &mut Readable, media: &Spool) -> Result<()> {
        let mut current: Option<String> = None;
        loop {
            let records = snapshot.next(Part::ReadableMemories).await?;
            if records.is_empty() {
                break;
            }
            self.advance(records.len() as u64);
            for record in records {
                let Record::Memory(memory) = record else { continue };
                let path = readable.file_of_memory(&memory);
                if current.as_ref() != Some(&path) {
                    if current.is_some() {
                        self.end().await?;
                    }
                    self.zip.begin(&path, true, false).await?;
                    self.zip.text(&readable.heading(&memory)).await?;
                    current = Some(path);
                }
                let file = media.of(&memory)?;
                self.zip.text(&readable.memory(&memory, file.as_ref())).await?;
            }
        }
        if current.is_some() { self.end().await } else { Ok(()) }
    }

    async fn sessions(&mut self, snapshot: &mut dyn Snapshot, readable: &mut Readable) -> Result<()> {
        let mut messages = Messages::default();
        let mut memories: HashMap<polymnemo_types::MemoryId, MemoryRecord> = HashMap::new();
        loop {
            // Pairs of a memory and its session.
            let records = snapshot.next(Part::ReadableSessions).await?;
            if records.is_empty() {
                return Ok(());
            }
            for record in records {
                let session = match record {
                    Record::Memory(memory) => {
                        memories.insert(memory.id, memory);
                        continue;
                    }
                    Record::Session(session) => session,
                    _ => continue,
                };
                let Some(memory) = memories.remove(&session.id) else { continue };
                self.session(snapshot, readable, &mut messages, &session, &memory).await?;
            }
        }
    }

    async fn session(
        &mut self,
        snapshot: &mut dyn Snapshot,
        readable: &mut Readable,
        messages: &mut Messages,
        session: &SessionRecord,
        memory: &MemoryRecord,
    ) -> Result<()> {
        self.zip.begin(&readable.file_of_session(session, memory), true, false).await?;
        self.zip.text(&readable.session(session, memory)).await?;
        let mut count = 1;
        while let Some(message) = messages.next_of(snapshot, session).await? {
            self.zip.text(&readable.message(&message)).await?;
            count += 1;
        }
        self.advance(count);
        self.end().await
    }

    /// The bytes of the user's files, and then what is known of them.
    async fn media(&mut self, mut spool: Spool, blobs: Option<&dyn BlobStore>) -> Result<()> {
        spool.lines.rewind().map_err(disk)?;
        let mut digests: Vec<(Option<String>, Option<String>)> = Vec::with_capacity(spool.places.len());
        for line in BufReader::new(spool.lines.try_clone().map_err(disk)?).lines() {
            let media = spooled(&line.map_err(disk)?)?;
            let written = match blobs {
                Some(blobs) => self.file(&media, blobs).await?,
                None => None,
            };
            self.counts.media += 1;
            if written.is_none() {
                self.counts.missing += 1;
                let reason = if blobs.is_some() {
                    "The storage no longer had its bytes."
                } else {
                    "The server keeps no files any more."
                };
                self.missing.push(Missing { id: media.id.0, reason: reason.to_owned() });
            }
            digests.push(written.map_or((None, None), |(path, digest)| (Some(path), Some(digest))));
        }
        spool.lines.rewind().map_err(disk)?;
        self.zip.begin(Part::Media.path(), true, true).await?;
        for (line, (file, digest)) in BufReader::new(spool.lines).lines().zip(digests) {
            let mut media = spooled(&line.map_err(disk)?)?;
            media.file = file;
            media.sha256 = media.sha256.or(digest);
            self.zip.line(&media).await?;
        }
        self.end().await
    }

    /// Writes the bytes of a file; gives its path and digest, nothing where they are not there or not what they were.
    async fn file(&mut self, media: &MediaRecord, blobs: &dyn BlobStore) -> Result<Option<(String, String)>> {
        let Some(mut bytes) = blobs.read(&media.object_key, None).await? else { return Ok(None) };
        let path = media_path(media);
        self.zip.begin(&path, !is_compressed(&media.content_type), false).await?;
        let mut unaccounted = 0;
        while let Some(piece) = bytes.next().await {
            let piece = piece.map_err(|source| Error::Unavailable { part: "file storage", source: source.into() })?;
            unaccounted += piece.len() as u64;
            self.zip.write(piece).await?;
            if unaccounted >= BYTES_PER_RECORD {
                self.advance(unaccounted / BYTES_PER_RECORD);
                unaccounted %= BYTES_PER_RECORD;
            }
        }
        let file = self.zip.end().await?;
        let digest = file.sha256.clone();
        let whole = file.bytes == media.size && media.sha256.as_ref().is_none_or(|expected| *expected == digest);
        self.counts.media_bytes += file.bytes;
        self.files.push(file);
        if !whole {
            tracing::warn!(id = %media.id, "the bytes of a file are not those that were stored");
        }
        Ok(whole.then_some((path, digest)))
    }
}

impl Spool {
    /// The file of a memory, where it has one.
    fn of(&self, memory: &MemoryRecord) -> Result<Option<MediaRecord>> {
        let Some(&place) = self.places.get(&memory.id) else { return Ok(None) };
        let mut lines = self.lines.try_clone().map_err(disk)?;
        lines.seek(std::io::SeekFrom::Start(place)).map_err(disk)?;
        let mut line = String::new();
        BufReader::with_capacity(2 << 10, lines).read_line(&mut line).map_err(disk)?;
        spooled(&line).map(Some)
    }
}

fn spooled(line: &str) -> Result<MediaRecord> {
    let (object_key, media): (String, MediaRecord) =
        serde_json::from_str(line).map_err(|error| Error::Internal(error.into()))?;
    Ok(MediaRecord { object_key, ..media })
}

/// The messages of sessions, in the order of both.
#[derive(Default)]
struct Messages {
    waiting: std::collections::VecDeque<MessageRecord>,
}

impl Messages {
    /// The next message of a session. Those of sessions before it are passed over.
    async fn next_of(&mut self, snapshot: &mut dyn Snapshot, session: &SessionRecord) -> Result<Option<MessageRecord>> {
        loop {
            match self.waiting.front() {
                Some(first) if first.session < session.id => {
                    self.waiting.pop_front();
                }
                Some(first) if first.session == session.id => return Ok(self.waiting.pop_front()),
                Some(_) => return Ok(None),
                None => {
                    let records = snapshot.next(Part::ReadableMessages).await?;
                    if records.is_empty() {
                        return Ok(None);
                    }
                    self.waiting.extend(records.into_iter().filter_map(|record| match record {
                        Record::Message(message) => Some(message),
                        _ => None,
                    }));
                }
            }
        }
    }
}

/// Whether bytes of a type become no smaller.
fn is_compressed(content_type: &str) -> bool {
    let is_packed = ["zip", "gzip", "zstd", "x-7z-compressed", "x-rar-compressed", "pdf"];
    match content_type.split_once('/') {
        Some(("video", _)) => true,
        Some(("audio", kind)) => !kind.contains("wav"),
        Some(("image", kind)) => !kind.contains("svg") && !kind.contains("bmp") && !kind.contains("tiff"),
        Some(("application", kind)) => is_packed.contains(&kind),
        _ => false,
    }
}

fn disk(error: std::io::Error) -> Error {
    Error::Unavailable { part: "disk", source: error.into() }
}
