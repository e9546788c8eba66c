//! What a person gets who asks for something of someone else's: the same as for what never was.

use polymnemo_types::MemoryId;
use reqwest::{Method, Response, StatusCode, header};
use serde_json::Value;
use uuid::Uuid;

use crate::support::{Browser, GitHub, TestApp};

/// A memory, a token and a namespace of Alice's, and Bob, who knows their names.
struct Story {
    app: TestApp,
    alice: Browser,
    bob: Browser,
    memory: String,
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
        Self { app, alice, bob, memory, token }
    }

    /// All that there is of Alice's, as she sees it.
    async fn state(&self) -> Vec<String> {
        let mut state = Vec::new();
        for path in [
            format!("/api/get_memory?id={}&whole=true", self.memory),
            format!("/api/memory_history?id={}", self.memory),
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
    let seen = story.alice.get(&format!("/apps/{}", story.token)).await;
    assert_eq!(seen.status(), StatusCode::OK);
    let theirs = told(story.bob.get(&format!("/apps/{}", story.token)).await, &story.token).await;
    assert_eq!(theirs.0, StatusCode::NOT_FOUND);
    assert_eq!(theirs, told(story.bob.get(&format!("/apps/{never}")).await, &never).await);
    for page in [
        "/memories",
        "/memories?q=quince",
        "/memories?namespace=alices-diary",
        "/trash",
        "/namespaces",
        "/apps",
        "/tokens",
        "/settings",
    ] {
        let seen = story.bob.get(page).await.text().await.unwrap();
        assert!(!seen.contains("in bloom") && !seen.contains(&story.memory) && !seen.contains(&story.token), "{page}");
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
    let attempts: [(&str, FieldsFor<'_>); 11] = [
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
        let id = if is_of_app { &story.token } else { &story.memory };
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
    drop(story.app);
}
