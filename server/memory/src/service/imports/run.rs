use std::{sync::Arc, time::Instant};

use jiff::Timestamp;
use polymnemo_imports::{Input, Item};
use polymnemo_types::{ImportId, ImportOutcome, ImportState, Kind, MemoryId, SessionForm, UpdateRequest};
use uuid::Uuid;

use super::{
    Ended, LEASE, Options, Progress, RENEWAL, read,
    unit::{Session, Skipped, Text, Unit, units},
};
use crate::{
    Ctx, Error, Result,
    ports::{
        Inserted, KnownItem, Lease, MemoryState, NewImportItem, NewMemory, SessionSaved, SessionState, WrittenItem,
    },
    service::{
        MemoryService,
        index::heading_of,
        sessions::{given_messages, made_title, title_chunk},
        validate,
    },
};

/// How many things are noted at once that are not written.
const NOTED: usize = 200;

/// What is to be done with something that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    New,
    Changed,
    Unchanged,
    Deleted,
}

pub(super) fn verdict(known: Option<&KnownItem>, digest: &[u8], again: bool) -> Verdict {
    match known {
        None => Verdict::New,
        Some(known) if known.updated_at.is_none() && again => Verdict::New,
        Some(known) if known.updated_at.is_none() => Verdict::Deleted,
        Some(known) if known.digest == digest => Verdict::Unchanged,
        Some(_) => Verdict::Changed,
    }
}

/// Tells what is to be imported at all, of what is shown to it in the order of reading.
pub(super) struct Asked {
    since: Option<Timestamp>,
    left: u64,
}

impl Asked {
    pub(super) fn new(options: &Options) -> Self {
        Self { since: options.since, left: options.limit }
    }

    /// Whether this is. What has no time is, and each reason to leave something out.
    pub(super) fn take(&mut self, item: &Item) -> bool {
        let at = match item {
            Item::Conversation(conversation) => conversation.updated_at.or(conversation.created_at),
            Item::Memory(memory) => memory.updated_at.or(memory.created_at),
            Item::OwnExport(_) => None,
            Item::Skipped(_) => return true,
        };
        let is_too_old = at.zip(self.since).is_some_and(|(at, since)| at < since);
        if is_too_old || self.left == 0 {
            return false;
        }
        self.left -= 1;
        true
    }
}

/// What is to be noted with what is written next, since it was not written.
#[derive(Default)]
struct Notes(Vec<NewImportItem>);

