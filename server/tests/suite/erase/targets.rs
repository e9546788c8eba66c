use polymnemo_memory::Error;
use polymnemo_types::{
    AppId, EraseTarget, ErasedStore, ErasureSubject, ListRequest, MemoryId, NewApiToken, ReceiptDocument,
    RememberRequest, UpdateRequest,
};

use crate::erase::world::{World, converse, found, keep_picture, remember, rewrite, text, through, within};

async fn document(world: &World, id: polymnemo_types::ErasureId) -> ReceiptDocument {
    serde_json::from_str(&world.service.receipt(id).await.unwrap().document).unwrap()
}

#[tokio::test]
async fn a_selection_of_memories_sessions_and_files_goes_without_a_trace() {
    let world = World::new().await;
    let service = &world.service;
    let alice = world.person("alice").await;
    let request = RememberRequest {
        tags: vec!["xylotag".into()],
        source: Some("xylosource".into()),
        idempotency_key: Some("xylokey".into()),
        ..text(&format!("{} The xylograph hangs in the attic.", "Nothing much happened today. ".repeat(200)))
    };
    let live = remember(service, &alice, request).await;
    rewrite(service, &alice, live, "The xylograph was sold.").await;
    let moved = UpdateRequest { namespace: Some("cellar".into()), ..UpdateRequest::new(live) };
    service.update(&alice, moved).await.unwrap();
    let forgotten = remember(service, &alice, text("A xylograph in the bin.")).await;
    service.forget(&alice, &[forgotten]).await.unwrap();
    let session = converse(service, &alice, "xylochat", "the xylograph").await;
    let picture = keep_picture(service, &alice, "A xylograph of a meadow").await;
    let stays =
        remember(service, &alice, RememberRequest { supersedes: vec![live], ..text("The print is gone.") }).await;
    let corrected = remember(service, &alice, text("The attic is empty.")).await;
    let correcting = RememberRequest { supersedes: vec![corrected], ..text("No, the xylograph is there.") };
    let correcting = remember(service, &alice, correcting).await;
    assert_eq!(world.stored().iter().filter(|file| file.extension().is_none()).count(), 1, "{:?}", world.stored());
    assert!(world.rows_that_hold("xylo").await.len() > 15);
    // What the index keeps of it is counted before, to be compared.
    while service.embed_pending().await.unwrap() > 0 {}

    let ids = vec![live, forgotten, session, picture, correcting];
    let preview = service.preview_erasure(&alice, EraseTarget::Memories(ids.clone())).await.unwrap();
    let counts = &preview.counts;
    for (store, count) in [
        (ErasedStore::Memories, 3),
        (ErasedStore::Sessions, 1),
        (ErasedStore::Files, 1),
        (ErasedStore::StoredObjects, 2),
        (ErasedStore::Revisions, 2),
        (ErasedStore::Messages, 3),
        (ErasedStore::MessageRevisions, 1),
        (ErasedStore::Tags, 1),
        (ErasedStore::References, 1),
    ] {
        assert_eq!(counts.of(store), count, "{store:?} of {counts:?}");
    }
    assert_eq!(counts.of(ErasedStore::Passages), counts.of(ErasedStore::Vectors));
    assert!(counts.of(ErasedStore::Terms) > 0 && counts.of(ErasedStore::Postings) > counts.of(ErasedStore::Terms));
    assert_eq!((preview.in_trash, preview.beginnings.len(), preview.confirm), (1, 5, None));
    assert!(!world.rows_that_hold("xylo").await.is_empty(), "a preview changes nothing");

    let erasure = world.erase(&alice, EraseTarget::Memories(ids.clone()), None).await;
    assert_eq!(erasure.before, *counts);
    for store in [
        ErasedStore::Memories,
        ErasedStore::Sessions,
        ErasedStore::Files,
        ErasedStore::FileBytes,
        ErasedStore::StoredObjects,
        ErasedStore::Revisions,
        ErasedStore::Messages,
        ErasedStore::MessageRevisions,
        ErasedStore::Tags,
        ErasedStore::Passages,
        ErasedStore::Vectors,
        ErasedStore::Postings,
        ErasedStore::Terms,
    ] {
        assert_eq!(erasure.erased.of(store), counts.of(store), "{store:?}");
    }
    assert_eq!(world.rows_that_hold("xylo").await, [""; 0]);
    let receipt = document(&world, erasure.id).await;
    for id in &ids {
        let rows = world.rows_that_hold(&id.to_string()).await;
        let outside: Vec<_> =
            rows.iter().filter(|row| !row.starts_with("receipts") && !row.starts_with("erasures")).collect();
        assert!(outside.is_empty(), "but for the record of it: {outside:?}");
    }
    assert_eq!(world.stored(), Vec::<std::path::PathBuf>::new());
    assert_eq!(receipt.what, ErasureSubject::Memories { ids });
    assert!(receipt.counts.values().all(|count| count.after == 0 && count.before > 0));
    assert_eq!(receipt.counts[&ErasedStore::Memories].before, 3);
    assert!(receipt.checks.len() > 20 && receipt.checks.iter().all(|check| check.found == 0));
    assert_eq!(receipt.rounds, 1);

    assert_eq!(found(service, &alice, "The print is gone").await.first(), Some(&stays));
    assert_eq!(found(service, &alice, "The attic is empty").await.first(), Some(&corrected), "it is current again");
}

