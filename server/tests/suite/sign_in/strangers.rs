//! What a person gets who asks for something of someone else's: the same as for what never was.

use polymnemo_types::MemoryId;
use reqwest::{Method, Response, StatusCode, header};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Browser, GitHub, TestApp};

/// A memory, a file, an upload, a session, an import, a token and a namespace of Alice's, and Bob, who knows their names.
struct Story {
    app: TestApp,
    alice: Browser,
    bob: Browser,
    memory: String,
    file: String,
    upload: String,
    session: String,
    import: String,
    token: String,
}

const NAMESPACE: &str = "alices-diary";

impl Story {
    async fn begin() -> Self {
        let github = GitHub::start().await;
        let app = TestApp::builder().github(&github).start().await;
        let (alice, bob) = (app.browser(), app.browser());
        for (browser, id, login) in [(&alice, 1, "alice"), (&bob, 2, "bob")] {
            github.person(id, login);
            browser.sign_in_with_github("/").await;
        }
        let remembered = call(
            &alice,
            "remember",
            &[("content", "The quince is in bloom."), ("namespace", NAMESPACE), ("tags", "garden"), ("source", "")],
        );
        let remembered = remembered.await;
        assert_eq!(remembered.status(), StatusCode::OK);
        let path = remembered.headers()[header::LOCATION].to_str().unwrap();
        let memory = path.strip_prefix("/memories/").unwrap().to_owned();
        let made =
            call(&alice, "create_api_token", &[("name", "cron"), ("can_write", "true"), ("all_namespaces", "true")]);
        let made: Value = made.await.json().await.unwrap();
        let token = made["token"]["id"].as_str().unwrap().to_owned();
        let file = send_file(&alice).await;
        let announced = call(
            &alice,
            "begin_upload",
            &[
                ("filename", "alices-film.mp4"),
                ("content_type", "video/mp4"),
                ("size", "20000000"),
                ("description", "The quince, filmed."),
                ("namespace", NAMESPACE),
            ],
        );
        let upload: String = announced.await.json().await.unwrap();
        let messages = json!([
            { "role": "user", "content": "When is the quince in bloom?" },
            { "role": "assistant", "content": "The quince is in bloom in May." },
        ]);
        let saved = app.mcp_with(made["secret"].as_str().unwrap());
        let saved = saved
            .call("save_session", json!({ "session_id": "garden", "messages": messages, "namespace": NAMESPACE }))
            .await;
        let session = saved["id"].as_str().unwrap().to_owned();
        let import = send_import(&alice).await;
        Self { app, alice, bob, memory, file, upload, session, import, token }
    }

    /// All that there is of Alice's, as she sees it.
    async fn state(&self) -> Vec<String> {
        let mut state = Vec::new();
        for path in [
            format!("/api/get_memory?id={}&whole=true", self.memory),
            format!("/api/get_memory?id={}&whole=true", self.file),
            format!("/api/memory_history?id={}", self.memory),
            format!("/api/get_session?id={}", self.session),
            format!("/api/read_transcript?id={}&from=1", self.session),
            format!("/api/read_import?id={}", self.import),
            format!("/import/{}/report", self.import),
            "/api/find_memories".to_owned(),
            "/api/api_tokens".to_owned(),
            "/api/own_namespaces".to_owned(),
        ] {
            let response = self.alice.send(self.alice.request(Method::GET, &path)).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            state.push(response.text().await.unwrap());
        }
        state
    }
}

/// Sends a form with a file; gives what follows the prefix in the path that it leads to.
async fn send_form(browser: &Browser, path: &str, body: String, prefix: &str) -> String {
    let request = browser.request(Method::POST, path).header(header::ORIGIN, browser.origin()).body(body);
    let sent = browser.send(request.header(header::CONTENT_TYPE, "multipart/form-data; boundary=boundary")).await;
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    sent.headers()[header::LOCATION].to_str().unwrap().strip_prefix(prefix).unwrap().to_owned()
}

