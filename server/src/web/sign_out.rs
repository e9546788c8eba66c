use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use polymnemo_app::api::sign_in::SignInProblem;
use polymnemo_memory::Ctx;
use polymnemo_types::ApiError;

use super::{Shared, back, people::AuthSession, see_other};

/// Ends this session.
pub(super) async fn here(auth: AuthSession) -> Response {
    leave(auth).await
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
    leave(auth).await
}

async fn leave(mut auth: AuthSession) -> Response {
    match auth.logout().await {
        Ok(_) => see_other("/"),
        Err(error) => {
            tracing::error!(%error, "a session could not be ended");
            back(SignInProblem::Unavailable, "/")
        }
    }
}
