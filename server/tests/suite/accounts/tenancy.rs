//! Every method of a person's account with the ids and names of someone else: the same answer, word for word, as for those
//! that never were, and nothing changed.

use polymnemo_memory::{Ctx, MemoryService, Result};
use polymnemo_types::{
    BulkChange, BulkReport, BulkUndo, GetRequest, ListRequest, ListSessionsRequest, LoadSessionRequest, MemoryId,
    MessageContent, NewApiToken, NewMessage, RememberRequest, RevertChange, SaveSessionRequest, SettingsChange,
    TokenId, UpdateRequest,
};
use uuid::Uuid;

use super::{column, person, remember, text};
use crate::support::TestApp;

const SECRET: &str = "quincunx";

/// What bob names: alice's, or what never was.
struct Named {
    live: MemoryId,
    forgotten: MemoryId,
    session: MemoryId,
    token: TokenId,
    namespace: String,
}

impl Named {
    /// Takes the names out of an answer.
    fn hide(&self, answer: String) -> String {
        let memories = [self.live, self.forgotten, self.session].map(|id| id.to_string());
        let ids = [memories.as_slice(), &[self.token.to_string()]].concat();
        ids.iter().chain([&self.namespace]).fold(answer, |answer, name| answer.replace(name.as_str(), "X"))
    }
}

fn said<T: std::fmt::Debug>(method: &str, outcome: Result<T>) -> String {
    match outcome {
        Ok(answer) => format!("{method}: {answer:?}"),
        Err(error) => format!("{method} refused: {error}"),
    }
}

fn part(id: MemoryId) -> GetRequest {
    GetRequest { id, offset: 0, max_bytes: None }
}

fn page(session_id: String) -> LoadSessionRequest {
    LoadSessionRequest { session_id, ..LoadSessionRequest::default() }
}

/// Everything that bob can try.
async fn tries(service: &MemoryService, bob: &Ctx, named: &Named) -> Vec<String> {
    let mut all = Vec::new();
    for id in [named.live, named.forgotten, named.session] {
        let tag = BulkChange { ids: vec![id], add_tags: vec!["bob".into()], ..BulkChange::default() };
        let forget = BulkChange { ids: vec![id], forget: true, ..BulkChange::default() };
        let undo = |restore: &[MemoryId], revert: &[MemoryId]| BulkUndo {
            restore: restore.to_vec(),
            revert: revert.iter().map(|&id| RevertChange { id, revision: 2 }).collect(),
        };
        let changed = |report: Result<BulkReport>| report.inspect(|report| assert!(report.changed.is_empty()));
        all.extend([
            said("get_memory", service.get_memory(bob, part(id)).await),
            said("get_forgotten", service.get_forgotten(bob, part(id)).await),
            said("history", service.history(bob, id, None, None).await),
            said("revision", service.revision(bob, id, 1).await),
            said("restore_revision", service.restore_revision(bob, id, 1, None).await),
            said(
                "update",
                service.update(bob, UpdateRequest { source: Some("bob".into()), ..UpdateRequest::new(id) }).await,
            ),
            said("forget", service.forget(bob, &[id]).await),
            said("restore", service.restore(bob, id).await),
            said("erase", service.erase(bob, &[id]).await),
            said("change_memories", changed(service.change_memories(bob, tag).await)),
            said("change_memories", changed(service.change_memories(bob, forget).await)),
            said("undo_changes", changed(service.undo_changes(bob, undo(&[id], &[])).await)),
            said("undo_changes", changed(service.undo_changes(bob, undo(&[], &[id])).await)),
            said("session", service.session(bob, id).await),
            said("messages", service.messages(bob, id, 1, 10).await),
            said("message", service.message(bob, id, 1).await),
            said("message_revisions", service.message_revisions(bob, id, 1).await),
            said("search_session", service.search_session(bob, id, SECRET, None).await),
            said("rename_session", service.rename_session(bob, id, "of bob").await),
            said("origin", service.origin(bob, id).await),
            said("load_session", service.load_session(bob, page(id.to_string())).await),
        ]);
    }
    let within = |trash| ListRequest { namespace: Some(named.namespace.clone()), trash, ..ListRequest::default() };
    let sessions = ListSessionsRequest { namespace: Some(named.namespace.clone()), ..ListSessionsRequest::default() };
    let filtered = ListRequest { tags: vec![format!("{SECRET}-tag")], ..ListRequest::default() };
    all.extend([
        said("revoke_token", service.revoke_token(bob, named.token).await),
        said("own_namespace", service.own_namespace(bob, &named.namespace).await),
        said("rename_namespace", service.rename_namespace(bob, &named.namespace, "of bob").await),
        said("share_namespace", service.share_namespace(bob, &named.namespace, true).await),
        said("delete_namespace", service.delete_namespace(bob, &named.namespace).await),
        said("list_memories", service.list_memories(bob, within(false)).await),
        said("list_memories", service.list_memories(bob, within(true)).await),
        said("facets", service.facets(bob, &within(false)).await),
        said("facets", service.facets(bob, &within(true)).await),
        said("facets", service.facets(bob, &filtered).await),
        said("facets", service.facets(bob, &ListRequest::default()).await),
        said("list_sessions", service.list_sessions(bob, sessions).await),
        said("list_tokens", service.list_tokens(bob, None, None).await),
        said("own_namespaces", service.own_namespaces(bob, None, None).await),
        said("list_sightings", service.list_sightings(bob).await),
    ]);
    all.into_iter().map(|answer| named.hide(answer)).collect()
}

