use axum::{extract::Request, middleware::Next, response::Response};
use http::{HeaderValue, header};

/// The prefix that makes browsers take a cookie only from a secure origin, for the whole of one host.
pub(super) const HOST_PREFIX: &str = "__Host-";

/// Makes the removal of a cookie work. Browsers refuse to set one whose name has the prefix without
/// `Secure`, and to remove one is to set it; the library leaves the attribute out there.
pub(super) async fn complete_removals(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let cookies: Vec<HeaderValue> = response.headers().get_all(header::SET_COOKIE).iter().map(completed).collect();
    response.headers_mut().remove(header::SET_COOKIE);
    for cookie in cookies {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}

fn completed(cookie: &HeaderValue) -> HeaderValue {
    let incomplete = |text: &&str| text.starts_with(HOST_PREFIX) && !text.contains("; Secure");
    let completed = cookie.to_str().ok().filter(incomplete).map(|text| format!("{text}; Secure"));
    completed.and_then(|text| HeaderValue::try_from(text).ok()).unwrap_or_else(|| cookie.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lacks_the_attribute_gets_it() {
        let of = |text: &'static str| completed(&HeaderValue::from_static(text));
        assert_eq!(of("__Host-a=; Max-Age=0; Path=/"), "__Host-a=; Max-Age=0; Path=/; Secure");
        for complete in ["__Host-a=b; HttpOnly; Secure; Path=/", "a=; Max-Age=0"] {
            assert_eq!(of(complete), complete);
        }
    }
}
