//! What the forms of the pages take, and what they refuse.

use reqwest::{Method, StatusCode, header};
use serde_json::json;

use crate::{
    sign_in::{app, signed_in},
    support::location,
};

fn new_memory(content: &str) -> [(&str, &str); 6] {
    [
        ("call", "/api/remember"),
        ("then", "/memories"),
        ("content", content),
        ("namespace", ""),
        ("tags", ""),
        ("source", ""),
    ]
}

#[tokio::test]
async fn the_longest_memory_fits_through_a_form() {
    let app = app().await;
    let browser = signed_in(&app).await;
    // Each character is nine bytes in a form.
    let content = "忆".repeat((1 << 20) / 3);
    let path = location(&browser.post("/memories/new", &new_memory(&content)).await);
    let id = path.strip_prefix("/memories/").unwrap();
    let read = app.mcp("alice").call("get_memory", json!({ "id": id })).await;
    assert_eq!(read["bytes"], content.len());

    let longer = format!("{content}忆忆");
    let refused = browser.post("/memories/new", &new_memory(&longer)).await;
    assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let page = refused.text().await.unwrap();
    assert!(page.contains("at most 1 MiB"), "{}", page.chars().take(3000).collect::<String>());
    assert!(page.contains("忆忆忆"), "what was typed is kept");
}

#[tokio::test]
async fn a_form_leads_to_no_other_site() {
    let app = app().await;
    let browser = signed_in(&app).await;
    for then in ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"] {
        let mut form = new_memory("Where to?");
        form[0] = ("call", "/api/forget_memories");
        form[1] = ("then", then);
        let response = browser.post("/memories", &form).await;
        assert!(!response.headers().contains_key(header::LOCATION), "{then}: {:?}", response.headers());
    }
    // A plain form to a server function leads back to where it came from, which anyone may claim to be.
    let request = browser.form("/api/create_namespace", &[("name", "notes")]);
    let request = request.header(header::ORIGIN, browser.origin()).header(header::REFERER, "https://evil.example/");
    let response = browser.send(request).await;
    assert_eq!(response.status(), StatusCode::FOUND);
    assert_eq!(location(&response), "/");
}

#[tokio::test]
async fn a_form_that_lacks_a_field_is_told_so_in_words() {
    let app = app().await;
    let browser = signed_in(&app).await;
    let request = browser.request(Method::POST, "/api/update_memory").header(header::ORIGIN, browser.origin());
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded").body("id=1");
    let response = browser.send(request).await;
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    let text = response.text().await.unwrap();
    assert!(text.contains("Reload the page") && !text.contains("deserializ"), "{text}");
}
