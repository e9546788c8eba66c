use axum::{extract::Request, middleware::Next, response::Response};
use http::{HeaderMap, HeaderValue, Method, header};

const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// Completes the `Accept` header of a POST.
///
/// The transport asks clients to accept both JSON and event streams and would refuse the rest with
/// 406: curl, and home-made agents that say `*/*`, only JSON, or nothing. Whoever can read one of
/// the two is served; whoever asks for something else entirely is still refused.
pub(crate) async fn complete(mut request: Request, next: Next) -> Response {
    if request.method() == Method::POST && can_read_an_answer(request.headers()) {
        request.headers_mut().insert(header::ACCEPT, BOTH);
    }
    next.run(request).await
}

fn can_read_an_answer(headers: &HeaderMap) -> bool {
    if !headers.contains_key(header::ACCEPT) {
        return true;
    }
    headers
        .get_all(header::ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|range| {
            let essence = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            matches!(
                essence.as_str(),
                "" | "*/*" | "application/*" | "application/json" | "text/*" | "text/event-stream"
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_can_read_json_or_events_is_served() {
        let accepts = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, value.parse().unwrap());
            can_read_an_answer(&headers)
        };
        assert!(can_read_an_answer(&HeaderMap::new()));
        for good in ["*/*", "application/json", "text/html, Application/JSON;q=0.9", "text/event-stream", ""] {
            assert!(accepts(good), "{good}");
        }
        for bad in ["text/html", "image/png, text/plain"] {
            assert!(!accepts(bad), "{bad}");
        }
    }
}
