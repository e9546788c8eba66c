use polymnemo_imports::Input;
use polymnemo_types::{ImportOptions, ImportOutcome, ImportState};
use serde_json::json;

use crate::{
    imports::{claude, counts, file, import, import_with, lines, memories, plan, said, sample, sessions},
    support::TestApp,
};

#[tokio::test]
async fn what_is_there_is_told_before_anything_is_written() {
    let app = TestApp::start().await;
    let ctx = app.person("alice").await;
    let plan = plan(app.service(), &ctx, &[sample("claude-20-classic-batch.zip")], &ImportOptions::default()).await;
    assert_eq!(plan.sources.len(), 1, "{plan:?}");
    let source = &plan.sources[0];
    assert_eq!(
        (source.source.as_str(), source.conversations, source.changed),
        ("Claude", 3, 0),
        "with the branch: {plan:?}"
    );
    assert_eq!(source.new, source.conversations + source.memories);
    assert!(plan.characters > 0 && plan.seconds.is_some());
    assert!(plan.skipped.iter().all(|skipped| !skipped.reason.is_empty() && skipped.items > 0));
    assert!(sessions(app.service(), &ctx).await.is_empty());
    assert!(memories(app.service(), &ctx).await.is_empty());
    assert_eq!(app.service().imports(&ctx, None, None).await.unwrap().total, 0);
}

#[tokio::test]
async fn a_conversation_is_a_session_with_its_times_titles_and_roles() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let done = import(service, &ctx, &[sample("claude-01-basic.json")]).await;
    assert_eq!((done.state, done.count(ImportOutcome::Created)), (ImportState::Done, 1));
    let session = sessions(service, &ctx).await.pop().unwrap();
    assert_eq!(session.title, "Balcony tomatoes");
    assert_eq!((session.memory.source.as_deref(), session.memory.client.as_deref()), (Some("claude"), Some("Import")));
    assert!(session.memory.occurred_at.to_string().as_str() < "2026-11", "{}", session.memory.occurred_at);
    let metadata: serde_json::Value = serde_json::from_str(session.metadata.as_deref().unwrap()).unwrap();
    assert_eq!(metadata["source"], "claude");
    assert_eq!(session.session_id, format!("claude:{}", metadata["source_id"].as_str().unwrap()));
    assert_eq!(
        said(service, &ctx, &session.session_id).await,
        [
            ("user".to_owned(), "How deep should the pots for balcony tomatoes be?".to_owned()),
            ("assistant".to_owned(), "About 35 to 40 cm, so the roots stay cool.".to_owned()),
        ]
    );
    let line = lines(service, &ctx, &done, ImportOutcome::Created).await.pop().unwrap();
    assert_eq!((line.title.as_deref(), line.memory), (Some("Balcony tomatoes"), Some(session.memory.id)));
    assert_eq!((line.is_session, line.messages), (true, 2));
    // Everyone's imports are their own.
    let bob = app.person("bob").await;
    assert!(service.import(&bob, done.id).await.unwrap_err().to_string().contains("no such import"));
    assert!(service.import_lines(&bob, done.id, &[], None, None).await.is_err());
    assert!(service.undo_import(&bob, done.id).await.is_err());
    assert_eq!(service.imports(&bob, None, None).await.unwrap().total, 0);
}

#[tokio::test]
async fn branches_are_kept_beside_the_current_one_and_marked() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    import(service, &ctx, &[sample("claude-06-branches.json")]).await;
    let sessions = sessions(service, &ctx).await;
    let (branches, current): (Vec<_>, Vec<_>) =
        sessions.into_iter().partition(|session| session.memory.tags.contains(&"branch".to_owned()));
    assert_eq!(current.len(), 1);
    let text = said(service, &ctx, &current[0].session_id).await;
    assert_eq!(text.len(), 4);
    assert!(text.iter().all(|(_, text)| !text.contains("sage green")), "{text:?}");
    let mut other = Vec::new();
    for branch in &branches {
        assert!(branch.metadata.as_deref().unwrap().contains("branch_of"));
        other.extend(said(service, &ctx, &branch.session_id).await);
    }
    assert!(other.iter().any(|(_, text)| text.contains("sage green")), "{other:?}");
}

#[tokio::test]
async fn what_was_thought_and_fetched_is_kept_and_not_searched_by_meaning() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    import(service, &ctx, &[sample("claude-02-thinking-tools-placeholder.json")]).await;
    while service.index_sessions().await.unwrap() > 0 {}
    let session = sessions(service, &ctx).await.pop().unwrap();
    let kept = said(service, &ctx, &session.session_id).await;
    assert!(kept.iter().any(|(_, text)| text.contains("Private musing")), "{kept:?}");
    let database = app.database().await;
    use sea_orm::{ConnectionTrait as _, Statement};
    let count = |sql: &'static str| {
        let statement = Statement::from_string(database.get_database_backend(), sql);
        let database = &database;
        async move { database.query_one_raw(statement).await.unwrap().unwrap().try_get_by_index::<i64>(0).unwrap() }
    };
    let of_thought = "select count(*) from chunks where text like '%Private musing%'";
    let to_embed = "select count(*) from chunks c where text like '%Private musing%'
        and (exists (select from vectors v where v.chunk_id = c.id)
            or exists (select from embedding_queue q where q.chunk_id = c.id))";
    assert!(count(of_thought).await > 0);
    assert_eq!(count(to_embed).await, 0);
}

