use polymnemo_memory::{Door, Identity};
use polymnemo_types::{
    AppId, EraseTarget, ErasedStore, ErasureState, ErasureSubject, NewApiToken, NewUpload, ReceiptDocument,
};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::{
    erase::world::{World, converse, keep_picture, person, remember, rewrite, rows_that_hold, text, through, within},
    support::{TestApp, key_of},
};

#[tokio::test]
async fn an_account_goes_with_everything_and_its_owner_may_begin_anew() {
    let world = World::new().await;
    let service = &world.service;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    for ctx in [&alice, &bob] {
        let id = remember(service, ctx, text("The okapi is striped.")).await;
        rewrite(service, ctx, id, "The okapi is shy.").await;
        remember(service, ctx, within("zoo", "Okapi and giraffe.")).await;
        converse(service, ctx, "okapi chat", "okapis").await;
        keep_picture(service, ctx, "An okapi").await;
        let new = NewApiToken { name: "okapi token".into(), can_write: true, ..NewApiToken::default() };
        let token = service.create_token(ctx, new).await.unwrap().token.id;
        remember(service, &through(ctx, AppId(token.0)), text("A robot saw an okapi.")).await;
        let upload = NewUpload {
            filename: "okapi.bin".into(),
            content_type: "a/b".into(),
            size: Some(5),
            description: "An okapi under way".into(),
            ..NewUpload::default()
        };
        service.create_upload(ctx, upload).await.unwrap();
    }
    service.share_namespace(&alice, "zoo", true).await.unwrap();
    // An erasure under way is overtaken.
    let first = service.begin_erasure(&alice, EraseTarget::Namespace("zoo".into()), Some("zoo")).await.unwrap();
    let of_bob = async || {
        let id = bob.user.id;
        let mut rows = rows_that_hold(&world.database.connect_as_superuser().await, &id.to_string()).await;
        rows.retain(|row| !row.starts_with("app_calls"));
        rows
    };
    let before = of_bob().await;
    assert!(before.len() > 10, "{before:?}");

    let preview = service.preview_erasure(&alice, EraseTarget::Account).await.unwrap();
    for (store, count) in [
        (ErasedStore::Memories, 3),
        (ErasedStore::Sessions, 1),
        (ErasedStore::Files, 1),
        (ErasedStore::Uploads, 1),
        (ErasedStore::ApiTokens, 1),
        (ErasedStore::Identities, 1),
        (ErasedStore::Users, 1),
    ] {
        assert_eq!(preview.counts.of(store), count, "{store:?} of {:?}", preview.counts);
    }
    assert_eq!(preview.confirm.as_deref(), Some("alice"));
    assert!(service.begin_erasure(&alice, EraseTarget::Account, Some("Alice B.")).await.is_err());
    let erasure = service.begin_erasure(&alice, EraseTarget::Account, Some("alice")).await.unwrap();

    // Whoever proves to be her now is someone new, while the old one is still being erased.
    let anew = world.person("alice").await;
    assert!(anew.user.id != alice.user.id);
    let new_one = remember(service, &anew, text("I begin anew.")).await;
    assert!(service.erasure(&anew, erasure.id).await.is_err());
    // A request that was under way before still comes in.
    let late = remember(service, &alice, within("late", "An okapi at the last moment.")).await;
    assert!(late != new_one);

    world.settle().await;
    let told = service.account_erasure(erasure.id).await.unwrap();
    assert_eq!((told.state, told.subject), (ErasureState::Done, ErasureSubject::Account));
    let rows = world.rows_that_hold(&alice.user.id.to_string()).await;
    let outside: Vec<&String> = rows
        .iter()
        .filter(|row| !["erasures", "receipts", "objects_to_delete"].iter().any(|table| row.starts_with(table)))
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
    let database = world.database.connect_as_superuser().await;
    assert!(rows_that_hold(&database, "okapi").await.iter().all(|row| !row.contains(&alice.user.id.to_string())));
    assert_eq!(of_bob().await, before, "bob has what he had");
    assert_eq!(world.stored().iter().filter(|file| file.extension().is_none_or(|end| end != "sha256")).count(), 2);
    assert!(service.account_erasure(first.id).await.is_err(), "only that of an account is for whoever knows its id");

    let receipt: ReceiptDocument = serde_json::from_str(&service.receipt(erasure.id).await.unwrap().document).unwrap();
    assert_eq!((receipt.erased_by.user_id, receipt.erased_by.door), (alice.user.id, Door::Browser));
    assert!(receipt.counts.values().all(|count| count.after == 0));
    assert!(receipt.survives.iter().any(|left| left.until.is_some()), "what was signed for the upload: {receipt:?}");
    assert!(service.receipt(first.id).await.is_ok());
    assert_eq!(service.list_memories(&anew, Default::default()).await.unwrap().total, 1);
}

#[tokio::test]
async fn nobody_gets_in_any_more_from_the_moment_it_begins() {
    let app = TestApp::builder().setting("POLYMNEMO_BACKUP_RETENTION_DAYS", "14").start().await;
    let service = app.service();
    let key = app.mcp("alice");
    key.call("remember", json!({ "content": "The okapi of the key." })).await;
    let alice = person(service, "alice").await;
    let secret = service
        .create_token(&alice, NewApiToken { name: "cron".into(), ..NewApiToken::default() })
        .await
        .unwrap()
        .secret;
    let ping = async |credential: &str| {
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        app.http(Method::POST, "/mcp").bearer_auth(credential).json(&ping).send().await.unwrap().status()
    };
    assert_eq!(ping(&secret).await, StatusCode::OK);
    let erasure = service.begin_erasure(&alice, EraseTarget::Account, Some("alice")).await.unwrap();
    assert_eq!(ping(&secret).await, StatusCode::UNAUTHORIZED);
    assert_eq!(ping(&key_of("alice")).await, StatusCode::OK, "the key of the settings opens a new account");
    assert_eq!(key.call("list_memories", json!({})).await["total"], 0);
    let mut state = ErasureState::Running;
    for _ in 0..100 {
        state = service.account_erasure(erasure.id).await.unwrap().state;
        if state == ErasureState::Done {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert_eq!(state, ErasureState::Done, "the server does it on its own");
    let again = service.user(&Identity::named("alice")).await.unwrap();
    assert!(again.id != alice.user.id);
    let receipt: ReceiptDocument = serde_json::from_str(&service.receipt(erasure.id).await.unwrap().document).unwrap();
    let days = receipt.survives[0].until.unwrap().duration_since(receipt.finished_at).as_hours() / 24;
    assert_eq!(days, 14);
}
