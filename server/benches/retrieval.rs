//! Measures how well recall finds what answers a question, through the real service, database and model.
//!
//! `make eval` runs it. The data are public sets with gold evidence, which are not part of the project: it looks for
//! them where `POLYMNEMO_EVAL_DATA` says, else in `shared/data` beside the repository, and ends quietly where
//! there are none. Each set is a folder with
//!
//! - `corpus.jsonl`: a line `{conv, id, date, speaker, text}` for each text, in order; those of one `conv` are one person's memory,
//! - `questions.jsonl`: a line `{conv, question, category, gold}` for each question, with the ids of the texts that hold the answer.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tables and progress are what this is for")]

#[path = "support/setup.rs"]
mod setup;
#[path = "support/table.rs"]
mod table;

use std::{
    collections::{BTreeMap, HashMap},
    env, fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use clap::Parser;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use polymnemo_memory::{Ctx, Door, Grants, Identity, MemoryService};
use polymnemo_server::{Parts, config::EmbedderConfig};
use polymnemo_types::{MemoryId, RecallRequest, RememberRequest};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{setup::Failure, table::Table};

/// Measure the quality of retrieval
#[derive(Debug, Parser)]
struct Options {
    /// The embedding model
    #[arg(long, default_value = EmbedderConfig::DEFAULT_MODEL)]
    model: String,
    /// Take only so many conversations of each set
    #[arg(long, default_value_t = usize::MAX, hide_default_value = true)]
    sample: usize,
    /// Take only this set
    #[arg(long)]
    set: Option<String>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

/// A set of texts and questions, and what others reach with it.
struct Set {
    /// The name of its folder.
    name: &'static str,
    about: &'static str,
    /// Categories of questions that are left out.
    without: &'static [&'static str],
    /// Figures of plain rankers over the same texts, by exact search: their name, R@1, R@5, R@10, R@20 and MRR. What is not known is 0.
    baselines: &'static [(&'static str, [f64; 5])],
}

const SETS: &[Set] = &[
    Set {
        name: "locomo",
        about: "LoCoMo: turns of long conversations as memories, with speaker and date; categories 1 to 4",
        // Its questions have no answer in the conversation.
        without: &["adversarial"],
        baselines: &[
            ("BM25", [0.287, 0.498, 0.577, 0.656, 0.428]),
            ("all-MiniLM-L6-v2", [0.187, 0.394, 0.494, 0.601, 0.328]),
            ("both, ranks fused", [0.268, 0.512, 0.611, 0.703, 0.434]),
            ("both, scores blended", [0.309, 0.562, 0.647, 0.720, 0.475]),
            ("blended, with neighbours", [0.290, 0.580, 0.682, 0.760, 0.476]),
        ],
    },
    Set {
        name: "xquad-zh",
        about: "XQuAD: Chinese passages and questions",
        without: &[],
        baselines: &[
            ("BM25", [0.0, 0.0, 0.993, 0.0, 0.0]),
            ("all-MiniLM-L6-v2", [0.0, 0.0, 0.463, 0.0, 0.0]),
            ("multilingual-e5-small", [0.0, 0.0, 1.0, 0.0, 0.0]),
        ],
    },
];

/// The greatest k of recall@k, which is the number of hits that are asked for.
const DEEPEST: u32 = 20;
/// How many conversations are worked on at a time.
const PARALLEL: usize = 4;

#[derive(Debug, Deserialize)]
struct Text {
    conv: String,
    id: String,
    date: Option<String>,
    speaker: String,
    text: String,
}

#[derive(Debug, Deserialize)]
struct Question {
    conv: String,
    question: String,
    category: String,
    gold: Vec<String>,
}

/// One person's memory, and what is asked of it.
#[derive(Default)]
struct Conversation {
    texts: Vec<Text>,
    questions: Vec<Question>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let options = Options::parse();
    tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(io::stderr).init();
    let data = match env::var_os("POLYMNEMO_EVAL_DATA") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data"),
    };
    let wanted = |set: &&Set| options.set.as_deref().is_none_or(|name| name == set.name);
    let sets: Vec<&Set> =
        SETS.iter().filter(wanted).filter(|set| data.join(set.name).join("corpus.jsonl").is_file()).collect();
    if sets.is_empty() {
        println!(
            "Skipped: there are no sets to measure with in {}; POLYMNEMO_EVAL_DATA says where else.",
            data.display()
        );
        return Ok(());
    }

    let (_folder, database) = setup::temporary_folder()?;
    let parts = Parts::start(&setup::config(&database, &options.model)?).await?;
    for set in sets {
        let conversations = conversations(&data, set, options.sample)?;
        let outcomes = measure(&parts.service, set, conversations).await?;
        println!("{}, {}\n\n{}", set.about, options.model, report(set, &outcomes));
    }
    parts.stop().await;
    Ok(())
}

fn conversations(data: &Path, set: &Set, sample: usize) -> Result<Vec<(String, Conversation)>, Failure> {
    let mut conversations: BTreeMap<String, Conversation> = BTreeMap::new();
    let folder = data.join(set.name);
    for text in lines::<Text>(&folder.join("corpus.jsonl"))? {
        conversations.entry(text.conv.clone()).or_default().texts.push(text);
    }
    for question in lines::<Question>(&folder.join("questions.jsonl"))? {
        // A few questions have no evidence; nothing can be measured with them.
        if !set.without.contains(&question.category.as_str()) && !question.gold.is_empty() {
            conversations.entry(question.conv.clone()).or_default().questions.push(question);
        }
    }
    Ok(conversations.into_iter().take(sample).collect())
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.lines()
        .zip(1..)
        .map(|(line, number)| {
            serde_json::from_str(line).map_err(|error| format!("{}, line {number}: {error}", path.display()).into())
        })
        .collect()
}

