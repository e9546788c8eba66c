//! Taking an export back in: exactly as it was, with all ids and times.
//!
//! All of it is looked at before anything is written ([`MemoryService::check_export`]). What is there already is left alone;
//! so doing it again adds nothing, and whatever interrupts it, doing it again completes it. A memory comes with its history
//! and its file, a session with all its messages, or not at all. What makes it searchable is made anew.

use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
    sync::Arc,
};

use polymnemo_types::{ImportId, Kind, MemoryId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{MemoryService, digest_of, media::Kept, sessions::hash_of_message, validate};
use crate::{
    Ctx, Error, Result,
    export::{
        AppRecord, CallRecord, CheckedExport, ExportFiles, Lines, MediaRecord, MemoryRecord, MessageRecord,
        MessageRevisionRecord, Part, RevisionRecord, SessionRecord, SightingRecord, TokenRecord, own_id,
    },
    ports::{
        MemoryState, NewChunk, OwnMessage, Restored, RestoredMemory, RestoredMessage, SessionBegun, StoredFile,
        media_file,
    },
};

/// How many memories are restored at once, and how many bytes of them.
const MEMORIES: (usize, usize) = (100, 1 << 20);

/// The same of messages.
const MESSAGES: (usize, usize) = (500, 2 << 20);

/// The same of small records.
const RECORDS: usize = 500;

/// How many ids are looked up at once.
pub(super) const IDS: usize = 10_000;

/// How many problems are told one by one.
const PROBLEMS: usize = 1_000;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CountedKind {
    /// Settings, as one.
    Settings,
    /// Namespaces.
    Namespace,
    /// Memories.
    Memory,
    /// Sessions, each with its messages.
    Session,
    /// Files.
    Media,
    /// API tokens, which come back ended.
    Token,
    /// Apps, which come back ended.
    App,
    /// What apps and tokens did.
    Call,
    /// Clients that were seen.
    Client,
}

impl CountedKind {
    /// That of a memory.
    #[must_use]
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Memory => Self::Memory,
            Kind::Session => Self::Session,
            Kind::Media => Self::Media,
        }
    }
}

/// What an import of an export is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreStep {
    /// It looks at the export; counted in bytes.
    Check,
    /// It writes; counted in records.
    Write,
}

/// How far an import of an export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestoreProgress {
    /// What it is doing.
    pub step: RestoreStep,
    /// How much of that is done.
    pub done: u64,
    /// Of how much.
    pub total: u64,
}

/// Is told how far an import of an export is, and may stop it.
pub type OnRestore = Arc<dyn Fn(RestoreProgress) -> ControlFlow<()> + Send + Sync>;

/// What became of the records of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreCount {
    /// They are there now.
    pub added: u64,
    /// They were there, just like this.
    pub unchanged: u64,
    /// Something else is in their place, and was left alone.
    pub conflicting: u64,
    /// They can't be restored.
    pub broken: u64,
}

/// Why a record was not restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreProblem {
    /// What it is.
    pub kind: CountedKind,
    /// Its id or name in the export.
    pub id: String,
    /// Whether something else is in its place; otherwise it is broken.
    pub conflicting: bool,
    /// Why.
    pub reason: String,
}

impl RestoreProblem {
    pub(crate) fn broken(kind: CountedKind, id: String, reason: impl Into<String>) -> Self {
        Self { kind, id, conflicting: false, reason: reason.into() }
    }
}

/// What became of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreReport {
    /// What became of the records, by kind.
    pub counts: BTreeMap<CountedKind, RestoreCount>,
    /// Why some were not restored, the first thousand.
    pub problems: Vec<RestoreProblem>,
    /// How many more there were.
    pub further_problems: u64,
    /// Whether it was stopped before its end. What was restored by then stays; doing it again completes it.
    pub stopped: bool,
}

impl RestoreReport {
    /// How many records are there now that were not before.
    #[must_use]
    pub fn added(&self) -> u64 {
        self.counts.values().map(|count| count.added).sum()
    }

