//! What the endpoints for programs have in common (RFC 6749, sections 3.2 and 5.2).

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Json,
    body::Bytes,
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::json;

use crate::http::{client_address::network_of, throttle::Throttle};

/// An error as programs read it.
pub(super) fn error(status: StatusCode, error: &str, description: &str) -> Response {
    (status, [(header::PRAGMA, "no-cache")], Json(json!({ "error": error, "error_description": description })))
        .into_response()
}

/// The same for what is wrong with the request itself.
pub(super) fn invalid_request(description: &str) -> Response {
    error(StatusCode::BAD_REQUEST, "invalid_request", description)
}

/// The same for a fault of ours, whose cause is in the log.
pub(super) fn unavailable(cause: polymnemo_memory::Error) -> Response {
    let cause = polymnemo_types::ApiError::from(cause);
    error(StatusCode::SERVICE_UNAVAILABLE, "temporarily_unavailable", &cause.message)
}

/// The parameters of a form or a query, each at most once.
#[derive(Debug)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads a form or a query.
    ///
    /// # Errors
    ///
    /// Where a parameter comes twice (RFC 6749, section 3.1), which is the name of it; `resource` may (RFC 8707).
    pub(super) fn read(encoded: &[u8]) -> Result<Self, String> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for (name, value) in url::form_urlencoded::parse(encoded) {
            // One without a value is as good as none.
            if value.is_empty() {
                continue;
            }
            if name != "resource" && parameters.iter().any(|(known, _)| *known == name) {
                return Err(name.chars().filter(|character| !character.is_control()).take(60).collect());
            }
            parameters.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(parameters))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether a value holds a NUL character, which no text of the database can.
    pub(super) fn hold_nul(&self) -> bool {
        self.0.iter().any(|(_, value)| value.contains('\0'))
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The form of a request of a program, with the client that it names in it or, as some do though they have no secret, in the
/// `Authorization` header.
pub(super) fn form(headers: &HeaderMap, body: &Bytes) -> Result<(Parameters, Option<String>), Box<Response>> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded") {
        let problem = "Send the parameters as a form: Content-Type: application/x-www-form-urlencoded.";
        return Err(Box::new(invalid_request(problem)));
    }
    let parameters = Parameters::read(body)
        .map_err(|name| Box::new(invalid_request(&format!("The parameter `{name}` comes twice."))))?;
    let client = parameters.get("client_id").map(str::to_owned).or_else(|| basic_client(headers));
    Ok((parameters, client))
}

fn basic_client(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credentials) = value.split_once(' ')?;
    let decoded = scheme.eq_ignore_ascii_case("basic").then(|| STANDARD.decode(credentials.trim()).ok())??;
    let decoded = String::from_utf8(decoded).ok()?;
    let (client, _) = decoded.split_once(':')?;
    percent_encoding::percent_decode_str(client).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// Lets nothing but POST in; another method is told so.
pub(super) async fn only_post(request: Request, next: Next) -> Response {
    if *request.method() == Method::POST {
        return next.run(request).await;
    }
    let mut response = error(StatusCode::METHOD_NOT_ALLOWED, "invalid_request", "This endpoint takes POST only.");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST, OPTIONS"));
    response
}

/// Answers 429 where one network, or all together, ask for the same too often.
pub(super) async fn throttle(
    State(throttle): State<Arc<Throttle>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let Err(wait) = throttle.try_pass(network_of(peer, request.headers())) else {
        return next.run(request).await;
    };
    let problem = "Too many requests came from this network. Try again shortly.";
    let mut response = error(StatusCode::TOO_MANY_REQUESTS, "temporarily_unavailable", problem);
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_comes_once_and_an_empty_one_not_at_all() {
        let read = Parameters::read(b"a=1&b=&resource=x&resource=y&c=%20").unwrap();
        assert_eq!((read.get("a"), read.get("b"), read.get("c")), (Some("1"), None, Some(" ")));
        assert_eq!(read.all("resource").collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(Parameters::read(b"a=1&a=1").unwrap_err(), "a");
    }

    #[test]
    fn a_client_may_name_itself_in_the_header() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, "application/x-www-form-urlencoded; charset=utf-8".parse().unwrap());
        headers.insert(header::AUTHORIZATION, "Basic YXBwJTNBMTo=".parse().unwrap());
        assert_eq!(form(&headers, &Bytes::new()).unwrap().1.as_deref(), Some("app:1"));
        assert_eq!(form(&headers, &Bytes::from("client_id=b")).unwrap().1.as_deref(), Some("b"));
    }
}
