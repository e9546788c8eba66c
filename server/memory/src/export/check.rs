//! Looking at every record and every byte of an export before anything of it is written.
//!
//! What passes is unpacked on the way, to files that are gone with the process. So what is restored is exactly what was
//! looked at, and the parts of it that belong together can be read side by side.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashMap, HashSet},
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Seek as _, Write as _},
    marker::PhantomData,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use futures::StreamExt as _;
use polymnemo_types::{Kind, MemoryId, limits};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::{
    archive::{Archive, ExportFiles, Told, damaged, disk},
    manifest::{ListedFile, Manifest},
    record::{
        AppRecord, CallRecord, MediaRecord, MemoryRecord, MessageRecord, MessageRevisionRecord, NamespaceRecord, Part,
        RevisionRecord, SessionRecord, SettingsRecord, SightingRecord, TokenRecord, UserRecord,
    },
};
use crate::{
    Error, FileBytes, Result,
    service::{CountedKind, RestoreProblem},
};

/// The greatest length of a line. The longest message there can be, with every character of it escaped, is shorter.
const MOST_LINE: u64 = 128 << 20;

/// The greatest length of a file that is one JSON object.
const MOST_OBJECT: u64 = 1 << 20;

/// How many bytes of a file are read at once.
const PIECE: usize = 256 << 10;

/// An export of which all was looked at.
pub struct CheckedExport {
    /// What it says of itself.
    pub manifest: Manifest,
    /// Who the user was.
    pub user: UserRecord,
    /// What is wrong with single records; they are left out.
    pub problems: Vec<RestoreProblem>,
    pub(crate) settings: SettingsRecord,
    pub(crate) namespaces: Vec<NamespaceRecord>,
    /// All memories, sessions and files, and whether they are left out.
    pub(crate) ids: HashMap<MemoryId, Kept>,
    pub(crate) messages: HashMap<MemoryId, u32>,
    spools: BTreeMap<Part, File>,
    archive: Arc<Mutex<Archive>>,
}

/// A memory of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) kind: Kind,
    pub(crate) broken: bool,
}

impl std::fmt::Debug for CheckedExport {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CheckedExport").field("counts", &self.manifest.counts).finish_non_exhaustive()
    }
}

impl CheckedExport {
    /// Looks at all of an export. `on` is told how many of its bytes were looked at, of how many; false stops it.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] where it is none, or is damaged.
    pub(crate) fn open(place: ExportFiles, temporary: &Path, on: &mut dyn FnMut(u64, u64) -> bool) -> Result<Self> {
        let (archive, manifest) = Archive::open(place)?;
        let total = manifest.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add);
        let mut listed: HashMap<String, ListedFile> = HashMap::with_capacity(manifest.files.len().min(1 << 20));
        for file in &manifest.files {
            if listed.insert(file.path.clone(), file.clone()).is_some() {
                return Err(damaged(&file.path, "it is listed twice"));
            }
        }
        let mut check = Check { archive, listed, temporary, on, done: 0, total, spools: BTreeMap::new() };
        let user: UserRecord = check.object("user.json")?;
        let settings: SettingsRecord = check.object("settings.json")?;
        let mut found = Found::default();
        check.records(&mut found)?;
        found.check_kinds();
        check.media(&mut found)?;
        let Check { archive, spools, .. } = check;
        Ok(Self {
            manifest,
            user,
            settings,
            problems: found.problems,
            namespaces: found.namespaces,
            ids: found.ids,
            messages: found.messages,
            spools,
            archive: Arc::new(Mutex::new(archive)),
        })
    }

    /// The records of a part, from the first. Those of one part are read once at a time.
    pub(crate) fn lines<T: DeserializeOwned>(&self, part: Part) -> Result<Lines<T>> {
        let file = self.spools.get(&part).ok_or_else(|| Error::internal("a part that was not looked at"))?;
        Lines::new(file)
    }

    /// The bytes of a file, unpacked by a thread of their own while they are taken.
    pub(crate) fn bytes(&self, path: String) -> FileBytes {
        let (pieces, received) = mpsc::channel::<io::Result<Bytes>>(4);
        let archive = self.archive.clone();
        tokio::task::spawn_blocking(move || {
            let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
            // What is unpacked again was believed before.
            archive.believe_again();
            let read = archive.read(&path, |reader| {
                loop {
                    let mut piece = vec![0; PIECE];
                    let read = fill(reader, &mut piece)?;
                    piece.truncate(read);
                    if read == 0 || pieces.blocking_send(Ok(piece.into())).is_err() {
                        return Ok(());
                    }
                }
            });
            if !matches!(read, Ok(true)) {
                // Whoever took them may be gone.
                let _ = pieces.blocking_send(Err(io::ErrorKind::InvalidData.into()));
            }
        });
        futures::stream::unfold(received, |mut received| async { received.recv().await.map(|piece| (piece, received)) })
            .boxed()
    }
}