    fn note(&mut self, kind: CountedKind, id: impl ToString, outcome: Restored) {
        let count = self.counts.entry(kind).or_default();
        match outcome {
            Restored::Added => count.added += 1,
            Restored::Unchanged => count.unchanged += 1,
            Restored::Conflict(reason) => {
                count.conflicting += 1;
                self.tell(RestoreProblem { kind, id: id.to_string(), conflicting: true, reason });
            }
        }
    }

    fn broken(&mut self, problem: RestoreProblem) {
        self.counts.entry(problem.kind).or_default().broken += 1;
        self.tell(problem);
    }

    fn tell(&mut self, problem: RestoreProblem) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(problem);
        } else {
            self.further_problems += 1;
        }
    }
}

impl MemoryService {
    /// Looks at all of an export, every record and every byte; nothing is written. Damage to the records makes it invalid as
    /// a whole; a file with damaged bytes is among [`CheckedExport::problems`], and left out.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] where it is none, or damaged; [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn check_export(&self, ctx: &Ctx, place: impl Into<ExportFiles>, on: OnRestore) -> Result<CheckedExport> {
        ctx.check_person()?;
        let place = place.into();
        let temporary = self.temporary_folder()?;
        let checking = tokio::task::spawn_blocking(move || {
            let mut tell = |done, total| on(RestoreProgress { step: RestoreStep::Check, done, total }).is_continue();
            CheckedExport::open(place, &temporary, &mut tell)
        });
        checking.await.map_err(|error| Error::Internal(error.into()))?
    }

    /// Restores what an export holds and the caller does not have. Where an import brings it, each thing is noted as brought by
    /// it in the moment in which it is there.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`]; [`Error::Model`], [`Error::Unavailable`] where it had to end before it was done: what was
    /// restored by then stays, and doing it again completes it.
    pub async fn restore_export(
        &self,
        ctx: &Ctx,
        export: CheckedExport,
        import: Option<ImportId>,
        on: OnRestore,
    ) -> Result<RestoreReport> {
        ctx.check_person()?;
        let total = export.ids.len() as u64
            + export.messages.values().map(|&messages| u64::from(messages)).sum::<u64>()
            + export.manifest.counts.tokens
            + export.manifest.counts.apps
            + export.manifest.counts.calls;
        let mut restore = Restore {
            service: self,
            ctx,
            import,
            on,
            others: HashMap::new(),
            exposed: Vec::new(),
            report: RestoreReport::default(),
            done: 0,
            total,
        };
        for problem in &export.problems {
            restore.report.broken(problem.clone());
        }
        let outcome = restore.all(export).await;
        self.pending.notify_one();
        self.unindexed.notify_one();
        match outcome {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => restore.report.stopped = true,
            Err(error) => return Err(error),
        }
        Ok(restore.report)
    }
}

/// An import that goes on.
struct Restore<'a> {
    service: &'a MemoryService,
    ctx: &'a Ctx,
    import: Option<ImportId>,
    on: OnRestore,
    /// The ids that others have, each with the one to take instead.
    others: HashMap<Uuid, Uuid>,
    /// Namespaces that everyone could read here.
    exposed: Vec<String>,
    report: RestoreReport,
    done: u64,
    total: u64,
}

/// Goes on, or was stopped.
type Step = Result<ControlFlow<()>>;

macro_rules! go_on {
    ($step:expr) => {
        if let ControlFlow::Break(()) = $step {
            return Ok(ControlFlow::Break(()));
        }
    };
}

