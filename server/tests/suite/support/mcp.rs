use std::{
    ops::Deref,
    sync::atomic::{AtomicU64, Ordering},
};

use reqwest::{Response, StatusCode, header};
use serde_json::{Value, json};

/// Every revision of the protocol that the server speaks, the oldest first.
pub const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The first revision without `initialize`, where each request carries everything.
const MODERN: &str = "2026-07-28";

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A client that speaks one revision of the protocol, in plain JSON-RPC over HTTP.
#[derive(Clone)]
pub struct McpClient {
    client: reqwest::Client,
    url: String,
    key: String,
    revision: &'static str,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// Whether it is an error.
    pub is_error: bool,
    /// The text.
    pub text: String,
    /// The structured answer, or null.
    pub structured: Value,
}

/// A result reads like its structured answer: `result["status"]`.
impl Deref for ToolResult {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.structured
    }
}

impl McpClient {
    pub(super) fn new(client: reqwest::Client, url: String, key: String) -> Self {
        Self { client, url, key, revision: "2025-11-25" }
    }

    /// The same client, speaking another revision.
    pub fn speaking(mut self, revision: &'static str) -> Self {
        self.revision = revision;
        self
    }

    /// Calls a tool and expects success.
    pub async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let result = self.try_call(tool, arguments).await;
        assert!(!result.is_error, "{tool} failed: {}", result.text);
        result
    }

    /// Calls a tool and expects an error; gives its text.
    pub async fn call_in_vain(&self, tool: &str, arguments: Value) -> String {
        let result = self.try_call(tool, arguments.clone()).await;
        assert!(result.is_error, "{tool} with {arguments} did not fail: {}", result.text);
        result.text
    }

    /// Calls a tool.
    pub async fn try_call(&self, tool: &str, arguments: Value) -> ToolResult {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = result.unwrap_or_else(|error| panic!("{tool} was answered with a protocol error: {error}"));
        let blocks = result["content"].as_array().expect("content");
        ToolResult {
            is_error: result["isError"] == true,
            text: blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
            structured: result["structuredContent"].clone(),
        }
    }

    /// Sends a request; gives the result, or the error object of the protocol.
    pub async fn request(&self, method: &str, params: Value) -> Result<Value, Value> {
        let response = self.send(method, params).await;
        let message = message_of(response).await;
        match message.get("result") {
            Some(result) => Ok(result.clone()),
            None => Err(message["error"].clone()),
        }
    }

    /// Sends a request; gives the bare answer.
    pub async fn send(&self, method: &str, mut params: Value) -> Response {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let mut request = self
            .client
            .post(&self.url)
            .bearer_auth(&self.key)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", self.revision);
        if self.revision >= MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "story", "version": "1" },
            });
            request = request.header("mcp-method", method);
            if let Some(name) = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str) {
                request = request.header("mcp-name", name);
            }
        }
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        request.json(&body).send().await.expect("the server answers")
    }

    /// Sends this body as it is; gives status and body of the answer.
    pub async fn send_raw(&self, body: impl Into<reqwest::Body>) -> (StatusCode, String) {
        let response = self
            .client
            .post(&self.url)
            .bearer_auth(&self.key)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json")
            .header("mcp-protocol-version", self.revision)
            .body(body)
            .send()
            .await
            .expect("the server answers");
        (response.status(), response.text().await.expect("a body"))
    }
}

/// The JSON-RPC message of an answer, be it plain or the last event of a stream.
async fn message_of(response: Response) -> Value {
    let status = response.status();
    let is_stream = response
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("text/event-stream")));
    let body = response.text().await.expect("a body");
    let message = if is_stream {
        body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).rfind(|data| !data.is_empty())
    } else {
        Some(body.as_str())
    };
    let message = message.and_then(|message| serde_json::from_str(message).ok());
    message.unwrap_or_else(|| panic!("status {status} with a body that is no message: {body}"))
}
