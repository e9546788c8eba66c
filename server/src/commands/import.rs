use std::{
    fs,
    io::{self, BufWriter, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use polymnemo_imports::Input;
use polymnemo_memory::{Ctx, Identity, MemoryService};
use polymnemo_types::{Import, ImportId, ImportOptions, ImportOutcome, ImportPlan, ImportState, limits};
use tokio_util::sync::CancellationToken;

use crate::{Error, Parts, cli::say, commands::export::one_of, config::Config, error::in_one_line, shutdown};

/// The command line of `import`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// What to import: zips as they were downloaded, folders, files. Several of one export are one import
    #[arg(required_unless_present = "undo")]
    paths: Vec<PathBuf>,
    /// Import without asking. Otherwise it is only said what would come in, and asked where there is a terminal
    #[arg(long)]
    yes: bool,
    /// The namespace it goes to; your default one when absent
    #[arg(long)]
    namespace: Option<String>,
    /// Only what was changed on this day or later, such as 2026-03-01
    #[arg(long)]
    since: Option<String>,
    /// At most this many conversations and memories
    #[arg(long)]
    limit: Option<u64>,
    /// What makes memories of conversations. There is none yet but `none`
    #[arg(long, default_value = "none", value_parser = ["none"])]
    extractor: String,
    /// Also what an earlier import brought and you deleted since
    #[arg(long)]
    again: bool,
    /// Write the report to this file: a line of JSON for each thing that was found
    #[arg(long)]
    report: Option<PathBuf>,
    /// Take the import with this id back instead
    #[arg(long, conflicts_with = "paths")]
    undo: Option<ImportId>,
    /// The user whose memory it is, as POLYMNEMO_API_KEYS names them
    #[arg(long)]
    user: Option<String>,
}

/// How often a terminal is told how far it is.
const TELLING: Duration = Duration::from_millis(200);

/// Imports what other products know of a person.
pub(crate) async fn run(config: Config, options: Options) -> Result<(), Error> {
    let user = match &options.user {
        Some(user) => user.clone(),
        None => config.access.stdio_user()?.to_owned(),
    };
    let (halt, at_once) = (CancellationToken::new(), CancellationToken::new());
    shutdown::on_signals(&halt, &at_once)
        .map_err(|error| Error::Failed(format!("signals can't be handled: {error}")))?;
    let Some(parts) = halt.run_until_cancelled(Parts::start(&config)).await.transpose()? else { return Ok(()) };
    let work = async {
        // Those of the settings may never have been here; a name that is mistyped makes no new user.
        let is_of_settings = options.user.is_none() || config.access.api_keys.iter().any(|pair| pair.user == user);
        let user = match is_of_settings {
            true => parts.service.user(&Identity::named(&user)).await.map_err(|error| failed(&error))?,
            false => one_of(parts.users_named(&user).await.map_err(|error| failed(&error))?, &user)?,
        };
        let ctx = Ctx::of_person(user);
        match options.undo {
            Some(id) => undo(&parts.service, &ctx, id, &options).await,
            None => import(&parts.service, &ctx, &options).await,
        }
    };
    let outcome = halt.run_until_cancelled(work).await;
    parts.stop().await;
    outcome.unwrap_or_else(|| {
        Err(Error::Failed("interrupted; what has come in is in, and the same command goes on from there".into()))
    })
}

async fn import(service: &MemoryService, ctx: &Ctx, options: &Options) -> Result<(), Error> {
    let report_file = options.report.as_deref().map(ReportFile::create).transpose()?;
    let paths = options.paths.clone();
    let opening = tokio::task::spawn_blocking(move || Input::open(&paths));
    let input = opening.await.map_err(|_| Error::Failed("opening the files panicked".into()))?;
    let input = Arc::new(input.map_err(|error| Error::Failed(format!("nothing can be imported: {error}")))?);
    let asked = ImportOptions {
        namespace: options.namespace.clone(),
        since: options.since.clone(),
        limit: options.limit,
        again: options.again,
    };
    let mut telling = Telling::new("looking through");
    let plan = service.plan_import(ctx, input.clone(), &asked, &mut |read, of| telling.tell(read, of)).await;
    telling.end();
    let plan = plan.map_err(|error| failed(&error))?;
    say(&told(&plan));
    if plan.to_write() == 0 {
        say("There is nothing to import.");
        return Ok(());
    }
    if !options.yes && !agrees()? {
        say("Nothing was written. `--yes` imports it without asking.");
        return Ok(());
    }
    let files = options.paths.iter().map(|path| path.display().to_string()).collect();
    let mut telling = Telling::new("importing");
    let begun = Instant::now();
    let mut tell = |read, of| telling.tell(read, of);
    let import = service.import_here(ctx, input, files, asked, plan, &mut tell).await;
    telling.end();
    let took = begun.elapsed().as_secs_f64();
    let import = import.map_err(|error| failed(&error))?;
    let told = outcome(&import);
    if import.state != ImportState::Done {
        let why = import.error.as_deref().unwrap_or("Somebody stopped it, or what it brought was erased.");
        return Err(Error::Failed(format!("the import did not come to its end. {why}\n{told}")));
    }
    say(&told);
    if let Some(file) = report_file {
        file.write(service, ctx, &import).await?;
    }
    let messages: u64 = import.counts.iter().map(|count| count.messages).sum();
    let rate = match messages {
        0 => String::new(),
        messages => format!(": {:.0} messages a second", messages as f64 / took.max(0.001)),
    };
    say(&format!(
        "Took {took:.1} s{rate}.\nIt can be read and found by its words now; by meaning as soon as the server has embedded it, in the background.\n\
         To take it back: polymnemo import --undo {}",
        import.id
    ));
    Ok(())
}

async fn undo(service: &MemoryService, ctx: &Ctx, id: ImportId, options: &Options) -> Result<(), Error> {
    let report_file = options.report.as_deref().map(ReportFile::create).transpose()?;
    service.undo_import(ctx, id).await.map_err(|error| failed(&error))?;
    let import = loop {
        let import = service.import(ctx, id).await.map_err(|error| failed(&error))?;
        if !import.state.is_under_way() {
            break import;
        }
        // A server may be at it already.
        if service.work_on_imports().await.map_err(|error| failed(&error))? == 0 {
            tokio::time::sleep(TELLING).await;
        }
    };
    say(&outcome(&import));
    match report_file {
        Some(file) => file.write(service, ctx, &import).await,
        None => Ok(()),
    }
}

/// What would come in, for a person to read.
fn told(plan: &ImportPlan) -> String {
    let mut lines = Vec::new();
    for source in &plan.sources {
        lines.push(format!(
            "{}: {} conversations with {} messages, {} memories. New: {}. Changed: {}. In already: {}. Deleted by you: {}.",
            source.source,
            source.conversations,
            source.messages,
            source.memories,
            source.new,
            source.changed,
            source.unchanged,
            source.deleted
        ));
    }
    for skipped in &plan.skipped {
        lines.push(format!("Left out, {}: {} (for example {})", skipped.items, skipped.reason, skipped.example));
    }
    if plan.not_asked > 0 {
        lines.push(format!("Left out, {}: older than asked, or more than asked", plan.not_asked));
    }
    if plan.is_shared {
        lines.push("Everyone on this server can read the namespace that it goes to.".to_owned());
    }
    if plan.to_write() > 0 {
        match plan.seconds {
            Some(seconds) => lines.push(format!(
                "It takes a moment until it is in, and about {} until all of it is found by meaning. It costs nothing.",
                duration(seconds)
            )),
            None => lines.push("How long it takes can't be told, since the model is not there.".to_owned()),
        }
    }
    lines.join("\n")
}

/// What became of an import, for a person to read.
fn outcome(import: &Import) -> String {
    let count = |outcome| import.count(outcome);
    let messages: u64 = import.counts.iter().map(|count| count.messages).sum();
    format!(
        "Import {} is {}. New: {}. Grown: {}. Updated: {}. In already: {}. Changed by you, so left: {}. Deleted by you, so \
         left out: {}. Skipped: {}. Taken back: {}. Kept: {}. Messages: {messages}.",
        import.id,
        import.state.as_str(),
        count(ImportOutcome::Created),
        count(ImportOutcome::Grown),
        count(ImportOutcome::Updated),
        count(ImportOutcome::Unchanged),
        count(ImportOutcome::Edited),
        count(ImportOutcome::Deleted),
        count(ImportOutcome::Skipped),
        count(ImportOutcome::Undone),
        count(ImportOutcome::Kept),
    )
}

/// The file for the report: made before anything is imported, so that one that can't be written stops nothing half-way.
struct ReportFile<'a> {
    path: &'a Path,
    file: BufWriter<fs::File>,
}

