//! Importing a great export, against what the embedder alone can do.

use std::{
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use polymnemo_adapters::embedder::FastEmbedder;
use polymnemo_memory::ports::Embedder as _;
use serde_json::{Map, Value, json};

use crate::{
    app::{USER, key_of},
    sample::rate,
    setup::{self, Failure},
    table::Table,
    texts::Language,
};

/// The series of texts that the messages are of, apart from those of other measurements.
const SERIES: u32 = 300;
/// The messages of a conversation.
const MESSAGES: u32 = 40;
/// The passages by which the embedder alone is measured.
const PASSAGES: u32 = 200;
const CHARACTERS: usize = 400;
const POLL: Duration = Duration::from_millis(20);

pub(crate) async fn measure(data: &Path, model: &str, megabytes: u64) -> Result<(), Failure> {
    let language = Language::new();
    let config = setup::config(data, model)?;
    fs::create_dir_all(data)?;
    let export = data.join("conversations.json");
    let (conversations, messages) = write(&export, &language, megabytes * 1_000_000)?;
    let bytes = fs::metadata(&export)?.len();

    // The same command that a person would give; it brings its database with it.
    let output = File::create(data.join("import.out"))?;
    let mut child = Command::new(env!("CARGO_BIN_EXE_polymnemo"))
        .args(["import", "--yes"])
        .arg(&export)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("POLYMNEMO_DATA_DIR", data)
        .env("POLYMNEMO_RUNTIME_DIR", &config.directories.runtime)
        .env("POLYMNEMO_EMBED_MODEL", model)
        .env("POLYMNEMO_API_KEYS", format!("{}:{USER}", key_of(USER)))
        .env("POLYMNEMO_STDIO_USER", USER)
        .current_dir(data)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(File::create(data.join("import.log"))?)
        .spawn()?;
    let (mut first, mut peak) = (None, 0);
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if let Some(now) = resident(child.id(), "VmRSS:") {
            // By then the model is loaded, and little is read.
            if started.elapsed() > Duration::from_secs(8) {
                first.get_or_insert(now);
            }
        }
        peak = peak.max(resident(child.id(), "VmHWM:").unwrap_or_default());
        tokio::time::sleep(POLL).await;
    };
    let said = fs::read_to_string(data.join("import.out"))?;
    if !status.success() {
        return Err(format!("the import failed; import.log in its data folder tells why\n{said}").into());
    }
    let took = said
        .split("Took ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .and_then(|seconds| seconds.parse::<f64>().ok())
        .ok_or("the import did not say how long it took")?;

    let embedder = FastEmbedder::open(&config.embedder.model_dir, &config.embedder.runtime_library)?;
    embedder.ready().await?;
    // As long as a passage may be in any script, and most messages are.
    let beginning = |number| language.mixed(SERIES + 1, number).chars().take(CHARACTERS).collect();
    let texts: Vec<String> = (0..PASSAGES).map(beginning).collect();
    let started = Instant::now();
    embedder.embed_passages(texts).await?;
    let alone = rate(PASSAGES as usize, started.elapsed());

    let mut table =
        Table::new(["import", "MB", "conversations", "s", "messages/s", "MB/s", "peak, MB", "after its start, MB"]);
    table.row([
        format!("{messages} messages"),
        format!("{:.0}", bytes as f64 / 1e6),
        conversations.to_string(),
        format!("{took:.1}"),
        format!("{:.0}", f64::from(messages) / took),
        format!("{:.1}", bytes as f64 / 1e6 / took),
        peak.to_string(),
        first.map_or_else(|| "unknown".to_owned(), |first| first.to_string()),
    ]);
    println!(
        "A ChatGPT export, from the command to the last message in the database (embedding follows in the background; the \
         embedder alone makes {alone:.0} such passages a second)\n\n{table}"
    );
    Ok(())
}

/// Writes an export of about this length; gives its conversations and messages.
fn write(path: &Path, language: &Language, bytes: u64) -> Result<(u32, u32), Failure> {
    let mut file = BufWriter::new(File::create(path)?);
    let (mut written, mut conversations) = (0, 0);
    write!(file, "[")?;
    while written < bytes {
        let text = conversation(language, conversations).to_string();
        if conversations > 0 {
            write!(file, ",")?;
        }
        file.write_all(text.as_bytes())?;
        written += text.len() as u64;
        conversations += 1;
    }
    write!(file, "]")?;
    file.flush()?;
    Ok((conversations, conversations * MESSAGES))
}

fn conversation(language: &Language, number: u32) -> Value {
    let id = |place: u32| format!("{number:08}-0000-4000-8000-{place:012}");
    let begun = 1_750_000_000.0 + f64::from(number) * 3_600.0;
    let mut mapping = Map::new();
    mapping.insert("root".into(), json!({ "id": "root", "message": null, "parent": null, "children": [id(0)] }));
    for place in 0..MESSAGES {
        let role = if place.is_multiple_of(2) { "user" } else { "assistant" };
        let children: Vec<String> = (place + 1 < MESSAGES).then(|| id(place + 1)).into_iter().collect();
        let parent = if place == 0 { "root".to_owned() } else { id(place - 1) };
        mapping.insert(
            id(place),
            json!({
                "id": id(place), "parent": parent, "children": children,
                "message": {
                    "id": id(place), "author": { "role": role, "metadata": {} },
                    "create_time": begun + f64::from(place) * 30.0, "status": "finished_successfully", "weight": 1.0,
                    "recipient": "all", "metadata": { "model_slug": "gpt-5" },
                    "content": { "content_type": "text", "parts": [language.mixed(SERIES, number * MESSAGES + place)] },
                },
            }),
        );
    }
    json!({
        "title": format!("Conversation {number}"), "create_time": begun, "update_time": begun + 3_000.0,
        "mapping": mapping, "current_node": id(MESSAGES - 1), "conversation_id": id(999_999), "id": id(999_999),
    })
}

/// A figure of the memory of a process, in MB; none where the system does not tell.
fn resident(process: u32, name: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? / 1_024)
}
