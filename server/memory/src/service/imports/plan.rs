use std::{collections::BTreeMap, sync::Arc, time::Instant};

use polymnemo_imports::{Input, Item, Source};
use polymnemo_types::{ImportPlan, SkippedPlan, SourcePlan};

use super::{
    Options, Progress, read,
    run::{Asked, Verdict, verdict},
    unit::{Unit, units},
};
use crate::{
    Ctx, Result,
    ports::{KnownItem, SourceKey},
    service::MemoryService,
};

/// How many things are looked up at once.
const LOOKED_UP: usize = 200;
/// How many different reasons are told.
const REASONS: usize = 100;
/// How many passages are embedded to see how long that takes, and how long they are, in characters.
const SAMPLES: (usize, usize) = (8, 900);

/// What is counted of a thing that would be written.
struct Counted {
    source: &'static str,
    key: SourceKey,
    digest: Vec<u8>,
    /// Its messages; nothing for a memory.
    messages: Option<u64>,
    characters: u64,
}

#[derive(Default)]
struct Counts {
    sources: BTreeMap<&'static str, SourcePlan>,
    skipped: Vec<SkippedPlan>,
    not_asked: u64,
    characters: u64,
    samples: Samples,
}

/// Beginnings of texts, enough to see how long it takes to embed such ones.
#[derive(Default)]
pub(super) struct Samples(Vec<String>);

impl Samples {
    pub(super) fn take(&mut self, text: &str) {
        if self.0.len() < SAMPLES.0 && !text.trim().is_empty() {
            self.0.push(text.chars().take(SAMPLES.1).collect());
        }
    }
}

impl MemoryService {
    pub(super) async fn plan(
        &self,
        ctx: &Ctx,
        input: Arc<Input>,
        options: &Options,
        progress: Progress<'_>,
    ) -> Result<ImportPlan> {
        let total = input.total_bytes();
        let mut reading = read(input);
        let mut counts = Counts::default();
        let mut waiting: Vec<Counted> = Vec::new();
        let mut asked = Asked::new(options);
        while let Some(found) = reading.recv().await {
            let found = found?;
            progress(found.bytes_read, total);
            if let Item::OwnExport(export) = &found.item {
                return self.plan_own(ctx, export, options).await;
            }
            if !asked.take(&found.item) {
                counts.not_asked += 1;
                continue;
            }
            let title = source_of(&found.item).map(Source::title);
            for unit in units(found.item) {
                waiting.extend(counts.take_in(unit, title));
            }
            if waiting.len() >= LOOKED_UP {
                self.look_up(ctx, options, &mut waiting, &mut counts).await?;
            }
        }
        self.look_up(ctx, options, &mut waiting, &mut counts).await?;
        let seconds = self.seconds_to_embed(counts.characters, counts.samples).await;
        Ok(ImportPlan {
            sources: counts.sources.into_values().collect(),
            skipped: counts.skipped,
            not_asked: counts.not_asked,
            characters: counts.characters,
            seconds,
            is_own_export: false,
            is_shared: self.store.is_shared(ctx, &options.namespace).await?,
        })
    }

    async fn look_up(
        &self,
        ctx: &Ctx,
        options: &Options,
        waiting: &mut Vec<Counted>,
        counts: &mut Counts,
    ) -> Result<()> {
        let keys: Vec<SourceKey> = waiting.iter().map(|counted| counted.key.clone()).collect();
        let known = self.store.known_items(ctx, &keys).await?;
        for counted in waiting.drain(..) {
            let of_this = known.iter().find(|known| known.key == counted.key);
            counts.count(counted, of_this, options.again);
        }
        Ok(())
    }

    /// About how long it takes to embed that much of such texts; nothing where the model can't tell at once.
    pub(super) async fn seconds_to_embed(&self, characters: u64, Samples(samples): Samples) -> Option<u64> {
        if samples.is_empty() {
            return Some(0);
        }
        let sampled: usize = samples.iter().map(|sample| sample.chars().count()).sum();
        let begun = Instant::now();
        self.embedder.embed_when_idle(samples).await.ok()?;
        let each = begun.elapsed().as_secs_f64() / sampled.max(1) as f64;
        // A part of a second is nothing that one waits for.
        Some((characters as f64 * each).ceil() as u64)
    }
}

impl Counts {
    fn take_in(&mut self, unit: Unit, title: Option<&'static str>) -> Option<Counted> {
        let source = title.unwrap_or_default();
        match unit {
            Unit::Session(session) => {
                for message in &session.messages {
                    if let polymnemo_types::MessageContent::Text(text) = &message.content {
                        self.samples.take(text);
                    }
                }
                Some(Counted {
                    source,
                    key: session.key,
                    digest: session.digest,
                    messages: Some(session.messages.len() as u64),
                    characters: session.said,
                })
            }
            Unit::Memory(text) => {
                self.samples.take(&text.content);
                let characters = text.content.chars().count() as u64;
                Some(Counted { source, key: text.key, digest: text.digest, messages: None, characters })
            }
            Unit::Skipped(skipped) => {
                let example = skipped.label.map_or_else(
                    || skipped.place.clone(),
                    |label| format!("{}: {}", skipped.place, super::unit::short(&label, 100)),
                );
                let place = self.skipped.iter().position(|known| known.reason == skipped.reason);
                let place = place.unwrap_or_else(|| self.skipped.len().min(REASONS - 1));
                match self.skipped.get_mut(place) {
                    Some(known) => known.items += 1,
                    None => self.skipped.push(SkippedPlan { reason: skipped.reason, items: 1, example }),
                }
                None
            }
        }
    }

    fn count(&mut self, counted: Counted, known: Option<&KnownItem>, again: bool) {
        let plan = self.sources.entry(counted.source).or_default();
        counted.source.clone_into(&mut plan.source);
        match counted.messages {
            Some(messages) => {
                plan.conversations += 1;
                plan.messages += messages;
            }
            None => plan.memories += 1,
        }
        match verdict(known, &counted.digest, again) {
            Verdict::New => plan.new += 1,
            Verdict::Changed => plan.changed += 1,
            Verdict::Unchanged => {
                plan.unchanged += 1;
                return;
            }
            Verdict::Deleted => {
                plan.deleted += 1;
                return;
            }
        }
        self.characters += counted.characters;
    }
}

fn source_of(item: &Item) -> Option<Source> {
    match item {
        Item::Conversation(conversation) => Some(conversation.source),
        Item::Memory(memory) => Some(memory.source),
        Item::Skipped(skipped) => skipped.source,
        Item::OwnExport(_) => Some(Source::Polymnemo),
    }
}
