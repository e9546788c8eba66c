use std::time::{SystemTime, UNIX_EPOCH};

use axum::{
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use polymnemo_memory::{Ctx, Door, Grants};
use tower_sessions::{Session, session};

use super::people::AuthSession;

/// The key in a session under which the day of the last visit is: the number of days since 1970, in UTC.
const LAST_DAY: &str = "last_day";
const SECONDS_OF_A_DAY: u64 = 86_400;

/// Leaves a [`Ctx`] in the request's extensions where someone is signed in, the same as a bearer
/// token would, and their [`Account`](polymnemo_memory::Account) for what pages need beside it.
///
/// Once a day the session is written anew, with its cookie, and so lasts again as long as at first.
pub(super) async fn establish(auth: AuthSession, mut request: Request, next: Next) -> Response {
    if let Some(person) = &auth.user {
        let account = person.0.clone();
        tracing::Span::current().record("user.id", tracing::field::display(account.user.id));
        if note_visit(&auth.session).await.is_err() {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        let ctx = Ctx { user: account.user.clone(), door: Door::Browser, client: None, grants: Grants::full() };
        request.extensions_mut().insert(ctx);
        request.extensions_mut().insert(account);
    }
    next.run(request).await
}

/// Notes the day in a session, which is a change only for the first time of a day.
pub(super) async fn note_visit(session: &Session) -> Result<(), session::Error> {
    let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() / SECONDS_OF_A_DAY;
    session.insert(LAST_DAY, day).await
}
