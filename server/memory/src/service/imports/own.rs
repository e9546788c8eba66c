use std::{fs::File, ops::ControlFlow, sync::Arc};

use polymnemo_imports::OwnExport;
use polymnemo_types::{ImportOutcome, ImportPlan, ImportState, MemoryId, SourcePlan};
use tokio::sync::mpsc;

use super::{Ended, LEASE, Options, Progress, RENEWAL, plan::Samples};
use crate::{
    Ctx, Error, Result,
    export::{CheckedExport, ExportFiles, MemoryRecord, MessageRecord, Part},
    ports::{Lease, NewImportItem},
    service::{
        MemoryService,
        restore::{IDS, OnRestore, RestoreProgress, RestoreReport},
    },
    transcript,
};

impl MemoryService {
    /// What an export of our own would bring. Its records are checked, all of them.
    pub(super) async fn plan_own(&self, ctx: &Ctx, export: &OwnExport, options: &Options) -> Result<ImportPlan> {
        let checked = self.checked_own(ctx, export, options).await?;
        let counts = &checked.manifest.counts;
        let ids: Vec<MemoryId> = checked.ids.keys().copied().collect();
        let mut unchanged = 0;
        for ids in ids.chunks(IDS) {
            unchanged += self.store.count_own(ctx, ids).await?;
        }
        let source = SourcePlan {
            source: "polymnemo".to_owned(),
            conversations: counts.sessions,
            messages: counts.messages,
            memories: counts.memories + counts.media,
            new: (counts.sessions + counts.memories + counts.media).saturating_sub(unchanged),
            unchanged,
            ..SourcePlan::default()
        };
        let (mut samples, mut characters) = (Samples::default(), 0);
        let mut take = |text: &str| {
            characters += text.chars().count() as u64;
            samples.take(text);
        };
        let mut memories = checked.lines::<MemoryRecord>(Part::Memories)?;
        while let Some(memory) = memories.next()? {
            take(&memory.content);
        }
        let mut messages = checked.lines::<MessageRecord>(Part::Messages)?;
        while let Some(message) = messages.next()? {
            take(&transcript::words(&message.role, message.message_format(), &message.content).said);
        }
        // As much of it as is new.
        let characters = (characters as f64 * source.new as f64 / (source.new + unchanged).max(1) as f64) as u64;
        Ok(ImportPlan {
            seconds: self.seconds_to_embed(characters, samples).await,
            sources: vec![source],
            characters,
            is_own_export: true,
            ..ImportPlan::default()
        })
    }

    /// Brings back what an export of our own holds: with all ids and times, each thing that is not here.
    pub(super) async fn restore_own(
        &self,
        ctx: &Ctx,
        lease: &mut Lease,
        export: &OwnExport,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<Ended> {
        let checked = self.checked_own(ctx, export, options).await?;
        let (sender, mut events) = mpsc::unbounded_channel();
        // Nobody listens any more: stop.
        let on: OnRestore = Arc::new(move |event| match sender.send(event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        let restoring = self.restore_export(ctx, checked, Some(lease.import), on);
        let held = &mut *lease;
        // Where it is halted the channel goes, and with the next event the restoring ends.
        let listening = async move {
            let mut renewal = tokio::time::interval(RENEWAL);
            loop {
                tokio::select! {
                    event = events.recv() => match event {
                        Some(RestoreProgress { done, total, .. }) => progress(done, total),
                        None => return Ok(Ended::Finished),
                    },
                    _ = renewal.tick() => {
                        held.until = self.now() + LEASE;
                        if !self.store.keep_import(ctx, *held, ImportState::Running, 0).await? {
                            return Ok(Ended::Halted);
                        }
                    }
                }
            }
        };
        let (report, ended): (Result<RestoreReport>, Result<Ended>) = tokio::join!(restoring, listening);
        let (report, ended) = (report?, ended?);
        if ended == Ended::Finished {
            let place = self.store.import_place(ctx, lease.import).await?;
            self.note_problems(ctx, lease, place, report).await?;
        }
        Ok(ended)
    }

    async fn note_problems(&self, ctx: &Ctx, lease: &Lease, first: u64, report: RestoreReport) -> Result<()> {
        let further = (report.further_problems > 0)
            .then(|| (format!("{} more", report.further_problems), "they can't be brought back either".to_owned()));
        let problems = report.problems.into_iter().map(|problem| (problem.id, problem.reason)).chain(further);
        let items: Vec<NewImportItem> = (first..)
            .zip(problems)
            .map(|(ordinal, (id, reason))| NewImportItem {
                label: Some(id),
                reason: Some(reason),
                ..NewImportItem::new(ordinal, ImportOutcome::Skipped, self.now())
            })
            .collect();
        self.store.note_items(ctx, lease.import, &items).await?;
        Ok(())
    }

    async fn checked_own(&self, ctx: &Ctx, export: &OwnExport, options: &Options) -> Result<CheckedExport> {
        if !options.is_everything {
            return Err(Error::Invalid(
                "An export of polymnemo comes back as a whole, each thing to where it was. Leave `namespace`, `since`, `limit` \
                 and `again` out."
                    .into(),
            ));
        }
        let place = if export.is_archive {
            let file = File::open(&export.path);
            let file = file.map_err(|error| Error::Invalid(format!("{}: {error}", export.path.display())))?;
            ExportFiles::Zip { file, folder: export.prefix.clone() }
        } else {
            ExportFiles::Folder(export.path.join(&export.prefix))
        };
        self.check_export(ctx, place, Arc::new(|_| ControlFlow::Continue(()))).await
    }
}
