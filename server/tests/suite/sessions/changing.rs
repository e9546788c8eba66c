use polymnemo_memory::{Ctx, Grants, NamespaceGrant};
use polymnemo_types::{BulkChange, LoadSessionRequest, RecallRequest, SaveSessionRequest, UpdateRequest};

use crate::{
    sessions::{counts, given, is_indexed, load, said, session, together},
    support::TestApp,
};

async fn finds(app: &TestApp, ctx: &Ctx, words: &str) -> bool {
    let request = RecallRequest { query: words.into(), ..RecallRequest::default() };
    !app.service().recall(ctx, request).await.unwrap().hits.is_empty()
}

#[tokio::test]
async fn a_session_is_forgotten_and_restored_with_all_its_messages() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let messages = vec![said("user", "The kettle is blue."), said("assistant", "And quiet.")];
    let id = service.save_session(&alice, session("kettle", messages.clone())).await.unwrap().id;
    assert!(finds(&app, &alice, "quiet").await);
    service.forget(&alice, &[id]).await.unwrap();
    assert!(!finds(&app, &alice, "quiet").await && !finds(&app, &alice, "kettle").await);
    assert_eq!(service.list_sessions(&alice, Default::default()).await.unwrap().total, 0);
    let gone = LoadSessionRequest { session_id: "kettle".into(), ..LoadSessionRequest::default() };
    service.load_session(&alice, gone).await.unwrap_err();

    service.restore(&alice, id).await.unwrap();
    is_indexed(service, &alice, id).await;
    assert!(finds(&app, &alice, "quiet").await);
    assert_eq!(together(&load(service, &alice, "kettle", 50).await), given(&messages));
    assert_eq!(service.session(&alice, id).await.unwrap().index.passages, 3);

    // Saved again after it was forgotten it is another one, and the old one does not come back beside it.
    service.forget(&alice, &[id]).await.unwrap();
    let again = service.save_session(&alice, session("kettle", messages)).await.unwrap();
    assert!(again.created && again.id != id);
    let error = service.restore(&alice, id).await.unwrap_err().to_string();
    assert!(error.contains("saved this session again"), "{error}");
    // And nothing is left of it when it is erased.
    let person = Ctx { door: polymnemo_memory::Door::Browser, ..alice.clone() };
    service.erase(&person, &[id]).await.unwrap();
    assert!(finds(&app, &alice, "quiet").await);
}

#[tokio::test]
async fn a_session_is_moved_labelled_and_renamed_like_any_memory() {
    let app = TestApp::start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let messages = vec![said("user", "The kettle is blue."), said("assistant", "And quiet.")];
    let id = service.save_session(&alice, session("kettle", messages.clone())).await.unwrap().id;
    is_indexed(service, &alice, id).await;
    let report = service
        .change_memories(
            &alice,
            BulkChange {
                ids: vec![id],
                add_tags: vec!["kitchen".into()],
                remove_tags: vec![],
                namespace: Some("shared".into()),
                forget: false,
            },
        )
        .await
        .unwrap();
    assert_eq!(report.changed, [id]);
    // It is read where it went, and its messages went along.
    let shared = service.session(&bob, id).await.unwrap();
    assert_eq!((shared.memory.namespace.as_str(), shared.memory.own), ("shared", false));
    assert_eq!(service.messages(&bob, id, 1, 10).await.unwrap().len(), 2);
    assert!(finds(&app, &bob, "quiet").await && finds(&app, &alice, "kitchen").await);
    service.rename_session(&bob, id, "Mine").await.unwrap_err();
    service.message_revisions(&bob, id, 1).await.unwrap_err();
    // Whoever reads it can't write to it: the same name is a session of their own.
    let of_bob = service.save_session(&bob, session("kettle", messages.clone())).await.unwrap();
    assert!(of_bob.created && of_bob.id != id);
    // A save goes on where the session is.
    let more = [messages.clone(), vec![said("user", "Thanks.")]].concat();
    let saved = service.save_session(&alice, session("kettle", more)).await.unwrap();
    assert_eq!((saved.id, saved.namespace.as_str(), counts(&saved)), (id, "shared", (1, 0, 2)));
    service.undo_changes(&alice, report.undo.unwrap()).await.unwrap();
    assert_eq!(
        service.session(&bob, id).await.unwrap_err().to_string(),
        polymnemo_memory::Error::NotFound(id).to_string()
    );

    service.rename_session(&alice, id, "About a samovar").await.unwrap();
    assert!(finds(&app, &alice, "samovar").await);
    let text = UpdateRequest { content: Some("Other".into()), ..UpdateRequest::new(id) };
    let error = service.update(&alice, text).await.unwrap_err().to_string();
    assert!(error.contains("is a session"), "{error}");
    let tags = UpdateRequest { tags: Some(vec!["tea".into()]), ..UpdateRequest::new(id) };
    service.update(&alice, tags).await.unwrap();
    assert_eq!(service.session(&alice, id).await.unwrap().title, "About a samovar");
}

#[tokio::test]
async fn a_grant_for_one_namespace_holds_for_sessions() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let private = service.save_session(&alice, session("plan", vec![said("user", "The secret plan.")])).await.unwrap();
    let narrow = Ctx {
        grants: Grants { read: true, write: true, namespaces: NamespaceGrant::Only(vec!["work".into()]) },
        ..alice.clone()
    };
    let error = service.save_session(&narrow, session("plan", vec![said("user", "x")])).await.unwrap_err().to_string();
    assert!(error.contains("may not write to the namespace `personal`"), "{error}");
    let there =
        SaveSessionRequest { namespace: Some("work".into()), ..session("plan", vec![said("user", "At work.")]) };
    let work = service.save_session(&narrow, there).await.unwrap();
    assert!(work.created && work.id != private.id);
    let read =
        service.load_session(&narrow, LoadSessionRequest { session_id: "plan".into(), ..Default::default() }).await;
    assert_eq!(read.unwrap().session.memory.id, work.id);
    service.session(&narrow, private.id).await.unwrap_err();
    assert_eq!(service.list_sessions(&narrow, Default::default()).await.unwrap().total, 1);
    let reader = Ctx { grants: Grants { write: false, ..Grants::full() }, ..alice.clone() };
    service.save_session(&reader, session("plan", vec![said("user", "x")])).await.unwrap_err();
    let writer = Ctx { grants: Grants { read: false, ..Grants::full() }, ..alice };
    service
        .save_session(&writer, session("plan", vec![said("user", "The secret plan."), said("user", "More.")]))
        .await
        .unwrap();
    service.list_sessions(&writer, Default::default()).await.unwrap_err();
}
