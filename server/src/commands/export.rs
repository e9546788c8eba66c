use std::{
    io::{self, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use jiff::Timestamp;
use polymnemo_memory::{Ctx, User, export, ports::Origin};
use tokio_util::sync::CancellationToken;

use crate::{
    Error,
    compose::{self, Database},
    config::Config,
    shutdown,
};

/// What to export.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Whose data: the name or the id of a user [default: the one of POLYMNEMO_STDIO_USER, or `local`]
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// The file to write
    #[arg(long, short, value_name = "FILE.zip")]
    output: PathBuf,
    /// Replace the file where there is one
    #[arg(long)]
    overwrite: bool,
}

/// Writes all that a user has into a file, beside a running server or without one.
pub(crate) async fn run(config: Config, options: Options) -> Result<(), Error> {
    if options.output.exists() && !options.overwrite {
        let file = options.output.display();
        return Err(Error::Failed(format!("{file} is there already; give another name, or --overwrite")));
    }
    let (halt, at_once) = (CancellationToken::new(), CancellationToken::new());
    shutdown::on_signals(&halt, &at_once)
        .map_err(|error| Error::Failed(format!("signals can't be handled: {error}")))?;
    let database = Database::open(&config).await?;
    let written = halt.run_until_cancelled(write(&config, &database, &options)).await;
    database.close().await;
    let manifest = written.unwrap_or_else(|| Err(Error::Failed("stopped; no file was written".into())))?;
    let counts = &manifest.counts;
    let _ = writeln!(
        io::stderr(),
        "{}: {} memories, {} sessions, {} files of {}",
        options.output.display(),
        counts.memories,
        counts.sessions,
        counts.media,
        manifest.user.name
    );
    if counts.missing > 0 {
        let _ = writeln!(io::stderr(), "The bytes of {} files are missing; manifest.json lists them.", counts.missing);
    }
    Ok(())
}

async fn write(config: &Config, database: &Database, options: &Options) -> Result<export::Manifest, Error> {
    let name = match &options.user {
        Some(name) => name,
        None => config.access.stdio_user()?,
    };
    let store = database.store();
    let failed = |error: polymnemo_memory::Error| {
        Error::Failed(format!("the export can't be written: {}", compose::cause(&error)))
    };
    let user = one_of(store.users_named(name).await.map_err(failed)?, name)?;
    let storage = compose::storage(config, &Origin::default(), &[0; 32]).await?;
    let folder = match options.output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let in_folder = |error: io::Error| Error::Failed(format!("{} can't be written to: {error}", folder.display()));
    // Only a finished file gets the name.
    let file = tempfile::Builder::new().prefix(".polymnemo-export-").tempfile_in(folder).map_err(in_folder)?;
    let source = export::Source {
        store: store.as_ref(),
        blobs: storage.as_ref().map(|storage| storage.store.as_ref()),
        temporary: folder,
    };
    let ctx = Ctx::of_person(user);
    let told = AtomicU32::new(0);
    let is_terminal = io::stderr().is_terminal();
    let on = |thousandths: u32| tell(&told, thousandths, is_terminal);
    let into = file.as_file().try_clone().map_err(in_folder)?;
    let exported = export::write(source, &ctx, into, Timestamp::now(), &on).await.map_err(failed)?;
    if is_terminal {
        let _ = write!(io::stderr(), "\r      \r");
    }
    file.persist(&options.output).map_err(|error| in_folder(error.error))?;
    Ok(exported.manifest)
}

/// Tells how much is done, each percent at a terminal, else each tenth.
fn tell(told: &AtomicU32, thousandths: u32, is_terminal: bool) {
    let step = if is_terminal { 10 } else { 100 };
    let now = thousandths / step;
    if told.swap(now, Ordering::Relaxed) == now {
        return;
    }
    let _ = match is_terminal {
        true => write!(io::stderr(), "\r{now:3} %"),
        false => writeln!(io::stderr(), "{} %", now * 10),
    };
}

/// The one user of this name.
pub(crate) fn one_of(mut users: Vec<User>, name: &str) -> Result<User, Error> {
    match (users.pop(), users.len()) {
        (Some(user), 0) => Ok(user),
        (None, _) => Err(Error::Failed(format!("there is no user `{name}`; --user names one"))),
        (Some(last), _) => {
            let ids: Vec<String> = users.iter().chain([&last]).map(|user| user.id.to_string()).collect();
            Err(Error::Failed(format!("several users are called `{name}`; give one of their ids: {}", ids.join(", "))))
        }
    }
}
