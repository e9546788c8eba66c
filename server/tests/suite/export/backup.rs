//! `polymnemo backup` and `polymnemo restore`: from an external database to an embedded one, and from there.

use std::os::unix::fs::PermissionsExt as _;

use crate::{
    export::{
        everything::fill,
        world::{assert_same, export, person, unpacked},
    },
    support::{ServerProcess, TestApp, data_folder, key_of},
};

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_comes_back_whole_in_another_place() {
    let app = TestApp::start().await;
    let alice = person(&app, "alice").await;
    fill(&app, &alice, "alice").await;
    let bob = person(&app, "bob").await;
    app.service().remember(&bob, crate::export::everything::text("Of bob.")).await.unwrap();
    let alice = person(&app, "alice").await;
    let folder = data_folder();
    let data = app.blobs().parent().unwrap().to_string_lossy().into_owned();
    let external = [("POLYMNEMO_DATABASE_URL", app.database_url()), ("POLYMNEMO_DATA_DIR", data.as_str())];
    let run = |arguments: &[&str], settings: &[(&str, &str)]| {
        let output = ServerProcess::run(folder.path(), arguments, settings);
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = run(&["backup", "--output", "saved"], &external);
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = run(&["backup", "--output", "saved"], &external);
    assert!(code == Some(1) && told.contains("there already"), "{told}");
    let mode = std::fs::metadata(folder.path().join("saved")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "nobody else may read it");
    // Nothing that opens anything lies beside it.
    for entry in std::fs::read_dir(folder.path().join("saved")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(["backup.json", "database.dump", "blobs.jsonl", "blobs"].contains(&name.as_str()), "{name}");
    }

    // Into a database that is in use nothing is restored.
    let (code, told) = run(&["restore", "saved"], &external);
    assert!(code == Some(1) && told.contains("tables already"), "{told}");

    let keys = format!("{}:alice,{}:bob", key_of("alice"), key_of("bob"));
    let embedded = [("POLYMNEMO_API_KEYS", keys.as_str())];
    let (code, told) = run(&["restore", "saved"], &embedded);
    assert_eq!(code, Some(0), "{told}");
    for (user, ctx) in [("alice", &alice), ("bob", &bob)] {
        let file = format!("{user}.zip");
        let (code, told) = run(&["export", "--user", user, "--output", &file], &embedded);
        assert_eq!(code, Some(0), "{told}");
        let there = unpacked(&std::fs::read(folder.path().join(file)).unwrap());
        assert_same(&unpacked(&export(app.service(), ctx).await), &there);
    }

    // From the embedded one, which holds a key of the settings only, and back once more.
    let (code, told) = run(&["backup", "--output", "again"], &embedded);
    assert_eq!(code, Some(0), "{told}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("saved/blobs.jsonl"), read("again/blobs.jsonl"));
    let elsewhere = data_folder();
    let data = elsewhere.path().join("data").to_string_lossy().into_owned();
    let there = [("POLYMNEMO_DATA_DIR", data.as_str())];
    // A byte of it is damaged: nothing is restored.
    let dump = folder.path().join("again/database.dump");
    let whole = std::fs::read(&dump).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    std::fs::write(&dump, damaged).unwrap();
    let (code, told) = run(&["restore", "again"], &there);
    assert!(code == Some(1) && told.contains("damaged"), "{told}");
    std::fs::write(&dump, whole).unwrap();
    let (code, told) = run(&["restore", "again"], &there);
    assert_eq!(code, Some(0), "{told}");
}