/// Reads until the buffer is full or the end is reached.
fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// The records of a part, one after the other.
pub(crate) struct Lines<T> {
    lines: BufReader<File>,
    next: Option<T>,
    of: PhantomData<T>,
}

impl<T: DeserializeOwned> Lines<T> {
    fn new(file: &File) -> Result<Self> {
        let mut file = file.try_clone().map_err(disk)?;
        file.rewind().map_err(disk)?;
        Ok(Self { lines: BufReader::with_capacity(64 << 10, file), next: None, of: PhantomData })
    }

    /// The next record, which stays the next one.
    pub(crate) fn peek(&mut self) -> Result<Option<&T>> {
        if self.next.is_none() {
            self.next = self.read()?;
        }
        Ok(self.next.as_ref())
    }

    /// The next record.
    pub(crate) fn next(&mut self) -> Result<Option<T>> {
        match self.next.take() {
            Some(record) => Ok(Some(record)),
            None => self.read(),
        }
    }

    /// The next record where it is one that `place` says to be neither before nor after what is wanted. Those before are
    /// passed over.
    pub(crate) fn next_at(&mut self, place: impl Fn(&T) -> Ordering) -> Result<Option<T>> {
        loop {
            match self.peek()?.map(&place) {
                Some(Ordering::Less) => self.next = None,
                Some(Ordering::Equal) => return self.next(),
                Some(Ordering::Greater) | None => return Ok(None),
            }
        }
    }

    fn read(&mut self) -> Result<Option<T>> {
        let mut line = Vec::new();
        let read = self.lines.read_until(b'\n', &mut line).map_err(disk)?;
        if read == 0 {
            return Ok(None);
        }
        serde_json::from_slice(&line).map(Some).map_err(|error| Error::Internal(error.into()))
    }
}

struct Check<'a> {
    archive: Archive,
    listed: HashMap<String, ListedFile>,
    temporary: &'a Path,
    on: &'a mut dyn FnMut(u64, u64) -> bool,
    done: u64,
    total: u64,
    spools: BTreeMap<Part, File>,
}

/// What was found so far.
#[derive(Default)]
struct Found {
    namespaces: Vec<NamespaceRecord>,
    ids: HashMap<MemoryId, Kept>,
    sessions: HashSet<MemoryId>,
    messages: HashMap<MemoryId, u32>,
    bytes: HashMap<MemoryId, u64>,
    files: HashSet<MemoryId>,
    problems: Vec<RestoreProblem>,
}

