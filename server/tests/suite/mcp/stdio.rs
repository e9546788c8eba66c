//! The same tools over standard input and output, by the real program.

use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::{
    mcp::client::{MODERN, wire},
    support::{ServerProcess, TestApp},
};

struct Program {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    next_id: u64,
    /// Its working directory, which goes with it.
    _folder: TempDir,
}

impl Program {
    fn start(app: &TestApp, user: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::from(ServerProcess::command(folder.path(), &["stdio"]));
        command.env("POLYMNEMO_DATABASE_URL", app.database_url()).env("POLYMNEMO_STDIO_USER", user);
        command.stdin(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, output, next_id: 1, _folder: folder }
    }

    async fn write(&mut self, message: Value) {
        self.input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn send(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        self.write(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let line = self.output.next_line().await.unwrap().expect("an answer");
        // Nothing but messages may be on standard output.
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("not a message: {line}"));
        assert_eq!((&message["jsonrpc"], &message["id"]), (&json!("2.0"), &json!(id)), "{line}");
        message
    }

    /// Ends the input, and expects the program to end well and to have said nothing more.
    async fn finish(mut self) {
        drop(self.input);
        assert_eq!(self.output.next_line().await.unwrap(), None);
        let status = self.child.wait().await.unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
        assert!(status.success(), "{status}: {log}");
    }
}

#[tokio::test]
async fn a_client_with_a_handshake_uses_the_same_memory_as_over_http() {
    // The program has the real model, and only vectors of the same model are compared.
    let app = TestApp::builder().real_embedder().start().await;
    let http = wire(&app, "alice").speaking(MODERN);
    http.call("remember", json!({ "content": "Told over HTTP: the kettle is blue." })).await;

    let mut program = Program::start(&app, "alice");
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "pipe", "version": "1" },
    });
    let answer = program.send("initialize", hello).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    program.write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let recall = json!({ "name": "recall", "arguments": { "query": "Which colour has the kettle?" } });
    let answer = program.send("tools/call", recall).await;
    assert_eq!(answer["result"]["structuredContent"]["hits"][0]["passage"], "Told over HTTP: the kettle is blue.");
    let remember = json!({ "name": "remember", "arguments": { "content": "Told over stdio: tea is at five." } });
    let answer = program.send("tools/call", remember).await;
    let id = answer["result"]["structuredContent"]["id"].clone();
    let answer = program.send("tools/call", json!({ "name": "no_such_tool" })).await;
    assert_eq!(answer["error"]["code"], -32_602);
    program.finish().await;

    let read = http.call("get_memory", json!({ "id": id })).await;
    assert_eq!((&read["content"], &read["client"]), (&json!("Told over stdio: tea is at five."), &json!("pipe")));
}

#[tokio::test]
async fn a_client_without_a_handshake_is_answered_too() {
    let app = TestApp::start().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut program = Program::start(&app, "alice");
    let answer = program.send("server/discover", json!({ "_meta": meta })).await;
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "polymnemo");
    let answer = program.send("tools/call", json!({ "_meta": meta, "name": "ping", "arguments": {} })).await;
    assert_eq!(answer["result"]["structuredContent"]["user"], "alice");
    program.finish().await;
}

#[tokio::test]
async fn a_slip_is_answered_and_the_conversation_goes_on() {
    let app = TestApp::start().await;
    let mut program = Program::start(&app, "alice");
    let hello = json!({
        "protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": { "name": "pipe", "version": "1" },
    });
    let slips: [(&[u8], _); 5] = [
        (b"{\"jsonrpc\": \n", -32_700),
        (b"\"\xff\"\n", -32_700),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n", -32_600),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", -32_600),
        (b"{\"id\":1,\"method\":\"ping\"}\n", -32_600),
    ];
    // Before the handshake and after it.
    for _ in 0..2 {
        for (line, code) in slips {
            program.input.write_all(line).await.unwrap();
            let answer: Value = serde_json::from_str(&program.output.next_line().await.unwrap().unwrap()).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &Value::Null), "{answer}");
        }
        program.send("initialize", hello.clone()).await;
        program.write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    }
    let answer = program.send("tools/call", json!({ "name": 7 })).await;
    assert_eq!(answer["error"]["code"], -32_602);
    program.finish().await;
}

#[tokio::test]
async fn a_client_that_leaves_at_once_leaves_no_error() {
    let app = TestApp::start().await;
    Program::start(&app, "alice").finish().await;
}
