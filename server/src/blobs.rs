//! The bytes of files in the local storage, behind signed URLs: `/blobs/KEY?grant=…&signature=…`.
//!
//! A URL says itself what it is good for, and who has it may do just that, with no other credential. What it says is what a
//! service that speaks S3 would hold to as well: the method, the object, its length, its type, its digest, and the time.

use std::{ops::Range, sync::Arc, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{Path, Request, State},
    response::{IntoResponse, Response},
    routing::get,
};
use futures::{StreamExt as _, TryStreamExt as _};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use polymnemo_adapters::blobs::{LocalBlobs, NotReceived, Permission, Refusal, content_disposition};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::{config::NetworkConfig, http::callers};

/// What is stored may be anything, and must not run or load anything here.
const SANDBOX: &str = "sandbox; default-src 'none'; frame-ancestors 'self'";

/// A PDF can't run in our origin either, and no browser shows one in a sandbox.
const PDF: &str = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'self'";

/// The routes of the storage.
pub(crate) fn routes(blobs: LocalBlobs, network: Arc<NetworkConfig>) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| {
            origin.to_str().is_ok_and(|origin| callers::is_allowed(&network, origin))
        }))
        .allow_methods([Method::GET, Method::HEAD, Method::PUT])
        .allow_headers([header::CONTENT_TYPE, header::RANGE])
        .expose_headers([header::ACCEPT_RANGES, header::CONTENT_LENGTH, header::CONTENT_RANGE, header::ETAG])
        .max_age(Duration::from_secs(3600));
    Router::new().route("/blobs/{key}", get(fetch).put(put)).layer(cors).with_state(blobs)
}

/// Hands an object out, or the part of it that is asked for.
async fn fetch(State(blobs): State<LocalBlobs>, Path(key): Path<String>, request: Request) -> Response {
    let grant = match blobs.verify(&key, request.uri().query().unwrap_or_default()) {
        Ok(grant) => grant,
        Err(refusal) => return turned_away(refusal),
    };
    let Permission::Get { filename, content_type, inline } = &grant.may else {
        return refused(StatusCode::FORBIDDEN, "This URL is for sending a file, not for fetching one.");
    };
    let (file, size) = match blobs.open(&key).await {
        Ok(Some(open)) => open,
        Ok(None) => return refused(StatusCode::NOT_FOUND, "The file is not there any more."),
        Err(error) => return failed(&error),
    };
    let headers = request.headers();
    // An object never changes, so its key is as good as a digest.
    let tag = format!("\"{key}\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|given| given.as_bytes() == tag.as_bytes());
    let range = match wanted(headers, &tag, size) {
        Wanted::All => None,
        Wanted::Part(range) => Some(range),
        Wanted::Nothing => {
            let mut response = refused(StatusCode::RANGE_NOT_SATISFIABLE, "The file ends before the part asked for.");
            set(response.headers_mut(), header::CONTENT_RANGE, &format!("bytes */{size}"));
            return response;
        }
    };
    let (status, part) = match range {
        _ if is_known => (StatusCode::NOT_MODIFIED, 0..0),
        Some(range) => (StatusCode::PARTIAL_CONTENT, range),
        None => (StatusCode::OK, 0..size),
    };
    let body = match request.method() {
        &Method::HEAD => Body::empty(),
        _ if is_known => Body::empty(),
        _ => match LocalBlobs::bytes(file, part.clone()).await {
            Ok(bytes) => Body::from_stream(bytes),
            Err(error) => return failed(&error),
        },
    };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    if status == StatusCode::PARTIAL_CONTENT {
        let last = part.end.saturating_sub(1);
        set(headers, header::CONTENT_RANGE, &format!("bytes {}-{last}/{size}", part.start));
    }
    if !is_known {
        set(headers, header::CONTENT_LENGTH, &(part.end - part.start).to_string());
    }
    set(headers, header::CONTENT_TYPE, content_type);
    set(headers, header::CONTENT_DISPOSITION, &content_disposition(filename, *inline));
    set(headers, header::ACCEPT_RANGES, "bytes");
    set(headers, header::ETAG, &tag);
    set(headers, header::CONTENT_SECURITY_POLICY, if content_type == "application/pdf" { PDF } else { SANDBOX });
    set(headers, header::X_FRAME_OPTIONS, "SAMEORIGIN");
    // Whoever has the URL may see the file until then; what is saved is not kept besides.
    set(headers, header::CACHE_CONTROL, if *inline { "private, max-age=3600" } else { "no-store" });
    response
}

/// Takes in an object, or a part of one.
async fn put(State(blobs): State<LocalBlobs>, Path(key): Path<String>, request: Request) -> Response {
    let grant = match blobs.verify(&key, request.uri().query().unwrap_or_default()) {
        Ok(grant) => grant,
        Err(refusal) => return turned_away(refusal),
    };
    let headers = request.headers();
    let (size, expected_type) = match &grant.may {
        Permission::Put { size, content_type, .. } => (*size, Some(content_type)),
        Permission::Part { size, .. } => (*size, None),
        Permission::Get { .. } => {
            return refused(StatusCode::FORBIDDEN, "This URL is for fetching a file, not for sending one.");
        }
    };
    let given = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match given {
        Some(given) if given == size => {}
        Some(given) => return wrong_size(given, size),
        None => {
            return refused(StatusCode::LENGTH_REQUIRED, "The request must say how long the file is (Content-Length).");
        }
    }
    if let Some(expected) = expected_type {
        let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !given.eq_ignore_ascii_case(expected) {
            let reason = format!("The Content-Type must be `{expected}`, as it was promised.");
            return refused(StatusCode::FORBIDDEN, &reason);
        }
    }
    let bytes = request.into_body().into_data_stream().map_err(std::io::Error::other).boxed();
    match blobs.receive(&grant, bytes).await {
        Ok(()) => {
            let mut response = StatusCode::OK.into_response();
            set(response.headers_mut(), header::ETAG, &format!("\"{key}\""));
            response
        }
        Err(NotReceived::WrongSize { given, promised }) => wrong_size(given, promised),
        Err(NotReceived::WrongDigest) => refused(
            StatusCode::BAD_REQUEST,
            "The SHA-256 of the file is not the one that was promised. Nothing was kept.",
        ),
        Err(NotReceived::Taken) => refused(
            StatusCode::CONFLICT,
            "Another file was sent to this URL before, and is kept. Announce this one anew to send it.",
        ),
        Err(NotReceived::Over) => refused(StatusCode::NOT_FOUND, "The upload that this is a part of is over."),
        Err(NotReceived::NotGranted) => refused(StatusCode::FORBIDDEN, "This URL is not for sending a file."),
        Err(NotReceived::Stopped(error)) => {
            tracing::debug!(%error, "the bytes of a file stopped coming");
            refused(StatusCode::BAD_REQUEST, "The file did not arrive whole. Nothing was kept; send it again.")
        }
        Err(NotReceived::Disk(error)) if error.kind() == std::io::ErrorKind::StorageFull => {
            tracing::error!("the disk that files are kept on is full");
            refused(StatusCode::INSUFFICIENT_STORAGE, "The disk of the server is full. Nothing was kept.")
        }
        Err(NotReceived::Disk(error)) => failed(&error),
    }
}

/// The answer to a request whose URL gives nothing.
fn turned_away(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Forged => refused(
            StatusCode::FORBIDDEN,
            "The signature of this URL is not valid. Use the URL just as it was given, with all of its query.",
        ),
        Refusal::Expired => refused(StatusCode::FORBIDDEN, "The time of this URL is over. Ask for a new one."),
    }
}