impl Check<'_> {
    fn listed(&self, path: &str) -> Result<ListedFile> {
        self.listed.get(path).cloned().ok_or_else(|| damaged(path, "the manifest does not list it"))
    }

    fn object<T: DeserializeOwned>(&mut self, path: &str) -> Result<T> {
        let listed = self.listed(path)?;
        let mut bytes = Vec::new();
        let found = self.archive.read(path, |reader| {
            reader.take(MOST_OBJECT).read_to_end(&mut bytes)?;
            Ok(())
        })?;
        if !found {
            return Err(damaged(path, "it is missing"));
        }
        check_digest(&listed, bytes.len() as u64, &Sha256::digest(&bytes))?;
        serde_json::from_slice(&bytes).map_err(|_| damaged(path, "it can't be understood"))
    }

    /// All records, each with what came before it.
    fn records(&mut self, found: &mut Found) -> Result<()> {
        let mut last = String::new();
        self.part(Part::Namespaces, |record: NamespaceRecord, at| {
            at.after(last.is_empty() || last.as_str() < record.name.as_str())?;
            last.clone_from(&record.name);
            found.namespaces.push(record);
            Ok(())
        })?;
        let names: HashSet<String> = found.namespaces.iter().map(|namespace| namespace.name.clone()).collect();
        let mut last = None;
        self.part(Part::Memories, |record: MemoryRecord, at| {
            at.after(last < Some(record.id))?;
            last = Some(record.id);
            let fault = fault_of_memory(&record, &names);
            found.ids.insert(record.id, Kept { kind: record.kind, broken: false });
            if let Some(reason) = fault {
                found.broken(record.id, reason);
            }
            Ok(())
        })?;
        let mut last = None;
        self.part(Part::Revisions, |record: RevisionRecord, at| {
            at.after(last < Some((record.id, record.revision)))?;
            last = Some((record.id, record.revision));
            if let Some(reason) = fault_of_revision(&record) {
                found.broken(record.id, reason);
            }
            found.belongs(record.id, None, "revisions.jsonl")
        })?;
        let mut last = None;
        self.part(Part::Sessions, |record: SessionRecord, at| {
            at.after(last < Some(record.id))?;
            last = Some(record.id);
            found.sessions.insert(record.id);
            if let Some(reason) = fault_of_session(&record) {
                found.broken(record.id, reason);
            }
            found.belongs(record.id, Some(Kind::Session), "sessions.jsonl")
        })?;
        let mut last = None;
        self.part(Part::Messages, |record: MessageRecord, at| {
            at.after(last <= Some(record.session))?;
            last = Some(record.session);
            let before = found.messages.get(&record.session).copied().unwrap_or_default();
            at.after(record.number == before.saturating_add(1))?;
            found.messages.insert(record.session, record.number);
            let bytes = found.bytes.entry(record.session).or_default();
            *bytes += record.content.len() as u64;
            let too_long = record.number > limits::SESSION_MESSAGES || *bytes > limits::SESSION_BYTES;
            let fault = fault_of_message(&record.role, &record.format, record.client_id.as_deref(), &record.content);
            if let Some(reason) = fault.or(too_long.then_some("it is longer than a session may be")) {
                found.broken(record.session, reason);
            }
            if found.sessions.contains(&record.session) { Ok(()) } else { Err(orphan("messages.jsonl")) }
        })?;
        let mut last = None;
        self.part(Part::MessageRevisions, |record: MessageRevisionRecord, at| {
            let place = (record.session, record.number, record.revision);
            at.after(last < Some(place))?;
            last = Some(place);
            if let Some(reason) = fault_of_message(&record.role, &record.format, None, "").or(nul(&record.content)) {
                found.broken(record.session, reason);
            }
            let messages = found.messages.get(&record.session).copied().unwrap_or_default();
            if (1..=messages).contains(&record.number) { Ok(()) } else { Err(orphan("message_revisions.jsonl")) }
        })?;
        let mut last = None;
        self.part(Part::Tokens, |record: TokenRecord, at| {
            at.after(last < Some(record.id))?;
            last = Some(record.id);
            Ok(())
        })?;
        let mut last = None;
        self.part(Part::Apps, |record: AppRecord, at| {
            at.after(last < Some(record.id))?;
            last = Some(record.id);
            Ok(())
        })?;
        self.part(Part::Calls, |_: CallRecord, _| Ok(()))?;
        let mut last = None;
        self.part(Part::Sightings, |record: SightingRecord, at| {
            let place = Some((record.client, record.door));
            at.after(last < place)?;
            last = place;
            Ok(())
        })?;
        let mut last = None;
        self.part(Part::Media, |record: MediaRecord, at| {
            at.after(last < Some(record.id))?;
            last = Some(record.id);
            found.files.insert(record.id);
            if let Some(reason) = fault_of_media(&record) {
                found.broken(record.id, reason);
            }
            found.belongs(record.id, Some(Kind::Media), "media.jsonl")
        })
    }

    fn part<T: DeserializeOwned>(&mut self, part: Part, mut each: impl FnMut(T, &At) -> io::Result<()>) -> Result<()> {
        let path = part.path();
        let listed = self.listed(path)?;
        let mut spool = BufWriter::with_capacity(256 << 10, tempfile::tempfile_in(self.temporary).map_err(disk)?);
        let (mut digest, mut bytes, mut records) = (Sha256::new(), 0_u64, 0_u64);
        let (on, total, done) = (&mut *self.on, self.total, self.done);
        let found = self.archive.read(path, |reader| {
            let mut reader = BufReader::with_capacity(64 << 10, reader);
            let mut line = Vec::new();
            let mut told = 0;
            loop {
                line.clear();
                let read = reader.by_ref().take(MOST_LINE).read_until(b'\n', &mut line)?;
                if read == 0 {
                    return Ok(());
                }
                if line.last() != Some(&b'\n') {
                    return Err(Told::io("a line has no end"));
                }
                bytes += read as u64;
                if bytes > listed.bytes {
                    return Err(Told::io("it is longer than the manifest says"));
                }
                digest.update(&line);
                records += 1;
                if holds_nul(&line) && !SHOWN_ANYWAY.contains(&part) {
                    return Err(Told::io(format!("its line {records} holds a character that can't be kept")));
                }
                let record: T = serde_json::from_slice(&line)
                    .map_err(|error| Told::io(format!("its line {records} can't be understood ({error})")))?;
                each(record, &At { line: records })?;
                spool.write_all(&line)?;
                if bytes - told > 1 << 20 {
                    told = bytes;
                    if !on(done + bytes, total) {
                        return Err(Told::io("the import was stopped"));
                    }
                }
            }
        })?;
        if !found {
            return Err(damaged(path, "it is missing"));
        }
        check_digest(&listed, bytes, &digest.finalize())?;
        if listed.records.is_some_and(|expected| expected != records) {
            return Err(damaged(path, "it has another number of records than the manifest says"));
        }
        self.done += bytes;
        let file = spool.into_inner().map_err(|error| disk(error.into_error()))?;
        self.spools.insert(part, file);
        Ok(())
    }

    /// The bytes of files. One that is damaged is left out; the others come in.
    fn media(&mut self, found: &mut Found) -> Result<()> {
        let Some(file) = self.spools.get(&Part::Media) else { return Ok(()) };
        let mut lines: Lines<MediaRecord> = Lines::new(file)?;
        while let Some(media) = lines.next()? {
            let Some(path) = &media.file else {
                found.broken(media.id, "its bytes are not in the export");
                continue;
            };
            let Some(listed) = self.listed.get(path).cloned() else {
                found.broken(media.id, "its bytes are not in the export");
                continue;
            };
            let (mut digest, mut bytes) = (Sha256::new(), 0);
            let read = self.archive.read(path, |reader| {
                let mut piece = vec![0; PIECE];
                loop {
                    let read = fill(reader, &mut piece)?;
                    if read == 0 || bytes > media.size {
                        return Ok(());
                    }
                    digest.update(piece.get(..read).unwrap_or_default());
                    bytes += read as u64;
                }
            });
            let digest = hex::encode(digest.finalize());
            let whole = matches!(read, Ok(true))
                && bytes == media.size
                && listed.sha256 == digest
                && media.sha256.as_ref().is_none_or(|expected| *expected == digest);
            if !whole {
                if let Err(error @ Error::Unavailable { .. }) = read {
                    return Err(error);
                }
                found.broken(media.id, "its bytes are damaged");
            }
            self.done += bytes;
            if !(self.on)(self.done, self.total) {
                return Err(Error::Invalid("The import was stopped. Nothing was imported.".into()));
            }
        }
        Ok(())
    }
}

