//! Whatever bob asks to erase with ids and names of alice's answers like what never was, and takes nothing from her.

use polymnemo_memory::{Ctx, MemoryService, Result};
use polymnemo_types::{AppId, EraseTarget, ErasureId, MemoryId, NewApiToken};

use crate::erase::world::{World, converse, found, keep_picture, remember, rows_that_hold, text, within};

fn said<T: std::fmt::Debug>(method: &str, outcome: Result<T>) -> String {
    match outcome {
        Ok(answer) => panic!("{method} gave {answer:?}"),
        Err(error) => format!("{method} refused: {error}"),
    }
}

async fn tries(service: &MemoryService, bob: &Ctx, ids: &[MemoryId], app: AppId, erasure: ErasureId) -> Vec<String> {
    let targets = ids
        .iter()
        .map(|&id| EraseTarget::Memories(vec![id]))
        .chain([EraseTarget::App(app), EraseTarget::Namespace("her diary".into())]);
    let mut all = Vec::new();
    for target in targets {
        all.push(said("preview_erasure", service.preview_erasure(bob, target.clone()).await));
        all.push(said("begin_erasure", service.begin_erasure(bob, target, Some("her diary")).await));
    }
    all.push(said("erasure", service.erasure(bob, erasure).await));
    all.push(said("account_erasure", service.account_erasure(erasure).await));
    let names = ids.iter().map(ToString::to_string).chain([app.to_string(), erasure.to_string()]);
    let hide = |answer: String| names.clone().fold(answer, |answer, name| answer.replace(&name, "X"));
    all.into_iter().map(hide).collect()
}

#[tokio::test]
async fn nobody_erases_what_is_someone_elses() {
    let world = World::new().await;
    let service = &world.service;
    let (alice, bob) = (world.person("alice").await, world.person("bob").await);
    let diary = remember(service, &alice, within("her diary", "The quincunx blooms.")).await;
    let forgotten = remember(service, &alice, text("A quincunx in the bin.")).await;
    service.forget(&alice, &[forgotten]).await.unwrap();
    let session = converse(service, &alice, "quincunx chat", "the quincunx").await;
    let picture = keep_picture(service, &alice, "A quincunx").await;
    let shared = remember(service, &alice, within("library", "A quincunx for everyone.")).await;
    service.share_namespace(&alice, "library", true).await.unwrap();
    let new = NewApiToken { name: "cron".into(), ..NewApiToken::default() };
    let app = AppId(service.create_token(&alice, new).await.unwrap().token.id.0);
    let gone = remember(service, &alice, text("This goes.")).await;
    let erasure = world.erase(&alice, EraseTarget::Memories(vec![gone]), None).await.id;
    let database = world.database.connect_as_superuser().await;
    let before = rows_that_hold(&database, &alice.user.id.to_string()).await;

    let hers = [diary, forgotten, session, picture, shared];
    let never = hers.map(|_| MemoryId(uuid::Uuid::now_v7()));
    let answers = tries(service, &bob, &hers, app, erasure).await;
    let baseline = tries(service, &bob, &never, AppId(uuid::Uuid::now_v7()), ErasureId(uuid::Uuid::new_v4())).await;
    assert_eq!(answers, baseline);
    assert_eq!(service.list_erasures(&bob, None, None).await.unwrap().total, 0);

    // What he erases of his own, by the same names, is his.
    remember(service, &bob, within("library", "A quincunx of bob's.")).await;
    world.erase(&bob, EraseTarget::Namespace("library".into()), Some("library")).await;
    world.erase(&bob, EraseTarget::Namespace("personal".into()), Some("personal")).await;
    service.begin_erasure(&bob, EraseTarget::Account, Some("bob")).await.unwrap();
    world.settle().await;
    assert_eq!(rows_that_hold(&database, &alice.user.id.to_string()).await, before);
    assert!(found(service, &alice, "quincunx").await.contains(&shared));
    assert!(world.stored().len() > 1, "her files are there");
}
