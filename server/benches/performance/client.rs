use std::time::{Duration, Instant};

use reqwest::{StatusCode, header};
use serde_json::{Value, json};

use crate::setup::Failure;

/// An MCP client that calls tools over HTTP with a key, without a session.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    key: String,
}

impl Client {
    pub(crate) fn new(port: u16, key: &str) -> Self {
        let url = format!("http://127.0.0.1:{port}/mcp");
        Self { http: reqwest::Client::new(), url, key: key.to_owned() }
    }

    /// Calls a tool; gives its structured answer.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        Ok(self.timed_call(tool, arguments).await?.0)
    }

    /// Calls a tool; gives its structured answer, and the time until all of it had arrived.
    pub(crate) async fn timed_call(&self, tool: &str, arguments: Value) -> Result<(Value, Duration), Failure> {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let request = self
            .http
            .post(&self.url)
            .bearer_auth(&self.key)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .json(&body);
        let started = Instant::now();
        let response = request.send().await?;
        let status = response.status();
        let text = response.bytes().await?;
        let elapsed = started.elapsed();
        let mut message: Value = serde_json::from_slice(&text)
            .map_err(|_| format!("{tool}: {status}, {}", String::from_utf8_lossy(&text)))?;
        let mut result = message["result"].take();
        if status != StatusCode::OK || !result.is_object() || result["isError"] == true {
            return Err(format!("{tool}: {status}, {}", String::from_utf8_lossy(&text)).into());
        }
        Ok((result["structuredContent"].take(), elapsed))
    }
}
