//! Clients that have a document instead of a registration.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{
    Router,
    extract::{Path, State},
    response::{IntoResponse, Response as Answer},
};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::{
    oauth::{BACK, authorize_address, brought, decide, exchange, run, signed_in, status_with, text, tokens},
    support::{TestApp, location, parameter},
};

const ID: &str = "https://app.example/oauth/client.json";

/// The servers of all documents: what is asked of `https://HOST/PATH` is asked of this one as `/HOST/PATH`.
#[derive(Clone)]
struct Documents {
    answer: Arc<Mutex<(StatusCode, String)>>,
    asked: Arc<AtomicUsize>,
}

impl Documents {
    async fn start(document: &Value) -> (Self, String) {
        let documents =
            Self { answer: Arc::new(Mutex::new((StatusCode::OK, document.to_string()))), asked: Arc::default() };
        let router = Router::new().route("/{*path}", axum::routing::get(Self::serve)).with_state(documents.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (documents, url)
    }

    async fn serve(State(documents): State<Self>, Path(path): Path<String>) -> Answer {
        documents.asked.fetch_add(1, Ordering::Relaxed);
        assert!(path.starts_with("app.example/"), "{path}");
        let (status, body) = documents.answer.lock().unwrap().clone();
        (status, body).into_response()
    }

    fn say(&self, status: StatusCode, body: impl ToString) {
        *self.answer.lock().unwrap() = (status, body.to_string());
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// As ChatGPT's is: what it prefers is not what it can do without, and a list stands where others have a text.
fn document() -> Value {
    json!({
        "client_id": ID,
        "client_name": "An app",
        "redirect_uris": [BACK, "https://app.example/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_methods_supported": ["private_key_jwt", "none"],
        "jwks_uri": "https://app.example/jwks",
    })
}

async fn app_with(url: &str) -> TestApp {
    TestApp::builder()
        .setting("POLYMNEMO_STDIO_USER", "alice")
        .setting("POLYMNEMO_CLIENT_DOCUMENTS_URL", url)
        .start()
        .await
}

/// A8, report 21.
#[tokio::test]
async fn a_client_is_known_by_its_document() {
    let (documents, url) = Documents::start(&document()).await;
    let app = app_with(&url).await;
    let browser = signed_in(&app).await;
    let request = brought(&browser, &authorize_address(&app, ID, &[])).await;
    let back = location(&decide(&browser, &request, &[]).await);
    let issued = tokens(exchange(&app, ID, &parameter(&back, "code").unwrap()).await).await;
    assert_eq!(status_with(&app, &issued.access).await, 200);
    assert_eq!(
        text(&app, "select name || ' ' || domain from apps where door = 'oauth_app'").await,
        "An app app.example"
    );
    assert_eq!(documents.asked(), 1);

    // The copy is used for a while, and longer where the document can't be read.
    brought(&browser, &authorize_address(&app, ID, &[])).await;
    assert_eq!(documents.asked(), 1);
    run(&app, "update oauth_clients set fresh_until = now() - interval '1 day'").await;
    documents.say(StatusCode::INTERNAL_SERVER_ERROR, "");
    brought(&browser, &authorize_address(&app, ID, &[])).await;
    assert_eq!(documents.asked(), 2);
    // A failure is not repeated with each request.
    brought(&browser, &authorize_address(&app, ID, &[])).await;
    assert_eq!(documents.asked(), 2);
    // One that is gone, or tells of another client, is no trouble of its server: the client is not known any more.
    run(&app, "update oauth_clients set fresh_until = now() - interval '31 days'").await;
    assert_eq!(browser.get(&authorize_address(&app, ID, &[])).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_changed_document_holds_from_the_next_reading_on() {
    let (documents, url) = Documents::start(&document()).await;
    let app = app_with(&url).await;
    let browser = signed_in(&app).await;
    brought(&browser, &authorize_address(&app, ID, &[])).await;
    let mut changed = document();
    changed["redirect_uris"] = json!(["https://app.example/callback"]);
    documents.say(StatusCode::OK, changed);
    run(&app, "update oauth_clients set fresh_until = now()").await;
    assert_eq!(browser.get(&authorize_address(&app, ID, &[])).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_document_that_does_not_tell_of_the_client_lets_nobody_in() {
    let mut other = document();
    other["client_id"] = "https://app.example/other.json".into();
    let mut nameless = document();
    nameless["client_name"] = Value::Null;
    let mut nowhere = document();
    nowhere["redirect_uris"] = json!(["javascript:alert(1)"]);
    for (status, body) in [
        (StatusCode::OK, other.to_string()),
        (StatusCode::OK, nameless.to_string()),
        (StatusCode::OK, nowhere.to_string()),
        (StatusCode::OK, "<html>".to_owned()),
        (StatusCode::OK, format!("{}{}", document(), " ".repeat(10 << 20))),
        (StatusCode::FOUND, document().to_string()),
        (StatusCode::NOT_FOUND, document().to_string()),
    ] {
        let (documents, url) = Documents::start(&Value::Null).await;
        documents.say(status, body);
        let app = app_with(&url).await;
        let browser = signed_in(&app).await;
        let response = browser.get(&authorize_address(&app, ID, &[])).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    }
}

/// The server must not be led to read what only it can reach.
#[tokio::test]
async fn no_document_is_read_from_where_only_the_server_gets_to() {
    let app = crate::oauth::app().await;
    let browser = signed_in(&app).await;
    let here = app.base().replace("http://", "https://");
    for id in [
        format!("{here}/client.json"),
        "https://localhost/client.json".to_owned(),
        "https://127.0.0.1/client.json".to_owned(),
        "https://[::1]/client.json".to_owned(),
        "https://[::ffff:127.0.0.1]/client.json".to_owned(),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        "https://10.0.0.1/client.json".to_owned(),
        "https://2130706433/client.json".to_owned(),
        "https://metadata.google.internal/computeMetadata/v1/".to_owned(),
        "https://app.example@127.0.0.1/client.json".to_owned(),
        "http://app.example/client.json".to_owned(),
        "https://app.example".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let response = browser.get(&authorize_address(&app, &id, &[])).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{id}");
    }
}