impl Restore<'_> {
    async fn all(&mut self, export: CheckedExport) -> Step {
        self.account(&export).await?;
        self.look_up(&export).await?;
        go_on!(self.sessions(&export).await?);
        // What memories were taken from is there now.
        go_on!(self.memories(&export).await?);
        let now = self.service.now();
        let mut tokens = export.lines::<TokenRecord>(Part::Tokens)?;
        while let Some(mut batch) = batch(&mut tokens)? {
            let ids: Vec<Uuid> = batch.iter().map(|token| token.id).collect();
            batch.iter_mut().for_each(|token| token.id = self.own(token.id));
            let outcomes = self.service.store.restore_tokens(self.ctx, &batch, now).await?;
            go_on!(self.note_all(CountedKind::Token, ids, outcomes));
        }
        let mut apps = export.lines::<AppRecord>(Part::Apps)?;
        while let Some(mut batch) = batch(&mut apps)? {
            let ids: Vec<Uuid> = batch.iter().map(|app| app.id).collect();
            batch.iter_mut().for_each(|app| app.id = self.own(app.id));
            let outcomes = self.service.store.restore_apps(self.ctx, &batch, now).await?;
            go_on!(self.note_all(CountedKind::App, ids, outcomes));
        }
        let mut calls = export.lines::<CallRecord>(Part::Calls)?;
        while let Some(mut batch) = batch(&mut calls)? {
            for call in &mut batch {
                call.app = self.own(call.app);
                call.memories.iter_mut().for_each(|id| id.0 = self.own(id.0));
            }
            let outcomes = self.service.store.restore_calls(self.ctx, &batch).await?;
            go_on!(self.note_all(CountedKind::Call, batch.iter().map(|call| call.at), outcomes));
        }
        let mut sightings = export.lines::<SightingRecord>(Part::Sightings)?;
        while let Some(batch) = batch(&mut sightings)? {
            let outcomes = self.service.store.restore_sightings(self.ctx, &batch).await?;
            for (sighting, outcome) in batch.iter().zip(outcomes) {
                self.report.note(CountedKind::Client, &sighting.client, outcome);
            }
        }
        self.done = self.total;
        Ok(self.progress())
    }

    fn note_all(
        &mut self,
        kind: CountedKind,
        ids: impl IntoIterator<Item = impl ToString>,
        outcomes: Vec<Restored>,
    ) -> ControlFlow<()> {
        self.done += outcomes.len() as u64;
        for (id, outcome) in ids.into_iter().zip(outcomes) {
            self.report.note(kind, id, outcome);
        }
        self.progress()
    }

    fn progress(&self) -> ControlFlow<()> {
        let done = self.done.min(self.total);
        (self.on)(RestoreProgress { step: RestoreStep::Write, done, total: self.total })
    }

    async fn account(&mut self, export: &CheckedExport) -> Result<()> {
        let mut settings = export.settings.clone();
        let zone_is_known = validate::time_zone(&settings.time_zone).is_ok_and(|zone| zone == settings.time_zone);
        let known = zone_is_known
            && matches!(settings.theme.as_str(), "system" | "light" | "dark")
            && matches!(settings.language.as_deref(), None | Some("en" | "zh"))
            && validate::namespace(&settings.default_namespace).is_ok_and(|name| name == settings.default_namespace);
        if !known {
            self.report.broken(RestoreProblem::broken(
                CountedKind::Settings,
                String::new(),
                "one of the settings is none that this server knows",
            ));
            settings = crate::export::SettingsRecord {
                default_namespace: self.ctx.user.default_namespace.clone(),
                time_zone: self.ctx.user.time_zone.iana_name().unwrap_or("UTC").to_owned(),
                language: None,
                theme: "system".to_owned(),
            };
        }
        let (mut fine, mut others) = (Vec::new(), Vec::new());
        for namespace in &export.namespaces {
            match validate::namespace(&namespace.name) {
                Ok(name) if name == namespace.name => fine.push(namespace.clone()),
                _ => others.push(namespace.name.clone()),
            }
        }
        let restored = self.service.store.restore_account(self.ctx, &settings, &fine).await?;
        if let Some(outcome) = restored.settings.filter(|_| known) {
            self.report.note(CountedKind::Settings, "", outcome);
        }
        for (namespace, outcome) in fine.iter().zip(restored.namespaces) {
            self.report.note(CountedKind::Namespace, &namespace.name, outcome);
        }
        for name in &others {
            let problem =
                RestoreProblem::broken(CountedKind::Namespace, name.clone(), "this is no name of a namespace");
            self.report.broken(problem);
        }
        self.exposed = restored.exposed;
        self.exposed.extend(others);
        Ok(())
    }

    /// Finds out which ids others have.
    async fn look_up(&mut self, export: &CheckedExport) -> Result<()> {
        let mut ids: Vec<Uuid> = export.ids.keys().map(|id| id.0).collect();
        let mut tokens = export.lines::<TokenRecord>(Part::Tokens)?;
        while let Some(token) = tokens.next()? {
            ids.push(token.id);
        }
        let mut apps = export.lines::<AppRecord>(Part::Apps)?;
        while let Some(app) = apps.next()? {
            ids.push(app.id);
        }
        let user = self.ctx.user.id;
        for ids in ids.chunks(IDS) {
            for id in self.service.store.ids_of_others(user, ids).await? {
                self.others.insert(id, own_id(user.0, id));
            }
        }
        Ok(())
    }

    fn own(&self, id: Uuid) -> Uuid {
        self.others.get(&id).copied().unwrap_or(id)
    }

    fn own_memory(&self, id: MemoryId) -> MemoryId {
        MemoryId(self.own(id.0))
    }

    /// A memory as it is to be restored here.
    fn owned(&self, mut record: MemoryRecord) -> MemoryRecord {
        record.id = self.own_memory(record.id);
        record.supersedes.iter_mut().for_each(|id| *id = self.own_memory(*id));
        record.superseded_by = record.superseded_by.map(|id| self.own_memory(id));
        if let Some(origin) = &mut record.origin {
            origin.session = self.own_memory(origin.session);
        }
        record
    }

    /// Whether a memory is to be restored; what is in the way of that is told.
    fn wanted(&mut self, export: &CheckedExport, record: &MemoryRecord) -> bool {
        if export.ids.get(&record.id).is_none_or(|kept| kept.broken) {
            return false;
        }
        if self.exposed.contains(&record.namespace) {
            let reason = format!("everyone on this server could read what is in the namespace `{}`", record.namespace);
            self.report.note(CountedKind::of(record.kind), record.id, Restored::Conflict(reason));
            return false;
        }
        true
    }

    async fn pieces(&self, record: &MemoryRecord, hash: [u8; 32]) -> Result<Vec<NewChunk>> {
        if record.forgotten_at.is_some() {
            return Ok(Vec::new());
        }
        let state = MemoryState {
            namespace: record.namespace.clone(),
            content: record.content.clone(),
            hash,
            tags: record.tags.clone(),
            source: record.source.clone(),
            occurred_at: record.occurred_at,
        };
        self.service.cut_passages(self.ctx, &state).await
    }

    async fn sessions(&mut self, export: &CheckedExport) -> Step {
        let mut memories = export.lines::<MemoryRecord>(Part::Memories)?;
        let mut revisions = export.lines::<RevisionRecord>(Part::Revisions)?;
        let mut sessions = export.lines::<SessionRecord>(Part::Sessions)?;
        let mut messages = export.lines::<MessageRecord>(Part::Messages)?;
        let mut message_revisions = export.lines::<MessageRevisionRecord>(Part::MessageRevisions)?;
        while let Some(memory) = memories.next()? {
            if memory.kind != Kind::Session || !self.wanted(export, &memory) {
                continue;
            }
            let id = memory.id;
            let history = all_at(&mut revisions, |revision| revision.id.cmp(&id))?;
            let Some(session) = sessions.next_at(|session| session.id.cmp(&id))? else { continue };
            let mut given = GivenMessages { session: id, messages: &mut messages, revisions: &mut message_revisions };
            let outcome = self.session(memory, history, session, &mut given).await?;
            let is_unchanged = outcome == Restored::Unchanged;
            self.report.note(CountedKind::Session, id, outcome);
            self.done += 1 + export.messages.get(&id).copied().map_or(0, u64::from);
            if is_unchanged {
                self.note_unchanged(&[self.own_memory(id)]).await?;
            }
            go_on!(self.progress());
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn session(
        &self,
        memory: MemoryRecord,
        revisions: Vec<RevisionRecord>,
        mut session: SessionRecord,
        given: &mut GivenMessages<'_>,
    ) -> Result<Restored> {
        let record = self.owned(memory);
        let id = record.id;
        session.id = id;
        let hash = validate::hash_of(Kind::Session, id, &record.content);
        let chunks = self.pieces(&record, hash).await?;
        let revisions = renamed(revisions, id);
        let memory = RestoredMemory { record, revisions, hash, chunks, media: None };
        let (store, model) = (&self.service.store, self.service.embedder.model());
        match store.begin_session(self.ctx, model, self.import, memory, session).await? {
            SessionBegun::Conflict(reason) => Ok(Restored::Conflict(reason)),
            SessionBegun::Begun(mut restoring) => {
                while let Some(batch) = given.next()? {
                    let messages =
                        batch.into_iter().map(|(message, revisions)| restored_message(id, message, revisions));
                    restoring.add(messages.collect()).await?;
                }
                restoring.finish().await?;
                Ok(Restored::Added)
            }
            SessionBegun::Same => {
                let mut from = 1;
                while let Some(batch) = given.next()? {
                    let there = store.own_messages(self.ctx, id, from, batch.len() as u32).await?;
                    from += batch.len() as u32;
                    let batch = batch.into_iter().map(|(message, revisions)| {
                        let message = restored_message(id, message, revisions);
                        (message.record, message.revisions)
                    });
                    if !batch.eq(there) {
                        return Ok(Restored::Conflict("it is there with other messages".into()));
                    }
                }
                let further = store.own_messages(self.ctx, id, from, 1).await?;
                Ok(if further.is_empty() {
                    Restored::Unchanged
                } else {
                    Restored::Conflict("it is there with further messages".into())
                })
            }
        }
    }

    async fn memories(&mut self, export: &CheckedExport) -> Step {
        let mut memories = export.lines::<MemoryRecord>(Part::Memories)?;
        let mut revisions = export.lines::<RevisionRecord>(Part::Revisions)?;
        let mut files = export.lines::<MediaRecord>(Part::Media)?;
        let mut batch: Vec<Given> = Vec::new();
        let mut bytes = 0;
        while let Some(memory) = memories.next()? {
            if memory.kind == Kind::Session || !self.wanted(export, &memory) {
                continue;
            }
            let id = memory.id;
            let revisions = all_at(&mut revisions, |revision| revision.id.cmp(&id))?;
            let media = match memory.kind {
                Kind::Media => files.next_at(|file| file.id.cmp(&id))?,
                Kind::Memory | Kind::Session => None,
            };
            bytes += memory.content.len() + revisions.iter().map(|revision| revision.content.len()).sum::<usize>();
            batch.push(Given { memory, revisions, media });
            if batch.len() >= MEMORIES.0 || bytes >= MEMORIES.1 {
                bytes = 0;
                go_on!(self.batch(export, std::mem::take(&mut batch)).await?);
            }
        }
        self.batch(export, batch).await
    }

    async fn batch(&mut self, export: &CheckedExport, given: Vec<Given>) -> Step {
        if given.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let count = given.len() as u64;
        let ids: Vec<MemoryId> = given.iter().map(|given| self.own_memory(given.memory.id)).collect();
        let mut there = self.service.store.own_records(self.ctx, &ids).await?;
        let (mut texts, mut files, mut unchanged) = (Vec::new(), Vec::new(), Vec::new());
        for (given, id) in given.into_iter().zip(ids) {
            let Given { memory, revisions, media } = given;
            let (kind, old_id) = (CountedKind::of(memory.kind), memory.id);
            let record = self.owned(memory);
            let revisions = renamed(revisions, id);
            if let Some((there, history, file)) = there.remove(&id) {
                let outcome =
                    if is_same(&record, &there) && revisions == history && same_file(media.as_ref(), file.as_ref()) {
                        unchanged.push(id);
                        Restored::Unchanged
                    } else {
                        Restored::Conflict("it is there with another text, history or file".into())
                    };
                self.report.note(kind, old_id, outcome);
                continue;
            }
            let hash = validate::hash_of(record.kind, id, &record.content);
            let chunks = self.pieces(&record, hash).await?;
            let memory = RestoredMemory { record, revisions, hash, chunks, media: None };
            match media {
                Some(media) => files.push((old_id, memory, media)),
                None => texts.push((old_id, memory)),
            }
        }
        self.note_unchanged(&unchanged).await?;
        let (old_ids, texts): (Vec<MemoryId>, Vec<RestoredMemory>) = texts.into_iter().unzip();
        self.store(CountedKind::Memory, &old_ids, texts).await?;
        for (old_id, memory, media) in files {
            self.file(export, old_id, memory, media).await?;
            go_on!(self.progress());
        }
        self.done += count;
        Ok(self.progress())
    }

    /// Notes memories, of whatever kind, that were there just like this.
    async fn note_unchanged(&self, memories: &[MemoryId]) -> Result<()> {
        match self.import.filter(|_| !memories.is_empty()) {
            Some(import) => self.service.store.note_unchanged(self.ctx, import, memories).await,
            None => Ok(()),
        }
    }

    async fn store(&mut self, kind: CountedKind, old_ids: &[MemoryId], memories: Vec<RestoredMemory>) -> Result<()> {
        if memories.is_empty() {
            return Ok(());
        }
        let model = self.service.embedder.model();
        let outcomes = self.service.store.restore_memories(self.ctx, model, self.import, memories).await?;
        self.service.pending.notify_one();
        for (id, outcome) in old_ids.iter().zip(outcomes) {
            self.report.note(kind, id, outcome);
        }
        Ok(())
    }

    async fn file(
        &mut self,
        export: &CheckedExport,
        old_id: MemoryId,
        mut memory: RestoredMemory,
        media: MediaRecord,
    ) -> Result<()> {
        let kept = match self.bytes(export, &media).await? {
            Ok(kept) => kept,
            Err(reason) => {
                self.report.broken(RestoreProblem::broken(CountedKind::Media, old_id.to_string(), reason));
                return Ok(());
            }
        };
        let digest = kept.sha256.map(hex::encode);
        let id = memory.record.id;
        let is_live = memory.record.forgotten_at.is_none();
        let file = media_file(media.filename.clone(), media.content_type.clone(), kept.size, kept.sha256);
        memory.media = Some(MediaRecord { id, sha256: digest, object_key: kept.key.clone(), ..media });
        let before = self.report.counts.get(&CountedKind::Media).map_or(0, |count| count.added);
        let stored = self.store(CountedKind::Media, &[old_id], vec![memory]).await;
        let is_added = self.report.counts.get(&CountedKind::Media).map_or(0, |count| count.added) > before;
        if !is_added {
            self.service.release(self.ctx, &kept.key).await;
        } else if is_live {
            let file = StoredFile { file, object_key: kept.key, thumbnail_key: None, thumbnail_tried: false };
            // Nobody waits for it.
            drop(self.service.make_thumbnail_soon(self.ctx, id, &file));
        }
        stored
    }

    /// Takes the bytes of a file into the storage, or says why not.
    async fn bytes(&self, export: &CheckedExport, media: &MediaRecord) -> Result<std::result::Result<Kept, String>> {
        let Some(files) = self.service.files.as_deref() else { return Ok(Err("this server keeps no files".into())) };
        let Some(path) = media.file.clone() else { return Ok(Err("its bytes are not in the export".into())) };
        if media.size > files.max_bytes {
            return Ok(Err(format!("it is longer than {} bytes, the most that this server keeps", files.max_bytes)));
        }
        if let Some(quota) = files.quota_bytes
            && self.service.store.room_left(quota, self.service.now()).await? < media.size
        {
            return Ok(Err("there is no more room for files on this server".into()));
        }
        let bytes = export.bytes(path);
        let kept = match self.service.take_in(self.ctx, &media.content_type, bytes, media.size).await {
            Ok(kept) => kept,
            Err(Error::Invalid(_) | Error::FileTooLarge { .. }) => return Ok(Err("its bytes are damaged".into())),
            Err(error) => return Err(error),
        };
        let expected = media.sha256.as_deref().and_then(digest_of);
        if kept.size != media.size || expected.is_some_and(|expected| kept.sha256 != Some(expected)) {
            self.service.release(self.ctx, &kept.key).await;
            return Ok(Err("its bytes are damaged".into()));
        }
        Ok(Ok(kept))
    }
}

/// A memory of an export, with all that belongs to it.
struct Given {
    memory: MemoryRecord,
    revisions: Vec<RevisionRecord>,
    media: Option<MediaRecord>,
}

/// The messages of a session of an export.
struct GivenMessages<'a> {
    session: MemoryId,
    messages: &'a mut Lines<MessageRecord>,
    revisions: &'a mut Lines<MessageRevisionRecord>,
}

