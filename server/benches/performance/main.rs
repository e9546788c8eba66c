//! Measures how quick the server is and what it needs, through its real endpoint, and prints tables.
//!
//! `make bench` runs all parts; `scripts/bench.sh --only recall --sizes 1000,10000` some of them.
//! Nothing here passes or fails by a figure: machines differ, and the tables are for people.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "tables and progress are what this is for")]

mod app;
mod client;
mod embedders;
mod import;
mod ingest;
mod memory;
mod pages;
mod process;
mod queries;
mod recall;
mod sample;
mod sessions;
#[path = "../support/setup.rs"]
mod setup;
mod start;
#[path = "../support/table.rs"]
mod table;
mod texts;
mod uploads;

use std::{io, path::PathBuf};

use clap::{Parser, ValueEnum};
use polymnemo_server::config::EmbedderConfig;

use crate::setup::Failure;

/// Measure the server
#[derive(Debug, Parser)]
struct Options {
    /// Measure only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
    /// The numbers of memories at which recall is measured
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000")]
    sizes: Vec<u32>,
    /// The recalls of each class at each size
    #[arg(long, default_value_t = 100)]
    queries: usize,
    /// The texts that come in while memory is measured
    #[arg(long, default_value_t = 1_000)]
    texts: u32,
    /// The length of the export that is imported, in MB
    #[arg(long, default_value_t = 200)]
    megabytes: u64,
    /// The model for recall, ingest and start
    #[arg(long, default_value = EmbedderConfig::DEFAULT_MODEL)]
    model: String,
    /// Keep the store that recall is measured with in this folder, or use the one that is there
    #[arg(long)]
    keep: Option<PathBuf>,
    /// Given by cargo
    #[arg(long, hide = true)]
    bench: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Recall through the endpoint, lists, and the pages of the web app
    Recall,
    /// Remember through the endpoint, against the embedder alone
    Ingest,
    /// From the start of the binary to its first answers
    Start,
    /// The memory of the process
    Memory,
    /// Long conversations, and recall among many
    Sessions,
    /// Files, against a bare copy
    Uploads,
    /// A great export of another product, against the embedder alone
    Import,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let options = Options::parse();
    tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(io::stderr).init();
    let wanted = |part| options.only.is_empty() || options.only.contains(&part);

    let (_folder, temporary) = setup::temporary_folder()?;
    let store = match &options.keep {
        Some(folder) => std::path::absolute(folder)?,
        None => temporary.clone(),
    };
    if wanted(Part::Recall) {
        recall::measure(&store, &options.model, &options.sizes, options.queries).await?;
    }
    if wanted(Part::Start) {
        start::measure(&store, &options.model).await?;
    }
    if wanted(Part::Ingest) {
        let (_folder, data) = setup::temporary_folder()?;
        ingest::measure(&data, &options.model).await?;
    }
    if wanted(Part::Sessions) {
        let (_folder, data) = setup::temporary_folder()?;
        sessions::measure(&data, &options.model).await?;
    }
    if wanted(Part::Uploads) {
        let (_folder, data) = setup::temporary_folder()?;
        uploads::measure(&data, &options.model).await?;
    }
    if wanted(Part::Import) {
        let (_folder, data) = setup::temporary_folder()?;
        import::measure(&data, &options.model, options.megabytes).await?;
    }
    if wanted(Part::Memory) {
        memory::measure(options.texts).await?;
    }
    Ok(())
}
