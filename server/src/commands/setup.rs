use std::{
    fs, io,
    path::Path,
    process::{ExitCode, Stdio},
};

use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::{Error, config::Config, shutdown};

/// The command line of `setup`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The models to fetch, comma separated: multilingual-e5-small, or another one of the set-up's pins.json.
    /// By default the model of the settings.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    models: Option<Vec<String>>,
    /// Only verify what is there, change nothing
    #[arg(long)]
    check: bool,
}

/// The set-up program and its data. The binary carries them, so that it can complete itself wherever
/// it was copied to.
const PROGRAM: &[(&str, &str)] = &[
    ("fetch_runtime.py", include_str!("../../setup/fetch_runtime.py")),
    ("convert_e5.py", include_str!("../../setup/convert_e5.py")),
    ("convert_use.py", include_str!("../../setup/convert_use.py")),
    ("onnx_format.py", include_str!("../../setup/onnx_format.py")),
    ("wheels.py", include_str!("../../setup/wheels.py")),
    ("pins.json", include_str!("../../setup/pins.json")),
];

/// Runs the set-up program for the runtime directory, and ends as it ends. A signal to this process
/// is passed on, and the program cleans up after itself.
pub(crate) async fn run(config: &Config, options: &Options) -> Result<ExitCode, Error> {
    let folder = tempfile::tempdir().and_then(|folder| unpack(folder.path()).map(|()| folder));
    let folder = folder.map_err(|error| Error::Failed(format!("the set-up program can't be unpacked: {error}")))?;
    let (halt, at_once) = (CancellationToken::new(), CancellationToken::new());
    shutdown::on_signals(&halt, &at_once)
        .map_err(|error| Error::Failed(format!("signals can't be handled: {error}")))?;

    let mut command = Command::new("python3");
    command.arg(folder.path().join("fetch_runtime.py")).arg("--into").arg(&config.directories.runtime);
    command.arg("--models").arg(models(config, options).join(","));
    if options.check {
        command.arg("--check");
    }
    command.env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    let mut program = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::Failed("setup needs Python 3; install python3 and run it again".to_owned()),
        _ => Error::Failed(format!("python3 can't be started: {error}")),
    })?;
    let status = match halt.run_until_cancelled(program.wait()).await {
        Some(status) => status,
        None => {
            terminate(&program);
            program.wait().await
        }
    };
    let status = status.map_err(|error| Error::Failed(format!("the set-up program can't be waited for: {error}")))?;
    // Without a code it was ended by a signal.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Asks the program to end. At a terminal Ctrl-C has reached it already; asking twice does no harm.
fn terminate(program: &Child) {
    #[cfg(unix)]
    if let Some(id) = program.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw) {
        // It fails only where the program has ended.
        let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
    }
}

fn models(config: &Config, options: &Options) -> Vec<String> {
    match &options.models {
        Some(models) => models.clone(),
        // Someone who brings a model of their own needs none of ours.
        None if !config.embedder.is_from_setup => Vec::new(),
        None => vec![config.embedder.model.clone()],
    }
}

fn unpack(folder: &Path) -> io::Result<()> {
    PROGRAM.iter().try_for_each(|(name, content)| fs::write(folder.join(name), content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_carries_every_file_of_the_program() {
        let mut there: Vec<String> = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/setup"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !name.starts_with("test_") && (name.ends_with(".py") || name.ends_with(".json")))
            .collect();
        there.sort();
        let mut carried: Vec<&str> = PROGRAM.iter().map(|(name, _)| *name).collect();
        carried.sort_unstable();
        assert_eq!(carried, there);
    }
}
