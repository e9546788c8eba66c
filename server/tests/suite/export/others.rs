use polymnemo_memory::CountedKind;

use crate::{
    export::world::{
        alice_with_everything, assert_unchanged, column, count, erase, export, import, person, rows_of, unpacked,
    },
    support::TestApp,
};

#[tokio::test]
async fn ids_that_someone_else_has_are_replaced_throughout() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, archive) = alice_with_everything(&app).await;
    let hers = rows_of(&app, &alice).await;

    let bob = person(&app, "bob").await;
    let report = import(service, &bob, &archive).await.unwrap();
    assert_eq!(rows_of(&app, &alice).await, hers, "nothing of hers was touched");
    for (kind, added) in [(CountedKind::Memory, 9), (CountedKind::Session, 3), (CountedKind::Media, 4)] {
        assert_eq!(count(&report, kind).added, added, "{kind:?}: {report:?}");
    }
    assert!(report.problems.is_empty(), "{report:?}");
    let bob = person(&app, "bob").await;
    assert_unchanged(&import(service, &bob, &archive).await.unwrap());

    // All but the ids is the same, and they refer to each other as hers do.
    let (hers, his) = (unpacked(&archive), unpacked(&export(service, &bob).await));
    let lines = |files: &crate::export::world::Files| -> Vec<serde_json::Value> {
        let text = String::from_utf8(files["memories.jsonl"].clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (hers, his) = (lines(&hers), lines(&his));
    assert_eq!(hers.len(), his.len());
    let by_content = |memories: &[serde_json::Value], content: &str| {
        memories.iter().find(|memory| memory["content"] == content).unwrap().clone()
    };
    for memory in &hers {
        let other = by_content(&his, memory["content"].as_str().unwrap());
        assert_ne!(memory["id"], other["id"]);
        for field in ["created_at", "updated_at", "occurred_at", "tags", "revision", "namespace", "forgotten_at"] {
            assert_eq!(memory[field], other[field], "{field}");
        }
    }
    let leipzig = by_content(&his, "The office is in Leipzig.");
    let berlin = by_content(&his, "The office is in Berlin.");
    assert_eq!(berlin["superseded_by"], leipzig["id"]);
    assert_eq!(leipzig["supersedes"][0], berlin["id"]);
    let origin = by_content(&his, "They drink black tea.")["origin"].clone();
    assert!(his.iter().any(|memory| memory["id"] == origin["session"] && memory["kind"] == "session"), "{origin}");

    // Each has bytes of their own.
    let keys = column(&app, "select distinct object_key from media").await;
    assert_eq!(keys.len(), 8);
    erase(&app, &alice).await;
    service.sweep_files().await.unwrap();
    assert_eq!(unpacked(&export(service, &bob).await).keys().filter(|path| path.starts_with("files/")).count(), 4);
}

#[tokio::test]
async fn what_was_private_does_not_become_public() {
    let app = TestApp::builder().setting("POLYMNEMO_SHARED_NAMESPACES", "team").start().await;
    let service = app.service();
    let alice = person(&app, "alice").await;
    let new = polymnemo_types::RememberRequest {
        namespace: Some("team".into()),
        ..crate::export::everything::text("A secret of mine.")
    };
    service.remember(&alice, new).await.unwrap();
    let mut files = unpacked(&export(service, &alice).await);
    // It comes from a server whose settings share nothing.
    let text = String::from_utf8(files["namespaces.jsonl"].clone())
        .unwrap()
        .replace("\"shared_by_server\":true", "\"shared_by_server\":false");
    files.insert("namespaces.jsonl".into(), text.into_bytes());
    crate::export::world::listed_anew(&mut files);
    erase(&app, &alice).await;
    let alice = person(&app, "alice").await;
    let report = import(service, &alice, &crate::export::world::packed(&files)).await.unwrap();
    assert_eq!(count(&report, CountedKind::Memory).conflicting, 1, "{report:?}");
    assert!(report.problems.iter().any(|problem| problem.reason.contains("everyone on this server")), "{report:?}");
    assert!(column(&app, "select content from memories").await.is_empty());
}
