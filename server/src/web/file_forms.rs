//! Files that forms send, where there is no JavaScript to send them to the storage itself: they pass through the service, as
//! they come in.

use std::{future::Future, io, sync::Arc, time::Duration};

use axum::{
    extract::{Multipart, Path, State, multipart::Field},
    response::Response,
};
use bytes::Bytes;
use futures::StreamExt as _;
use polymnemo_app::paths::sign_in_path;
use polymnemo_memory::{Ctx, Error, FileBytes, MemoryService, Result};
use polymnemo_types::{ApiError, Media, NewUpload, limits};
use tokio::sync::mpsc;

use super::see_other;

/// Whoever sends nothing for this time is gone.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many pieces wait for the storage.
const WAITING: usize = 8;
/// The greatest length of a field that is no file, in bytes.
const FIELD_BYTES: usize = 2 * limits::TEXT_BYTES;

/// Stores the file that a person sends from the page of their files.
pub(super) async fn of_person(
    ctx: Option<axum::Extension<Ctx>>,
    State(service): State<Arc<MemoryService>>,
    form: Multipart,
) -> Response {
    let Some(axum::Extension(ctx)) = ctx else { return see_other(&sign_in_path("/media")) };
    match store(&service, &ctx, form).await {
        Ok(media) => see_other(&format!("/media/{}", media.memory.id)),
        Err(error) => see_other(&format!("/media?problem={}", code(error))),
    }
}

/// Stores the file that someone sends from an upload page.
pub(super) async fn of_page(
    Path(secret): Path<String>,
    State(service): State<Arc<MemoryService>>,
    mut form: Multipart,
) -> Response {
    let page = polymnemo_app::paths::upload_page(&secret);
    let stored = async {
        while let Some(field) = form.next_field().await.map_err(malformed)? {
            if field.name() == Some("file") {
                return pass_on(field, |bytes| service.store_file_of_page(&secret, bytes)).await;
            }
        }
        Err(no_file())
    };
    match stored.await {
        Ok(_) => see_other(&format!("{page}?done=1")),
        Err(error) => see_other(&format!("{page}?problem={}", code(error))),
    }
}

async fn store(service: &MemoryService, ctx: &Ctx, mut form: Multipart) -> Result<Media> {
    let mut new = NewUpload::default();
    while let Some(field) = form.next_field().await.map_err(malformed)? {
        match field.name().unwrap_or_default() {
            "description" => new.description = text(field).await?,
            "namespace" => new.namespace = Some(text(field).await?).filter(|name| !name.trim().is_empty()),
            "tags" => {
                let tags = text(field).await?;
                // In Chinese, too.
                let tags = tags.split([',', '，', '、']).map(str::trim).filter(|tag| !tag.is_empty());
                new.tags = tags.map(str::to_owned).collect();
            }
            "file" => {
                // Without a choice, browsers send a file without a name.
                new.filename = as_named(field.file_name().unwrap_or_default());
                if new.filename.is_empty() {
                    return Err(no_file());
                }
                new.content_type = field.content_type().unwrap_or("application/octet-stream").to_owned();
                return pass_on(field, |bytes| service.store_file(ctx, new, bytes)).await;
            }
            _ => {}
        }
    }
    Err(no_file())
}

/// The name of a file, of which browsers encode just these (HTML, "multipart/form-data").
pub(super) fn as_named(encoded: &str) -> String {
    encoded.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

/// Passes the bytes of a field on while they come in.
async fn pass_on<T, F>(field: Field<'_>, take: impl FnOnce(FileBytes) -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING);
    let bytes = futures::stream::unfold(receiver, |mut receiver| async {
        let next = receiver.recv().await?;
        Some((next, receiver))
    });
    let (_, taken) = tokio::join!(send(field, sender), take(bytes.boxed()));
    taken
}

async fn send(mut field: Field<'_>, sender: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let next = match tokio::time::timeout(PATIENCE, field.chunk()).await {
            Ok(Ok(Some(chunk))) => Ok(chunk),
            Ok(Ok(None)) => return,
            Ok(Err(error)) => Err(io::Error::other(error)),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let is_last = next.is_err();
        if sender.send(next).await.is_err() || is_last {
            return;
        }
    }
}

/// The text of a field.
pub(super) async fn text(mut field: Field<'_>) -> Result<String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(malformed)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > FIELD_BYTES {
            return Err(Error::TooLarge { given: bytes.len(), most: limits::TEXT_BYTES });
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn malformed(error: axum::extract::multipart::MultipartError) -> Error {
    tracing::debug!(%error, "a form could not be read");
    Error::Invalid("The form did not arrive whole. Nothing was stored; send it again.".into())
}

pub(super) fn no_file() -> Error {
    Error::Invalid("The form holds no file. Choose one, then send it again.".into())
}

/// What went wrong, as the page's address says it.
pub(super) fn code(error: Error) -> String {
    let error = ApiError::from(error);
    let code = serde_json::to_value(error.code).ok();
    code.as_ref().and_then(|code| code.as_str()).unwrap_or("internal").to_owned()
}
