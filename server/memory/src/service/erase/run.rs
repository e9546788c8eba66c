//! Going on with erasures, in the background.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use polymnemo_types::{
    BeforeAfter, ErasedCounts, ErasureCheck, ErasureId, ErasureSubject, ExportState, ReceiptDocument, limits,
};

use super::{EXPORTS, Ids, PORTION, last_of_full};
use crate::{
    Ctx, Error, Result, User,
    ports::{ErasureStep, RunningErasure},
    service::MemoryService,
};

/// When an erasure is tried again that something was in the way of.
const AGAIN: SignedDuration = SignedDuration::from_secs(30);

/// How often leftovers are deleted before an erasure reports that it can't be done.
const ROUNDS: u32 = 3;

impl MemoryService {
    /// Does one step of an erasure that is under way, whosever it is; gives 0 where there is nothing to do now. For the
    /// background.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`]; also where only this erasure can't go on, which is noted with it: the next call goes on
    /// with another one.
    pub async fn continue_erasures(&self) -> Result<u32> {
        let Some(running) = self.store.next_erasure(self.now()).await? else { return Ok(0) };
        let id = running.erasure.id;
        match self.step(&running).await {
            Ok(done) => Ok(done),
            Err(error) => {
                // No more than what kind of trouble it is: the cause may quote what is being erased.
                let problem = match &error {
                    Error::Unavailable { part, .. } => format!("The {part} can't be reached at the moment."),
                    Error::Invalid(text) => text.clone(),
                    _ => "Something went wrong inside the server; its log tells more.".to_owned(),
                };
                self.store.note_problem(id, &problem, self.now() + AGAIN).await?;
                Err(error)
            }
        }
    }

    async fn step(&self, running: &RunningErasure) -> Result<u32> {
        let id = running.erasure.id;
        match self.store.erase_batch(id).await? {
            ErasureStep::More => return Ok(1),
            ErasureStep::Busy => return Ok(0),
            ErasureStep::Through => {}
        }
        match self.store.erase_rest(id).await? {
            ErasureStep::More => return Ok(1),
            ErasureStep::Busy => return Ok(0),
            ErasureStep::Through => {}
        }
        self.delete_erased_objects(id).await?;
        let mut rounds = 1;
        let checks = loop {
            let checks = self.check_erasure(running).await?;
            let found: Vec<&ErasureCheck> = checks.iter().filter(|check| check.found > 0).collect();
            if found.is_empty() {
                break checks;
            }
            let paths = found.iter().map(|check| check.path.as_str()).collect::<Vec<_>>().join(", ");
            tracing::warn!(erasure.id = %id, paths, round = rounds, "an erasure found leftovers, which it deletes");
            if rounds == ROUNDS {
                return Err(Error::Invalid(format!("It is not done: there is still something left in {paths}.")));
            }
            rounds += 1;
            self.store.erase_leftovers(id).await?;
            self.delete_erased_objects(id).await?;
        };
        let after = self.store.measure_again(id).await?;
        self.issue_receipt(running, checks, &after, running.rounds + rounds).await?;
        Ok(1)
    }

    /// Deletes the bytes of files from the storage.
    async fn delete_erased_objects(&self, id: ErasureId) -> Result<()> {
        let mut after = String::new();
        loop {
            let objects = self.store.erased_objects(id, &after, PORTION).await?;
            if objects.is_empty() {
                return Ok(());
            }
            let Some(files) = &self.files else {
                return Err(Error::Invalid(
                    "There are files to delete, and this server keeps none any more: its setting POLYMNEMO_BLOB_BACKEND \
                     is `none`. Whoever runs it can set it to what it was."
                        .into(),
                ));
            };
            for object in &objects {
                files.store.delete(&object.key).await?;
                if let Some(handle) = &object.parts_handle {
                    files.store.abort_parts(&object.key, handle).await?;
                }
            }
            let keys: Vec<String> = objects.into_iter().map(|object| object.key).collect();
            self.store.erased_objects_gone(&keys, self.now()).await?;
            match last_of_full(&keys.iter().collect::<Vec<_>>()) {
                Some(last) => after.clone_from(last),
                None => return Ok(()),
            }
        }
    }

    /// Looks everywhere for what was deleted: in the tables, as its owner would read it, and in the storage.
    async fn check_erasure(&self, running: &RunningErasure) -> Result<Vec<ErasureCheck>> {
        let id = running.erasure.id;
        let mut checks = self.store.look_for_leftovers(id, self.now()).await?;
        checks.extend(self.read_again(running).await?);
        checks.push(self.look_into_storage(id).await?);
        Ok(checks)
    }

