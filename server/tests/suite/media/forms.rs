use polymnemo_memory::{Ctx, Door};
use polymnemo_types::{Action, ListMediaRequest, NewUpload};
use reqwest::{
    Method, Response, StatusCode, header,
    multipart::{Form, Part},
};
use serde_json::json;

use crate::{
    media::world::{World, announcement, bytes, parts},
    support::{Browser, TestApp, location},
};

/// A browser that is signed in as alice, at a server with this storage.
async fn signed_in(world: &World) -> Browser {
    let browser = world.app.browser();
    assert_eq!(location(&browser.get(&world.app.sign_in_link().await).await), "/");
    browser
}

fn builder() -> crate::support::Builder {
    TestApp::builder().setting("POLYMNEMO_STDIO_USER", "alice")
}

fn file(name: &str, content_type: &str, bytes: Vec<u8>) -> Part {
    Part::bytes(bytes).file_name(name.to_owned()).mime_str(content_type).unwrap()
}

async fn post(browser: &Browser, path: &str, form: Form) -> Response {
    // As browsers do, names are sent as they are.
    let form = form.percent_encode_noop();
    let request = browser.request(Method::POST, path).header(header::ORIGIN, browser.origin()).multipart(form);
    browser.send(request.header("sec-fetch-site", "same-origin")).await
}

async fn a_form_stores_a_file_without_javascript(world: &World) {
    let browser = signed_in(world).await;
    // Longer than any form of the web app, and than a part.
    let sent = bytes(9 * 1024 * 1024);
    let form = Form::new()
        .text("description", "A film of the garden")
        .text("namespace", "films")
        .text("tags", "garden, summer")
        .part("file", file("花园 1.mp4", "video/mp4", sent.clone()));
    let answer = post(&browser, "/media/files", form).await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let id = location(&answer).strip_prefix("/media/").unwrap().to_owned();
    let person = world.person("alice").await;
    let details = world.app.service().media(&person, id.parse().unwrap()).await.unwrap();
    assert_eq!(details.media.file.filename, "花园 1.mp4");
    assert_eq!((details.media.memory.namespace.as_str(), details.media.memory.tags.len()), ("films", 2));
    assert_eq!(details.description, "A film of the garden");
    assert!(world.fetch(&world.app.mcp("alice"), &id).await == sent);
    world.comes_to(1).await;
}

#[tokio::test]
async fn a_form_stores_a_file_without_javascript_in_the_directory() {
    a_form_stores_a_file_without_javascript(&World::local_with(builder()).await).await;
}

#[tokio::test]
async fn a_form_stores_a_file_without_javascript_in_s3() {
    a_form_stores_a_file_without_javascript(&World::s3_with(builder()).await).await;
}

#[tokio::test]
async fn a_form_that_is_wrong_leads_back_and_leaves_nothing() {
    let world = World::local_with(builder().setting("POLYMNEMO_BLOB_MAX_BYTES", "1000")).await;
    let browser = signed_in(&world).await;
    for (form, code) in [
        (Form::new().part("file", file("a.bin", "a/b", bytes(1001))), "file_too_large"),
        (Form::new().part("file", file("a.bin", "a/b", vec![])), "invalid_input"),
        (Form::new().text("description", "no file"), "invalid_input"),
        (Form::new().text("namespace", "<b>").part("file", file("a.bin", "a/b", bytes(1))), "invalid_input"),
        (
            Form::new().text("description", "x".repeat(100_000)).part("file", file("a.bin", "a/b", bytes(1))),
            "too_large",
        ),
    ] {
        assert_eq!(location(&post(&browser, "/media/files", form).await), format!("/media?problem={code}"));
    }
    world.comes_to(0).await;
    assert_eq!(world.count(&world.app.mcp("alice")).await, 0);
}

#[tokio::test]
async fn a_form_of_a_stranger_or_of_another_site_stores_nothing() {
    let world = World::local_with(builder()).await;
    let form = || Form::new().part("file", file("a.bin", "a/b", bytes(10)));
    let stranger = world.app.browser();
    let answer = post(&stranger, "/media/files", form()).await;
    assert!(location(&answer).starts_with("/sign-in"), "{}", location(&answer));
    let browser = signed_in(&world).await;
    let request = browser.request(Method::POST, "/media/files").header(header::ORIGIN, "https://evil.example.com");
    let answer = browser.send(request.multipart(form())).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN);
    let answer = browser.send(browser.request(Method::POST, "/media/files").multipart(form())).await;
    assert_eq!(answer.status(), StatusCode::FORBIDDEN, "without an origin");
    assert_eq!(world.count(&world.app.mcp("alice")).await, 0);
    world.comes_to(0).await;
}

/// The secret in the address of an upload page.
fn secret(page: &str) -> &str {
    page.rsplit('/').next().unwrap()
}

#[tokio::test]
async fn an_upload_page_takes_the_file_once_without_signing_in() {
    for world in [World::local().await, World::s3().await] {
        let alice = world.app.mcp("alice");
        let service = world.app.service();
        let sent = bytes(1000);
        let announced = world.announce(&alice, "drop me.bin", &sent).await;
        let page = announced["upload_page"].as_str().unwrap();
        assert!(page.starts_with(&format!("{}/upload/", world.app.base())), "{page}");
        let upload = service.upload_of_page(secret(page)).await.unwrap();
        assert_eq!((upload.file.filename.as_str(), upload.file.size), ("drop me.bin", 1000));

        let request = service.upload_request_of_page(secret(page)).await.unwrap();
        assert_eq!(world.send_signed(&request, sent.clone()).await, StatusCode::OK);
        let media = service.confirm_upload_of_page(secret(page)).await.unwrap();
        assert_eq!(media.memory.id.to_string(), announced["id"].as_str().unwrap());
        let told = service.upload_of_page(secret(page)).await.unwrap_err().to_string();
        assert!(told.contains("not good any more"), "{told}");
        assert!(service.upload_request_of_page(secret(page)).await.is_err(), "it is used up");
        assert!(world.fetch(&alice, announced["id"].as_str().unwrap()).await == sent);
        // Whoever announced it finds it done.
        alice.call("confirm_upload", json!({ "id": announced["id"] })).await;

        let logged = world.column("select page_hash::text from uploads").await;
        assert!(logged.is_empty());
    }
}