impl GivenMessages<'_> {
    /// The next ones.
    fn next(&mut self) -> Result<Option<Vec<OwnMessage>>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < MESSAGES.0 && bytes < MESSAGES.1 {
            let Some(message) = self.messages.next_at(|message| message.session.cmp(&self.session))? else { break };
            let place = (message.session, message.number);
            let revisions = all_at(self.revisions, |revision| (revision.session, revision.number).cmp(&place))?;
            bytes += message.content.len() + revisions.iter().map(|revision| revision.content.len()).sum::<usize>();
            batch.push((message, revisions));
        }
        Ok(Some(batch).filter(|batch| !batch.is_empty()))
    }
}

/// All records at a place, in their order.
fn all_at<T: serde::de::DeserializeOwned>(
    lines: &mut Lines<T>,
    place: impl Fn(&T) -> std::cmp::Ordering,
) -> Result<Vec<T>> {
    let mut all = Vec::new();
    while let Some(record) = lines.next_at(&place)? {
        all.push(record);
    }
    Ok(all)
}

/// The next few records.
fn batch<T: serde::de::DeserializeOwned>(lines: &mut Lines<T>) -> Result<Option<Vec<T>>> {
    let mut batch = Vec::new();
    while batch.len() < RECORDS
        && let Some(record) = lines.next()?
    {
        batch.push(record);
    }
    Ok(Some(batch).filter(|batch| !batch.is_empty()))
}

