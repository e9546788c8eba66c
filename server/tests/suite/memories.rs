//! Stories of memories: stored once, changed without loss, forgotten without a trace in any search.

use std::collections::HashSet;

use futures::future::join_all;
use jiff::SignedDuration;
use polymnemo_memory::Error;
use polymnemo_types::{
    GetRequest, IndexState, ListRequest, MemoryId, RecallRequest, RememberRequest, RememberStatus, UpdateRequest,
    limits,
};

use crate::support::{TestApp, noon, with_clock};

fn text(content: &str) -> RememberRequest {
    RememberRequest { content: content.to_owned(), ..RememberRequest::default() }
}

fn query(query: &str) -> RecallRequest {
    RecallRequest { query: query.to_owned(), ..RecallRequest::default() }
}

fn change(id: MemoryId) -> UpdateRequest {
    UpdateRequest {
        id,
        content: None,
        tags: None,
        source: None,
        namespace: None,
        occurred_at: None,
        expected_revision: None,
    }
}

fn whole(id: MemoryId) -> GetRequest {
    GetRequest { id, offset: 0, max_bytes: Some(u64::MAX) }
}

#[tokio::test]
async fn the_same_text_is_one_memory_even_from_fifty_sides_at_once() {
    let app = TestApp::start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let answers = join_all((0..50).map(|_| service.remember(&alice, text("My bike is green.")))).await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    assert_eq!(answers.iter().map(|answer| answer.id).collect::<HashSet<_>>().len(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.status == RememberStatus::Stored).count(), 1);

    let other_namespace = RememberRequest { namespace: Some("work".into()), ..text("My bike is green.") };
    let elsewhere = service.remember(&alice, other_namespace).await.unwrap();
    let of_bob = service.remember(&bob, text("My bike is green.")).await.unwrap();
    assert_eq!((elsewhere.status, of_bob.status), (RememberStatus::Stored, RememberStatus::Stored));
    assert_eq!(service.list_memories(&alice, ListRequest::default()).await.unwrap().total, 2);
}

#[tokio::test]
async fn an_idempotency_key_stores_once_and_refuses_another_text() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let keyed = |content: &str, namespace: &str| RememberRequest {
        idempotency_key: Some("request-1".into()),
        namespace: Some(namespace.into()),
        ..text(content)
    };
    let answers = join_all(
        (0..20).map(|n| service.remember(&alice, keyed("Tea at five.", if n % 2 == 0 { "home" } else { "work" }))),
    )
    .await;
    let ids: HashSet<_> = answers.into_iter().map(|answer| answer.unwrap().id).collect();
    assert_eq!(ids.len(), 1);
    let error = service.remember(&alice, keyed("Tea at six.", "home")).await.unwrap_err();
    assert!(error.to_string().contains("idempotency_key"), "{error}");
    assert_eq!(service.list_memories(&alice, ListRequest::default()).await.unwrap().total, 1);

    // A retry that comes late finds the memory changed, perhaps more than once, and is none the less a retry.
    let id = *ids.iter().next().unwrap();
    for (content, revision) in [("Tea at seven.", 2), ("Tea at eight.", 3)] {
        service.update(&alice, UpdateRequest { content: Some(content.into()), ..change(id) }).await.unwrap();
        let again = service.remember(&alice, keyed("Tea at five.", "home")).await.unwrap();
        assert_eq!((again.id, again.status, again.revision), (id, RememberStatus::AlreadyStored, revision));
    }
    let error = service.remember(&alice, keyed("Tea at six.", "home")).await.unwrap_err();
    assert!(error.to_string().contains("Use a new key for a new text"), "{error}");
    assert_eq!(service.list_memories(&alice, ListRequest::default()).await.unwrap().total, 1);
}

#[tokio::test]
async fn a_correction_takes_the_place_of_what_it_supersedes() {
    let app = TestApp::start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let old = service.remember(&alice, text("Anna lives in Hamburg.")).await.unwrap().id;
    let correction = RememberRequest { supersedes: vec![old], ..text("Anna lives in Berlin.") };
    let error = service.remember(&bob, correction.clone()).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(id) if id == old), "{error}");

    let new = service.remember(&alice, correction).await.unwrap().id;
    let found = service.recall(&alice, query("Where does Anna live")).await.unwrap();
    assert_eq!(found.hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>(), [new]);
    assert_eq!(found.hits[0].memory.supersedes, [old]);
    let history = RecallRequest { include_superseded: true, ..query("Where does Anna live") };
    assert_eq!(service.recall(&alice, history).await.unwrap().hits.len(), 2);
    let read = service.get_memory(&alice, whole(old)).await.unwrap();
    assert_eq!(read.memory.superseded_by, Some(new));

    // Without the correction the old fact is current again, and with it superseded again.
    service.forget(&alice, &[new]).await.unwrap();
    assert_eq!(service.recall(&alice, query("Anna")).await.unwrap().hits[0].memory.id, old);
    service.restore(&alice, new).await.unwrap();
    assert_eq!(service.recall(&alice, query("Anna")).await.unwrap().hits[0].memory.id, new);
}