impl MemoryService {
    pub(super) async fn run(
        &self,
        ctx: &Ctx,
        lease: &mut Lease,
        input: Arc<Input>,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Ended> {
        let first = self.store.import_place(ctx, lease.import).await?;
        let total = input.total_bytes();
        let mut reading = read(input);
        let mut notes = Notes::default();
        let mut ordinal = 0;
        let mut asked = Asked::new(options);
        let mut renewed = Instant::now();
        while let Some(found) = reading.recv().await {
            let found = found?;
            progress(found.bytes_read, total);
            if let Item::OwnExport(export) = &found.item {
                return self.restore_own(ctx, lease, export, options, progress).await;
            }
            if renewed.elapsed() > RENEWAL {
                renewed = Instant::now();
                lease.until = self.now() + LEASE;
                if !self.store.keep_import(ctx, *lease, ImportState::Running, found.bytes_read).await? {
                    return Ok(Ended::Halted);
                }
            }
            if !asked.take(&found.item) {
                continue;
            }
            let units = units(found.item);
            let places = ordinal..ordinal + units.len() as u64;
            ordinal = places.end;
            if places.end <= first {
                continue;
            }
            let keys: Vec<_> = units.iter().filter_map(Unit::key).cloned().collect();
            let known = if keys.is_empty() { Vec::new() } else { self.store.known_items(ctx, &keys).await? };
            for (place, unit) in places.zip(units) {
                if place < first {
                    continue;
                }
                let of_this = unit.key().and_then(|key| known.iter().find(|known| known.key == *key));
                let ended = self.bring_in(ctx, lease.import, options, place, unit, of_this, &mut notes).await?;
                if ended == Ended::Halted {
                    return Ok(Ended::Halted);
                }
            }
            self.unindexed.notify_one();
        }
        self.write_notes(ctx, lease.import, &mut notes).await?;
        lease.until = self.now() + LEASE;
        let is_held = self.store.keep_import(ctx, *lease, ImportState::Running, total).await?;
        self.pending.notify_one();
        Ok(if is_held { Ended::Finished } else { Ended::Halted })
    }

    async fn bring_in(
        &self,
        ctx: &Ctx,
        import: ImportId,
        options: &Options,
        ordinal: u64,
        unit: Unit,
        known: Option<&KnownItem>,
        notes: &mut Notes,
    ) -> Result<Ended> {
        let verdict = verdict(known, unit.digest(), options.again);
        let is_edited = known.is_some_and(|known| known.updated_at.is_some_and(|at| at != known.left_at));
        let note = |outcome, reason: Option<&str>| NewImportItem {
            key: unit.key().cloned(),
            reason: reason.map(str::to_owned),
            is_session: matches!(unit, Unit::Session(_)),
            memory: known.map(|known| known.memory),
            digest: (!unit.digest().is_empty()).then(|| unit.digest().to_vec()),
            left_at: known.map(|known| known.left_at),
            ..NewImportItem::new(ordinal, outcome, self.now())
        };
        match (&unit, verdict) {
            (Unit::Skipped(skipped), _) => notes.0.push(NewImportItem {
                key: None,
                label: Some(name_of(skipped)),
                ..note(ImportOutcome::Skipped, Some(&skipped.reason))
            }),
            (_, Verdict::Unchanged) => notes.0.push(note(ImportOutcome::Unchanged, None)),
            (_, Verdict::Deleted) => notes.0.push(note(ImportOutcome::Deleted, None)),
            (Unit::Memory(_), Verdict::Changed) if is_edited => notes.0.push(note(ImportOutcome::Edited, None)),
            (_, Verdict::New | Verdict::Changed) => {
                self.write_notes(ctx, import, notes).await?;
                let is_new = verdict == Verdict::New;
                let memory = known.filter(|_| !is_new).map_or_else(|| MemoryId(Uuid::now_v7()), |known| known.memory);
                let writing =
                    NewImportItem { memory: Some(memory), left_at: None, ..note(ImportOutcome::Writing, None) };
                let noted = self.store.note_items(ctx, import, &[writing]).await?;
                let Some((noted_as, at)) = noted.into_iter().next() else { return Ok(Ended::Halted) };
                let memory = noted_as.unwrap_or(memory);
                let label = label_of(&unit);
                let written = match unit {
                    Unit::Session(session) => self.write_session(ctx, options, memory, at, session).await,
                    Unit::Memory(text) if is_new => self.write_memory(ctx, options, memory, at, text).await,
                    Unit::Memory(text) => self.rewrite_memory(ctx, memory, text).await,
                    Unit::Skipped(_) => return Ok(Ended::Finished),
                };
                let written = match written {
                    Ok(written) => WrittenItem { ordinal, ..written },
                    // The fault is in this one; the rest comes in.
                    Err(error @ (Error::Invalid(_) | Error::TooLarge { .. } | Error::NotFound(_))) => WrittenItem {
                        ordinal,
                        label: Some(label),
                        ..outcome(ImportOutcome::Skipped, Some(error.to_string()), memory, 0)
                    },
                    Err(error) => return Err(error),
                };
                self.store.finish_item(ctx, import, written).await?;
            }
        }
        if notes.0.len() >= NOTED {
            self.write_notes(ctx, import, notes).await?;
        }
        Ok(Ended::Finished)
    }

    async fn write_notes(&self, ctx: &Ctx, import: ImportId, notes: &mut Notes) -> Result<()> {
        if !notes.0.is_empty() {
            self.store.note_items(ctx, import, &std::mem::take(&mut notes.0)).await?;
        }
        Ok(())
    }

    async fn write_session(
        &self,
        ctx: &Ctx,
        options: &Options,
        id: MemoryId,
        at: Timestamp,
        session: Session,
    ) -> Result<WrittenItem> {
        let messages = given_messages(session.messages, &ctx.user.time_zone)?;
        let count = u32::try_from(messages.len()).unwrap_or(u32::MAX);
        let key = format!("{}:{}", session.key.source, session.key.source_id);
        let title = match session.title.is_empty() {
            true => made_title(SessionForm::Messages, &messages, &key),
            false => session.title,
        };
        let last_said = messages.iter().filter_map(|message| message.known.at).max().unwrap_or(at);
        let source = session.key.source;
        let heading = heading_of(last_said, &ctx.user.time_zone, &session.tags, Some(&source));
        let state = SessionState {
            id,
            key,
            namespace: options.namespace.clone(),
            title_chunk: title_chunk(heading, &title).await?,
            title,
            is_title_asked: false,
            model: self.embedder.model().clone(),
            form: SessionForm::Messages,
            metadata: Some(session.metadata),
            tags: session.tags,
            source: Some(source),
            keeps_every_state: true,
            at,
        };
        match self.save_in_turn(ctx, state, messages).await? {
            SessionSaved::Done { id: saved, appended, revised, .. } => Ok(if saved == id && appended == count {
                outcome(ImportOutcome::Created, None, saved, count)
            } else if appended + revised > 0 {
                outcome(ImportOutcome::Grown, None, saved, appended)
            } else if saved == id {
                // It was written before, when the work was interrupted.
                outcome(ImportOutcome::Created, None, saved, count)
            } else {
                outcome(ImportOutcome::Unchanged, None, saved, 0)
            }),
            SessionSaved::OtherForm(_) => Err(Error::Invalid(
                "A session of this name is here as one text, not as messages, so nothing can be added to it.".into(),
            )),
            SessionSaved::TooLong { messages, bytes } => Err(Error::Invalid(format!(
                "It is longer than a session may be: {messages} messages and {bytes} bytes."
            ))),
            SessionSaved::Forbidden(namespace) => {
                ctx.check_write(&namespace)?;
                Err(Error::internal("a session may not be written where the caller may write"))
            }
        }
    }

    async fn write_memory(
        &self,
        ctx: &Ctx,
        options: &Options,
        id: MemoryId,
        at: Timestamp,
        text: Text,
    ) -> Result<WrittenItem> {
        let content = validate::content(&text.content)?;
        let state = MemoryState {
            namespace: options.namespace.clone(),
            hash: validate::hash(&content),
            content,
            tags: validate::tags(&text.tags)?,
            source: Some(text.key.source),
            occurred_at: text.occurred_at.map_or(at, crate::when::to_microseconds),
        };
        let chunks = self.cut_passages(ctx, &state).await?;
        let new = NewMemory {
            id,
            kind: Kind::Memory,
            state,
            created_at: at,
            supersedes: Vec::new(),
            idempotency_key: None,
            origin: None,
            model: self.embedder.model().clone(),
            chunks,
        };
        Ok(match self.store.insert(ctx, new).await? {
            Inserted::New => {
                self.pending.notify_one();
                outcome(ImportOutcome::Created, None, id, 0)
            }
            // It was written before, when the work was interrupted.
            Inserted::Existing(duplicate) if duplicate.id == id => outcome(ImportOutcome::Created, None, id, 0),
            Inserted::Existing(duplicate) => outcome(ImportOutcome::Unchanged, None, duplicate.id, 0),
            Inserted::NoSuch(_) => {
                return Err(Error::internal("a memory that corrects nothing has nothing to correct"));
            }
        })
    }

    /// Has a memory that an earlier import brought say what the newer export says. The person has not changed it since.
    async fn rewrite_memory(&self, ctx: &Ctx, id: MemoryId, text: Text) -> Result<WrittenItem> {
        let request = UpdateRequest {
            content: Some(text.content),
            tags: Some(text.tags),
            occurred_at: text.occurred_at.map(|at| at.to_string()),
            ..UpdateRequest::new(id)
        };
        self.update(ctx, request).await?;
        Ok(outcome(ImportOutcome::Updated, None, id, 0))
    }
}

/// What became of something; its place is filled in by who knows it.
pub(super) fn outcome(outcome: ImportOutcome, reason: Option<String>, memory: MemoryId, messages: u32) -> WrittenItem {
    WrittenItem { ordinal: 0, outcome, reason, label: None, memory: Some(memory), messages }
}

fn label_of(unit: &Unit) -> String {
    match unit {
        Unit::Session(session) => session.title.clone(),
        Unit::Memory(text) => super::unit::short(&text.content, 100),
        Unit::Skipped(skipped) => name_of(skipped),
    }
}

fn name_of(skipped: &Skipped) -> String {
    match &skipped.label {
        Some(label) => format!("{}: {}", skipped.place, super::unit::short(label, 200)),
        None => skipped.place.clone(),
    }
}
