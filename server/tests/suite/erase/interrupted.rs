//! `kill -9` in the middle: the next start goes on, the counts are exact, and no word of it is left in the database, in the
//! directory of files or in the log.

use std::time::Duration;

use polymnemo_types::{EraseTarget, ErasedStore, ErasureState, ReceiptDocument};
use sea_orm::ConnectionTrait as _;

use crate::{
    erase::world::{converse, files_in, found, keep_file, person, remember, rewrite, rows_that_hold, service, within},
    support::{ServerProcess, TestDatabase, data_folder},
};

const MARKER: &str = "quincunxmarker";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_erasure_that_was_killed_goes_on_and_leaves_no_word() {
    let database = TestDatabase::create().await;
    let folder = data_folder();
    let blobs = folder.path().join("data/blobs");
    let here = service(database.url(), Some(&blobs)).await;
    let alice = person(&here, "alice").await;
    let experiment = async |number: u32| {
        let said = format!("The {MARKER} of experiment {number} is {}.", number * 7);
        remember(&here, &alice, within("lab", &said)).await
    };
    // In the middle, so that it is in the first batch from neither end.
    for number in 0..275 {
        experiment(number).await;
    }
    let held = remember(&here, &alice, within("lab", &format!("The {MARKER} is in the middle."))).await;
    for number in 275..550 {
        experiment(number).await;
    }
    rewrite(&here, &alice, held, &format!("The {MARKER} was rewritten.")).await;
    converse(&here, &alice, "lab chat", MARKER).await;
    let stays = remember(&here, &alice, within("home", "The kettle boils.")).await;
    let file = keep_file(&here, &alice, "notes.txt", "text/plain", MARKER, format!("{MARKER} in a file").into()).await;
    let moved =
        polymnemo_types::UpdateRequest { namespace: Some("lab".into()), ..polymnemo_types::UpdateRequest::new(file) };
    here.update(&alice, moved).await.unwrap();

    let target = EraseTarget::Namespace("lab".into());
    let erasure = here.begin_erasure(&alice, target, Some("lab")).await.unwrap();
    assert_eq!(erasure.before.items(), 552 - 1 + 1, "551 memories and a file; the session is in the default namespace");

    // Someone holds one of the memories, so the server comes to a halt in the middle of its work.
    let holder = database.connect_as_superuser().await;
    holder.execute_unprepared("begin").await.unwrap();
    holder.execute_unprepared(&format!("select from memories where id = '{held}' for update")).await.unwrap();
    let settings = [("POLYMNEMO_DATABASE_URL", database.url()), ("POLYMNEMO_LOG", "debug")];
    let mut server = ServerProcess::serve(folder.path(), &settings);
    let mut erased = 0;
    for _ in 0..600 {
        let now = here.erasure(&alice, erasure.id).await.unwrap().erased.items();
        if now > 0 && now == erased {
            break;
        }
        erased = now;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!((1..551).contains(&erased), "{erased} of 552 when it is killed");
    server.kill();
    server.wait();
    let first_log = server.log();
    assert_eq!(here.erasure(&alice, erasure.id).await.unwrap().state, ErasureState::Running);
    assert!(!rows_that_hold(&holder, MARKER).await.is_empty());
    assert!(found(&here, &alice, MARKER).await.len() < 2, "hidden all the same, but for the session");
    holder.execute_unprepared("rollback").await.unwrap();

    let server = ServerProcess::serve(folder.path(), &settings);
    let mut state = ErasureState::Running;
    for _ in 0..600 {
        state = here.erasure(&alice, erasure.id).await.unwrap().state;
        if state == ErasureState::Done {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(state, ErasureState::Done, "{}", server.log());
    let done = here.erasure(&alice, erasure.id).await.unwrap();
    for store in
        [ErasedStore::Memories, ErasedStore::Files, ErasedStore::Revisions, ErasedStore::Passages, ErasedStore::Terms]
    {
        assert_eq!(done.erased.of(store), done.before.of(store), "{store:?}");
    }
    let receipt: ReceiptDocument = serde_json::from_str(&here.receipt(erasure.id).await.unwrap().document).unwrap();
    assert_eq!(receipt.counts[&ErasedStore::Memories].before, 551);
    assert!(receipt.checks.iter().any(|check| check.path == "memories" && check.looked_for == 552));

    // The session goes as a single one; then there is no word left anywhere.
    let chat = found(&here, &alice, MARKER).await;
    let last = here.begin_erasure(&alice, EraseTarget::Memories(chat), None).await.unwrap();
    for _ in 0..600 {
        if here.erasure(&alice, last.id).await.unwrap().state == ErasureState::Done {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(rows_that_hold(&holder, MARKER).await, [""; 0]);
    for file in files_in(&blobs) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(MARKER), "{file:?}");
    }
    let log = first_log + &server.log();
    assert!(log.contains("an erasure is done and verified") && !log.contains(MARKER), "{log}");
    assert_eq!(found(&here, &alice, "kettle boils").await, [stays]);
    server.finish();
}