#[tokio::test]
async fn an_update_indexes_all_of_a_long_text_anew_and_keeps_the_old_one() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let filler = |word: &str| format!("{word} ").repeat(900);
    let old_text = format!("{} The code word is vermilion. {}", filler("alpha"), filler("beta"));
    let new_text = format!("{} The code word is turquoise. {}", filler("gamma"), filler("delta"));
    let id = service.remember(&alice, text(&old_text)).await.unwrap().id;

    let updated = service
        .update(&alice, UpdateRequest { content: Some(new_text.clone()), expected_revision: Some(1), ..change(id) })
        .await
        .unwrap();
    assert_eq!((updated.revision, updated.changed), (2, true));
    assert_eq!(service.get_memory(&alice, whole(id)).await.unwrap().content, new_text);
    let (old_word, new_word) = (
        service.recall(&alice, query("vermilion")).await.unwrap(),
        service.recall(&alice, query("turquoise")).await.unwrap(),
    );
    assert!(old_word.hits.is_empty());
    assert_eq!(new_word.hits.len(), 1);
    assert!(new_word.hits[0].passage.contains("turquoise"));
    let revisions = service.revisions(&alice, id, None, None).await.unwrap();
    assert_eq!(
        revisions.iter().map(|revision| (revision.revision, &revision.content)).collect::<Vec<_>>(),
        [(1, &old_text)]
    );

    let stale = UpdateRequest { tags: Some(vec!["x".into()]), expected_revision: Some(1), ..change(id) };
    let error = service.update(&alice, stale).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { expected: 1, current: 2 }), "{error}");
    let same = service.update(&alice, UpdateRequest { content: Some(new_text), ..change(id) }).await.unwrap();
    assert_eq!((same.revision, same.changed), (2, false));
}

#[tokio::test]
async fn updates_at_the_same_time_lose_nothing() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let id = service.remember(&alice, text("zero")).await.unwrap().id;
    let texts: Vec<String> = (1..=4).map(|number| format!("version {number}")).collect();
    let answers = join_all(
        texts
            .iter()
            .map(|content| service.update(&alice, UpdateRequest { content: Some(content.clone()), ..change(id) })),
    )
    .await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    let mut seen: Vec<String> =
        service.revisions(&alice, id, None, None).await.unwrap().into_iter().map(|revision| revision.content).collect();
    seen.push(service.get_memory(&alice, whole(id)).await.unwrap().content);
    seen.sort();
    assert_eq!(seen, ["version 1", "version 2", "version 3", "version 4", "zero"]);
}

