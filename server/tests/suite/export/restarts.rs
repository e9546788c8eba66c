//! Exports whose writer died.

use std::time::{Duration, Instant};

use sea_orm::ConnectionTrait as _;

use crate::{
    export::{
        everything::text,
        world::{column, person, unpacked},
    },
    support::{ServerProcess, TestApp, data_folder},
};

const COPIES: u32 = 40_000;

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_killed_is_begun_again_and_is_whole() {
    let mut app = TestApp::start().await;
    let alice = person(&app, "alice").await;
    app.service().remember(&alice, text("It is copied.")).await.unwrap();
    // Only the processes below write exports.
    let halted = app.halt();
    halted.await.unwrap().unwrap();
    let user = alice.user.id;
    let database = app.database().await;
    let copies = format!(
        "insert into memories (id, user_id, namespace_id, kind, content, content_hash, occurred_at, created_at, updated_at)
         select gen_random_uuid(), m.user_id, m.namespace_id, 'memory', repeat(md5(n::text) || ' ', 30),
             sha256(n::text::bytea), m.occurred_at, m.created_at, m.updated_at
         from memories m, generate_series(1, {COPIES}) n where m.user_id = '{user}'"
    );
    database.execute_unprepared(&copies).await.unwrap();
    let request = format!(
        "insert into exports (id, user_id, state, requested_at) values (gen_random_uuid(), '{user}', 'queued', now())"
    );

    let folder = data_folder();
    let url = app.database_url().to_owned();
    let settings = [("POLYMNEMO_DATABASE_URL", url.as_str())];
    let mut first = ServerProcess::serve(folder.path(), &settings);
    database.execute_unprepared(&request).await.unwrap();
    let under_way = "select state from exports where state = 'running' and progress > 50";
    let begun = Instant::now();
    while column(&app, under_way).await.is_empty() {
        let state = column(&app, "select concat(state, ' ', progress) from exports").await;
        assert!(begun.elapsed() < Duration::from_secs(60) && !state[0].starts_with("ready"), "{state:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    first.kill();
    first.wait();
    assert_eq!(column(&app, "select state from exports").await, ["running"]);
    assert!(column(&app, "select object_key from exports where object_key is not null").await.is_empty());

    let second = ServerProcess::serve(folder.path(), &settings);
    let begun = Instant::now();
    while column(&app, "select state from exports").await != ["ready"] {
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "{:?}",
            column(&app, "select exports::text from exports").await
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let key = column(&app, "select object_key from exports").await.remove(0);
    let object = folder.path().join("data/blobs/objects").join(key.get(..2).unwrap()).join(&key);
    let files = unpacked(&std::fs::read(object).unwrap());
    let lines = files["memories.jsonl"].iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(lines, COPIES as usize + 1);
    assert_eq!(column(&app, "select attempts::text from exports").await, ["2"]);
    let parts: Vec<_> = std::fs::read_dir(folder.path().join("data/exports")).unwrap().collect();
    assert!(parts.is_empty(), "{parts:?}");
    drop(second);
}
