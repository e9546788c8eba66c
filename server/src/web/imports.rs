//! Files to import, as a form sends them, and the report of an import as a file.

use std::{path::Path as FilePath, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Multipart, Path, State, multipart::Field},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use polymnemo_app::paths::{import_page, sign_in_path};
use polymnemo_memory::{Ctx, Error, MemoryService, Result};
use polymnemo_types::{Import, ImportId, ImportOptions, limits};
use tokio::{fs::File, io::AsyncWriteExt as _};

use super::{
    file_forms::{as_named, code, malformed, no_file, text},
    see_other,
};

/// Whoever sends nothing for this time is gone.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most files of one import.
const FILES: usize = 200;
/// The greatest length of all files of an import, in bytes.
const BYTES: u64 = 16 << 30;

/// Takes the files of an import: `multipart/form-data` with the fields `namespace`, `since`, `limit` and `again`, which may be
/// absent, and after them `files`. It leads to the page of the import.
pub(super) async fn begin(
    ctx: Option<axum::Extension<Ctx>>,
    State(service): State<Arc<MemoryService>>,
    form: Multipart,
) -> Response {
    let Some(axum::Extension(ctx)) = ctx else { return see_other(&sign_in_path("/import")) };
    match take(&service, &ctx, form).await {
        Ok(import) => see_other(&import_page(import.id)),
        Err(error) => see_other(&format!("/import?problem={}", code(error))),
    }
}

async fn take(service: &MemoryService, ctx: &Ctx, mut form: Multipart) -> Result<Import> {
    let (id, folder) = service.folder_for_import(ctx).await?;
    let taken = async {
        let mut options = ImportOptions::default();
        let mut files = Vec::new();
        let mut bytes = 0;
        while let Some(field) = form.next_field().await.map_err(malformed)? {
            match field.name().unwrap_or_default() {
                "namespace" => options.namespace = given(field).await?,
                "since" => options.since = given(field).await?,
                "again" => options.again = given(field).await?.is_some(),
                "limit" => {
                    let limit = given(field).await?;
                    let number = limit.map(|limit| limit.parse()).transpose();
                    options.limit = number.map_err(|_| Error::Invalid("`limit` is a number.".into()))?;
                }
                "files" => {
                    let name = as_named(field.file_name().unwrap_or_default());
                    if name.is_empty() {
                        continue;
                    }
                    if files.len() == FILES {
                        return Err(Error::Invalid(format!("An import has at most {FILES} files. Zip the folder.")));
                    }
                    // In a folder of its own each, under its own name: by that a single note is known again.
                    let own = folder.join(format!("{:03}", files.len()));
                    tokio::fs::create_dir(&own).await.map_err(no_room)?;
                    let file = own.join(on_disk(&name));
                    bytes += keep(field, &file, BYTES - bytes).await?;
                    files.push(name);
                }
                _ => {}
            }
        }
        if files.is_empty() {
            return Err(no_file());
        }
        service.begin_import(ctx, id, files, options).await
    };
    let taken = taken.await;
    if taken.is_err() {
        service.drop_import_folder(id).await;
    }
    taken
}

/// The text of a field, if there is one.
async fn given(field: Field<'_>) -> Result<Option<String>> {
    Ok(Some(text(field).await?).filter(|text| !text.trim().is_empty()))
}

/// Writes a file as it comes in; gives its length.
async fn keep(mut field: Field<'_>, path: &FilePath, most: u64) -> Result<u64> {
    let mut file = File::create_new(path).await.map_err(no_room)?;
    let mut bytes = 0;
    loop {
        let next = tokio::time::timeout(PATIENCE, field.chunk()).await;
        let next = next.map_err(|_| Error::Invalid("The file did not arrive whole. Send it again.".into()))?;
        let Some(chunk) = next.map_err(malformed)? else { break };
        bytes += chunk.len() as u64;
        if bytes > most {
            return Err(Error::FileTooLarge { given: bytes, most });
        }
        file.write_all(&chunk).await.map_err(no_room)?;
    }
    file.flush().await.map_err(no_room)?;
    Ok(bytes)
}

fn no_room(error: std::io::Error) -> Error {
    Error::Unavailable { part: "folder for imports", source: Box::new(error) }
}

/// A name that is harmless on a disk; what is in a file tells what it is, its name is only shown.
fn on_disk(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last
        .chars()
        .map(|character| if character.is_alphanumeric() || ".-_ ()".contains(character) { character } else { '_' })
        .collect();
    // The end of a name tells more than its beginning.
    let mut start = clean.len().saturating_sub(150);
    while !clean.is_char_boundary(start) {
        start += 1;
    }
    match clean.get(start..).unwrap_or_default() {
        "" | "." | ".." => "file".to_owned(),
        name => name.to_owned(),
    }
}

/// The report of an import: a line of JSON for each thing that was found. It is made as it is read.
pub(super) async fn report(
    ctx: Option<axum::Extension<Ctx>>,
    State(service): State<Arc<MemoryService>>,
    Path(id): Path<String>,
) -> Response {
    let Some(axum::Extension(ctx)) = ctx else { return see_other(&sign_in_path("/import")) };
    let Ok(id) = id.parse::<ImportId>() else { return StatusCode::NOT_FOUND.into_response() };
    if service.import(&ctx, id).await.is_err() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let lines = futures::stream::try_unfold(Some(String::new()), move |cursor| {
        let (service, ctx) = (service.clone(), ctx.clone());
        async move {
            let Some(cursor) = cursor else { return Ok::<_, std::io::Error>(None) };
            let cursor = Some(cursor).filter(|cursor| !cursor.is_empty());
            let page = service.import_lines(&ctx, id, &[], cursor.as_deref(), Some(limits::PAGE_MAX)).await;
            let page = page.map_err(std::io::Error::other)?;
            let mut text = Vec::new();
            for line in &page.items {
                serde_json::to_writer(&mut text, line)?;
                text.push(b'\n');
            }
            Ok(Some((Bytes::from(text), page.next_cursor)))
        }
    });
    let mut response = Body::from_stream(lines).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/jsonl; charset=utf-8"));
    headers.insert(
        header::CONTENT_DISPOSITION,
        HeaderValue::from_static("attachment; filename=\"polymnemo-import-report.jsonl\""),
    );
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_disk_stay_in_their_folder() {
        for (name, expected) in [
            ("conversations-000 (1).zip", "conversations-000 (1).zip"),
            ("../../etc/passwd", "passwd"),
            ("a\\b\\c.json", "c.json"),
            ("聊天 记录.zip", "聊天 记录.zip"),
            ("a\nb\0c", "a_b_c"),
            ("a/..", "file"),
        ] {
            assert_eq!(on_disk(name), expected);
        }
        assert!(on_disk(&"记".repeat(300)).len() <= 150);
    }
}