#[tokio::test]
async fn a_memory_moves_to_another_namespace_unless_its_text_is_there() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let here = service.remember(&alice, text("Tea at five.")).await.unwrap().id;
    let there = RememberRequest { namespace: Some("work".into()), ..text("Tea at five.") };
    let there = service.remember(&alice, there).await.unwrap().id;
    let to_work = UpdateRequest { namespace: Some("work".into()), ..change(here) };
    let error = service.update(&alice, to_work.clone()).await.unwrap_err();
    assert!(error.to_string().contains(&there.to_string()), "{error}");
    service.forget(&alice, &[there]).await.unwrap();
    assert_eq!(service.update(&alice, to_work).await.unwrap().namespace, "work");
    let error = service.restore(&alice, there).await.unwrap_err();
    assert!(error.to_string().contains(&here.to_string()), "{error}");
    let in_work = RecallRequest { namespace: Some("work".into()), ..query("tea") };
    assert_eq!(service.recall(&alice, in_work).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn forgetting_hides_every_passage_at_once_and_all_or_none() {
    let app = TestApp::start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let long = format!("{} Marzipan is in the attic.", "Nothing much happened today. ".repeat(500));
    let long = service.remember(&alice, text(&long)).await.unwrap();
    let short = service.remember(&alice, text("Marzipan is sweet.")).await.unwrap();
    let of_bob = service.remember(&bob, text("Marzipan again.")).await.unwrap();

    let error = service.forget(&alice, &[short.id, of_bob.id]).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(id) if id == of_bob.id));
    assert_eq!(service.recall(&alice, query("marzipan")).await.unwrap().hits.len(), 2);

    service.forget(&alice, &[long.id, short.id]).await.unwrap();
    service.forget(&alice, &[long.id]).await.unwrap();
    assert!(service.recall(&alice, query("marzipan")).await.unwrap().hits.is_empty());
    assert!(matches!(service.get_memory(&alice, whole(long.id)).await, Err(Error::NotFound(_))));
    assert_eq!(service.list_memories(&alice, ListRequest::default()).await.unwrap().total, 0);
    let trash = ListRequest { trash: true, ..ListRequest::default() };
    assert_eq!(service.list_memories(&alice, trash.clone()).await.unwrap().total, 2);
    assert_eq!(service.list_memories(&bob, trash).await.unwrap().total, 0);

    service.restore(&alice, long.id).await.unwrap();
    assert_eq!(service.recall(&alice, query("marzipan")).await.unwrap().hits[0].memory.id, long.id);
    assert_eq!(service.recall(&bob, query("marzipan")).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn the_trash_empties_after_thirty_days() {
    let app = TestApp::start().await;
    let clock = noon();
    let service = with_clock(&app, &clock).await;
    let alice = app.ctx("alice").await;
    let id = service.remember(&alice, text("Old news.")).await.unwrap().id;
    let forgotten = service.forget(&alice, &[id]).await.unwrap();
    assert_eq!(forgotten.trash_until.to_string(), "2026-03-31T12:00:00Z");
    clock.advance(SignedDuration::from_hours(30 * 24 - 1));
    assert_eq!(service.empty_trash().await.unwrap(), 0);
    clock.advance(SignedDuration::from_hours(2));
    assert_eq!(service.empty_trash().await.unwrap(), 1);
    assert!(matches!(service.restore(&alice, id).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn pages_are_stable_while_others_write_and_times_are_equal() {
    let app = TestApp::start().await;
    // It stands still: all memories have the same time.
    let clock = noon();
    let service = with_clock(&app, &clock).await;
    let alice = app.ctx("alice").await;
    let mut stored = HashSet::new();
    for number in 0..23 {
        let namespace = Some(["a", "b", "c"][number % 3].to_owned());
        let request = RememberRequest { namespace, ..text(&format!("Number {number}.")) };
        stored.insert(service.remember(&alice, request).await.unwrap().id);
    }
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let request = ListRequest { limit: Some(4), cursor, ..ListRequest::default() };
        let page = service.list_memories(&alice, request).await.unwrap();
        seen.extend(page.items.iter().map(|memory| memory.id));
        // Someone writes between any two pages.
        clock.advance(SignedDuration::from_secs(1));
        service.remember(&alice, text(&format!("Meanwhile {}.", seen.len()))).await.unwrap();
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.len(), 23, "each once: {seen:?}");
    assert_eq!(seen.into_iter().collect::<HashSet<_>>(), stored);
}

#[tokio::test]
async fn limits_are_said_in_words() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    for limit in [0, 51] {
        let list = ListRequest { limit: Some(limit), ..ListRequest::default() };
        assert!(service.list_memories(&alice, list).await.unwrap_err().to_string().contains("1 to 50"));
        let recall = RecallRequest { limit: Some(limit), ..query("tea") };
        assert!(service.recall(&alice, recall).await.unwrap_err().to_string().contains("1 to 50"));
    }
    let too_long = service.remember(&alice, text(&"x ".repeat(limits::CONTENT_BYTES))).await.unwrap_err();
    assert!(matches!(too_long, Error::TooLarge { .. }));
    let nul = service.remember(&alice, text("a\0b")).await.unwrap().id;
    assert_eq!(service.get_memory(&alice, whole(nul)).await.unwrap().content, "a\u{FFFD}b");
    let foreign = ListRequest { cursor: Some("bDE6MTpub3BlCg".into()), ..ListRequest::default() };
    assert!(service.list_memories(&alice, foreign).await.unwrap_err().to_string().contains("`cursor`"));
}

#[tokio::test]
async fn a_megabyte_is_stored_at_once_and_embedded_later() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let sentence = "The quick brown fox jumps over the lazy dog, again and again. ";
    let mut content = sentence.repeat(limits::CONTENT_BYTES / sentence.len() - 2);
    content.push_str("At the very end stands the word chrysanthemum.");
    let stored = service.remember(&alice, text(&content)).await.unwrap();
    assert_eq!(stored.index, IndexState::Pending);
    let found = service.recall(&alice, query("chrysanthemum")).await.unwrap();
    assert_eq!(found.hits[0].memory.id, stored.id);
    assert!(found.hits[0].passage.contains("chrysanthemum"));

    // The server's own job is at work on it; wait until it is done.
    for _ in 0..300 {
        if service.recall(&alice, query("chrysanthemum")).await.unwrap().pending == 0 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let found = service.recall(&alice, query("chrysanthemum")).await.unwrap();
    assert_eq!(found.pending, 0);
    assert!(found.hits[0].why.similarity.is_some());
    assert_eq!(service.get_memory(&alice, whole(stored.id)).await.unwrap().content, content);
}

#[tokio::test]
async fn a_long_text_is_read_in_parts_that_make_up_the_whole() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let content = "记忆🙂 and text. ".repeat(3_000);
    let id = service.remember(&alice, text(&content)).await.unwrap().id;
    let (mut offset, mut read) = (0, String::new());
    loop {
        let part = service.get_memory(&alice, GetRequest { id, offset, max_bytes: Some(997) }).await.unwrap();
        assert_eq!(part.offset, offset);
        read.push_str(&part.content);
        match part.next_offset {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(read, service.get_memory(&alice, whole(id)).await.unwrap().content);
}
