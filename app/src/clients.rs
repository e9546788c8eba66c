//! How each client is told where the memory is: what a person copies into it.
//!
//! Clients that sign in need the address only. Where a token goes, these functions take what stands there: the token
//! itself on the page that has just made it, [`YOUR_TOKEN`] anywhere else.

use serde::Serialize;
use serde_json::{Value, json};

/// What stands where a person puts a token in.
pub(crate) const YOUR_TOKEN: &str = "YOUR_TOKEN";

/// What the memory is called in the settings of clients.
const NAME: &str = "polymnemo";

/// A settings file with servers in it, under the name that most clients look for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings<Server> {
    mcp_servers: Named<Server>,
}

#[derive(Serialize)]
struct Named<Server> {
    polymnemo: Server,
}

/// A server that is reached over HTTP; clients differ in what they call the parts.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct HttpServer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<Headers>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Headers {
    authorization: String,
}

impl Headers {
    fn with(token: &str) -> Self {
        Self { authorization: bearer(token) }
    }
}

/// A server that is reached through a program.
#[derive(Serialize)]
struct Program<'a> {
    command: &'a str,
    args: Vec<&'a str>,
}

/// The entry that most clients read.
pub(crate) fn mcp_servers(url: &str, token: &str) -> String {
    let headers = Some(Headers::with(token));
    settings(HttpServer { r#type: Some("http"), url: Some(url), headers, ..Default::default() })
}

/// Claude Code: a command for a terminal.
pub(crate) fn claude_code(url: &str) -> String {
    format!("claude mcp add --scope user --transport http \\\n  {NAME} {}", quoted(url))
}

/// Claude Desktop, for an address that it can't reach from the internet: a bridge from its standard input to HTTP.
pub(crate) fn claude_desktop(url: &str) -> String {
    let mut args = vec!["-y", "mcp-remote", url];
    if url.starts_with("http://") {
        args.push("--allow-http");
    }
    settings(Program { command: "npx", args })
}

/// Codex.
pub(crate) fn codex(url: &str) -> String {
    // A string of JSON is one of TOML, too.
    format!("[mcp_servers.{NAME}]\nurl = {}", Value::from(url))
}

/// Cursor.
pub(crate) fn cursor(url: &str) -> String {
    settings(HttpServer { url: Some(url), ..Default::default() })
}

/// VS Code.
pub(crate) fn vs_code(url: &str) -> String {
    #[derive(Serialize)]
    struct File<'a> {
        servers: Named<HttpServer<'a>>,
    }
    let server = HttpServer { r#type: Some("http"), url: Some(url), ..Default::default() };
    pretty(&File { servers: Named { polymnemo: server } })
}

/// Gemini CLI.
pub(crate) fn gemini_cli(url: &str) -> String {
    settings(HttpServer { http_url: Some(url), ..Default::default() })
}

/// The address of the MCP endpoint with a token in it, for a client that can send no header.
pub(crate) fn with_token_in(url: &str, token: &str) -> String {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url.get(host..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| host + at);
    let (origin, path) = url.split_at(path);
    format!("{origin}/c/{token}{path}")
}

/// A call from a shell.
pub(crate) fn curl(url: &str, token: &str) -> String {
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": "recall", "arguments": { "query": "coffee" } },
    });
    format!(
        "curl --silent {} \\\n  --header {} \\\n  --header 'Content-Type: application/json' \\\n  --data {}",
        quoted(url),
        quoted(&format!("Authorization: {}", bearer(token))),
        quoted(&call.to_string())
    )
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn settings(server: impl Serialize) -> String {
    pretty(&Settings { mcp_servers: Named { polymnemo: server } })
}

fn pretty(value: &impl Serialize) -> String {
    // JSON made of strings and lists can always be written.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte));
    if plain && !text.is_empty() { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Which client calls itself by a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownClient {
    /// Claude Code.
    ClaudeCode,
    /// Claude on the web, on the desktop and on phones, which call themselves the same.
    Claude,
    /// ChatGPT and Codex.
    OpenAi,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    VsCode,
    /// Gemini CLI.
    Gemini,
}

impl KnownClient {
    /// The client behind the name that it gives itself, where it is a known one. Versions and
    /// flavours differ ("claude-code", "claude-code-sdk"), so the beginning counts.
    pub(crate) fn by_name(name: &str) -> Option<Self> {
        let name: String = name.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        let beginnings = [
            ("claudecode", Self::ClaudeCode),
            ("claude", Self::Claude),
            ("anthropic", Self::Claude),
            ("chatgpt", Self::OpenAi),
            ("openai", Self::OpenAi),
            ("codex", Self::OpenAi),
            ("cursor", Self::Cursor),
            ("visualstudiocode", Self::VsCode),
            ("vscode", Self::VsCode),
            ("gemini", Self::Gemini),
        ];
        beginnings.into_iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, client)| client)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URLS: [&str; 3] = ["http://127.0.0.1:8000/mcp", "https://memory.example.org/mcp", "http://[::1]:8000/a\"b'c"];

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn settings_are_json_and_hold_the_address() {
        for url in URLS {
            for (text, place, token) in [
                (mcp_servers(url, "pmn_a"), "url", Some("Bearer pmn_a")),
                (cursor(url), "url", None),
                (gemini_cli(url), "httpUrl", None),
            ] {
                let entry = &parsed(&text)["mcpServers"]["polymnemo"];
                assert_eq!(entry[place], url);
                assert_eq!(entry["headers"]["Authorization"].as_str(), token);
            }
            let entry = &parsed(&claude_desktop(url))["mcpServers"]["polymnemo"];
            assert_eq!(entry["args"][2], url);
            assert_eq!(entry["args"].as_array().expect("a list").len() == 4, url.starts_with("http://"));
            assert_eq!(parsed(&vs_code(url))["servers"]["polymnemo"]["url"], url);
        }
    }

    #[test]
    fn a_token_goes_before_the_path_of_the_endpoint() {
        assert_eq!(with_token_in(URLS[0], "pmn_a"), "http://127.0.0.1:8000/c/pmn_a/mcp");
        assert_eq!(with_token_in("https://memory.example.org/a/b", "pmn_a"), "https://memory.example.org/c/pmn_a/a/b");
    }

    #[test]
    fn nothing_in_a_command_is_read_by_the_shell() {
        assert_eq!(quoted("http://127.0.0.1:8000/mcp"), "http://127.0.0.1:8000/mcp");
        assert_eq!(quoted("a'b $(c)"), r"'a'\''b $(c)'");
        assert_eq!(quoted(""), "''");
        assert!(claude_code(URLS[2]).contains(r#"'http://[::1]:8000/a"b'\''c'"#));
        assert!(curl(URLS[0], "pmn_a").contains("'Authorization: Bearer pmn_a'"));
    }

    #[test]
    fn clients_are_known_by_how_they_begin_to_call_themselves() {
        for (name, client) in [
            ("claude-code", Some(KnownClient::ClaudeCode)),
            ("claude-ai", Some(KnownClient::Claude)),
            ("Anthropic/ClaudeAI", Some(KnownClient::Claude)),
            ("openai-mcp", Some(KnownClient::OpenAi)),
            ("cursor-vscode", Some(KnownClient::Cursor)),
            ("Visual Studio Code - Insiders", Some(KnownClient::VsCode)),
            ("gemini-cli-mcp-client", Some(KnownClient::Gemini)),
            ("my script", None),
            ("", None),
        ] {
            assert_eq!(KnownClient::by_name(name), client, "{name}");
        }
    }
}