/// Parts whose records are told one by one where they hold what can't be kept.
const SHOWN_ANYWAY: [Part; 5] =
    [Part::Memories, Part::Revisions, Part::Sessions, Part::Messages, Part::MessageRevisions];

/// Whether a line of JSON stands for a text with NUL in it.
fn holds_nul(line: &[u8]) -> bool {
    let escape = br"\u0000";
    let found = line.windows(escape.len()).enumerate().filter(|(_, window)| window == escape);
    found.into_iter().any(|(place, _)| {
        // A backslash that is itself escaped begins no escape.
        let before = line.get(..place).unwrap_or_default();
        before.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 0
    })
}

/// The place of a record in its file.
struct At {
    line: u64,
}

impl At {
    /// Refuses a record that is not after the one before it.
    fn after(&self, is_after: bool) -> io::Result<()> {
        if is_after { Ok(()) } else { Err(Told::io(format!("its line {} is out of order", self.line))) }
    }
}

fn orphan(path: &str) -> io::Error {
    Told::io(format!("a record of {path} belongs to nothing"))
}

fn check_digest(listed: &ListedFile, bytes: u64, digest: &[u8]) -> Result<()> {
    if listed.bytes == bytes && listed.sha256 == hex::encode(digest) {
        return Ok(());
    }
    Err(damaged(&listed.path, "it is not what the manifest says: its checksum is another one"))
}

