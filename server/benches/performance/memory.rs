//! The memory that the server itself needs, its database excluded.

use std::time::Instant;

use crate::{
    ingest::{remember_all, until_embedded},
    process::ServerProcess,
    sample::rate,
    setup::{self, Failure},
    table::Table,
    texts::Language,
};

const MODELS: [&str; 2] = ["multilingual-e5-small", "all-MiniLM-L6-v2"];
const WRITERS: usize = 8;

pub(crate) async fn measure(texts: u32) -> Result<(), Failure> {
    let language = Language::new();
    let mut table =
        Table::new(["peak resident memory, MB", "after the first recall", "after all texts", "texts", "texts/s"]);
    for model in MODELS {
        let (_folder, data) = setup::temporary_folder()?;
        let mut server = ServerProcess::start(&data, model)?;
        server.ready().await?;
        let megabytes = |peak: Option<u64>| peak.map_or_else(|| "unknown".to_owned(), |peak| peak.to_string());
        let before = megabytes(server.peak_memory());
        let client = server.client();
        let started = Instant::now();
        remember_all(&client, &language, 200, texts, WRITERS).await?;
        until_embedded(&client).await?;
        let speed = rate(texts as usize, started.elapsed());
        let after = megabytes(server.peak_memory());
        table.row([model.to_owned(), before, after, texts.to_string(), format!("{speed:.1}")]);
        server.stop().await?;
    }
    println!("Texts of mixed length, {WRITERS} at a time; the database is not counted\n\n{table}");
    Ok(())
}