#[tokio::test]
async fn what_is_broken_is_left_out_with_its_reason_and_the_rest_comes_in() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let done = import(service, &ctx, &[sample("chatgpt-15-empty-and-broken-rows.json")]).await;
    assert_eq!(done.state, ImportState::Done);
    assert!(done.count(ImportOutcome::Created) > 0, "{:?}", done.counts);
    let skipped = lines(service, &ctx, &done, ImportOutcome::Skipped).await;
    assert!(!skipped.is_empty());
    assert!(skipped.iter().all(|line| line.reason.is_some() && line.title.is_some()), "{skipped:?}");

    let cut_off = Input::open(&[sample("broken-35-truncated.zip")]).unwrap_err().to_string();
    assert!(cut_off.contains("cut-off download"), "{cut_off}");
    let beside = import(service, &ctx, &[sample("broken-35-truncated.zip"), sample("claude-01-basic.json")]).await;
    assert_eq!(beside.count(ImportOutcome::Created), 1);
    let reasons = lines(service, &ctx, &beside, ImportOutcome::Skipped).await;
    assert!(reasons.iter().any(|line| line.reason.as_deref().unwrap().contains("cut-off")), "{reasons:?}");

    // A session that is refused by what holds for all sessions is one item of many.
    let long = "x".repeat(5 << 20);
    let too_long = json!({
        "uuid": "too-long", "name": "Too long", "created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z",
        "chat_messages": [{ "uuid": "m", "sender": "human", "text": long, "created_at": "2026-03-01T10:00:00Z" }],
    });
    let (_folder, path) =
        file("conversations.json", &json!([claude("a", "First", 3), too_long, claude("b", "Last", 3)]));
    let mixed = import(service, &ctx, &[path]).await;
    assert_eq!(counts(&mixed, &[ImportOutcome::Created, ImportOutcome::Skipped]), [2, 1]);
    let line = lines(service, &ctx, &mixed, ImportOutcome::Skipped).await.pop().unwrap();
    assert!(line.title.as_deref().unwrap().contains("Too long"), "{line:?}");
    assert!(line.reason.as_deref().unwrap().contains("a message may have"), "{line:?}");
}

#[tokio::test]
async fn memories_and_documents_become_memories() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let options = ImportOptions { namespace: Some("from claude".into()), ..ImportOptions::default() };
    let paths = [sample("claude-11-memories-old.json"), sample("claude-13-projects-array.json")];
    let done = import_with(service, &ctx, &paths, options).await.unwrap();
    let memories = memories(service, &ctx).await;
    assert_eq!(memories.len() as u64, done.count(ImportOutcome::Created));
    assert!(memories.len() >= 3, "{memories:?}");
    assert!(
        memories.iter().all(|memory| memory.namespace == "from claude" && memory.source.as_deref() == Some("claude"))
    );
}

#[tokio::test]
async fn only_what_is_asked_comes_in() {
    let app = TestApp::start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    let mut old = claude("old", "Old", 2);
    old["updated_at"] = json!("2025-01-01T00:00:00Z");
    let (_folder, path) = file(
        "conversations.json",
        &json!([old, claude("a", "First", 2), claude("b", "Second", 2), claude("c", "Third", 2)]),
    );
    let since = ImportOptions { since: Some("2026-01-01".into()), limit: Some(2), ..ImportOptions::default() };
    let told = plan(service, &ctx, std::slice::from_ref(&path), &since).await;
    assert_eq!((told.to_write(), told.not_asked), (2, 2));
    import_with(service, &ctx, std::slice::from_ref(&path), since).await.unwrap();
    let mut titles: Vec<String> = sessions(service, &ctx).await.into_iter().map(|session| session.title).collect();
    titles.sort();
    assert_eq!(titles, ["First", "Second"]);
    for (wrong, says) in [
        (ImportOptions { since: Some("some day".into()), ..ImportOptions::default() }, "`since`"),
        (ImportOptions { limit: Some(0), ..ImportOptions::default() }, "`limit`"),
        (ImportOptions { namespace: Some("no/\0".into()), ..ImportOptions::default() }, "`namespace`"),
    ] {
        let error = import_with(service, &ctx, std::slice::from_ref(&path), wrong).await.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Nobody makes their history known to everyone without being told, not even where the namespace is still to be made.
#[tokio::test]
async fn a_namespace_that_everyone_reads_is_told_before() {
    let app = TestApp::builder().setting("POLYMNEMO_SHARED_NAMESPACES", "shared").start().await;
    let (service, ctx) = (app.service(), app.person("alice").await);
    for (namespace, is_shared) in [(None, false), (Some("work"), false), (Some("shared"), true)] {
        let options = ImportOptions { namespace: namespace.map(str::to_owned), ..ImportOptions::default() };
        let told = plan(service, &ctx, &[sample("claude-20-classic-batch.zip")], &options).await;
        assert_eq!(told.is_shared, is_shared, "{namespace:?}");
    }
}