impl Found {
    fn broken(&mut self, id: MemoryId, reason: impl Into<String>) {
        let Some(kept) = self.ids.get_mut(&id) else { return };
        if !std::mem::replace(&mut kept.broken, true) {
            let kind = CountedKind::of(kept.kind);
            self.problems.push(RestoreProblem::broken(kind, id.to_string(), reason));
        }
    }

    fn belongs(&self, id: MemoryId, kind: Option<Kind>, path: &str) -> io::Result<()> {
        match self.ids.get(&id) {
            Some(kept) if kind.is_none_or(|kind| kind == kept.kind) => Ok(()),
            _ => Err(orphan(path)),
        }
    }

    /// A session without its messages' file, or a file without its own, is none.
    fn check_kinds(&mut self) {
        let incomplete: Vec<MemoryId> = self
            .ids
            .iter()
            .filter(|(id, kept)| match kept.kind {
                Kind::Memory => false,
                Kind::Session => !self.sessions.contains(id),
                Kind::Media => !self.files.contains(id),
            })
            .map(|(&id, _)| id)
            .collect();
        for id in incomplete {
            self.broken(id, "what belongs to it is not in the export");
        }
    }
}

/// PostgreSQL can't hold it, so no export of ours has it.
fn nul(text: &str) -> Option<&'static str> {
    text.contains('\0').then_some("its text holds a character that can't be kept")
}

fn short(text: Option<&String>, most: usize) -> bool {
    text.is_none_or(|text| text.chars().count() <= most && !text.contains('\0'))
}

fn fault_of_memory(record: &MemoryRecord, namespaces: &HashSet<String>) -> Option<&'static str> {
    if !namespaces.contains(&record.namespace) {
        return Some("its namespace is not in the export");
    }
    fault_of_state(&record.content, &record.tags, record.source.as_ref(), record.client.as_ref()).or_else(|| {
        let is_fine = short(record.changed_by.as_ref(), 2_000)
            && short(record.idempotency_key.as_ref(), limits::IDEMPOTENCY_KEY_CHARS)
            && (1..=i32::MAX.cast_unsigned()).contains(&record.revision)
            && record.superseded_by.is_some() == record.superseded_at.is_some()
            && record.supersedes.len() <= limits::IDS;
        (!is_fine).then_some("it is not like any memory that is kept here")
    })
}

