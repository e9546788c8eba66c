//! The embedded database through crashes, and between processes.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::Stdio,
    time::Duration,
};

use reqwest::Client;
use serde_json::{Value, json};

use crate::support::{ServerProcess, data_folder, key_of};

/// Calls a tool over HTTP; nothing where the server is gone in the middle of it.
async fn call(client: &Client, port: u16, tool: &str, arguments: Value) -> Option<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
    let request = client
        .post(format!("http://127.0.0.1:{port}/mcp"))
        .bearer_auth(key_of("alice"))
        .header("mcp-protocol-version", "2025-11-25")
        .json(&body);
    let answer: Value = request.send().await.ok()?.json().await.ok()?;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    let structured = answer["result"]["structuredContent"].clone();
    assert!(structured.is_object(), "{answer}");
    Some(structured)
}

/// How many PostgreSQL servers run on this folder's cluster.
#[cfg(target_os = "linux")]
fn servers_on(folder: &Path) -> usize {
    let cluster = folder.join("data/cluster").canonicalize().unwrap();
    let is_server = |command: &[u8]| {
        let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
        words.first().is_some_and(|program| program.ends_with(b"postgres"))
            && words.iter().any(|word| *word == cluster.as_os_str().as_encoded_bytes())
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .filter(|command| is_server(command))
        .count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_acknowledged_before_a_crash_is_there_after_it() {
    let folder = data_folder();
    let mut server = ServerProcess::serve(folder.path(), &[]);
    let port = server.port;
    let client = Client::new();
    // The model loads; then the crash comes in the middle of storing and not before it.
    call(&client, port, "remember", json!({ "content": "The first one waits for the model." })).await.unwrap();

    let (acknowledge, mut acknowledged) = tokio::sync::mpsc::unbounded_channel();
    for number in 0..200 {
        let (client, acknowledge) = (client.clone(), acknowledge.clone());
        tokio::spawn(async move {
            let content = format!("Locker {number} opens with the code {}.", 7919 * (number + 1));
            if let Some(stored) = call(&client, port, "remember", json!({ "content": content })).await {
                let _ = acknowledge.send((stored["id"].as_str().unwrap().to_owned(), content));
            }
        });
    }
    drop(acknowledge);
    let mut stored = HashMap::new();
    while let Some((id, content)) = acknowledged.recv().await {
        stored.insert(id, content);
        if stored.len() == 40 {
            server.kill();
        }
    }
    server.wait();
    assert!((40..200).contains(&stored.len()), "{} of 200 were acknowledged", stored.len());

    let server = ServerProcess::serve(folder.path(), &[]);
    #[cfg(target_os = "linux")]
    assert_eq!(servers_on(folder.path()), 1, "one database, not one more for each crash");
    for (id, content) in &stored {
        let read = call(&client, server.port, "get_memory", json!({ "id": id })).await.unwrap();
        assert_eq!(read["content"], json!(content));
    }
    for (id, content) in stored.iter().take(20) {
        let found = call(&client, server.port, "recall", json!({ "query": content, "limit": 5 })).await.unwrap();
        let ids: Vec<&Value> = found["hits"].as_array().unwrap().iter().map(|hit| &hit["id"]).collect();
        assert!(ids.contains(&&json!(id)), "{content} was not recalled: {found}");
    }
    server.finish();
    #[cfg(target_os = "linux")]
    assert_eq!(servers_on(folder.path()), 0, "no database is left behind");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stdio_beside_serve_sees_the_same_memories_and_leaves_the_database_running() {
    let folder = data_folder();
    let server = ServerProcess::serve(folder.path(), &[]);
    let client = Client::new();
    let content = "The spare key is under the blue pot.";
    let stored = call(&client, server.port, "remember", json!({ "content": content })).await.unwrap();

    let mut stdio = ServerProcess::command(folder.path(), &["stdio"])
        .env("POLYMNEMO_STDIO_USER", "alice")
        .env("POLYMNEMO_LOG", "warn")
        .stdin(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let mut input = stdio.stdin.take().unwrap();
    let mut output = BufReader::new(stdio.stdout.take().unwrap()).lines();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "story", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "get_memory", "arguments": { "id": stored["id"] } } }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let mut answer = || -> Value { serde_json::from_str(&output.next().unwrap().unwrap()).unwrap() };
    assert_eq!(answer()["result"]["serverInfo"]["name"], "polymnemo");
    assert_eq!(answer()["result"]["structuredContent"]["content"], content);
    // The end of its input is the end of the process.
    drop(input);
    assert!(stdio.wait().unwrap().success());

    tokio::time::sleep(Duration::from_millis(200)).await;
    let read = call(&client, server.port, "get_memory", json!({ "id": stored["id"] })).await.unwrap();
    assert_eq!(read["content"], content);
    #[cfg(target_os = "linux")]
    assert_eq!(servers_on(folder.path()), 1);
}
