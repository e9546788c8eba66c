//! The command line.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::{
    Error,
    commands::{backup, doctor, export, import, migrate, serve, setup, sign_in_link, stdio, verify_receipt},
    config::{Config, settings::SETTINGS},
    logging,
};

/// How long threads of libraries may take to end with the process.
const LAST_THREADS: Duration = Duration::from_secs(1);

/// One long-term memory that you own and every AI client shares.
#[derive(Debug, Parser)]
#[command(name = "polymnemo", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the MCP endpoint and the web app over HTTP (the default)
    Serve(serve::Options),
    /// Serve MCP over standard input and output, for one client on this machine
    Stdio,
    /// Bring in what Claude, ChatGPT and others know of you: first told, then done
    Import(import::Options),
    /// Print a link that signs in to the web app, once, on this machine
    SignInLink,
    /// Write all that a user has into a file
    Export(export::Options),
    /// Save a whole instance in a folder: the database and all files
    Backup(backup::BackupOptions),
    /// Restore a whole instance from such a folder, into an empty database
    Restore(backup::RestoreOptions),
    /// Bring the database schema up to date and exit
    Migrate,
    /// Fetch what is missing: PostgreSQL, ONNX Runtime and the embedding model
    Setup(setup::Options),
    /// Check the settings, the database, the model and the port, and say how to mend what is wrong
    Doctor(doctor::Options),
    /// Tell whether a receipt of an erasure is genuine
    VerifyReceipt(verify_receipt::Options),
}

/// Does what the command line asks for, and tells how it went: 0 when all went well, 2 when the
/// command line, the settings or what they lead to are at fault, 1 otherwise.
#[must_use]
pub fn run() -> ExitCode {
    // Two libraries in the tree bring a TLS provider each; without a choice the first use would panic.
    // It fails only where a provider is installed already, which is as good.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();

    let matches = Cli::command().after_long_help(settings_help()).get_matches();
    let command = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli.command.unwrap_or_else(|| Command::Serve(serve::Options::default())),
        Err(error) => error.exit(),
    };
    let outcome = execute(command);
    match outcome {
        Ok(code) => code,
        Err(error) => {
            // One line, whatever the log's format: this is the answer to a person or a supervisor.
            let _ = writeln!(io::stderr(), "polymnemo: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn execute(command: Command) -> Result<ExitCode, Error> {
    if let Command::Doctor(options) = command {
        // It reports on the settings itself, malformed ones too.
        return in_runtime(doctor::run(options));
    }
    if let Command::VerifyReceipt(options) = command {
        // With a key it needs nothing of this machine, and no settings.
        return in_runtime(verify_receipt::run(options));
    }
    let config = Config::load()?;
    if let Command::Setup(options) = command {
        return in_runtime(setup::run(&config, &options));
    }
    logging::init(&config.log);
    in_runtime(async move {
        match command {
            Command::Serve(options) => serve::run(config, options).await,
            Command::Stdio => stdio::run(config).await,
            Command::Import(options) => import::run(config, options).await,
            Command::SignInLink => sign_in_link::run(config).await,
            Command::Export(options) => export::run(config, options).await,
            Command::Backup(options) => backup::backup(config, options).await,
            Command::Restore(options) => backup::restore(config, options).await,
            Command::Migrate => migrate::run(config).await,
            Command::Setup(_) | Command::Doctor(_) | Command::VerifyReceipt(_) => Ok(()),
        }
        .map(|()| ExitCode::SUCCESS)
    })
}

fn in_runtime<T>(work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::Failed(format!("the asynchronous runtime can't be started: {error}")))?;
    let outcome = runtime.block_on(work);
    // A thread that waits for standard input, or computes an embedding nobody wants any more, must
    // not keep the process.
    runtime.shutdown_timeout(LAST_THREADS);
    outcome
}

fn settings_help() -> String {
    let mut text = String::from("Settings, from the environment or the file .env in the working directory:\n");
    for setting in SETTINGS {
        // Writing to a String does not fail.
        let _ = write!(text, "\n  {}\n      {} [default: {}]\n", setting.name, setting.about, setting.default);
    }
    text
}

/// Prints lines on standard output. A reader that went away is no reason to stop the work.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}
