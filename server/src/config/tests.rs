use std::ffi::OsString;

use super::*;

fn read(environment: &[(&str, &str)]) -> Result<Config, ConfigError> {
    read_with_file(environment, "")
}

fn read_with_file(environment: &[(&str, &str)], file: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".env");
    std::fs::write(&path, file).unwrap();
    let environment = environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    // A home, so that the default data directory exists for every user that runs the tests.
    let environment = environment.chain([("POLYMNEMO_DATA_DIR".into(), "/tmp/polymnemo-data".into())]);
    Config::from_settings(&Settings::from_sources(environment, &path)?)
}

fn refusal(environment: &[(&str, &str)]) -> String {
    let message = read(environment).expect_err("this must be refused").to_string();
    assert!(!message.contains('\n'), "the message must be one line: {message}");
    message
}

#[test]
fn everything_has_a_default() {
    let config = read(&[]).unwrap();
    assert_eq!(config.network.address().to_string(), "127.0.0.1:8000");
    assert_eq!(config.network.mcp_path, "/mcp");
    assert_eq!(config.memory.shared_namespaces, ["shared"]);
    assert_eq!(config.memory.user_defaults.namespace, "personal");
    assert!(config.database.url.is_none());
    assert_eq!(config.embedder.model, "multilingual-e5-small");
    assert!(config.embedder.model_dir.ends_with("runtime/models/multilingual-e5-small"));
    assert_eq!(config.access.stdio_user().unwrap(), "local");
}

#[test]
fn the_environment_wins_over_the_file_and_plain_port_is_understood() {
    let file = "POLYMNEMO_PORT=1111\nPOLYMNEMO_DEFAULT_NAMESPACE='from file'\nUNRELATED=1\n";
    let config = read_with_file(&[("POLYMNEMO_PORT", "2222")], file).unwrap();
    assert_eq!(config.network.port, 2222);
    assert_eq!(config.memory.user_defaults.namespace, "from file");
    assert_eq!(read(&[("PORT", "3333")]).unwrap().network.port, 3333);
    assert_eq!(read(&[("POLYMNEMO_HOST", "localhost")]).unwrap().network.address().to_string(), "127.0.0.1:8000");
    assert_eq!(read(&[("PORT", "3333"), ("POLYMNEMO_PORT", "4444")]).unwrap().network.port, 4444);
}