/// Sends a file to import, and waits until it is looked through; gives the id of the import.
async fn send_import(browser: &Browser) -> String {
    let body = "--boundary\r\nContent-Disposition: form-data; name=\"files\"; filename=\"quince.md\"\r\n\
                Content-Type: text/markdown\r\n\r\n# Quince\n\nin bloom, to import\r\n--boundary--\r\n";
    let id = send_form(browser, "/import/files", body.to_owned(), "/import/").await;
    for attempt in 0.. {
        assert!(attempt < 100, "the import was not looked through");
        let request = browser.request(Method::GET, &format!("/api/read_import?id={id}"));
        let import: Value = browser.send(request).await.json().await.unwrap();
        if import["state"] == "planned" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    id
}

/// Sends a file of a few bytes by a form; gives its id.
async fn send_file(browser: &Browser) -> String {
    let field = |name: &str, value: &str| {
        format!("--boundary\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let file = "--boundary\r\nContent-Disposition: form-data; name=\"file\"; filename=\"quince.txt\"\r\n\
                Content-Type: text/plain\r\n\r\nin bloom, on file\r\n--boundary--\r\n";
    let body = field("description", "The quince, on file.") + &field("namespace", NAMESPACE) + file;
    send_form(browser, "/media/files", body, "/media/").await
}

/// Calls a server function that changes something, as a page does.
async fn call(browser: &Browser, name: &str, fields: &[(&str, &str)]) -> Response {
    let path = format!("/api/{name}");
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    let request = browser.request(Method::POST, &path).header(header::ORIGIN, browser.origin()).body(body);
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    let request = request.header(header::ACCEPT, "application/json");
    browser.send(request).await
}

/// All that a response tells of `name`, which may be any name, and of nothing that differs each time.
async fn told(response: Response, name: &str) -> (StatusCode, String) {
    let status = response.status();
    let policy =
        response.headers().get(header::CONTENT_SECURITY_POLICY).map(|policy| policy.to_str().unwrap().to_owned());
    let nonce = policy.as_deref().and_then(|policy| policy.split("'nonce-").nth(1)?.split('\'').next());
    let text = response.text().await.unwrap().replace(name, "NAME");
    (status, nonce.map_or(text.clone(), |nonce| text.replace(nonce, "NONCE")))
}

#[tokio::test]
async fn no_page_knows_of_it() {
    let story = Story::begin().await;
    let never = MemoryId(Uuid::now_v7()).to_string();
    for page in
        ["/memories/ID", "/memories/ID/edit", "/memories/ID/history", "/memories/ID?show=raw", "/memories/ID?show=all"]
    {
        let seen = story.alice.get(&page.replace("ID", &story.memory)).await;
        assert_eq!(seen.status(), StatusCode::OK, "{page}");
        let theirs = told(story.bob.get(&page.replace("ID", &story.memory)).await, &story.memory).await;
        let none = told(story.bob.get(&page.replace("ID", &never)).await, &never).await;
        assert_eq!(theirs.0, StatusCode::NOT_FOUND, "{page}");
        assert_eq!(theirs, none, "{page}");
        assert!(!theirs.1.contains("quince") && !theirs.1.contains(NAMESPACE), "{page}");
    }
    let seen = story.alice.get(&format!("/media/{}", story.file)).await;
    assert_eq!(seen.status(), StatusCode::OK);
    assert!(seen.text().await.unwrap().contains("in bloom, on file"));
    let theirs = told(story.bob.get(&format!("/media/{}", story.file)).await, &story.file).await;
    assert_eq!(theirs.0, StatusCode::NOT_FOUND);
    assert_eq!(theirs, told(story.bob.get(&format!("/media/{never}")).await, &never).await);
    for page in
        ["/sessions/ID", "/sessions/ID?message=2", "/sessions/ID?q=quince", "/sessions/ID/messages/2", "/memories/ID"]
    {
        let seen = story.alice.get(&page.replace("ID", &story.session)).await;
        assert!(seen.status() == StatusCode::OK || seen.status().is_redirection(), "{page}");
        let theirs = told(story.bob.get(&page.replace("ID", &story.session)).await, &story.session).await;
        let none = told(story.bob.get(&page.replace("ID", &never)).await, &never).await;
        assert_eq!(theirs.0, StatusCode::NOT_FOUND, "{page}");
        assert_eq!(theirs, none, "{page}");
        assert!(!theirs.1.contains("bloom") && !theirs.1.contains(NAMESPACE), "{page}");
    }
    for page in ["/import/ID", "/import/ID/report"] {
        assert_eq!(story.alice.get(&page.replace("ID", &story.import)).await.status(), StatusCode::OK, "{page}");
        let theirs = told(story.bob.get(&page.replace("ID", &story.import)).await, &story.import).await;
        assert_eq!(theirs.0, StatusCode::NOT_FOUND, "{page}");
        assert_eq!(theirs, told(story.bob.get(&page.replace("ID", &never)).await, &never).await, "{page}");
    }
    let page = format!("/memories/new?session={}&message=2", story.session);
    assert!(story.alice.get(&page).await.text().await.unwrap().contains("in bloom"));
    let theirs = story.bob.get(&page).await.text().await.unwrap();
    assert!(!theirs.contains("in bloom") && !theirs.contains(NAMESPACE), "{page}");
    let seen = story.alice.get(&format!("/apps/{}", story.token)).await;
    assert_eq!(seen.status(), StatusCode::OK);
    let theirs = told(story.bob.get(&format!("/apps/{}", story.token)).await, &story.token).await;
    assert_eq!(theirs.0, StatusCode::NOT_FOUND);
    assert_eq!(theirs, told(story.bob.get(&format!("/apps/{never}")).await, &never).await);
    for page in [
        "/memories",
        "/memories?q=quince",
        "/memories?namespace=alices-diary",
        "/media",
        "/media?q=quince",
        "/media?namespace=alices-diary",
        "/sessions",
        "/sessions?q=quince",
        "/sessions?namespace=alices-diary",
        "/trash",
        "/import",
        "/namespaces",
        "/apps",
        "/tokens",
        "/settings",
    ] {
        let seen = story.bob.get(page).await.text().await.unwrap();
        assert!(!seen.contains("in bloom") && !seen.contains(&story.memory) && !seen.contains(&story.token), "{page}");
        assert!(
            !seen.contains(&story.file) && !seen.contains(&story.upload) && !seen.contains("alices-film"),
            "{page}"
        );
        assert!(!seen.contains(&story.session) && !seen.contains(&story.import), "{page}");
    }
}

#[tokio::test]
async fn no_server_function_knows_of_it_or_changes_it() {
    let story = Story::begin().await;
    let before = story.state().await;
    let never = MemoryId(Uuid::now_v7()).to_string();

    for (path, id) in [
        ("get_memory?id=ID&whole=true", &story.memory),
        ("memory_history?id=ID", &story.memory),
        ("memory_revision?id=ID&revision=1", &story.memory),
        ("next_parts?id=ID&after=0&again=false", &story.upload),
        ("get_session?id=ID", &story.session),
        ("read_transcript?id=ID&from=1", &story.session),
        ("search_session?id=ID&q=quince", &story.session),
        ("message_states?id=ID&number=2", &story.session),
        ("message_words?id=ID&number=2", &story.session),
        ("read_import?id=ID", &story.import),
        ("import_report?id=ID", &story.import),
        ("app?id=ID", &story.token),
        ("app_calls?id=ID", &story.token),
    ] {
        let ask = async |id: &str| {
            let request = story.bob.request(Method::GET, &format!("/api/{}", path.replace("ID", id)));
            told(story.bob.send(request).await, id).await
        };
        let theirs = ask(id).await;
        assert_eq!(theirs.0, StatusCode::NOT_FOUND, "{path}: {}", theirs.1);
        assert_eq!(theirs, ask(&never).await, "{path}");
    }

    let undo = |id: &str| {
        use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
        format!("{}1.", URL_SAFE_NO_PAD.encode(id.parse::<Uuid>().unwrap().as_bytes()))
    };
    let text = "Changed by Bob.";
    type Fields = Vec<(&'static str, String)>;
    type FieldsFor<'a> = &'a dyn Fn(&str) -> Fields;
    let attempts: [(&str, FieldsFor<'_>); 21] = [
        ("update_memory", &|id| {
            let fields =
                [("id", id), ("revision", "1"), ("content", text), ("namespace", ""), ("tags", ""), ("source", "")];
            let times = [("occurred_at", ""), ("occurred_at_shown", "")];
            fields.into_iter().chain(times).map(|(name, value)| (name, value.to_owned())).collect()
        }),
        ("change_memories", &|id| {
            let fields = [("ids[]", id), ("add_tags", "bobs"), ("remove_tags", ""), ("namespace", "bobs")];
            fields.map(|(name, value)| (name, value.to_owned())).into()
        }),
        ("forget_memories", &|id| vec![("ids[]", id.to_owned())]),
        ("restore_memories", &|id| vec![("ids[]", id.to_owned())]),
        ("erase_memories", &|id| vec![("ids[]", id.to_owned())]),
        ("restore_revision", &|id| {
            [("id", id), ("revision", "1"), ("current", "1")].map(|(name, value)| (name, value.to_owned())).into()
        }),
        ("undo_change", &|id| vec![("undo", undo(id))]),
        ("describe_file", &|id| {
            [("id", id), ("revision", "1"), ("content", text), ("namespace", ""), ("tags", "")]
                .map(|(name, value)| (name, value.to_owned()))
                .into()
        }),
        ("confirm_upload", &|id| vec![("id", id.to_owned())]),
        ("cancel_upload", &|id| vec![("id", id.to_owned())]),
        ("rename_session", &|id| vec![("id", id.to_owned()), ("title", "Bobs".to_owned())]),
        ("move_session", &|id| vec![("id", id.to_owned()), ("namespace", "bobs".to_owned())]),
        ("forget_session", &|id| vec![("id", id.to_owned())]),
        ("remember", &|id| {
            let content = format!("In bloom, as was said in {id}.");
            let fields = [("content", content.as_str()), ("namespace", ""), ("tags", ""), ("source", "")];
            let origin = [("session", id), ("message", "2")];
            fields.into_iter().chain(origin).map(|(name, value)| (name, value.to_owned())).collect()
        }),
        ("confirm_import", &|id| vec![("id", id.to_owned())]),
        ("cancel_import", &|id| vec![("id", id.to_owned())]),
        ("undo_import", &|id| vec![("id", id.to_owned())]),
        ("revoke_api_token", &|id| vec![("id", id.to_owned())]),
        ("revoke_app", &|id| vec![("id", id.to_owned())]),
        ("pause_app", &|id| vec![("id", id.to_owned()), ("paused", "true".to_owned())]),
        ("change_app", &|id| {
            [("id", id), ("can_write", "true"), ("namespaces", "all")]
                .map(|(name, value)| (name, value.to_owned()))
                .into()
        }),
    ];
    for (name, fields) in attempts {
        let attempt = async |id: &str| {
            let fields = fields(id);
            let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            told(call(&story.bob, name, &fields).await, id).await
        };
        let is_of_app = name == "revoke_api_token" || name.ends_with("_app");
        let is_of_session = name.ends_with("_session") || name == "remember";
        let id = match name {
            _ if is_of_app => &story.token,
            _ if is_of_session => &story.session,
            _ if name.ends_with("_import") => &story.import,
            "describe_file" => &story.file,
            "confirm_upload" | "cancel_upload" => &story.upload,
            _ => &story.memory,
        };
        assert_eq!(attempt(id).await, attempt(&never).await, "{name}");
        assert_eq!(story.state().await, before, "{name}");
    }

    for (name, more) in [
        ("rename_namespace", ("new_name", "bobs")),
        ("share_namespace", ("shared", "true")),
        ("delete_namespace", ("_", "")),
    ] {
        let attempt =
            async |namespace: &str| told(call(&story.bob, name, &[("name", namespace), more]).await, namespace).await;
        assert_eq!(attempt(NAMESPACE).await, attempt("never-was").await, "{name}");
        assert_eq!(story.state().await, before, "{name}");
    }
    assert!(story.alice.get("/media").await.text().await.unwrap().contains("alices-film"));
    drop(story.app);
}