#[tokio::test]
async fn a_namespace_goes_with_its_name_and_the_default_one_stays_empty() {
    let world = World::new().await;
    let service = &world.service;
    let alice = world.person("alice").await;
    for number in 0..7 {
        remember(service, &alice, within("xylowork", &format!("Zanzibar plan number {number}."))).await;
    }
    let forgotten = remember(service, &alice, within("xylowork", "A forgotten zanzibar.")).await;
    service.forget(&alice, &[forgotten]).await.unwrap();
    let stays = remember(service, &alice, within("home", "The plan for the garden.")).await;
    let names = async || -> Vec<String> {
        service.own_namespaces(&alice, None, None).await.unwrap().items.into_iter().map(|item| item.name).collect()
    };
    assert_eq!(names().await, ["home", "personal", "xylowork"]);

    let target = || EraseTarget::Namespace("xylowork".into());
    let preview = service.preview_erasure(&alice, target()).await.unwrap();
    assert_eq!((preview.counts.items(), preview.in_trash), (8, 1));
    assert_eq!(preview.counts.of(ErasedStore::Namespaces), 1);
    assert_eq!(preview.confirm.as_deref(), Some("xylowork"));
    for wrong in [None, Some(""), Some("Xylowork"), Some("home")] {
        let error = service.begin_erasure(&alice, target(), wrong).await.unwrap_err();
        assert!(matches!(&error, Error::Invalid(text) if text.contains("xylowork")), "{error}");
    }
    let erasure = world.erase(&alice, target(), Some(" xylowork ")).await;
    assert_eq!((erasure.before.items(), erasure.erased.items()), (8, 8));
    assert_eq!(names().await, ["home", "personal"]);
    assert_eq!(world.rows_that_hold("zanzibar").await, [""; 0]);
    assert_eq!(world.rows_that_hold("xylowork").await, [""; 0], "not even the name is kept");
    assert_eq!(found(service, &alice, "plan for the garden").await, [stays]);
    let receipt = document(&world, erasure.id).await;
    let ErasureSubject::Namespace { name_sha256, default: false, .. } = &receipt.what else {
        panic!("{:?}", receipt.what)
    };
    assert_eq!(name_sha256.len(), 64);
    let error = service.preview_erasure(&alice, target()).await.unwrap_err();
    assert!(matches!(error, Error::Missing(_)), "{error}");

    remember(service, &alice, text("A zanzibar of my own.")).await;
    let personal = || EraseTarget::Namespace("personal".into());
    assert!(service.preview_erasure(&alice, personal()).await.unwrap().is_default);
    let erasure = world.erase(&alice, personal(), Some("personal")).await;
    assert_eq!((erasure.before.items(), erasure.before.of(ErasedStore::Namespaces)), (1, 0));
    let namespace = service.own_namespace(&alice, "personal").await.unwrap();
    assert!(namespace.default && namespace.memories + namespace.forgotten == 0);
    assert_eq!(world.rows_that_hold("zanzibar").await, [""; 0]);
    remember(service, &alice, text("Life goes on.")).await;
    assert_eq!(service.own_namespace(&alice, "personal").await.unwrap().memories, 1);
}

