//! The pages, as a browser without JavaScript uses them.

use polymnemo_types::{EraseTarget, ErasureState};
use reqwest::StatusCode;
use serde_json::json;

use crate::{
    erase::world::person,
    support::{Browser, TestApp, location},
};

async fn signed_in(app: &TestApp) -> Browser {
    let browser = app.browser();
    let response = browser.get(&app.sign_in_link().await).await;
    assert!(response.status().is_redirection(), "{}", response.status());
    browser
}

/// Looks again until the page shows a receipt.
async fn receipt(browser: &Browser, path: &str) -> String {
    for _ in 0..100 {
        let response = browser.get(path).await;
        assert_eq!(response.status(), StatusCode::OK);
        let refreshes = response.headers().contains_key("refresh");
        let page = response.text().await.unwrap();
        if page.contains("Receipt of an erasure") {
            assert!(!refreshes, "there is nothing to wait for any more");
            return page;
        }
        assert!(refreshes && page.contains("Being erased"), "{page}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    panic!("it was not done in time");
}

#[tokio::test]
async fn an_account_is_erased_and_whoever_knows_the_address_sees_that_it_is_done() {
    let app = TestApp::builder().setting("POLYMNEMO_STDIO_USER", "alice").start().await;
    app.mcp("alice").call("remember", json!({ "content": "The serval of alice." })).await;
    let browser = signed_in(&app).await;
    let page = browser.get("/erase?account=all").await.text().await.unwrap();
    assert!(page.contains("Type “alice” to confirm") && page.contains("Sign-in sessions"), "{page}");

    let form = |confirm| [("call", "/api/erase"), ("what", "account"), ("which", ""), ("confirm", confirm)];
    let refused = browser.post("/erase", &form("bob")).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    let page = refused.text().await.unwrap();
    assert!(page.contains("Nothing was erased") && page.contains("Type “alice” to confirm"), "{page}");
    assert_eq!(browser.viewer().await.as_deref(), Some("alice"));

    let path = location(&browser.post("/erase", &form("alice")).await);
    assert!(path.starts_with("/erase/"), "{path}");
    assert_eq!(browser.viewer().await, None, "signed out by it");
    let stranger = app.browser();
    let page = receipt(&stranger, &path).await;
    assert!(page.contains("The whole account") && !page.contains("serval"), "{page}");
    let file = path.replace("/erase/", "/receipts/");
    assert!(page.contains(&file), "{page}");
    assert_eq!(stranger.get(&file).await.status(), StatusCode::OK);
    // Whoever signs in as her begins anew, and sees no more of it than anyone.
    let anew = signed_in(&app).await;
    assert!(!anew.get("/erase").await.text().await.unwrap().contains("The whole account"));
    assert_eq!(app.mcp("alice").call("list_memories", json!({})).await["total"], 0);
}

#[tokio::test]
async fn the_erasure_of_someone_else_is_not_there() {
    let app = TestApp::builder().setting("POLYMNEMO_STDIO_USER", "bob").start().await;
    let stored = app.mcp("alice").call("remember", json!({ "content": "The serval of alice." })).await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let id = stored["id"].as_str().unwrap();
    let bob = signed_in(&app).await;
    let page = bob.get(&format!("/erase?memory={id}")).await;
    assert_eq!(page.status(), StatusCode::NOT_FOUND);
    assert!(!page.text().await.unwrap().contains("serval"));
    let form = [("call", "/api/erase"), ("what", "memories"), ("which", id)];
    assert_eq!(bob.post("/erase", &form).await.status(), StatusCode::NOT_FOUND);
    let erasure = service.begin_erasure(&alice, EraseTarget::Memories(vec![id.parse().unwrap()]), None).await.unwrap();
    while service.erasure(&alice, erasure.id).await.unwrap().state != ErasureState::Done {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let path = format!("/erase/{}", erasure.id);
    for browser in [&bob, &app.browser()] {
        let response = browser.get(&path).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "only an account's is for whoever knows the address");
        let never = browser.get("/erase/7e1c0de7-7a11-4000-8000-000000000000").await;
        assert_eq!(never.status(), StatusCode::NOT_FOUND);
    }
    let stranger = app.browser();
    assert!(stranger.get("/erase").await.status().is_redirection(), "one signs in to choose");
}