fn renamed(mut revisions: Vec<RevisionRecord>, id: MemoryId) -> Vec<RevisionRecord> {
    revisions.iter_mut().for_each(|revision| revision.id = id);
    revisions
}

fn restored_message(
    session: MemoryId,
    mut record: MessageRecord,
    mut revisions: Vec<MessageRevisionRecord>,
) -> RestoredMessage {
    let hash = hash_of_message(&record.role, record.message_format(), &record.content);
    record.session = session;
    revisions.iter_mut().for_each(|revision| revision.session = session);
    RestoredMessage { record, revisions, hash }
}

/// Whether a memory is there just as it is in an export. What it could not bring along does not count: the message that it
/// was taken from, where that is gone, and its idempotency key, where another memory had it.
fn is_same(given: &MemoryRecord, there: &MemoryRecord) -> bool {
    let mut given = given.clone();
    if there.origin.is_none() {
        given.origin = None;
    }
    if there.idempotency_key.is_none() {
        given.idempotency_key = None;
    }
    given == *there
}

fn same_file(given: Option<&MediaRecord>, there: Option<&MediaRecord>) -> bool {
    match (given, there) {
        (None, None) => true,
        (Some(given), Some(there)) => {
            let digest = there.sha256.is_none() || given.sha256 == there.sha256;
            digest
                && (&given.filename, &given.content_type, given.size)
                    == (&there.filename, &there.content_type, there.size)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_counted_further_than_they_are_told() {
        let mut report = RestoreReport::default();
        for number in 0..=PROBLEMS {
            report.note(CountedKind::Memory, number, Restored::Conflict("it is there".into()));
        }
        assert_eq!(report.counts[&CountedKind::Memory].conflicting as usize, PROBLEMS + 1);
        assert_eq!((report.problems.len(), report.further_problems), (PROBLEMS, 1));
    }
}
