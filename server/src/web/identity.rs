use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use polymnemo_memory::Ctx;
use serde::{Deserialize, Serialize};
use tower_sessions::{Session, session};

use super::people::AuthSession;

/// The key in a session under which its [`Stay`] is.
const STAY: &str = "stay";
/// After this number of days a person proves anew who they are, however often they came.
const MOST_DAYS: u64 = 90;
const SECONDS_OF_A_DAY: u64 = 86_400;

/// How long someone has been signed in, and by which rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stay {
    /// The rules at the time of signing in, see [`SignInConfig::rules`](crate::config::SignInConfig::rules).
    rules: String,
    /// The day of signing in: the number of days since 1970, in UTC.
    began: u64,
    /// The day of the last visit.
    seen: u64,
}

/// Begins a stay in a session.
pub(super) async fn begin_stay(session: &Session, rules: &str) -> Result<(), session::Error> {
    let today = today();
    session.insert(STAY, Stay { rules: rules.to_owned(), began: today, seen: today }).await
}

/// Leaves a [`Ctx`] in the request's extensions where someone is signed in, the same as a bearer
/// token would, and their [`Account`](polymnemo_memory::Account) for what pages need beside it.
///
/// Once a day the session is written anew, with its cookie, and so lasts again as long as at first.
/// It ends where the rules for who may sign in are no longer those that it began by, and after
/// [`MOST_DAYS`]: who may sign in is asked at no other time.
pub(super) async fn establish(
    State(rules): State<Arc<str>>,
    mut auth: AuthSession,
    mut request: Request,
    next: Next,
) -> Response {
    if let Some(person) = &auth.user {
        let account = person.0.clone();
        match go_on(&auth.session, &rules).await {
            Ok(true) => {
                tracing::Span::current().record("user.id", tracing::field::display(account.user.id));
                let ctx = Ctx::of_person(account.user.clone());
                request.extensions_mut().insert(ctx);
                request.extensions_mut().insert(account);
            }
            Ok(false) => {
                tracing::info!(user.id = %account.user.id, "a session is over; who it was signs in again");
                if auth.logout().await.is_err() {
                    return StatusCode::INTERNAL_SERVER_ERROR.into_response();
                }
                request.extensions_mut().insert(auth);
            }
            Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        }
    }
    next.run(request).await
}

/// Notes the visit in a session, which is a change only for the first one of a day. False where the stay is over.
async fn go_on(session: &Session, rules: &str) -> Result<bool, session::Error> {
    let today = today();
    let stay: Option<Stay> = session.get(STAY).await?;
    let Some(stay) = stay.filter(|stay| stay.rules == rules && today < stay.began + MOST_DAYS) else {
        return Ok(false);
    };
    session.insert(STAY, Stay { seen: today, ..stay }).await?;
    Ok(true)
}

/// The number of days since 1970, in UTC.
fn today() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / SECONDS_OF_A_DAY
}