    /// Reads what was deleted as its owner would.
    async fn read_again(&self, running: &RunningErasure) -> Result<Vec<ErasureCheck>> {
        let ctx = owner(running);
        let mut after = None;
        let (mut looked_for, mut read, mut in_trash, mut passages, mut files) = (0, 0, 0, 0, 0);
        loop {
            let ids: Ids = self.store.erased_memories(running.erasure.id, after, PORTION).await?;
            for ids in ids.chunks(limits::IDS) {
                read += self.store.own_memories(&ctx, ids, false).await?.len() as u64;
                in_trash += self.store.own_memories(&ctx, ids, true).await?.len() as u64;
                passages += self.store.chunks(&ctx, ids).await?.len() as u64;
                files += self.store.files(&ctx, ids).await?.len() as u64;
                looked_for += ids.len() as u64;
            }
            after = last_of_full(&ids);
            if after.is_none() {
                break;
            }
        }
        // One that was asked for since holds nothing of it.
        let exports = self.store.exports(&ctx, EXPORTS).await?.into_iter();
        let exports = exports.filter(|export| {
            export.requested_at <= running.erasure.requested_at
                && !matches!(export.state, ExportState::Failed | ExportState::Expired)
        });
        let exports = exports.count() as u64;
        let check = |path: &str, found| ErasureCheck { path: path.into(), looked_for, found };
        Ok(vec![
            check("reading by id", read),
            check("reading in the trash", in_trash),
            check("reading for search", passages),
            check("reading files", files),
            ErasureCheck { path: "exports from before".into(), looked_for: 1, found: exports },
        ])
    }

    async fn look_into_storage(&self, id: ErasureId) -> Result<ErasureCheck> {
        let mut check = ErasureCheck { path: "storage for files".into(), looked_for: 0, found: 0 };
        let mut after = String::new();
        while let Some(files) = &self.files {
            let objects = self.store.erased_objects(id, &after, PORTION).await?;
            for object in &objects {
                check.looked_for += 1;
                let parts = match &object.parts_handle {
                    Some(handle) => {
                        files.store.parts(&object.key, handle).await?.is_some_and(|parts| !parts.is_empty())
                    }
                    None => false,
                };
                if parts || files.store.head(&object.key).await?.is_some() {
                    check.found += 1;
                }
            }
            match last_of_full(&objects.iter().collect::<Vec<_>>()) {
                Some(last) => after.clone_from(&last.key),
                None => break,
            }
        }
        Ok(check)
    }

    async fn issue_receipt(
        &self,
        running: &RunningErasure,
        checks: Vec<ErasureCheck>,
        after: &ErasedCounts,
        rounds: u32,
    ) -> Result<()> {
        let key = self.receipt_signing_key().await?;
        let erasure = &running.erasure;
        let mut counts: BTreeMap<_, _> = erasure
            .before
            .0
            .iter()
            .map(|(&store, &before)| (store, BeforeAfter { before, after: after.of(store) }))
            .collect();
        counts.retain(|_, count| count.before + count.after > 0);
        if counts.values().any(|count| count.after > 0) {
            return Err(Error::Invalid("It is not done: something was counted that should be gone.".into()));
        }
        let finished_at = self.now();
        let imports = self.store.imports(&owner(running), None, 1).await?.total;
        let document = ReceiptDocument {
            document_type: ReceiptDocument::TYPE.into(),
            id: erasure.id,
            what: erasure.subject.clone(),
            erased_by: running.by.clone(),
            requested_at: erasure.requested_at,
            finished_at,
            counts,
            checks,
            rounds,
            survives: self.survivors(finished_at, running.uploads_until, imports),
            server_version: env!("CARGO_PKG_VERSION").into(),
            key_id: key.public().id(),
        };
        self.store.finish_erasure(&key.sign(&document)?, rounds).await?;
        let of_account = erasure.subject == ErasureSubject::Account;
        tracing::info!(erasure.id = %erasure.id, items = erasure.before.items(), of_account, "an erasure is done and verified");
        Ok(())
    }
}

/// Whose data is erased, as far as anything can still be read as them.
fn owner(running: &RunningErasure) -> Ctx {
    Ctx::of_person(User {
        id: running.user(),
        name: String::new(),
        default_namespace: String::new(),
        time_zone: jiff::tz::TimeZone::UTC,
    })
}
