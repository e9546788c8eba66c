//! Errors as a person should see them, whatever part of the server made them.

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use leptos::prelude::*;

use super::Site;
use crate::{
    components::Mark,
    i18n::{
        Language,
        dead_ends::{DeadEnd, messages},
    },
};

/// What these pages may load: the style sheet and the icon.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
);

/// Puts a page in place of an error that a browser would show as a line of plain text or JSON.
/// What programs get stays as it is, and so do pages.
///
/// It belongs around everything that may answer a browser, with the files of the app as its state.
pub async fn explain_errors(State(site): State<Site>, request: Request, next: Next) -> Response {
    if !wants_a_page(request.headers()) {
        return next.run(request).await;
    }
    let headers = request.headers().clone();
    let response = next.run(request).await;
    let failed = response.status().is_client_error() || response.status().is_server_error();
    let is_page =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if !failed || is_page {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
        parts.headers.remove(name);
    }
    let page = page(&site, Language::of_request(&headers), parts.status);
    (parts.status, parts.headers, page).into_response()
}

/// Why a person whom an app sent here can't be sent back with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppProblem {
    /// What the app asks for can't be read.
    Request,
    /// Nobody knows the app.
    Client,
    /// The document of the app does not tell of it.
    Document,
    /// The address to be sent back to is not the app's.
    Redirect,
    /// The request is answered already, too old, or another browser's.
    Over,
    /// A part of the server does not answer.
    Unavailable,
}

/// The page that tells a person so, and leads nowhere but to this site.
#[must_use]
pub fn app_problem_page(site: &Site, headers: &HeaderMap, problem: AppProblem, status: StatusCode) -> Response {
    let language = Language::of_request(headers);
    let text = messages(language);
    let dead_end = match problem {
        AppProblem::Request => &text.app_request,
        AppProblem::Client => &text.app_client,
        AppProblem::Document => &text.app_document,
        AppProblem::Redirect => &text.app_redirect,
        AppProblem::Over => &text.app_over,
        AppProblem::Unavailable => &text.unavailable,
    };
    let mut response = document(site, language, Some(status), &[(language, dead_end)]);
    *response.status_mut() = status;
    response
}

/// The page for when the server can't be reached. Browsers keep it for that moment, so it says what
/// it says in all languages.
pub(super) async fn offline(site: Site, headers: HeaderMap) -> Response {
    let language = Language::of_request(&headers);
    let said = [language, language.other()].map(|language| (language, &messages(language).offline));
    document(&site, language, None, &said)
}

fn page(site: &Site, language: Language, status: StatusCode) -> Response {
    let text = messages(language);
    let dead_end = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => &text.forbidden,
        StatusCode::PAYLOAD_TOO_LARGE => &text.too_large,
        StatusCode::TOO_MANY_REQUESTS => &text.too_many,
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => &text.unavailable,
        status if status.is_server_error() => &text.failed,
        _ => &text.refused,
    };
    document(site, language, Some(status), &[(language, dead_end)])
}

/// A whole page without scripts, made of nothing that could fail.
fn document(
    site: &Site,
    language: Language,
    status: Option<StatusCode>,
    said: &[(Language, &'static DeadEnd)],
) -> Response {
    let html = Owner::new().with(|| {
        let text = messages(language);
        let title = said.first().map(|(_, said)| format!("{} · polymnemo", said.title));
        let styles = site.styled.then(|| view! { <link rel="stylesheet" href=site.url(Site::STYLES) /> });
        let said = said.iter().enumerate().map(|(index, (language, said))| {
            let title = if index == 0 {
                view! { <h1 lang=language.tag()>{said.title}</h1> }.into_any()
            } else {
                view! { <h2 lang=language.tag()>{said.title}</h2> }.into_any()
            };
            view! {
                {title}
                <p lang=language.tag()>{said.text}</p>
            }
        });
        let way_out = match status {
            Some(_) => view! { <a href="/">{text.home}</a> },
            // An empty address is the page that the person wanted.
            None => view! { <a href="">{text.try_again}</a> },
        };
        view! {
            <html lang=language.tag()>
                <head>
                    <meta charset="utf-8" />
                    <meta name="viewport" content="width=device-width, initial-scale=1" />
                    <meta name="color-scheme" content="light dark" />
                    <link rel="icon" type="image/svg+xml" href="/favicon.svg" />
                    <title>{title}</title>
                    {styles}
                </head>
                <body>
                    <header class="frame-header">
                        <a class="brand" href="/">
                            <Mark />
                            "polymnemo"
                        </a>
                    </header>
                    <main>
                        <section class="notice">
                            {status.map(|status| view! { <p class="notice-code">{status.as_u16()}</p> })}
                            {said.collect_view()}
                            <p>{way_out}</p>
                        </section>
                    </main>
                </body>
            </html>
        }
        .to_html()
    });
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (headers, format!("<!DOCTYPE html>{html}")).into_response()
}

/// Whether a person would look at the answer.
fn wants_a_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    accept.is_some_and(|accept| accept.split(',').any(|kind| kind.trim_start().starts_with("text/html")))
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, middleware::from_fn_with_state, routing::get};
    use http::{Request, StatusCode, header};
    use tower::ServiceExt as _;

    use super::{Site, explain_errors};

    async fn answer(status: StatusCode, accept: &str) -> (StatusCode, String, String) {
        let folder = tempfile::tempdir().expect("a folder");
        let site = Site::load(folder.path()).expect("a site");
        let router = Router::new()
            .route("/", get(move || async move { (status, [(header::RETRY_AFTER, "7")], "plain") }))
            .layer(from_fn_with_state(site, explain_errors));
        let request = Request::get("/").header(header::ACCEPT, accept).header(header::ACCEPT_LANGUAGE, "zh");
        let response = router.oneshot(request.body(Body::empty()).expect("a request")).await.expect("an answer");
        assert_eq!(response.headers()[header::RETRY_AFTER], "7", "what the answer says beside its body stays");
        let kind = response.headers()[header::CONTENT_TYPE].to_str().expect("ASCII").to_owned();
        let status = response.status();
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await.expect("a body");
        (status, kind, String::from_utf8(body.to_vec()).expect("UTF-8"))
    }

    const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

    #[tokio::test]
    async fn a_browser_gets_a_page_with_the_same_status_in_its_language() {
        for (status, title) in [
            (StatusCode::FORBIDDEN, "不允许这样做"),
            (StatusCode::INTERNAL_SERVER_ERROR, "出错了"),
            (StatusCode::SERVICE_UNAVAILABLE, "暂时不可用"),
            (StatusCode::BAD_REQUEST, "服务器无法理解这个请求"),
        ] {
            let (given, kind, body) = answer(status, BROWSER).await;
            assert_eq!((given, kind.as_str()), (status, "text/html; charset=utf-8"));
            assert!(body.starts_with("<!DOCTYPE html>") && body.contains(title), "{body}");
            assert!(!body.contains("<script"), "{body}");
        }
    }

    #[tokio::test]
    async fn programs_and_answers_that_are_no_errors_stay_as_they_are() {
        assert_eq!(answer(StatusCode::FORBIDDEN, "application/json").await.2, "plain");
        assert_eq!(answer(StatusCode::OK, BROWSER).await.2, "plain");
    }
}