#[test]
fn an_empty_value_is_not_set() {
    assert_eq!(read(&[("POLYMNEMO_PORT", ""), ("POLYMNEMO_API_KEYS", " ")]).unwrap().network.port, 8000);
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_known_one() {
    let message = refusal(&[("POLYMNEMO_DATABSE_URL", "postgres://x/y")]);
    assert_eq!(message, "POLYMNEMO_DATABSE_URL: there is no such setting; did you mean POLYMNEMO_DATABASE_URL?");
    let message = refusal(&[("POLYMNEMO_FLUX_CAPACITOR", "on")]);
    assert!(message.ends_with("`polymnemo --help` lists all"), "{message}");
    let message = read_with_file(&[], "POLYMNEMO_HOTS=127.0.0.1").unwrap_err().to_string();
    assert!(message.ends_with("did you mean POLYMNEMO_HOST?"), "{message}");
}

#[test]
fn what_this_version_lacks_is_refused_and_not_ignored() {
    for name in ["POLYMNEMO_RATELIMIT_ENABLED", "POLYMNEMO_RSP_CONFIG"] {
        let message = refusal(&[(name, "x")]);
        assert!(message.starts_with(name) && message.contains("not supported by this version"), "{message}");
    }
}

#[test]
fn a_malformed_value_is_refused_by_name() {
    let wrong = [
        ("POLYMNEMO_PORT", "80x"),
        ("POLYMNEMO_PORT", "70000"),
        ("POLYMNEMO_HOST", "localhost:80"),
        ("POLYMNEMO_PUBLIC_URL", "memory.example.com"),
        ("POLYMNEMO_PUBLIC_URL", "ftp://memory.example.com"),
        ("POLYMNEMO_PUBLIC_URL", "https://memory.example.com/mcp"),
        ("POLYMNEMO_MCP_PATH", "mcp"),
        ("POLYMNEMO_MCP_PATH", "/"),
        ("POLYMNEMO_MCP_PATH", "/a/{b}"),
        ("POLYMNEMO_MCP_PATH", "/api/mcp"),
        ("POLYMNEMO_ALLOWED_HOSTS", "https://x"),
        ("POLYMNEMO_ALLOWED_ORIGINS", "app.example.com"),
        ("POLYMNEMO_API_KEYS", "no-user"),
        ("POLYMNEMO_API_KEYS", "key:"),
        ("POLYMNEMO_API_KEYS", "the-same-key-twice:a,the-same-key-twice:b"),
        ("POLYMNEMO_API_KEYS", ","),
        ("POLYMNEMO_CAPABILITY_TOKENS", "alice:too-short"),
        ("POLYMNEMO_OIDC_ISSUER", "id.example.com"),
        ("POLYMNEMO_TIME_ZONE", "Mars/Olympus"),
        ("POLYMNEMO_DEFAULT_NAMESPACE", "shared"),
        ("POLYMNEMO_SHARED_NAMESPACES", "team,<b>"),
        ("POLYMNEMO_DATABASE_URL", "mysql://user:hunter2@host/db"),
        ("POLYMNEMO_DATABASE_MAX_CONNECTIONS", "1"),
        ("POLYMNEMO_DATABASE_MAX_CONNECTIONS", "many"),
        ("POLYMNEMO_EMBED_MODEL", "../etc"),
        ("POLYMNEMO_EMBED_MODEL", "multilingual-e5-huge"),
        ("POLYMNEMO_LOG", "polymnemo=loud"),
        ("POLYMNEMO_LOG_FORMAT", "xml"),
    ];
    for (name, value) in wrong {
        let message = refusal(&[(name, value)]);
        assert!(message.starts_with(&format!("{name}: ")), "{name}={value} gave: {message}");
    }
}

#[test]
fn what_only_the_tests_read_does_not_keep_the_server_from_starting() {
    read(&[("POLYMNEMO_EVAL_DATA", "/data"), ("POLYMNEMO_TEST_DATABASE_URL", "postgres://x/y")]).unwrap();
}

#[test]
fn an_unknown_model_is_refused_with_the_known_ones() {
    let message = refusal(&[("POLYMNEMO_EMBED_MODEL", "multilingual-e5-huge")]);
    for known in ["all-MiniLM-L6-v2", EmbedderConfig::DEFAULT_MODEL, "use-multilingual-v3", "POLYMNEMO_EMBED_MODEL_DIR"]
    {
        assert!(message.contains(known), "{message}");
    }
}

#[test]
fn two_settings_for_one_thing_are_refused() {
    let message = refusal(&[("POLYMNEMO_EMBED_MODEL", "minilm"), ("POLYMNEMO_EMBED_MODEL_DIR", "/models/mine")]);
    assert!(message.contains("set only one of the two"), "{message}");
}

#[test]
fn no_message_and_no_debug_text_holds_a_secret() {
    let keys = "hunter2-hunter2-hunter2:alice,hunter2-hunter2-hunter2:bob";
    assert!(!refusal(&[("POLYMNEMO_API_KEYS", keys)]).contains("hunter2"));
    assert!(!refusal(&[("POLYMNEMO_DATABASE_URL", "hunter2")]).contains("hunter2"));
    assert!(!refusal(&[("POLYMNEMO_PUBLIC_URL", "https://me:hunter2@example.com")]).contains("hunter2"));
    assert!(!refusal(&[("POLYMNEMO_CAPABILITY_TOKENS", "alice:hunter2")]).contains("hunter2"));
    assert!(!refusal(&[("POLYMNEMO_OIDC_ISSUER", "https://me:hunter2@example.com")]).contains("hunter2"));
    let broken = "POLYMNEMO_HOST=127.0.0.1\nPOLYMNEMO_API_KEYS=hunter2 and more\n";
    let message = read_with_file(&[], broken).unwrap_err().to_string();
    assert!(message.contains("line 2") && !message.contains("hunter2"), "{message}");

    let config = read(&[
        ("POLYMNEMO_API_KEYS", "hunter2-hunter2-hunter2:alice"),
        ("POLYMNEMO_DATABASE_URL", "postgres://me:hunter2@localhost/db"),
        ("POLYMNEMO_CAPABILITY_TOKENS", "alice:hunter2-hunter2-hunter2-hunter2-hunter2"),
    ]);
    assert!(!format!("{:?}", config.unwrap()).contains("hunter2"));
}

#[test]
fn short_keys_are_for_this_machine_only() {
    let keys = ("POLYMNEMO_API_KEYS", "short:alice");
    assert_eq!(read(&[keys]).unwrap().access.api_keys.len(), 1);
    for open in [("POLYMNEMO_HOST", "0.0.0.0"), ("POLYMNEMO_PUBLIC_URL", "https://memory.example.com")] {
        assert!(refusal(&[keys, open]).contains("shorter than 16 characters"));
    }
}

#[test]
fn stdio_works_for_the_only_user_or_the_chosen_one() {
    let of = |environment: &[(&str, &str)]| read(environment).unwrap().access.stdio_user().map(str::to_owned);
    assert_eq!(of(&[("POLYMNEMO_API_KEYS", "k1:alice,k2:alice")]).unwrap(), "alice");
    let two = ("POLYMNEMO_API_KEYS", "k1:alice,k2:bob");
    assert!(of(&[two]).unwrap_err().to_string().starts_with("POLYMNEMO_STDIO_USER: "));
    assert_eq!(of(&[two, ("POLYMNEMO_STDIO_USER", "bob")]).unwrap(), "bob");
}

#[test]
fn hosts_and_origins_are_those_of_the_server_and_the_given_ones() {
    let network = read(&[
        ("POLYMNEMO_PUBLIC_URL", "https://Memory.example.com"),
        ("POLYMNEMO_ALLOWED_HOSTS", "polymnemo, nas.local:8000"),
        ("POLYMNEMO_ALLOWED_ORIGINS", "https://app.example.com, http://tool.test:*"),
    ])
    .unwrap()
    .network;
    let host = |text: &str| {
        let given = Authority::parse(text).unwrap();
        network.allowed_hosts.iter().any(|allowed| allowed.admits(&given))
    };
    for good in [
        "localhost:8000",
        "127.0.0.1",
        "[::1]:99",
        "memory.example.com",
        "MEMORY.example.com:443",
        "polymnemo:1",
        "nas.local:8000",
    ] {
        assert!(host(good), "{good}");
    }
    for bad in ["evil.example.com", "nas.local:8001", "memory.example.com.evil.net", "localhost.evil.net"] {
        assert!(!host(bad), "{bad}");
    }
    let origin = |text: &str| {
        AllowedOrigin::parse(text)
            .is_some_and(|given| network.allowed_origins.iter().any(|allowed| allowed.admits(&given)))
    };
    for good in [
        "https://memory.example.com",
        "http://localhost:6274",
        "https://app.example.com:443",
        "http://tool.test:1234",
        "http://polymnemo:7",
    ] {
        assert!(origin(good), "{good}");
    }
    for bad in [
        "http://memory.example.com",
        "https://app.example.com:444",
        "https://evil.net",
        "null",
        "http://memory.example.com@evil.net",
    ] {
        assert!(!origin(bad), "{bad}");
    }
}

#[test]
fn the_origin_is_the_public_one_or_what_the_client_called() {
    let mut headers = http::HeaderMap::new();
    headers.insert(http::header::HOST, "localhost:8000".parse().unwrap());
    assert_eq!(read(&[]).unwrap().network.origin_for(&headers), "http://localhost:8000");
    let fixed = read(&[("POLYMNEMO_PUBLIC_URL", "https://memory.example.com/")]).unwrap().network;
    assert_eq!(fixed.origin_for(&headers), "https://memory.example.com");
}

#[test]
fn the_example_file_lists_every_setting_with_its_default() {
    let example = include_str!("../../../deploy/env.example");
    let listed: Vec<&str> = example
        .lines()
        .filter_map(|line| line.strip_prefix('#').unwrap_or(line).split_once('='))
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("POLYMNEMO_"))
        .collect();
    let all: Vec<&str> = settings::SETTINGS.iter().map(|setting| setting.name).collect();
    assert_eq!(listed, all, "deploy/env.example and the table of settings differ");
}
