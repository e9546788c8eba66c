//! What a person decided about an app.

use axum::{
    body::Bytes,
    extract::State,
    response::{IntoResponse, Redirect, Response},
};
use http::{Extensions, HeaderMap, Method, StatusCode};
use polymnemo_app::{AppProblem, BrowserKey, app_problem_page, paths::sign_in_path};
use polymnemo_memory::{Ctx, Error};
use polymnemo_types::{AppGrants, Consent, NamespaceChoice, limits};

use super::{AuthorizationServer, browser::is_random, redirect::RedirectUri};

/// The form of the page on which a person decides.
struct Decision {
    request: String,
    allow: bool,
    can_write: bool,
    all_namespaces: bool,
    names: Vec<String>,
    later: bool,
    days: u32,
}

/// Takes the decision, and leads the person back to the app with it. It comes from a page of ours, which is seen to before.
pub(super) async fn answer(
    State(server): State<AuthorizationServer>,
    method: Method,
    extensions: Extensions,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let over = || app_problem_page(&server.0.site, &headers, AppProblem::Over, StatusCode::NOT_FOUND);
    let decision = (method == Method::POST).then(|| read(&body)).flatten();
    let (Some(decision), Some(BrowserKey(browser))) = (decision, extensions.get::<BrowserKey>()) else { return over() };
    let page = format!("/consent?request={}", decision.request);
    let Some(ctx) = extensions.get::<Ctx>() else { return Redirect::to(&sign_in_path(&page)).into_response() };
    match decide(&server, ctx, browser, &decision).await {
        Ok(Some((redirect, state, outcome))) => {
            let issuer = server.0.network.origin_for(&headers);
            let (code, error) = match &outcome {
                Some(code) => (Some(code.as_str()), None),
                None => (None, Some("access_denied")),
            };
            let parameters = [("code", code), ("error", error), ("state", state.as_deref()), ("iss", Some(&issuer))];
            Redirect::to(&redirect.with(&parameters)).into_response()
        }
        Ok(None) => over(),
        Err(Error::Invalid(_)) => Redirect::to(&format!("{page}&problem=namespaces")).into_response(),
        Err(cause) => {
            let _ = polymnemo_types::ApiError::from(cause);
            Redirect::to(&format!("{page}&problem=unavailable")).into_response()
        }
    }
}

/// Where to, with which state, and the code, where the app is let in. Nothing where the request is over.
async fn decide(
    server: &AuthorizationServer,
    ctx: &Ctx,
    browser: &str,
    decision: &Decision,
) -> Result<Option<(RedirectUri, Option<String>, Option<String>)>, Error> {
    let service = &server.0.service;
    let namespaces = match decision.all_namespaces {
        true => NamespaceChoice::All,
        false if decision.allow && decision.names.is_empty() && !decision.later => {
            return Err(Error::Invalid("Choose at least one namespace.".into()));
        }
        false => service.choose_namespaces(ctx, &decision.names, decision.later).await?,
    };
    let Some(request) = service.end_authorization(&decision.request, browser).await? else { return Ok(None) };
    let Ok(redirect) = RedirectUri::parse(&request.redirect_uri) else { return Ok(None) };
    let state = request.state.clone();
    if !decision.allow {
        tracing::info!(user.id = %ctx.user.id, client.id = request.client_id, "an app was not let in");
        return Ok(Some((redirect, state, None)));
    }
    let grants = AppGrants { can_read: true, can_write: decision.can_write, namespaces };
    tracing::info!(user.id = %ctx.user.id, client.id = request.client_id, "an app was let in");
    let code = service.authorize(ctx, request, &Consent { grants, days: decision.days }).await?;
    Ok(Some((redirect, state, Some(code))))
}

/// Reads the form; nothing where it is not that of the page.
fn read(body: &[u8]) -> Option<Decision> {
    let pairs: Vec<(String, String)> = url::form_urlencoded::parse(body).into_owned().collect();
    let value = |wanted: &str| pairs.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let request = value("request")?;
    Some(Decision {
        request: is_random(request).then(|| request.to_owned())?,
        // Whatever is not said plainly is no.
        allow: value("answer") == Some("allow"),
        can_write: value("can_write") == Some("true"),
        all_namespaces: value("namespaces") == Some("all"),
        names: pairs.iter().filter(|(name, _)| name == "names").map(|(_, value)| value.clone()).collect(),
        later: value("later") == Some("true"),
        days: value("days").and_then(|days| days.parse().ok()).unwrap_or(limits::APP_DAYS).clamp(1, limits::APP_DAYS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_not_said_plainly_is_no() {
        let id = "a".repeat(43);
        let allow = |form: &str| read(format!("request={id}{form}").as_bytes()).is_some_and(|decision| decision.allow);
        assert!(allow("&answer=allow"));
        for no in ["", "&answer=", "&answer=deny", "&answer=ALLOW", "&answer=deny&answer=allow"] {
            assert!(!allow(no), "{no}");
        }
        assert!(read(b"request=../x&answer=allow").is_none());
        let read = read(format!("request={id}&names=a&names=b+c&later=true").as_bytes()).unwrap();
        assert_eq!((read.names, read.later, read.can_write), (vec!["a".to_owned(), "b c".to_owned()], true, false));
    }
}