#[tokio::test]
async fn an_apps_writings_go_and_what_is_noted_of_its_calls() {
    let world = World::new().await;
    let service = &world.service;
    let alice = world.person("alice").await;
    let token = |name: &str| NewApiToken { name: name.into(), can_write: true, ..NewApiToken::default() };
    let app = AppId(service.create_token(&alice, token("robot")).await.unwrap().token.id.0);
    let other = AppId(service.create_token(&alice, token("robot")).await.unwrap().token.id.0);
    let (robot, twin) = (through(&alice, app), through(&alice, other));
    let hers = remember(service, &alice, text("The quokka of alice.")).await;
    for number in 0..3 {
        remember(service, &robot, text(&format!("The quokka eats leaf {number}."))).await;
    }
    let again = service.remember(&robot, text("The quokka of alice.")).await.unwrap();
    assert_eq!(again.id, hers, "what was there is not the app's");
    converse(service, &robot, "robot chat", "quokkas").await;
    let twins = remember(service, &twin, text("The quokka of the twin, of the same name.")).await;
    assert!(found(service, &robot, "quokka leaf").await.len() > 2);
    assert!(found(service, &twin, "quokka leaf").await.len() > 2);
    // What a client did is noted after it has its answer.
    for _ in 0..100 {
        if service.app_calls(&alice, other, None, None).await.unwrap().items.len() == 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }

    let preview = service.preview_erasure(&alice, EraseTarget::App(app)).await.unwrap();
    assert_eq!((preview.counts.of(ErasedStore::Memories), preview.counts.of(ErasedStore::Sessions)), (3, 1));
    assert_eq!((preview.name.as_deref(), preview.confirm), (Some("robot"), None));
    assert!(preview.counts.of(ErasedStore::AppCalls) >= 7, "{:?}", preview.counts);
    world.erase(&alice, EraseTarget::App(app), None).await;

    let mut left = found(service, &alice, "quokka").await;
    left.sort_unstable();
    assert_eq!(left, [hers, twins]);
    assert_eq!(service.app_calls(&alice, app, None, None).await.unwrap().items.len(), 0);
    let calls = service.app_calls(&alice, other, None, None).await.unwrap().items;
    assert_eq!(calls.len(), 2, "the fact stays");
    assert!(calls.iter().all(|call| call.query.is_none()), "what was searched for does not: {calls:?}");
    assert!(calls.iter().flat_map(|call| &call.memories).all(|seen| left.contains(&seen.id)), "{calls:?}");
    assert_eq!(world.rows_that_hold("leaf").await, [""; 0]);
    assert!(service.app(&alice, app).await.is_ok(), "the token itself is another matter");
    assert_eq!(service.preview_erasure(&alice, EraseTarget::App(app)).await.unwrap().counts.items(), 0);
}

#[tokio::test]
async fn what_can_not_be_erased_is_told() {
    let world = World::new().await;
    let service = &world.service;
    let alice = world.person("alice").await;
    let id = remember(service, &alice, text("Here I am.")).await;
    let never = MemoryId(uuid::Uuid::now_v7());
    let error = service.begin_erasure(&alice, EraseTarget::Memories(vec![id, never]), None).await.unwrap_err();
    assert!(matches!(error, Error::NotFound(missing) if missing == never), "all or none: {error}");
    assert!(service.begin_erasure(&alice, EraseTarget::Memories(vec![]), None).await.is_err());
    let error = service.begin_erasure(&alice, EraseTarget::App(AppId(never.0)), None).await.unwrap_err();
    assert!(matches!(error, Error::Missing(_)), "{error}");
    let client = through(&alice, AppId(never.0));
    for target in [EraseTarget::Memories(vec![id]), EraseTarget::Account] {
        let error = service.begin_erasure(&client, target.clone(), Some("alice")).await.unwrap_err();
        assert!(matches!(error, Error::Forbidden(_)), "only a person erases: {error}");
        assert!(matches!(service.preview_erasure(&client, target).await, Err(Error::Forbidden(_))));
    }
    assert_eq!(service.list_memories(&alice, ListRequest::default()).await.unwrap().total, 1);
    assert_eq!(service.list_erasures(&alice, None, None).await.unwrap().total, 0);
}