/// Every row of every table that belongs to a user.
async fn rows_of(app: &TestApp, user: &str) -> Vec<String> {
    let database = app.database().await;
    let tables = column(
        &database,
        "select table_name::text from information_schema.columns where table_schema = 'public' and column_name = 'user_id'",
    )
    .await;
    let mut rows = column(&database, &format!("select u::text from users u where name = '{user}'")).await;
    for table in tables {
        let sql = format!(
            "select r::text from {table} r where user_id = (select id from users where name = '{user}') order by 1"
        );
        rows.extend(column(&database, &sql).await);
    }
    rows
}

#[tokio::test]
async fn what_is_someone_elses_answers_like_what_never_was() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let hers = |content: &str| RememberRequest {
        namespace: Some("her diary".into()),
        tags: vec![format!("{SECRET}-tag")],
        source: Some(format!("{SECRET}-source")),
        ..text(content)
    };
    let live = remember(service, &alice, hers(&format!("The {SECRET} blooms."))).await;
    let edit = |id| UpdateRequest { content: Some(format!("The {SECRET} is ill {id}.")), ..UpdateRequest::new(id) };
    service.update(&alice, edit(live)).await.unwrap();
    let forgotten = remember(service, &alice, hers(&format!("I hate my {SECRET}."))).await;
    service.update(&alice, edit(forgotten)).await.unwrap();
    service.forget(&alice, &[forgotten]).await.unwrap();
    let said = NewMessage {
        role: "user".into(),
        content: MessageContent::Text(format!("Why is my {SECRET} ill?")),
        ..NewMessage::default()
    };
    let session = SaveSessionRequest {
        session_id: format!("{SECRET}-chat"),
        messages: Some(vec![said]),
        namespace: Some("her diary".into()),
        ..SaveSessionRequest::default()
    };
    let session = service.save_session(&alice, session).await.unwrap().id;
    let new = NewApiToken { name: format!("{SECRET}-token"), ..NewApiToken::default() };
    let token = service.create_token(&alice, new).await.unwrap().token.id;

    let of_alice = Named { live, forgotten, session, token, namespace: "her diary".into() };
    let never = Named {
        live: MemoryId(Uuid::now_v7()),
        forgotten: MemoryId(Uuid::now_v7()),
        session: MemoryId(Uuid::now_v7()),
        token: TokenId(Uuid::now_v7()),
        namespace: "never written diary".into(),
    };
    let before = rows_of(&app, "alice").await;
    assert!(before.len() > 7, "{before:?}");
    let answers = tries(service, &bob, &of_alice).await;
    assert_eq!(answers, tries(service, &bob, &never).await);
    for answer in &answers {
        assert!(!answer.contains(SECRET) && !answer.contains("alice"), "{answer}");
    }

    // Settings have no id to be wrong about; each changes their own.
    let change = SettingsChange { time_zone: Some("UTC".into()), ..SettingsChange::default() };
    service.change_settings(&bob, change).await.unwrap();
    service.sign_out_everywhere(&bob).await.unwrap();
    assert_eq!(rows_of(&app, "alice").await, before);
}

#[tokio::test]
async fn the_same_name_is_another_namespace_for_each() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    remember(service, &alice, text("Of alice.")).await;
    service.rename_namespace(&bob, "personal", "of bob").await.unwrap();
    assert!(service.share_namespace(&bob, "of bob", true).await.is_err(), "it is his default");
    service.create_namespace(&bob, "shown").await.unwrap();
    service.share_namespace(&bob, "shown", true).await.unwrap();
    let public = SettingsChange { default_namespace: Some("shown".into()), ..SettingsChange::default() };
    assert!(service.change_settings(&bob, public).await.is_err(), "everyone reads it");
    service.create_namespace(&bob, "empty").await.unwrap();
    service.delete_namespace(&bob, "empty").await.unwrap();
    let of_alice = service.own_namespace(&alice, "personal").await.unwrap();
    assert!(of_alice.memories == 1 && of_alice.default && !of_alice.shared(), "{of_alice:?}");
    assert_eq!(service.own_namespaces(&alice, None, None).await.unwrap().total, 1);
}