fn fault_of_state(
    content: &str,
    tags: &[String],
    source: Option<&String>,
    client: Option<&String>,
) -> Option<&'static str> {
    if content.len() > limits::CONTENT_BYTES {
        return Some("its text is longer than a memory may be");
    }
    let tags_are_fine = tags.len() <= limits::TAGS
        && tags.iter().all(|tag| tag.chars().count() <= limits::TAG_CHARS && !tag.contains('\0'));
    let unique: HashSet<&String> = tags.iter().collect();
    if !tags_are_fine || unique.len() != tags.len() {
        return Some("its labels are none");
    }
    if !short(source, limits::SOURCE_CHARS) || !short(client, 2_000) {
        return Some("its source or client is none");
    }
    nul(content)
}

fn fault_of_revision(record: &RevisionRecord) -> Option<&'static str> {
    if record.revision == 0 || i32::try_from(record.revision).is_err() || nul(&record.namespace).is_some() {
        return Some("an earlier state of it is none");
    }
    fault_of_state(&record.content, &record.tags, record.source.as_ref(), record.client.as_ref())
}

fn fault_of_session(record: &SessionRecord) -> Option<&'static str> {
    let metadata_is_fine = record.metadata.as_ref().is_none_or(|text| {
        text.len() <= 2 * limits::METADATA_BYTES && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    });
    let is_fine = matches!(record.form.as_str(), "messages" | "text")
        && short(Some(&record.key), limits::SESSION_ID_CHARS)
        && metadata_is_fine;
    (!is_fine).then_some("it is not like any session that is kept here")
}

fn fault_of_message(role: &str, format: &str, client_id: Option<&str>, content: &str) -> Option<&'static str> {
    if content.len() > limits::MESSAGE_BYTES {
        return Some("one of its messages is longer than a message may be");
    }
    let is_fine = matches!(format, "text" | "blocks")
        && role.chars().count() <= limits::ROLE_CHARS
        && client_id.is_none_or(|id| id.chars().count() <= limits::SESSION_ID_CHARS && !id.contains('\0'));
    if !is_fine {
        return Some("one of its messages is not like any that is kept here");
    }
    nul(role).or(nul(content))
}

fn fault_of_media(record: &MediaRecord) -> Option<&'static str> {
    let digest_is_fine = record.sha256.as_deref().is_none_or(|hex| crate::service::digest_of(hex).is_some());
    let is_fine = record.size > 0
        && short(Some(&record.filename), limits::FILENAME_CHARS)
        && short(Some(&record.content_type), limits::CONTENT_TYPE_CHARS)
        && digest_is_fine;
    (!is_fine).then_some("it is not like any file that is kept here")
}

/// An id that is the user's own in place of one that another user has: always the same one, and in the same order among
/// ids by time.
pub(crate) fn own_id(user: Uuid, id: Uuid) -> Uuid {
    let digest = Sha256::new().chain_update(b"polymnemo restored id\n").chain_update(user).chain_update(id).finalize();
    let mut bytes = *id.as_bytes();
    for (byte, random) in bytes.iter_mut().skip(6).zip(digest) {
        *byte = random;
    }
    uuid::Builder::from_random_bytes(bytes).with_version(uuid::Version::SortRand).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_character_itself_is_refused() {
        assert!(holds_nul(&serde_json::to_vec("a\0b").expect("JSON")));
        assert!(holds_nul(&serde_json::to_vec("\\\0").expect("JSON")));
        for fine in ["what is \\u0000 in JSON?", "\\\\u0000", "u0000", ""] {
            assert!(!holds_nul(&serde_json::to_vec(fine).expect("JSON")), "{fine}");
        }
    }

    #[test]
    fn an_id_in_place_of_another_one_is_always_the_same() {
        let [user, other, id] = [1, 2, 0x0198_c0de_7a11_7000_8000_0000_0000_0000].map(Uuid::from_u128);
        assert_eq!(own_id(user, id), own_id(user, id));
        assert_ne!(own_id(user, id), own_id(other, id));
        assert_ne!(own_id(user, id), id);
        assert_eq!(own_id(user, id).get_version(), Some(uuid::Version::SortRand));
        assert_eq!(own_id(user, id).as_bytes()[..6], id.as_bytes()[..6]);
    }
}
