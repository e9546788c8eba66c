//! The server ends between any two steps, by a crash or well, and everything goes on where it was.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    oauth::{BACK, VERIFIER, authorize_parameters, refusal, tokens},
    support::{Browser, ServerProcess, TestDatabase, data_folder, location, parameter},
};

/// The real binary over a database that stays, at an address that stays.
struct Restarting {
    folder: tempfile::TempDir,
    settings: Vec<(&'static str, String)>,
    base: String,
    http: reqwest::Client,
    server: Option<ServerProcess>,
    ends: usize,
    // Dropped last: the database goes when nobody uses it any more.
    _database: TestDatabase,
}

impl Restarting {
    async fn start() -> Self {
        let database = TestDatabase::create().await;
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings =
            vec![("POLYMNEMO_DATABASE_URL", database.url().to_owned()), ("POLYMNEMO_PORT", port.to_string())];
        let base = format!("http://127.0.0.1:{port}");
        let mut story = Self {
            folder: data_folder(),
            settings,
            base,
            http: reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap(),
            server: None,
            ends: 0,
            _database: database,
        };
        story.server = Some(story.serve());
        story
    }

    fn settings(&self) -> Vec<(&str, &str)> {
        self.settings.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    fn serve(&self) -> ServerProcess {
        ServerProcess::serve(self.folder.path(), &self.settings())
    }

    /// Ends the server, by a crash and well by turns, and starts it anew.
    fn restart(&mut self) {
        let mut server = self.server.take().unwrap();
        if self.ends.is_multiple_of(2) {
            server.kill();
            server.wait();
        } else {
            server.finish();
        }
        self.ends += 1;
        self.server = Some(self.serve());
    }

    fn sign_in_link(&self) -> String {
        let output = ServerProcess::run(self.folder.path(), &["sign-in-link"], &self.settings());
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    async fn ask(&self, parameters: &[(&str, &str)]) -> reqwest::Response {
        let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
        let request = self.http.post(format!("{}/token", self.base)).body(body);
        request.header("content-type", "application/x-www-form-urlencoded").send().await.unwrap()
    }

    async fn refresh(&self, client: &str, token: &str) -> reqwest::Response {
        self.ask(&[("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)]).await
    }

    async fn status_with(&self, credential: &str) -> u16 {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let request = self.http.request(Method::POST, format!("{}/mcp", self.base)).bearer_auth(credential);
        request.json(&ping).send().await.unwrap().status().as_u16()
    }
}

#[tokio::test]
async fn the_server_may_end_between_any_two_steps() {
    let mut story = Restarting::start().await;
    let metadata = json!({ "client_name": "Story", "redirect_uris": [BACK] });
    let response = story.http.post(format!("{}/register", story.base)).json(&metadata).send().await.unwrap();
    let client = response.json::<Value>().await.unwrap()["client_id"].as_str().unwrap().to_owned();

    story.restart();
    let browser = Browser::at(&story.base);
    let resource = format!("{}/mcp", story.base);
    let page = location(&browser.get(&authorize_parameters(&client, &resource, &[])).await);
    let request = parameter(&page, "request").unwrap();

    story.restart();
    let sign_in = location(&browser.get(&page).await);
    let link = story.sign_in_link();

    story.restart();
    let next = parameter(&sign_in, "next").unwrap();
    assert_eq!(location(&browser.post("/sign-in/link", &[("link", &link), ("next", &next)]).await), page);

    story.restart();
    assert!(browser.get(&page).await.text().await.unwrap().contains("Story"), "the person reads who asks");

    story.restart();
    let decision = [
        ("request", request.as_str()),
        ("answer", "allow"),
        ("can_write", "true"),
        ("namespaces", "all"),
        ("days", "30"),
    ];
    let back = location(&browser.post("/consent/answer", &decision).await);
    assert_eq!(parameter(&back, "iss").as_deref(), Some(story.base.as_str()));
    let code = parameter(&back, "code").unwrap();

    story.restart();
    let exchange = [
        ("grant_type", "authorization_code"),
        ("client_id", client.as_str()),
        ("code", code.as_str()),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
    ];
    let first = tokens(story.ask(&exchange).await).await;

    // Report 26: a client that is connected goes on, and has nothing to begin anew.
    story.restart();
    assert_eq!(story.status_with(&first.access).await, 200);
    let second = tokens(story.refresh(&client, &first.refresh).await).await;

    // The answer to the refresh was lost when the server ended: it is given again.
    story.restart();
    assert_eq!(tokens(story.refresh(&client, &first.refresh).await).await, second);
    assert_eq!(story.status_with(&second.access).await, 200);
    let again = browser.post("/consent/answer", &decision).await;
    assert_eq!(again.status(), StatusCode::NOT_FOUND, "what was decided is not decided again");

    story.restart();
    assert_eq!(refusal(story.ask(&exchange).await).await, (400, "invalid_grant".to_owned()));

    story.restart();
    assert_eq!(story.status_with(&second.access).await, 401, "what a second use of the code ended stays so");
    assert_eq!(refusal(story.refresh(&client, &second.refresh).await).await, (400, "invalid_grant".to_owned()));
    assert_eq!(story.ends, 10);
}
