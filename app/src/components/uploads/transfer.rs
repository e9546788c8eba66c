//! How a file gets to the storage.

use std::{rc::Rc, time::Duration};

use polymnemo_types::{ApiError, ErrorCode};

use super::{
    put::{Loss, Sending, pause},
    row::{Row, State},
    way::{self, Way},
};
use crate::{
    api::{WebError, media::Part},
    i18n,
};

/// How long to wait before something is tried again that failed; after as many times in a row it is for the person to say.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];

/// Why it did not go on.
enum Halt {
    /// It broke off: what has been sent still counts.
    Broken(String),
    /// It was refused: it begins anew or not at all.
    Refused(String),
    /// Nobody wants it any more.
    Cancelled,
}

/// Sends the file of a row that is in [`State::Sending`], and leaves it in a state where it stays.
pub(super) async fn send(row: &Rc<Row>, way: &Way) {
    match run(row, way).await {
        Ok(path) => {
            if let Some(id) = row.id() {
                way::forget(&id);
            }
            row.show_sent(row.bytes());
            if let Some(path) = path {
                row.link_to(&path);
            }
            row.set_state(State::Done);
        }
        Err(Halt::Broken(why)) => row.break_off(&why),
        Err(Halt::Refused(why)) => {
            if let Some(id) = row.id() {
                way::forget(&id);
            }
            row.set_id(None);
            row.fail(&why);
        }
        Err(Halt::Cancelled) => {}
    }
}

async fn run(row: &Rc<Row>, way: &Way) -> Result<Option<String>, Halt> {
    let id = match row.id() {
        Some(id) => id,
        None => {
            let begun = way.begin(row).await;
            if row.state() == State::Cancelled
                && let Ok(id) = &begun
            {
                way.cancel(id).await;
            }
            let id = begun.map_err(|error| halt(row, error))?;
            row.set_id(Some(id.clone()));
            way::keep(&id, row);
            id
        }
    };
    send_parts(row, way, &id).await?;
    row.set_state(State::Checking);
    way.confirm(&id).await.map_err(|error| halt(row, error))
}

/// Sends part after part until none is missing.
async fn send_parts(row: &Rc<Row>, way: &Way, id: &str) -> Result<(), Halt> {
    // What is there may be of another file: then everything is sent anew.
    let mut again = !way::is_of(id, row);
    let (mut after, mut failures) = (0, 0);
    loop {
        let failed = match next_few(row, way, id, &mut after, &mut again).await {
            Ok(true) => return Ok(()),
            Ok(false) => {
                failures = 0;
                continue;
            }
            Err(halt) => halt,
        };
        let Halt::Broken(_) = failed else { return Err(failed) };
        let Some(&wait) = PAUSES.get(failures) else { return Err(failed) };
        failures += 1;
        pause(wait).await;
        if row.state() == State::Cancelled {
            return Err(Halt::Cancelled);
        }
    }
}

/// Sends the next few parts; true when there are none. Whatever arrived counts, even if a later one did not.
async fn next_few(row: &Rc<Row>, way: &Way, id: &str, after: &mut u32, again: &mut bool) -> Result<bool, Halt> {
    let mut next = way.next(id, *after, *again && *after > 0).await.map_err(|error| halt(row, error))?;
    if *again && *after == 0 {
        if next.sent == 0 {
            // Nothing is there, so all that will be is of this file.
            way::keep(id, row);
            *again = false;
        } else {
            next = way.next(id, 0, true).await.map_err(|error| halt(row, error))?;
        }
    }
    if next.parts.is_empty() {
        // Once everything was sent anew, what is there is of this file.
        let done = !*again;
        if *again {
            way::keep(id, row);
        }
        (*again, *after) = (false, 0);
        return Ok(done);
    }
    let mut sent = next.sent;
    for part in next.parts {
        row.show_sent(sent);
        send_part(row, &part, sent).await?;
        sent += part.size;
        *after = part.number;
    }
    row.show_sent(sent);
    Ok(false)
}

async fn send_part(row: &Rc<Row>, part: &Part, sent: u64) -> Result<(), Halt> {
    let unreadable = || Halt::Broken(i18n::messages().errors.no_connection.to_owned());
    // Numbers of bytes of a file are far below what a number of JavaScript can hold.
    let (begin, end) = (part.offset as f64, (part.offset + part.size) as f64);
    let bytes = row.file.slice_with_f64_and_f64(begin, end).map_err(|_| unreadable())?;
    let shown = Rc::clone(row);
    let mut sending =
        Sending::begin(part, &bytes, move |loaded| shown.show_sent(sent + loaded as u64)).ok_or_else(unreadable)?;
    row.stop_by(Some(sending.stop()));
    let outcome = sending.end().await;
    row.stop_by(None);
    if row.state() == State::Cancelled {
        return Err(Halt::Cancelled);
    }
    outcome.map_err(|loss| match loss {
        Loss::Connection => unreadable(),
        Loss::Refused(status) => Halt::Broken(row.words_for_refusal(status)),
    })
}

/// What an error of the server means for the upload.
fn halt(row: &Row, WebError(error): WebError) -> Halt {
    if row.state() == State::Cancelled {
        return Halt::Cancelled;
    }
    let why = i18n::explain(&error, None);
    if is_for_good(&error) { Halt::Refused(why) } else { Halt::Broken(why) }
}

fn is_for_good(error: &ApiError) -> bool {
    match error.code {
        ErrorCode::InvalidInput
        | ErrorCode::NotFound
        | ErrorCode::Conflict
        | ErrorCode::TooLarge
        | ErrorCode::FileTooLarge
        | ErrorCode::Forbidden => true,
        ErrorCode::NotSignedIn | ErrorCode::NotReady | ErrorCode::Unavailable | ErrorCode::Internal => false,
    }
}
