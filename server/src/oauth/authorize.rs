//! Where a client sends a person (RFC 6749, section 4.1.1): what it asks for is checked and kept, and the person goes on to
//! the page on which they decide.

use axum::{
    body::Bytes,
    extract::{RawQuery, State},
    response::{IntoResponse, Redirect, Response},
};
use http::{HeaderMap, Method, StatusCode, header};
use polymnemo_app::{AppProblem, app_problem_page};
use polymnemo_types::AuthorizationRequest;

use super::{
    AuthorizationServer, browser, clients::NoClient, endpoint::Parameters, redirect::RedirectUri, token::resource_of,
};
use crate::oauth::resource;

/// The longest request, in bytes.
const MOST_BYTES: usize = 16 << 10;
/// The longest `state`, in bytes.
const STATE_BYTES: usize = 8 << 10;

/// An error that the client is told of, by way of the browser: its code and a text.
struct Told(&'static str, &'static str);

/// Takes what a client asks for.
pub(super) async fn authorize(
    State(server): State<AuthorizationServer>,
    method: Method,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> Response {
    let query = query.unwrap_or_default();
    let encoded = if method == Method::POST { &body[..] } else { query.as_bytes() };
    if encoded.len() > MOST_BYTES {
        return page(&server, &headers, AppProblem::Request);
    }
    // Parameters that come twice are told to the client only where they leave no doubt about it.
    let once = Parameters::read(encoded);
    let Ok(parameters) = &once else { return page(&server, &headers, AppProblem::Request) };
    // The database holds none.
    if parameters.hold_nul() {
        return page(&server, &headers, AppProblem::Request);
    }
    let Some(client_id) = parameters.get("client_id") else { return page(&server, &headers, AppProblem::Client) };
    let client = match server.0.clients.find(client_id).await {
        Ok(client) => client,
        Err(NoClient::Unknown) => return page(&server, &headers, AppProblem::Client),
        Err(NoClient::Document) => return page(&server, &headers, AppProblem::Document),
        Err(NoClient::Unavailable(cause)) => {
            let _ = polymnemo_types::ApiError::from(cause);
            return page(&server, &headers, AppProblem::Unavailable);
        }
    };
    let registered: Vec<RedirectUri> =
        client.redirect_uris.iter().filter_map(|uri| RedirectUri::parse(uri).ok()).collect();
    let redirect = match (parameters.get("redirect_uri").map(RedirectUri::parse), registered.as_slice()) {
        (Some(Ok(given)), known) if known.iter().any(|known| known.admits(&given)) => given,
        (None, [only]) => only.clone(),
        _ => return page(&server, &headers, AppProblem::Redirect),
    };

    let issuer = server.0.network.origin_for(&headers);
    let state = parameters.get("state");
    // Whoever registers by himself could have this server lead people anywhere, so without a word from them it does only where
    // someone vouches for the address, and to their own machine.
    let may_lead = client.domain.is_some() || redirect.is_on_this_machine();
    let tell = |Told(error, description): Told| {
        if !may_lead {
            return page(&server, &headers, AppProblem::Request);
        }
        let parameters = [
            ("error", Some(error)),
            ("error_description", Some(description)),
            ("state", state),
            ("iss", Some(&issuer)),
        ];
        // RFC 9700, section 4.12: not 307, which would send a form on.
        Redirect::to(&redirect.with(&parameters)).into_response()
    };
    let (code_challenge, wants_write) = match check(parameters) {
        Ok(checked) => checked,
        Err(told) => return tell(told),
    };
    let Ok(named) = resource_of(&server, &headers, parameters) else {
        return tell(Told("invalid_target", "The resource is not the MCP endpoint of this server."));
    };
    let request = AuthorizationRequest {
        client_id: client.id,
        client_name: client.name,
        domain: client.domain,
        redirect_uri: redirect.as_str().to_owned(),
        redirect_host: redirect.host(),
        is_loopback: redirect.is_on_this_machine(),
        wants_write,
        resource: named.unwrap_or_else(|| resource::canonical(&server.0.network, &headers)),
        state: state.map(str::to_owned),
        code_challenge,
        browser: String::new(),
    };
    let key = browser::key_of(&server.0.network, &headers);
    match server.0.service.begin_authorization(request, &key).await {
        Ok(id) => {
            let mut response = Redirect::to(&format!("/consent?request={id}")).into_response();
            if let Some(cookie) = browser::cookie(&server.0.network, &key) {
                response.headers_mut().append(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(cause) => {
            let _ = polymnemo_types::ApiError::from(cause);
            tell(Told("temporarily_unavailable", "The server can't be used at the moment."))
        }
    }
}

/// What does not depend on the client: the challenge, and whether it wants to write.
fn check(parameters: &Parameters) -> Result<(String, bool), Told> {
    match parameters.get("response_type") {
        Some("code") => {}
        Some(_) => return Err(Told("unsupported_response_type", "The response_type must be code.")),
        None => return Err(Told("invalid_request", "The response_type is missing.")),
    }
    if !matches!(parameters.get("response_mode"), None | Some("query")) {
        return Err(Told("invalid_request", "The response_mode must be query."));
    }
    if parameters.get("code_challenge_method") != Some("S256") {
        return Err(Told("invalid_request", "PKCE is required: code_challenge with code_challenge_method S256."));
    }
    let is_challenge = |text: &&str| {
        // SHA-256 in base64url.
        text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let Some(challenge) = parameters.get("code_challenge").filter(is_challenge) else {
        return Err(Told("invalid_request", "The code_challenge is missing, or is not a SHA-256 in base64url."));
    };
    if parameters.get("state").is_some_and(|state| state.len() > STATE_BYTES) {
        return Err(Told("invalid_request", "The state is too long."));
    }
    Ok((challenge.to_owned(), wants_write(parameters.get("scope"))?))
}

/// Whether the scopes asked for include writing. Without any, everything there is is meant (RFC 6749, section 3.3); what we
/// don't know is left out of what is given.
fn wants_write(scope: Option<&str>) -> Result<bool, Told> {
    let Some(scope) = scope else { return Ok(true) };
    let asks = |wanted| scope.split(' ').any(|asked| asked == wanted);
    if asks("memory:write") {
        Ok(true)
    } else if asks("memory:read") || asks("offline_access") {
        Ok(!asks("memory:read"))
    } else {
        Err(Told("invalid_scope", "The scopes here are memory:read and memory:write."))
    }
}

/// What a person is shown where they can't be sent back.
fn page(server: &AuthorizationServer, headers: &HeaderMap, problem: AppProblem) -> Response {
    let status = match problem {
        AppProblem::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    };
    app_problem_page(&server.0.site, headers, problem, status)
}