impl<'a> ReportFile<'a> {
    fn create(path: &'a Path) -> Result<Self, Error> {
        let file = fs::File::create(path).map_err(|error| Self::cant(path, &error))?;
        Ok(Self { path, file: BufWriter::new(file) })
    }

    fn cant(path: &Path, error: &io::Error) -> Error {
        Error::Failed(format!("{}: the report can't be written: {error}", path.display()))
    }

    async fn write(self, service: &MemoryService, ctx: &Ctx, import: &Import) -> Result<(), Error> {
        let Self { path, mut file } = self;
        let cant = |error: io::Error| Self::cant(path, &error);
        let mut cursor: Option<String> = None;
        loop {
            let page = service.import_lines(ctx, import.id, &[], cursor.as_deref(), Some(limits::PAGE_MAX)).await;
            let page = page.map_err(|error| failed(&error))?;
            for line in &page.items {
                let line = serde_json::to_string(line).map_err(|error| cant(error.into()))?;
                writeln!(file, "{line}").map_err(cant)?;
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return file.flush().map_err(cant),
            }
        }
    }
}

/// Asks the person at the terminal; without one nobody agrees.
fn agrees() -> Result<bool, Error> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    let mut answer = String::new();
    let asked = write!(io::stderr(), "Import it? [y/N] ").and_then(|()| io::stdin().read_line(&mut answer));
    asked.map_err(|error| Error::Failed(format!("the terminal can't be read: {error}")))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Tells a terminal how far it is.
