//! Takes the forms that pages send; the module [`form`](crate::form) says how they work.

use std::{convert::Infallible, future::Future};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, Method, StatusCode, Uri, header, request::Parts};
use leptos::server_fn::error::SERVER_FN_ERROR_HEADER;
use polymnemo_types::{ApiError, ErrorCode};

use crate::{api::changes::notice::leave, form::SentForm, paths::path_of_this_site};

/// The longest form, in bytes, that is read: one with a memory of the greatest length (1 MiB), of which each byte is
/// written as three (`%E4`), and room for the rest.
pub const LONGEST_FORM: usize = 4 << 20;

/// Runs the server function that a form calls, and answers with a redirect or with the form's page.
pub(super) async fn take<Context, Render, Page>(
    context: Context,
    render: Render,
    request: Request,
) -> Result<Response, Infallible>
where
    Context: Fn() + Clone + Send + 'static,
    Render: Fn(Request) -> Page,
    Page: Future<Output = Response>,
{
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, LONGEST_FORM).await else {
        return Ok((StatusCode::PAYLOAD_TOO_LARGE, "The form is too long.\n").into_response());
    };
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
    let field = |name| fields.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
    let Some(call) = field(SentForm::CALL).filter(|call| is_server_function(call)) else {
        return Ok(
            (StatusCode::BAD_REQUEST, "The form does not say what it is for. Reload the page.\n").into_response()
        );
    };
    let then = field(SentForm::THEN);

    let request = call_of(&parts, &call, body);
    let answer = leptos_axum::handle_server_fns_with_context(context, request).await.into_response();
    let (answer, body) = answer.into_parts();
    let body = to_bytes(body, LONGEST_FORM).await.unwrap_or_default();
    let outcome = if answer.headers.contains_key(SERVER_FN_ERROR_HEADER) || !answer.status.is_success() {
        Err(serde_json::from_slice(&body).unwrap_or_else(|_| unreadable()))
    } else {
        Ok(serde_json::from_slice(&body).unwrap_or_default())
    };

    let elsewhere = answer.headers.get(header::LOCATION).cloned();
    let elsewhere = elsewhere.or_else(|| HeaderValue::from_str(path_of_this_site(then.as_deref()?)?).ok());
    let mut response = match (outcome, elsewhere) {
        (Ok(done), Some(elsewhere)) => {
            let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, elsewhere)]).into_response();
            // What the form did is told by the page that comes next.
            if let Some(notice) = serde_json::from_value(done).ok().and_then(|notice| leave(&notice)) {
                response.headers_mut().append(header::SET_COOKIE, notice);
            }
            response
        }
        (outcome, _) => {
            let status = answer.status;
            let mut page = render(page_of(parts, SentForm { call, fields, outcome })).await;
            if page.status().is_success() {
                *page.status_mut() = status;
            }
            // The page holds what was typed, or a secret that is shown once.
            page.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            page
        }
    };
    for cookie in answer.headers.get_all(header::SET_COOKIE) {
        response.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    Ok(response)
}

/// Whether a server function that changes something is at this path.
fn is_server_function(path: &str) -> bool {
    leptos::server_fn::axum::server_fn_paths().any(|(known, method)| known == path && method == Method::POST)
}

/// The request that calls the server function: sent by the same person, and answered with data
/// instead of a redirect, which is what a server function does for `Accept: text/html`.
fn call_of(parts: &Parts, call: &str, body: Bytes) -> Request {
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = Uri::try_from(call).unwrap_or_default();
    *request.headers_mut() = parts.headers.clone();
    *request.extensions_mut() = parts.extensions.clone();
    request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    request
}

/// The request for the page that the form is on.
fn page_of(mut parts: Parts, sent: SentForm) -> Request {
    parts.method = Method::GET;
    parts.headers.remove(header::CONTENT_TYPE);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.extensions.insert(sent);
    Request::from_parts(parts, Body::empty())
}

fn unreadable() -> ApiError {
    tracing::error!("a server function failed without saying why");
    ApiError {
        code: ErrorCode::Internal,
        message: "Something went wrong inside the server; its log tells more.".to_owned(),
    }
}