/// How well the questions of one category were answered; the sums over its questions.
#[derive(Clone, Default)]
struct Outcome {
    questions: usize,
    /// The shares of the gold texts among the first 1, 5, 10 and 20.
    found: [f64; 4],
    /// The reciprocal ranks of the first gold text.
    reciprocal: f64,
    /// The questions without any hit.
    unanswered: usize,
}

const CUTS: [usize; 4] = [1, 5, 10, 20];

impl Outcome {
    /// Adds a question whose gold texts were found at these places, from 0.
    fn add(&mut self, places: &[Option<usize>], hits: usize) {
        self.questions += 1;
        for (sum, cut) in self.found.iter_mut().zip(CUTS) {
            let found = places.iter().flatten().filter(|place| **place < cut).count();
            *sum += found as f64 / places.len().max(1) as f64;
        }
        self.reciprocal += places.iter().flatten().min().map_or(0.0, |place| 1.0 / (*place as f64 + 1.0));
        self.unanswered += usize::from(hits == 0);
    }

    fn merge(&mut self, other: &Self) {
        self.questions += other.questions;
        self.found.iter_mut().zip(other.found).for_each(|(sum, other)| *sum += other);
        self.reciprocal += other.reciprocal;
        self.unanswered += other.unanswered;
    }
}

async fn measure(
    service: &MemoryService,
    set: &Set,
    conversations: Vec<(String, Conversation)>,
) -> Result<BTreeMap<String, Outcome>, Failure> {
    let all: usize = conversations.iter().map(|(_, conversation)| conversation.texts.len()).sum();
    let progress = Progress { all, done: AtomicUsize::new(0), started: Instant::now() };
    let progress = &progress;
    stream::iter(conversations)
        .map(async |(name, conversation)| {
            let user = service.user(&Identity::named(&format!("{}/{name}", set.name))).await?;
            let ctx = Ctx { user, door: Door::StaticKey, client: None, app: None, grants: Grants::full() };
            let ids = remember(service, &ctx, conversation.texts, progress).await?;
            // What long texts have beyond their first passages is embedded in the background.
            while service.embed_pending().await? > 0 {}
            ask(service, &ctx, conversation.questions, &ids).await
        })
        .buffer_unordered(PARALLEL)
        .try_fold(BTreeMap::new(), async |mut all: BTreeMap<String, Outcome>, outcomes| {
            for (category, outcome) in outcomes {
                all.entry(category).or_default().merge(&outcome);
            }
            Ok(all)
        })
        .await
}

struct Progress {
    all: usize,
    done: AtomicUsize,
    started: Instant,
}

impl Progress {
    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(500) || done == self.all {
            let speed = done as f64 / self.started.elapsed().as_secs_f64();
            eprintln!("{done} of {} texts remembered, {speed:.0} a second", self.all);
        }
    }
}

/// Stores the texts one after the other, as they were said. Two of the same words are one memory, under both ids.
async fn remember(
    service: &MemoryService,
    ctx: &Ctx,
    texts: Vec<Text>,
    progress: &Progress,
) -> Result<HashMap<String, MemoryId>, Failure> {
    let mut ids = HashMap::new();
    for text in texts {
        let request = RememberRequest {
            content: text.text,
            source: Some(text.speaker).filter(|speaker| !speaker.is_empty()),
            // The user's zone is UTC.
            occurred_at: text.date.map(|date| format!("{date}Z")),
            ..RememberRequest::default()
        };
        ids.insert(text.id, service.remember(ctx, request).await?.id);
        progress.step();
    }
    Ok(ids)
}

async fn ask(
    service: &MemoryService,
    ctx: &Ctx,
    questions: Vec<Question>,
    ids: &HashMap<String, MemoryId>,
) -> Result<BTreeMap<String, Outcome>, Failure> {
    let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
    for question in questions {
        let request = RecallRequest { query: question.question, limit: Some(DEEPEST), ..RecallRequest::default() };
        let hits = service.recall(ctx, request).await?.hits;
        let place = |gold: &String| {
            let id = ids.get(gold)?;
            hits.iter().position(|hit| hit.memory.id == *id)
        };
        let places: Vec<Option<usize>> = question.gold.iter().map(place).collect();
        outcomes.entry(question.category).or_default().add(&places, hits.len());
    }
    Ok(outcomes)
}

fn report(set: &Set, outcomes: &BTreeMap<String, Outcome>) -> Table {
    let mut table = Table::new([set.name, "questions", "R@1", "R@5", "R@10", "R@20", "MRR", "no hit"]);
    let mut all = Outcome::default();
    for (category, outcome) in outcomes {
        all.merge(outcome);
        table.row(row(category, outcome));
    }
    if outcomes.len() > 1 {
        table.row(row("all", &all));
    }
    for (name, figures) in set.baselines {
        let figure = |figure: f64| if figure > 0.0 { format!("{figure:.3}") } else { String::new() };
        table.row([format!("baseline: {name}"), String::new()].into_iter().chain(figures.map(figure)));
    }
    table
}

fn row(name: &str, outcome: &Outcome) -> Vec<String> {
    let mean = |sum: f64| format!("{:.3}", sum / outcome.questions.max(1) as f64);
    [name.to_owned(), outcome.questions.to_string()]
        .into_iter()
        .chain(outcome.found.map(mean))
        .chain([mean(outcome.reciprocal), outcome.unanswered.to_string()])
        .collect()
}
