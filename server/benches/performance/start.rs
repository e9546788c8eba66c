//! From the start of the binary to its first answers.

use std::path::Path;

use serde_json::json;

use crate::{
    ingest::{remember_all, until_embedded},
    process::ServerProcess,
    sample::{Sample, seconds},
    setup::Failure,
    table::Table,
    texts::Language,
};

const STARTS: usize = 7;
/// What is stored where the database is empty.
const TEXTS: u32 = 100;

pub(crate) async fn measure(data: &Path, model: &str) -> Result<(), Failure> {
    let mut server = ServerProcess::start(data, model)?;
    server.ready().await?;
    let client = server.client();
    let mut memories = client.call("list_memories", json!({})).await?["total"].as_u64().unwrap_or_default();
    if memories == 0 {
        remember_all(&client, &Language::new(), 100, TEXTS, 4).await?;
        until_embedded(&client).await?;
        memories = TEXTS.into();
    }
    server.stop().await?;

    let (mut lists, mut recalls) = (Sample::default(), Sample::default());
    for _ in 0..STARTS {
        let mut server = ServerProcess::start(data, model)?;
        let (_, elapsed) = server.first_answer("list_memories", json!({})).await?;
        lists.push(elapsed);
        recalls.push(server.ready().await?);
        server.stop().await?;
    }
    let mut table = Table::new(["from start to the first answer, s", "starts", "p50", "worst"]);
    for (name, sample) in [("list_memories", &lists), ("recall", &recalls)] {
        let [median, worst] = [50, 100].map(|percent| seconds(sample.percentile(percent)));
        table.row([name.to_owned(), STARTS.to_string(), median, worst]);
    }
    println!("{model}; an embedded database with {memories} memories, started along\n\n{table}");
    Ok(())
}
