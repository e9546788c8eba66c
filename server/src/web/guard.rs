use axum::{
    Json,
    extract::{MatchedPath, Request},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{Method, StatusCode};
use polymnemo_app::{api::not_signed_in, is_public, paths::sign_in_path};
use polymnemo_memory::Ctx;

use super::see_other;

/// Keeps whoever is not signed in from all routes of the web app but the public ones: a new page or
/// server function is private unless the app says otherwise.
///
/// A page leads to the sign-in page, and from there back; a server function answers 401. What is
/// posted to a page's own address passes: the server function that the form calls refuses it, and
/// the page comes back with what was typed.
pub(super) async fn require_session(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    // Without a route it is the 404 page.
    let is_private = route.is_some_and(|route| !is_public(route));
    if !is_private || request.extensions().get::<Ctx>().is_some() {
        return next.run(request).await;
    }
    if request.uri().path().starts_with("/api/") {
        return (StatusCode::UNAUTHORIZED, Json(not_signed_in(Some(request.headers())))).into_response();
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        let here = request.uri().path_and_query().map_or("/", |path| path.as_str());
        return see_other(&sign_in_path(here));
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, middleware::from_fn, routing::any};
    use http::{HeaderMap, header};
    use jiff::tz::TimeZone;
    use polymnemo_memory::User;
    use polymnemo_types::{ApiError, ErrorCode, UserId};
    use tower::ServiceExt;

    use super::*;

    /// What a web app with these routes answers, with or without someone signed in.
    async fn ask(method: &str, path: &str, signed_in: bool) -> Response {
        let app = Router::new()
            .route("/", any(|| async { "first page" }))
            .route("/memories/{id}", any(|| async { "memory" }))
            .route("/api/choose_language", any(|| async { "language" }))
            .route("/api/forget_memory", any(|| async { "forgotten" }))
            .fallback(|| async { (StatusCode::NOT_FOUND, "nothing here") })
            .layer(from_fn(require_session));
        let mut request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        if signed_in {
            let user = User {
                id: UserId(uuid::Uuid::nil()),
                name: "alice".to_owned(),
                default_namespace: "personal".to_owned(),
                time_zone: TimeZone::UTC,
            };
            let ctx = Ctx::of_person(user);
            request.extensions_mut().insert(ctx);
        }
        app.oneshot(request).await.unwrap()
    }

    async fn body(response: Response) -> Vec<u8> {
        axum::body::to_bytes(response.into_body(), 10_000).await.unwrap().to_vec()
    }

    #[tokio::test]
    async fn a_private_page_leads_to_signing_in_and_back() {
        for method in ["GET", "HEAD"] {
            let response = ask(method, "/memories/1?q=a&b=c", false).await;
            assert_eq!(response.status(), StatusCode::SEE_OTHER);
            assert_eq!(response.headers()[header::LOCATION], "/sign-in?next=/memories/1%3Fq%3Da%26b%3Dc");
        }
        assert_eq!(body(ask("GET", "/memories/1", true).await).await, b"memory");
    }

    #[tokio::test]
    async fn a_private_server_function_answers_401_and_does_not_run() {
        for method in ["GET", "POST"] {
            let response = ask(method, "/api/forget_memory", false).await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
            let error: ApiError = serde_json::from_slice(&body(response).await).unwrap();
            assert_eq!(error.code, ErrorCode::NotSignedIn);
            assert!(error.message.contains("/sign-in"), "{}", error.message);
        }
        assert_eq!(body(ask("POST", "/api/forget_memory", true).await).await, b"forgotten");
    }

    #[tokio::test]
    async fn what_is_public_or_nowhere_is_the_same_for_all() {
        for signed_in in [false, true] {
            assert_eq!(body(ask("GET", "/", signed_in).await).await, b"first page");
            assert_eq!(body(ask("POST", "/api/choose_language", signed_in).await).await, b"language");
            assert_eq!(ask("GET", "/no/such/page", signed_in).await.status(), StatusCode::NOT_FOUND);
        }
    }

    #[tokio::test]
    async fn what_is_posted_to_a_page_reaches_it() {
        assert_eq!(body(ask("POST", "/memories/1", false).await).await, b"memory");
    }

    #[test]
    fn the_language_of_the_error_is_that_of_the_request() {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, "zh-CN".parse().unwrap());
        assert_ne!(not_signed_in(Some(&headers)).message, not_signed_in(None).message);
    }
}
