//! `polymnemo export`.

use crate::{
    export::{
        everything::text,
        world::{assert_same, export, person, unpacked},
    },
    support::{ServerProcess, TestApp, data_folder, key_of},
};

#[tokio::test(flavor = "multi_thread")]
async fn the_command_writes_the_same_beside_a_running_server() {
    let app = TestApp::start().await;
    let alice = person(&app, "alice").await;
    app.service().remember(&alice, text("At the terminal, too. 终端。")).await.unwrap();
    let folder = data_folder();
    let keys = format!("{}:alice", key_of("alice"));
    let settings = [("POLYMNEMO_DATABASE_URL", app.database_url()), ("POLYMNEMO_API_KEYS", keys.as_str())];
    let run = |arguments: &[&str]| ServerProcess::run(folder.path(), arguments, &settings);

    let output = run(&["export", "--output", "mine.zip"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("1 memories"), "{told}");
    let written = std::fs::read(folder.path().join("mine.zip")).unwrap();
    assert_same(&unpacked(&written), &unpacked(&export(app.service(), &alice).await));

    let again = run(&["export", "--output", "mine.zip"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8(again.stderr).unwrap().contains("--overwrite"));
    let by_id = alice.user.id.to_string();
    assert_eq!(run(&["export", "--user", &by_id, "--output", "mine.zip", "--overwrite"]).status.code(), Some(0));

    let nobody = run(&["export", "--user", "nobody", "--output", "nobody.zip"]);
    assert_eq!(nobody.status.code(), Some(1));
    assert!(String::from_utf8(nobody.stderr).unwrap().contains("there is no user `nobody`"));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        !left
            .iter()
            .any(|name| name.to_string_lossy().contains("nobody") || name.to_string_lossy().starts_with(".poly")),
        "{left:?}"
    );
}
