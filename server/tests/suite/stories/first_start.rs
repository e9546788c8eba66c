//! The first start on a machine, without any settings.

use std::os::unix::fs::PermissionsExt;

use reqwest::blocking::Client;
use serde_json::{Value, json};

use crate::support::{ServerProcess, data_folder};

fn who_am_i(url: &str, authorization: &str) -> Value {
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "ping", "arguments": {} } });
    let request = Client::new().post(url).header("authorization", authorization).json(&body);
    request.header("mcp-protocol-version", "2025-11-25").send().unwrap().json().unwrap()
}

#[test]
fn a_key_is_made_and_the_printed_snippet_works_at_once() {
    let folder = data_folder();
    let server = ServerProcess::start(ServerProcess::command(folder.path(), &["serve", "--show-connection"]));
    let key_file = folder.path().join("data/api-key");
    let key = std::fs::read_to_string(&key_file).unwrap().trim().to_owned();
    assert_eq!(std::fs::metadata(&key_file).unwrap().permissions().mode() & 0o777, 0o600);

    let answer = who_am_i(&format!("http://127.0.0.1:{}/mcp", server.port), &format!("Bearer {key}"));
    assert_eq!(answer["result"]["structuredContent"]["user"], "local");
    assert!(!server.log().contains(&key), "the key is in the log");

    let port = server.port;
    let printed = server.finish();
    let snippet = printed.split("\n\n").find(|part| part.starts_with('{')).unwrap();
    let snippet: Value = serde_json::from_str(snippet).unwrap();
    let entry = &snippet["mcpServers"]["polymnemo"];
    assert_eq!(entry["url"], format!("http://127.0.0.1:{port}/mcp"));
    assert_eq!(entry["headers"]["Authorization"], format!("Bearer {key}"));
    let last: Vec<&str> = printed.trim_end().lines().rev().take(3).collect();
    assert_eq!(last[2], format!("MCP endpoint: http://127.0.0.1:{port}/mcp"));
    assert_eq!(last[1], format!("Web page:     http://127.0.0.1:{port}/"));
    assert!(last[0].starts_with(&format!("Sign in:      http://127.0.0.1:{port}/sign-in/link?token=")), "{}", last[0]);
}

#[test]
fn the_command_makes_a_link_that_signs_in_and_that_no_log_shows() {
    let folder = data_folder();
    let server = ServerProcess::start(ServerProcess::command(folder.path(), &["serve"]));
    let port = server.port.to_string();
    let made = ServerProcess::run(folder.path(), &["sign-in-link"], &[("POLYMNEMO_PORT", &port)]);
    let (link, hint) = (String::from_utf8(made.stdout).unwrap(), String::from_utf8(made.stderr).unwrap());
    assert!(made.status.success(), "{hint}");
    let (_, token) = link.trim().split_once("token=").unwrap();

    let client = Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let opened = client.get(link.trim()).send().unwrap();
    assert_eq!((opened.status().as_u16(), &opened.headers()["location"]), (303, &"/".parse().unwrap()));
    let cookie = opened.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let viewer = client.get(format!("http://127.0.0.1:{port}/api/current_viewer")).header("cookie", &cookie);
    assert_eq!(viewer.send().unwrap().json::<Value>().unwrap()["name"], "local");

    let (log, session) = (server.log(), cookie.split_once('=').unwrap().1);
    assert!(!log.contains(token) && !log.contains(session) && !hint.contains(token), "a secret is in the log");
}

#[test]
fn a_link_is_refused_where_nobody_could_use_it() {
    let folder = data_folder();
    for (name, value, variable) in [
        ("POLYMNEMO_PORT", "0", "POLYMNEMO_PORT"),
        ("POLYMNEMO_HOST", "0.0.0.0", "POLYMNEMO_GITHUB_CLIENT_ID"),
        ("POLYMNEMO_API_KEYS", "key-1:alice,key-2:bob", "POLYMNEMO_STDIO_USER"),
    ] {
        let output = ServerProcess::run(folder.path(), &["sign-in-link"], &[(name, value)]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.starts_with(&format!("polymnemo: {variable}: ")), "{error}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn without_a_terminal_the_key_is_printed_nowhere_and_stays_the_same() {
    let folder = data_folder();
    let mut keys = Vec::new();
    for _ in 0..2 {
        let server = ServerProcess::start(ServerProcess::command(folder.path(), &["serve"]));
        let key = std::fs::read_to_string(folder.path().join("data/api-key")).unwrap().trim().to_owned();
        assert!(server.log().contains("api-key"), "the log tells where the key is");
        assert!(!server.log().contains(&key), "the key is in the log");
        assert_eq!(server.finish(), "");
        keys.push(key);
    }
    assert_eq!(keys[0], keys[1]);
}