struct Telling {
    what: &'static str,
    begun: Instant,
    told: Option<Instant>,
    is_terminal: bool,
}

impl Telling {
    fn new(what: &'static str) -> Self {
        Self { what, begun: Instant::now(), told: None, is_terminal: io::stderr().is_terminal() }
    }

    fn tell(&mut self, read: u64, of: u64) {
        if !self.is_terminal || self.told.is_some_and(|told| told.elapsed() < TELLING) {
            return;
        }
        self.told = Some(Instant::now());
        let seconds = self.begun.elapsed().as_secs_f64();
        let share = read as f64 / of.max(1) as f64;
        let rate = read as f64 / 1e6 / seconds.max(0.001);
        let left = if share > 0.01 { duration((seconds / share - seconds) as u64) } else { "a while".to_owned() };
        // A terminal that went away is no reason to stop.
        let _ = write!(
            io::stderr(),
            "\r\x1b[K{}: {:.0} % of {:.1} MB, {rate:.1} MB/s, {left} left",
            self.what,
            share * 100.0,
            of as f64 / 1e6
        );
    }

    fn end(&self) {
        if self.told.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..=1 => "a second".to_owned(),
        2..=99 => format!("{seconds} seconds"),
        100..=5_999 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}

fn failed(error: &polymnemo_memory::Error) -> Error {
    Error::Failed(in_one_line(error))
}