#[tokio::test]
async fn what_an_import_brought_goes_with_its_report_and_what_was_there_before_stays() {
    let world = World::new().await;
    let service = &world.service;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let folder = tempfile::tempdir().unwrap();
    let conversation = |id: &str, messages: usize| {
        let messages: Vec<serde_json::Value> = (0..messages)
            .map(|number| {
                serde_json::json!({
                    "uuid": format!("{id}-{number}"), "sender": "human", "text": format!("The xylograph, {number}."),
                    "created_at": "2026-03-01T10:00:00Z",
                })
            })
            .collect();
        serde_json::json!({
            "uuid": id, "name": format!("xylo {id}"), "created_at": "2026-03-01T10:00:00Z",
            "updated_at": "2026-03-01T11:00:00Z", "account": { "uuid": "a" }, "chat_messages": messages,
        })
    };
    let bring = async |conversations: Vec<serde_json::Value>| {
        let path = folder.path().join("conversations.json");
        std::fs::write(&path, serde_json::Value::from(conversations).to_string()).unwrap();
        let input = std::sync::Arc::new(polymnemo_imports::Input::open(&[path]).unwrap());
        let (options, plan) = (Default::default(), Default::default());
        service
            .import_here(&alice, input, vec!["conversations.json".into()], options, plan, &mut |_, _| {})
            .await
            .unwrap()
            .id
    };
    let first = bring(vec![conversation("one", 2)]).await;
    let second = bring(vec![conversation("one", 3), conversation("two", 2), conversation("empty", 0)]).await;
    while service.index_sessions().await.unwrap() > 0 {}

    assert!(matches!(service.preview_erasure(&bob, EraseTarget::Import(second)).await, Err(Error::Missing(_))));
    let preview = service.preview_erasure(&alice, EraseTarget::Import(second)).await.unwrap();
    assert_eq!((preview.counts.of(ErasedStore::Sessions), preview.counts.of(ErasedStore::Messages)), (1, 3));
    let erasure = world.erase(&alice, EraseTarget::Import(second), None).await;
    assert!(matches!(document(&world, erasure.id).await.what, ErasureSubject::Import { id } if id == second));
    assert!(service.import(&alice, second).await.is_err());
    assert!(service.import(&alice, first).await.is_ok());
    assert!(world.rows_that_hold("xylo two").await.is_empty());
    // The session that was there before is as it was then, so that a newer export can be imported anew.
    assert!(!world.rows_that_hold("xylo one").await.is_empty());
    let first_two = service.list_sessions(&alice, Default::default()).await.unwrap();
    assert_eq!(first_two.items.iter().map(|session| session.messages).collect::<Vec<_>>(), [2]);
    let gone = service.erasure(&alice, erasure.id).await.unwrap().erased;
    assert_eq!(gone.of(ErasedStore::Messages), 3);
    // What it brought goes also where a later import changed it since; that has its own words.
    let mut changed = conversation("one", 4);
    changed["chat_messages"][3]["text"] = serde_json::json!("The xylograph of the fourth.");
    let fourth = bring(vec![changed.clone()]).await;
    changed["chat_messages"][3]["text"] = serde_json::json!("The xylograph, at last.");
    let fifth = bring(vec![changed]).await;
    let preview = service.preview_erasure(&alice, EraseTarget::Import(fourth)).await.unwrap();
    assert_eq!(preview.counts.of(ErasedStore::MessageRevisions), 1, "{:?}", preview.counts);
    world.erase(&alice, EraseTarget::Import(fourth), None).await;
    assert!(world.rows_that_hold("xylograph of the fourth").await.is_empty());
    assert!(!world.rows_that_hold("xylograph, at last").await.is_empty());
    world.erase(&alice, EraseTarget::Import(fifth), None).await;
    assert!(world.rows_that_hold("xylograph, at last").await.is_empty());
    let third = bring(vec![conversation("one", 4)]).await;
    let grown = service.import(&alice, third).await.unwrap();
    assert_eq!(grown.counts.iter().map(|count| count.messages).sum::<u64>(), 2);
    world.erase(&alice, EraseTarget::Import(third), None).await;

    world.erase(&alice, EraseTarget::Import(first), None).await;
    let left = world.rows_that_hold("xylo").await;
    assert!(left.is_empty(), "{left:?}");

    // A memory that a later import gave another text goes with it.
    let note = async |text: &str| {
        let path = folder.path().join("tools.md");
        std::fs::write(&path, text).unwrap();
        let input = std::sync::Arc::new(polymnemo_imports::Input::open(&[path]).unwrap());
        let (options, plan) = (Default::default(), Default::default());
        service.import_here(&alice, input, vec!["tools.md".into()], options, plan, &mut |_, _| {}).await.unwrap()
    };
    note("The xylem is dry.").await;
    let later = note("The xylem is wet.").await;
    assert_eq!(later.count(polymnemo_types::ImportOutcome::Updated), 1);
    let preview = service.preview_erasure(&alice, EraseTarget::Import(later.id)).await.unwrap();
    assert_eq!(preview.counts.of(ErasedStore::Memories), 1);
    world.erase(&alice, EraseTarget::Import(later.id), None).await;
    let left = world.rows_that_hold("xylem").await;
    assert!(left.is_empty(), "{left:?}");
}
