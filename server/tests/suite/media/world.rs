use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use polymnemo_memory::{Ctx, Identity};
use polymnemo_types::{SignedRequest, limits};
use reqwest::{Response, StatusCode};
use sea_orm::{ConnectionTrait as _, Statement};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Builder, McpClient, S3Server, TestApp, ToolResult};

/// A server with a storage for its files.
pub(crate) struct World {
    pub(crate) app: TestApp,
    pub(crate) s3: Option<S3Server>,
}

impl World {
    /// With the directory of the server as the storage.
    pub(crate) async fn local() -> Self {
        Self::local_with(TestApp::builder()).await
    }

    pub(crate) async fn local_with(builder: Builder) -> Self {
        Self { app: builder.start().await, s3: None }
    }

    /// With a server that speaks S3.
    pub(crate) async fn s3() -> Self {
        Self::s3_with(TestApp::builder()).await
    }

    pub(crate) async fn s3_with(builder: Builder) -> Self {
        let s3 = S3Server::start().await;
        Self { app: builder.files_at(&s3).start().await, s3: Some(s3) }
    }

    /// What the service is told of a request that this user sends from the web app.
    pub(crate) async fn person(&self, user: &str) -> Ctx {
        let user = self.app.service().sign_in(&Identity::named(user), user).await.unwrap().user;
        Ctx::of_person(user)
    }

    /// The files in the storage that hold the bytes of objects and parts, and what is being written.
    pub(crate) fn stored(&self) -> Vec<PathBuf> {
        let folder = self.s3.as_ref().map_or_else(|| self.app.blobs(), S3Server::bucket);
        let mut files = Vec::new();
        walk(&folder, &mut files);
        // What a storage notes of an object beside its bytes is told by its name.
        files.retain(|file| {
            let name = file.file_name().unwrap().to_str().unwrap();
            !name.ends_with(".sha256") && !name.starts_with('.') && !name.ends_with(".json")
        });
        files.sort();
        files
    }

    /// Waits until so many files are left in the storage: the server deletes them on its own, too.
    pub(crate) async fn comes_to(&self, expected: usize) {
        let mut stored = Vec::new();
        for _ in 0..50 {
            self.app.service().sweep_files().await.unwrap();
            stored = self.stored();
            if stored.len() == expected {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("there are {} files where {expected} should be left: {stored:?}", stored.len());
    }

    /// The file in the storage that holds the object of an upload under way, or will.
    pub(crate) async fn path_of_upload(&self, id: &str) -> PathBuf {
        let key = self.column(&format!("select object_key from uploads where id = '{id}'")).await.pop().unwrap();
        match &self.s3 {
            Some(s3) => s3.bucket().join(key),
            None => self.app.blobs().join("objects").join(key.get(..2).unwrap()).join(key),
        }
    }

    /// Texts of a query's only column.
    pub(crate) async fn column(&self, sql: &str) -> Vec<String> {
        let database = self.app.database().await;
        let rows = database.query_all_raw(Statement::from_string(database.get_database_backend(), sql)).await.unwrap();
        rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
    }

    /// Changes rows past all rules.
    pub(crate) async fn execute(&self, sql: &str) {
        self.app.database().await.execute_unprepared(sql).await.unwrap();
    }

    /// Announces a file.
    pub(crate) async fn announce(&self, client: &McpClient, filename: &str, bytes: &[u8]) -> ToolResult {
        client.call("create_upload", announcement(filename, bytes)).await
    }

    /// Sends what an announcement asked for.
    pub(crate) async fn send(&self, announced: &ToolResult, bytes: impl Into<reqwest::Body>) -> Response {
        let body: reqwest::Body = bytes.into();
        let mut request = self.app.client().put(announced["url"].as_str().unwrap());
        for header in announced["headers"].as_array().unwrap() {
            // The length of what it holds whole, the client says by itself.
            if header["name"] != "content-length" || body.as_bytes().is_none() {
                request = request.header(header["name"].as_str().unwrap(), header["value"].as_str().unwrap());
            }
        }
        request.body(body).send().await.unwrap()
    }

    /// Announces, sends and confirms a file; gives its id.
    pub(crate) async fn keep(&self, client: &McpClient, filename: &str, bytes: &[u8]) -> String {
        let announced = self.announce(client, filename, bytes).await;
        let sent = self.send(&announced, bytes.to_vec()).await;
        assert_eq!(sent.status(), StatusCode::OK, "{}", sent.text().await.unwrap());
        let confirmed = client.call("confirm_upload", json!({ "id": announced["id"] })).await;
        assert_eq!(confirmed["id"], announced["id"]);
        confirmed["id"].as_str().unwrap().to_owned()
    }

    /// Fetches a file as a client that may read it.
    pub(crate) async fn fetch(&self, client: &McpClient, id: &str) -> Vec<u8> {
        let url = client.call("get_download_url", json!({ "id": id })).await["url"].as_str().unwrap().to_owned();
        let response = self.app.client().get(url).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        response.bytes().await.unwrap().to_vec()
    }

    /// Sends a request that the service signed.
    pub(crate) async fn send_signed(&self, request: &SignedRequest, bytes: impl Into<reqwest::Body>) -> StatusCode {
        self.try_to_send_signed(request, bytes).await.unwrap().status()
    }

    /// Whether such a request is refused: by an answer, or by a storage that hangs up on a long body before it answers.
    pub(crate) async fn refuses(&self, request: &SignedRequest, bytes: impl Into<reqwest::Body>) -> bool {
        match self.try_to_send_signed(request, bytes).await {
            Ok(response) => response.status().is_client_error(),
            Err(error) => error.is_request(),
        }
    }

    async fn try_to_send_signed(
        &self,
        request: &SignedRequest,
        bytes: impl Into<reqwest::Body>,
    ) -> reqwest::Result<Response> {
        let mut sending = self.app.client().request(request.method.parse().unwrap(), &request.url);
        // How long the body is, the client says by itself.
        for header in request.headers.iter().filter(|header| header.name != "content-length") {
            sending = sending.header(&header.name, &header.value);
        }
        sending.body(bytes).send().await
    }

    /// How many memories of the kind media a user has.
    pub(crate) async fn count(&self, client: &McpClient) -> u64 {
        client.call("list_memories", json!({ "kind": "media" })).await["total"].as_u64().unwrap()
    }
}

/// The arguments that announce a file.
pub(crate) fn announcement(filename: &str, bytes: &[u8]) -> Value {
    json!({
        "filename": filename,
        "content_type": "application/octet-stream",
        "size": bytes.len(),
        "description": format!("The file {filename}, told of in a story."),
    })
}

pub(crate) fn hex_digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// Bytes that no two places of have in common, so that a mixed up order shows.
pub(crate) fn bytes(length: usize) -> Vec<u8> {
    let mut state = length as u64 | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// The parts of a file of this length, by number.
pub(crate) fn parts(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.chunks(usize::try_from(limits::PART_BYTES).unwrap()).collect()
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let entries: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    for path in entries {
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}
