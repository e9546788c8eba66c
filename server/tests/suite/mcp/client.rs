//! A client that writes every request by hand, so that a test sees what is on the wire.

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::support::{TestApp, key_of};

/// The first revision without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";

/// A client of one user, speaking one revision.
#[derive(Clone)]
pub(crate) struct WireClient {
    http: reqwest::Client,
    url: String,
    key: String,
    revision: Option<&'static str>,
}

/// A client with a user's key that names no revision.
pub(crate) fn wire(app: &TestApp, user: &str) -> WireClient {
    WireClient::new(&app.mcp_url(), &key_of(user), None)
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// The JSON of the body; null where it is none.
    pub(crate) body: Value,
}

impl Reply {
    /// The code of a JSON-RPC error.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.body["error"]["code"].as_i64()
    }

    /// The result, of a request that must not fail.
    pub(crate) fn result(&self) -> &Value {
        assert!(self.status == StatusCode::OK && self.body["result"].is_object(), "{}: {}", self.status, self.text);
        &self.body["result"]
    }
}

impl WireClient {
    pub(crate) fn new(url: &str, key: &str, revision: Option<&'static str>) -> Self {
        Self { http: reqwest::Client::new(), url: url.to_owned(), key: key.to_owned(), revision }
    }

    /// The same user with another revision.
    pub(crate) fn speaking(&self, revision: &'static str) -> Self {
        Self { revision: Some(revision), ..self.clone() }
    }

    /// The same user at another URL.
    pub(crate) fn at(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// Whether the revision wants each request to describe itself.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision == Some(MODERN)
    }

    /// The body of a request as the revision wants it.
    pub(crate) fn body(&self, method: &str, mut params: Value) -> Value {
        if self.is_modern() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "wire-test", "version": "1" },
            });
        }
        json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
    }

    /// The headers of a request as the revision wants them.
    pub(crate) fn headers(&self, body: &Value) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("authorization", format!("Bearer {}", self.key)),
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        if let Some(revision) = self.revision {
            headers.push(("mcp-protocol-version", revision.to_owned()));
        }
        if self.is_modern() {
            headers.push(("mcp-method", body["method"].as_str().unwrap_or_default().to_owned()));
            let name = body["params"]["name"].as_str().or(body["params"]["uri"].as_str());
            headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
        }
        headers
    }

    /// Sends a request.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Reply {
        let body = self.body(method, params);
        self.post(self.headers(&body), body.to_string()).await
    }

    /// Sends a request with one header set to another value.
    pub(crate) async fn send_with(&self, method: &str, params: Value, header: (&'static str, &str)) -> Reply {
        let body = self.body(method, params);
        let mut headers = self.headers(&body);
        headers.retain(|(name, _)| *name != header.0);
        headers.push((header.0, header.1.to_owned()));
        self.post(headers, body.to_string()).await
    }

    /// Sends any bytes under any headers.
    pub(crate) async fn post(&self, headers: Vec<(&'static str, String)>, body: impl Into<reqwest::Body>) -> Reply {
        let mut request = self.http.post(&self.url).body(body);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        read(request).await
    }

    /// Calls a tool that must not fail, and gives its structured answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.tool(tool, arguments).await;
        let result = reply.result();
        assert!(result["isError"] != json!(true), "{tool} failed: {}", reply.text);
        result["structuredContent"].clone()
    }

    /// Calls a tool.
    pub(crate) async fn tool(&self, tool: &str, arguments: Value) -> Reply {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }
}

async fn read(request: reqwest::RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Reply { status, headers, text, body }
}
