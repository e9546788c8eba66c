//! What the binary says to settings that can't work: one line, and exit code 2.

use std::process::Output;

use crate::support::{ServerProcess, data_folder};

/// The one line on standard error; nothing may be on standard output.
fn line(output: &Output) -> String {
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(out, "");
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    error.trim_end().to_owned()
}

#[test]
fn a_misspelt_setting_stops_the_start_and_the_right_name_is_suggested() {
    let folder = data_folder();
    let output = ServerProcess::run(folder.path(), &[], &[("POLYMNEMO_SHARED_NAMESPACE", "team")]);
    insta::assert_snapshot!(
        line(&output),
        @"polymnemo: POLYMNEMO_SHARED_NAMESPACE: there is no such setting; did you mean POLYMNEMO_SHARED_NAMESPACES?"
    );
}

#[test]
fn a_malformed_value_in_the_file_stops_every_command() {
    let folder = data_folder();
    std::fs::write(folder.path().join(".env"), "POLYMNEMO_PORT=eighty\n").unwrap();
    for command in ["serve", "stdio", "migrate", "setup"] {
        let output = ServerProcess::run(folder.path(), &[command], &[]);
        assert_eq!(line(&output), "polymnemo: POLYMNEMO_PORT: `eighty` is not a port; give a number from 1 to 65535");
    }
}

#[test]
fn an_unreachable_database_stops_the_start_without_a_word_of_its_password() {
    let folder = data_folder();
    let url = "postgres://me:hunter2@127.0.0.1:1/memory";
    let settings = [("POLYMNEMO_DATABASE_URL", url), ("POLYMNEMO_PORT", "0"), ("POLYMNEMO_LOG", "warn")];
    let line = line(&ServerProcess::run(folder.path(), &["serve"], &settings));
    assert!(line.starts_with("polymnemo: POLYMNEMO_DATABASE_URL: the database can't be used: "), "{line}");
    assert!(!line.contains("hunter2"), "{line}");
}

#[test]
fn a_missing_model_stops_the_start_and_names_the_set_up() {
    let folder = data_folder();
    let runtime = folder.path().join("empty");
    let settings = [("POLYMNEMO_RUNTIME_DIR", runtime.to_str().unwrap()), ("POLYMNEMO_PORT", "0")];
    let line = line(&ServerProcess::run(folder.path(), &["serve"], &settings));
    assert!(line.contains("polymnemo setup"), "{line}");
}

#[test]
fn a_port_in_use_stops_the_start_and_is_named() {
    let folder = data_folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let line = line(&ServerProcess::run(folder.path(), &["serve"], &[("POLYMNEMO_PORT", &port)]));
    let expected = format!("polymnemo: POLYMNEMO_PORT: 127.0.0.1:{port} is in use already;");
    assert!(line.starts_with(&expected), "{line}");
}

#[test]
fn the_doctor_reports_a_malformed_setting_as_a_failed_check() {
    let folder = data_folder();
    let output = ServerProcess::run(folder.path(), &["doctor"], &[("POLYMNEMO_LOG_FORMAT", "xml")]);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8_lossy(&output.stdout);
    assert_eq!(report, "FAIL  settings: POLYMNEMO_LOG_FORMAT: `xml` is not a format; give human or json\n");
}

#[test]
fn the_doctor_names_the_set_up_where_parts_are_missing() {
    let folder = data_folder();
    let runtime = folder.path().join("empty");
    let settings = [("POLYMNEMO_RUNTIME_DIR", runtime.to_str().unwrap()), ("POLYMNEMO_PORT", "0")];
    let output = ServerProcess::run(folder.path(), &["doctor"], &settings);
    assert_eq!(output.status.code(), Some(1));
    let report = String::from_utf8_lossy(&output.stdout);
    for part in ["runtime library", "model", "database"] {
        let line = report.lines().find(|line| line.contains(&format!("{part}:"))).unwrap();
        assert!(line.starts_with("FAIL") && line.contains("polymnemo setup"), "{line}");
    }
    assert!(report.contains("pass  data directory"), "{report}");
}

#[test]
fn version_and_help_need_no_settings() {
    let folder = data_folder();
    let broken = [("POLYMNEMO_PORT", "eighty")];
    let version = ServerProcess::run(folder.path(), &["--version"], &broken);
    assert!(version.status.success());
    assert_eq!(String::from_utf8_lossy(&version.stdout).trim(), concat!("polymnemo ", env!("CARGO_PKG_VERSION")));
    let help = ServerProcess::run(folder.path(), &["--help"], &broken);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    for word in ["serve", "stdio", "migrate", "setup", "doctor", "POLYMNEMO_API_KEYS"] {
        assert!(help.contains(word), "{word} is missing in {help}");
    }
}
