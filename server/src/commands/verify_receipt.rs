use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

use polymnemo_memory::receipt::{LONGEST_RECEIPT, PublicKey};
use polymnemo_types::{ErasureSubject, ReceiptDocument};

use crate::{Error, cli::say, compose::Database, config::Config, error::in_one_line, logging, receipts::KEY_PATH};

/// The command line of `verify-receipt`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The file of the receipt
    file: PathBuf,
    /// The file with the key of the server that issued it, as it publishes it under /.well-known/polymnemo-receipt-key.
    /// Without one, the key of the server on this machine
    #[arg(long)]
    key: Option<PathBuf>,
}

/// Tells whether a receipt is genuine: 0 where it is, 1 where it is not or can't be told.
pub(crate) async fn run(options: Options) -> Result<ExitCode, Error> {
    let file = match read(&options.file) {
        Ok(file) => file,
        Err(error) => return Ok(refused(&format!("{} can't be read: {error}.", options.file.display()))),
    };
    let key = match &options.key {
        Some(path) => match key_of(path) {
            Ok(key) => key,
            Err(problem) => return Ok(refused(&problem)),
        },
        None => own_key().await?,
    };
    Ok(match key.verify(&file) {
        Ok(document) => {
            say(&summary(&document, options.key.is_none()));
            ExitCode::SUCCESS
        }
        Err(fault) => refused(&fault.to_string()),
    })
}

fn refused(why: &str) -> ExitCode {
    say(&format!("NOT VERIFIED. {why}"));
    ExitCode::FAILURE
}

/// No more than one byte further than a receipt may be long: what is longer is none.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read as _;

    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(LONGEST_RECEIPT as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn key_of(path: &Path) -> Result<PublicKey, String> {
    let text = read(path).map_err(|error| format!("{} can't be read: {error}.", path.display()))?;
    PublicKey::from_jwk(&String::from_utf8_lossy(&text)).ok_or_else(|| {
        format!("{} holds no key: it should be the JSON that the server publishes under {KEY_PATH}.", path.display())
    })
}

/// The key of the server that the settings on this machine are of.
async fn own_key() -> Result<PublicKey, Error> {
    let config = Config::load()?;
    logging::init(&config.log);
    if config.database.url.is_none() && !config.directories.data.join("cluster").is_dir() {
        return Err(Error::Failed(format!(
            "there is no server on this machine whose key could be taken: give the key of the one that issued the receipt, \
             which it publishes under {KEY_PATH}, with --key"
        )));
    }
    let database = Database::open(&config).await?;
    let key = database.receipt_key().await;
    database.close().await;
    key.map_err(|error| Error::Database(in_one_line(&error)))
}

fn summary(document: &ReceiptDocument, own: bool) -> String {
    let what = match &document.what {
        ErasureSubject::Memories { ids } => format!("{} memories, sessions or files", ids.len()),
        ErasureSubject::Namespace { default: false, .. } => "a namespace with all that was in it".to_owned(),
        ErasureSubject::Namespace { default: true, .. } => "all that was in the default namespace".to_owned(),
        ErasureSubject::App { id } => format!("what the app {id} stored"),
        ErasureSubject::Import { id } => format!("what the import {id} brought"),
        ErasureSubject::Account => "a whole account".to_owned(),
    };
    let places = document.checks.len();
    let mut text = format!(
        "VERIFIED. The receipt is genuine and unchanged: {} signed it with the key {}.\n\
         Erased: {what}, of the user {}.\nRequested: {}\nDone:      {}\n\
         Looked for it again in {places} places and found nothing.",
        if own { "this server" } else { "the server of the key" },
        document.key_id,
        document.erased_by.user_id,
        document.requested_at,
        document.finished_at,
    );
    for survivor in &document.survives {
        text.push_str(&format!("\nLeft: {}", survivor.note));
        if let Some(until) = survivor.until {
            text.push_str(&format!(" Until {until}."));
        }
    }
    text
}
