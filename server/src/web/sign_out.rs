use std::sync::Arc;

use axum::{
    Extension, Form,
    extract::{State, rejection::FormRejection},
    response::Response,
};
use polymnemo_app::{api::sign_in::SignInProblem, paths::sign_in_path};
use polymnemo_memory::Ctx;
use polymnemo_types::ApiError;
use serde::Deserialize;

use super::{Shared, back, people::AuthSession, see_other};

/// Where someone else wants to go on.
#[derive(Deserialize)]
pub(super) struct Next {
    next: Option<String>,
}

/// Ends this session; with `next` someone else signs in then and goes there.
pub(super) async fn here(auth: AuthSession, form: Result<Form<Next>, FormRejection>) -> Response {
    // Most forms that sign out have no field.
    let next = form.ok().and_then(|Form(Next { next })| next);
    leave(auth, &next.map_or_else(|| "/".to_owned(), |next| sign_in_path(&next))).await
}

/// Ends all sessions of the person, on whichever browser.
pub(super) async fn everywhere(
    State(shared): State<Arc<Shared>>,
    ctx: Option<Extension<Ctx>>,
    auth: AuthSession,
) -> Response {
    if let Some(Extension(ctx)) = ctx {
        if let Err(error) = shared.sign_in.service.sign_out_everywhere(&ctx).await {
            // It logs the cause.
            let _ = ApiError::from(error);
            return back(SignInProblem::Unavailable, "/");
        }
        tracing::info!("signed out everywhere");
    }
    leave(auth, "/").await
}

async fn leave(mut auth: AuthSession, then: &str) -> Response {
    match auth.logout().await {
        Ok(_) => see_other(then),
        Err(error) => {
            tracing::error!(%error, "a session could not be ended");
            back(SignInProblem::Unavailable, "/")
        }
    }
}
