use std::{collections::BTreeSet, fs, time::Duration};

use serde_json::{Value, json};

use crate::{
    imports::claude,
    support::{ServerProcess, data_folder},
};

/// A process that is killed in the middle of an import, several times, leaves nothing half and nothing double.
#[test]
fn an_import_that_was_killed_goes_on_where_it_was() {
    let folder = data_folder();
    let conversations: Vec<Value> =
        (0..120).map(|number| claude(&format!("c{number}"), &format!("Conversation {number}"), 12)).collect();
    let export = folder.path().join("conversations.json");
    fs::write(&export, json!(conversations).to_string()).unwrap();
    let report = folder.path().join("report.jsonl");
    let (export, report_path) = (export.to_str().unwrap(), report.to_str().unwrap());
    let arguments = ["import", export, "--yes", "--report", report_path];
    let command = || ServerProcess::command(folder.path(), &arguments);
    // The database starts with the first process and stays while the import is killed again and again.
    let mut server = ServerProcess::serve(folder.path(), &[]);
    for milliseconds in [2_500, 2_800, 3_100] {
        let mut child = command().spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // Whoever died lets go after half a minute.
    let done = loop {
        let output = command().output().unwrap();
        if output.status.success() {
            break output;
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("Another process is importing"), "{said}");
        std::thread::sleep(Duration::from_secs(3));
    };
    let said = String::from_utf8(done.stdout).unwrap();
    let lines: Vec<Value> =
        fs::read_to_string(&report).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 120, "{said}");
    let memories: BTreeSet<&str> = lines.iter().map(|line| line["memory"].as_str().unwrap()).collect();
    assert_eq!(memories.len(), 120);
    assert!(lines.iter().all(|line| line["outcome"] == "created" && line["messages"] == 12), "{said}");

    // Everything of it goes with one undoing, so there was nothing beside it. Whoever undoes it is killed as well, and so is
    // the server, which goes on with it otherwise.
    let id = said.split("--undo ").nth(1).unwrap().trim();
    let undo = ["import", "--undo", id];
    for milliseconds in [2_200, 2_600, 3_000] {
        let mut child = ServerProcess::command(folder.path(), &undo).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        server.kill();
        server.wait();
        server = ServerProcess::serve(folder.path(), &[]);
    }
    let undone = ServerProcess::run(folder.path(), &undo, &[]);
    let said = String::from_utf8(undone.stdout).unwrap();
    assert!(said.contains("Taken back: 120.") && said.contains("Kept: 0."), "{said}");
    let again = ServerProcess::run(folder.path(), &["import", export], &[]);
    let told = String::from_utf8(again.stdout).unwrap();
    assert!(told.contains("New: 120.") && told.contains("Nothing was written."), "{told}");
    server.finish();
}