#[tokio::test]
async fn an_upload_page_works_without_javascript() {
    for world in [World::local().await, World::s3().await] {
        let alice = world.app.mcp("alice");
        let browser = world.app.browser();
        let sent = bytes(1000);
        let announced = world.announce(&alice, "announced.bin", &sent).await;
        let page = format!("/upload/{}", secret(announced["upload_page"].as_str().unwrap()));
        let other = Form::new().part("file", file("x", "a/b", bytes(999)));
        let answer = post(&browser, &format!("{page}/file"), other).await;
        assert_eq!(location(&answer), format!("{page}?problem=invalid_input"), "another file than was announced");
        let longer = Form::new().part("file", file("x", "a/b", bytes(1001)));
        assert_eq!(
            location(&post(&browser, &format!("{page}/file"), longer).await),
            format!("{page}?problem=file_too_large")
        );
        assert_eq!(world.count(&alice).await, 0);

        let right = Form::new().part("file", file("renamed.bin", "a/b", sent.clone()));
        assert_eq!(location(&post(&browser, &format!("{page}/file"), right).await), format!("{page}?done=1"));
        let read = alice.call("get_memory", json!({ "id": announced["id"] })).await;
        assert_eq!(read["file"]["filename"], "announced.bin", "it is what was announced");
        assert!(world.fetch(&alice, announced["id"].as_str().unwrap()).await == sent);
        let again = Form::new().part("file", file("x", "a/b", sent.clone()));
        assert_eq!(
            location(&post(&browser, &format!("{page}/file"), again).await),
            format!("{page}?problem=not_found")
        );
        world.comes_to(1).await;
    }
}

#[tokio::test]
async fn an_upload_page_takes_a_great_file_in_parts() {
    let world = World::local().await;
    let service = world.app.service();
    let sent = bytes(9 * 1024 * 1024);
    let new = NewUpload {
        filename: "great.bin".into(),
        content_type: "a/b".into(),
        size: Some(sent.len() as u64),
        in_parts: true,
        ..Default::default()
    };
    let page = service.create_upload(&world.app.ctx("alice").await, new).await.unwrap().upload_page.unwrap();
    for part in service.upload_parts_of_page(secret(&page), &[1, 2]).await.unwrap().requests {
        let piece = parts(&sent)[part.number as usize - 1].to_vec();
        assert_eq!(world.send_signed(&part.request, piece).await, StatusCode::OK);
    }
    let media = service.confirm_upload_of_page(secret(&page)).await.unwrap();
    assert_eq!(media.memory.preview, "great.bin", "what nobody described is found by its name");
}

#[tokio::test]
async fn an_upload_page_ends_with_the_app_that_made_it() {
    let world = World::local().await;
    let service = world.app.service();
    let person = world.person("alice").await;
    let announced = world.announce(&world.app.mcp("alice"), "a.bin", &bytes(10)).await;
    let page = announced["upload_page"].as_str().unwrap();
    let app = service.list_apps(&person, None, None).await.unwrap().items.remove(0);
    service.pause_app(&person, app.id, true).await.unwrap();
    let told = service.upload_of_page(secret(page)).await.unwrap_err().to_string();
    assert!(told.contains("no longer store"), "{told}");
    assert!(service.confirm_upload_of_page(secret(page)).await.is_err());
    service.pause_app(&person, app.id, false).await.unwrap();
    service.upload_of_page(secret(page)).await.unwrap();

    world.execute("update uploads set expires_at = now()").await;
    assert!(service.upload_of_page(secret(page)).await.is_err(), "its time is over");
    for wrong in ["", "x", &"a".repeat(43), "../x"] {
        let told = service.upload_of_page(wrong).await.unwrap_err().to_string();
        assert!(told.contains("not good any more"), "{told}");
    }
}

#[tokio::test]
async fn what_an_app_did_with_files_is_noted() {
    let world = World::local().await;
    let alice = world.app.mcp("alice");
    let id = world.keep(&alice, "a.bin", &bytes(10)).await;
    world.fetch(&alice, &id).await;
    let person = world.person("alice").await;
    let service = world.app.service();
    let app = service.list_apps(&person, None, None).await.unwrap().items.remove(0);
    let mut actions = Vec::new();
    for _ in 0..50 {
        let calls = service.app_calls(&person, app.id, None, Some(50)).await.unwrap().items;
        actions = calls.into_iter().map(|call| call.action).collect();
        if actions.len() >= 3 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(actions.iter().filter(|action| **action == Action::Upload).count(), 2, "announced and confirmed");
    assert!(actions.contains(&Action::Download), "{actions:?}");
}

#[tokio::test]
async fn a_client_may_not_do_what_is_the_persons_to_do() {
    let world = World::local().await;
    let client = Ctx { door: Door::ApiToken, ..world.person("alice").await };
    let told = world.app.service().pending_uploads(&client).await.unwrap_err().to_string();
    assert!(told.contains("signed in to the web app"), "{told}");
    let listed = world.app.service().list_media(&client, ListMediaRequest::default()).await.unwrap();
    assert_eq!(listed.total, 0);
    let told = world.app.mcp("alice").call_in_vain("create_upload", announcement("", &[1])).await;
    assert!(told.contains("filename"), "{told}");
}
