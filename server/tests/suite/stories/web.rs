//! The pages, as a browser gets them.

use reqwest::{Method, StatusCode, header};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::TestApp;

#[tokio::test]
async fn the_welcome_page_tells_how_to_connect() {
    let app = TestApp::start().await;
    let response = app.http(Method::GET, "/").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers().clone();
    assert!(headers[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
    let page = response.text().await.unwrap();
    assert!(page.contains(&app.mcp_url()), "the address of the endpoint is not on the page");

    assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert_eq!(headers[header::REFERRER_POLICY], "same-origin");
    assert_eq!(headers[header::X_FRAME_OPTIONS], "DENY");
    let policy = headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("frame-ancestors 'none'") && policy.contains("'nonce-"), "{policy}");
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
}

#[tokio::test]
async fn an_unknown_address_is_a_page_that_says_so() {
    let app = TestApp::start().await;
    let response = app.http(Method::GET, "/no/such/page").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert!(response.headers()[header::CONTENT_TYPE].to_str().unwrap().starts_with("text/html"));
}

#[tokio::test]
async fn what_is_no_page_may_load_nothing_and_is_kept_nowhere() {
    let app = TestApp::start().await;
    for path in ["/healthz", "/mcp", "/.well-known/oauth-protected-resource"] {
        let response = app.http(Method::GET, path).send().await.unwrap();
        let headers = response.headers();
        assert_eq!(headers[header::CONTENT_SECURITY_POLICY], "default-src 'none'; frame-ancestors 'none'", "{path}");
        assert_eq!(headers[header::CACHE_CONTROL], "no-store", "{path}");
    }
}

#[tokio::test]
async fn transport_security_is_promised_where_the_public_url_has_it() {
    let app = TestApp::builder().setting("POLYMNEMO_PUBLIC_URL", "https://memory.example.com").start().await;
    let response = app.http(Method::GET, "/").send().await.unwrap();
    assert_eq!(response.headers()[header::STRICT_TRANSPORT_SECURITY], "max-age=31536000");
    let plain = TestApp::start().await.http(Method::GET, "/").send().await.unwrap();
    assert!(!plain.headers().contains_key(header::STRICT_TRANSPORT_SECURITY));
}

#[tokio::test]
async fn a_form_that_is_far_too_long_is_refused_before_it_is_sent() {
    let app = TestApp::start().await;
    let address = app.base().strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /api/choose_language HTTP/1.1\r\nHost: {address}\r\nOrigin: {}\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\n\r\n",
        app.base(),
        (4 << 20) + 1
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    connection.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}