/// Which part of an object a request is for.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    All,
    Part(Range<u64>),
    /// A part that is not there.
    Nothing,
}

/// What is asked for of an object of this length. What is not understood, or several parts at once, is all of it (RFC 9110).
fn wanted(headers: &HeaderMap, tag: &str, size: u64) -> Wanted {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if text(header::IF_RANGE).is_some_and(|given| given != tag) {
        return Wanted::All;
    }
    let Some((start, end)) = text(header::RANGE)
        .and_then(|range| range.trim().strip_prefix("bytes="))
        .filter(|range| !range.contains(','))
        .and_then(|range| range.split_once('-'))
    else {
        return Wanted::All;
    };
    match (start.trim().parse::<u64>(), end.trim().parse::<u64>()) {
        (Ok(start), Ok(last)) if start <= last && start < size => Wanted::Part(start..last.saturating_add(1).min(size)),
        (Ok(start), Ok(last)) if start > last => Wanted::All,
        (Ok(start), Err(_)) if end.trim().is_empty() && start < size => Wanted::Part(start..size),
        (Ok(_), Ok(_)) => Wanted::Nothing,
        (Ok(_), Err(_)) if end.trim().is_empty() => Wanted::Nothing,
        (Err(_), Ok(0)) if start.trim().is_empty() => Wanted::Nothing,
        (Err(_), Ok(last)) if start.trim().is_empty() => Wanted::Part(size.saturating_sub(last)..size),
        _ => Wanted::All,
    }
}

fn wrong_size(given: u64, promised: u64) -> Response {
    let reason = format!("The file is {given} bytes long where {promised} were promised. Nothing was kept.");
    refused(StatusCode::BAD_REQUEST, &reason)
}

fn refused(status: StatusCode, reason: &str) -> Response {
    (status, format!("{reason}\n")).into_response()
}

fn failed(error: &dyn std::error::Error) -> Response {
    tracing::error!(error = crate::error::in_one_line(error), "the storage for files failed");
    refused(StatusCode::SERVICE_UNAVAILABLE, "The storage for files does not work at the moment. Try again shortly.")
}

/// Sets a header; a value that is none is left out.
fn set(headers: &mut HeaderMap, name: header::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(range: &str) -> Wanted {
        let mut headers = HeaderMap::new();
        set(&mut headers, header::RANGE, range);
        wanted(&headers, "\"a\"", 10)
    }

    #[test]
    fn a_part_is_within_the_file() {
        assert_eq!(of("bytes=0-3"), Wanted::Part(0..4));
        assert_eq!(of("bytes=8-99"), Wanted::Part(8..10));
        assert_eq!(of("bytes=8-"), Wanted::Part(8..10));
        assert_eq!(of("bytes=-3"), Wanted::Part(7..10));
        assert_eq!(of("bytes=-99"), Wanted::Part(0..10));
        for beyond in ["bytes=10-", "bytes=10-12", "bytes=-0"] {
            assert_eq!(of(beyond), Wanted::Nothing, "{beyond}");
        }
        for all in ["", "bytes=", "bytes=-", "bytes=a-b", "bytes=3-1", "bytes=0-1,3-4", "items=0-1", "bytes=1-x"] {
            assert_eq!(of(all), Wanted::All, "{all}");
        }
    }

    #[test]
    fn a_part_of_another_file_is_not_wanted() {
        let mut headers = HeaderMap::new();
        set(&mut headers, header::RANGE, "bytes=0-3");
        set(&mut headers, header::IF_RANGE, "\"b\"");
        assert_eq!(wanted(&headers, "\"a\"", 10), Wanted::All);
    }
}
