//! Two users and their files: neither reads, changes or finds what is the other's, by no method, route or signed URL.

use polymnemo_memory::{Ctx, Error, Grants, MemoryService, NamespaceGrant};
use polymnemo_types::{ListMediaRequest, MemoryId, NewUpload};
use reqwest::{StatusCode, multipart::Form};
use serde_json::json;
use uuid::Uuid;

use crate::{
    media::world::{World, bytes},
    support::McpClient,
};

/// Alice's files: one stored, one announced, one announced in parts, one in the trash.
struct Hers {
    stored: MemoryId,
    announced: MemoryId,
    in_parts: MemoryId,
    forgotten: MemoryId,
}

async fn plant(world: &World) -> Hers {
    let alice = world.app.mcp("alice");
    let person = world.person("alice").await;
    let stored = world.keep(&alice, "secret.bin", &bytes(100)).await.parse().unwrap();
    let announced = world.announce(&alice, "secret two.bin", &bytes(100)).await;
    world.send(&announced, bytes(100)).await;
    let new = NewUpload {
        filename: "secret three.bin".into(),
        content_type: "a/b".into(),
        size: Some(9 << 20),
        in_parts: true,
        ..Default::default()
    };
    let in_parts = world.app.service().create_upload(&person, new).await.unwrap().upload.id;
    let forgotten: MemoryId = world.keep(&alice, "secret four.bin", &bytes(100)).await.parse().unwrap();
    world.app.service().forget(&person, &[forgotten]).await.unwrap();
    Hers { stored, announced: announced["id"].as_str().unwrap().parse().unwrap(), in_parts, forgotten }
}

/// What the methods of the service answer to this caller about this id.
async fn answers(service: &MemoryService, ctx: &Ctx, id: MemoryId) -> Vec<(&'static str, String)> {
    fn told<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        match result {
            Ok(found) => format!("{found:?}"),
            Err(error) => error.to_string(),
        }
    }
    vec![
        ("media", told(service.media(ctx, id).await)),
        ("media_text", told(service.media_text(ctx, id).await)),
        ("get_download_url", told(service.get_download_url(ctx, id).await)),
        ("upload_request", told(service.upload_request(ctx, id).await)),
        ("upload_parts", told(service.upload_parts(ctx, id, &[1]).await)),
        ("confirm_upload", told(service.confirm_upload(ctx, id).await)),
        ("cancel_upload", told(service.cancel_upload(ctx, id).await)),
    ]
}

async fn state(world: &World) -> Vec<String> {
    world
        .column(
            "select 'upload ' || p::text from uploads p union all select 'media ' || f::text from media f
             union all select 'memory ' || m::text from memories m order by 1",
        )
        .await
}

#[tokio::test]
async fn a_file_of_another_user_is_as_good_as_none() {
    let world = World::local().await;
    let hers = plant(&world).await;
    let before = state(&world).await;
    let bob = world.person("bob").await;
    let service = world.app.service();
    let never = MemoryId(Uuid::now_v7());
    let baseline = answers(service, &bob, never).await;
    for id in [hers.stored, hers.announced, hers.in_parts, hers.forgotten] {
        for ((method, told), (_, expected)) in answers(service, &bob, id).await.into_iter().zip(&baseline) {
            assert_eq!(told.replace(&id.to_string(), "ID"), expected.replace(&never.to_string(), "ID"), "{method}");
        }
    }
    assert_eq!(service.list_media(&bob, ListMediaRequest::default()).await.unwrap().total, 0);
    let by_name = ListMediaRequest { text: Some("secret".into()), ..Default::default() };
    assert_eq!(service.list_media(&bob, by_name).await.unwrap().total, 0);
    assert_eq!(service.pending_uploads(&bob).await.unwrap(), []);
    assert_eq!(state(&world).await, before, "nothing of hers changed");
    // Hers are hers all the same.
    let alice = world.person("alice").await;
    service.confirm_upload(&alice, hers.announced).await.unwrap();
    assert_eq!(service.list_media(&alice, ListMediaRequest::default()).await.unwrap().total, 2);
}

#[tokio::test]
async fn an_app_sees_files_of_the_namespaces_that_it_was_granted_only() {
    let world = World::local().await;
    let hers = plant(&world).await;
    let service = world.app.service();
    let narrow = Ctx {
        grants: Grants { read: true, write: true, namespaces: NamespaceGrant::Only(vec!["work".into()]) },
        ..world.person("alice").await
    };
    let never = MemoryId(Uuid::now_v7());
    let baseline = answers(service, &narrow, never).await;
    for id in [hers.stored, hers.announced, hers.in_parts] {
        for ((method, told), (_, expected)) in answers(service, &narrow, id).await.into_iter().zip(&baseline) {
            assert_eq!(told.replace(&id.to_string(), "ID"), expected.replace(&never.to_string(), "ID"), "{method}");
        }
    }
    assert_eq!(service.list_media(&narrow, ListMediaRequest::default()).await.unwrap().total, 0);
    let new = NewUpload { filename: "a".into(), content_type: "a/b".into(), size: Some(1), ..Default::default() };
    assert!(matches!(service.create_upload(&narrow, new).await, Err(Error::Forbidden(_))), "not in her own namespace");

    let person = world.person("alice").await;
    let reads = Ctx { grants: Grants { write: false, ..Grants::full() }, ..person.clone() };
    let new = NewUpload { filename: "a".into(), content_type: "a/b".into(), size: Some(1), ..Default::default() };
    assert!(matches!(service.create_upload(&reads, new).await, Err(Error::Forbidden(_))));
    assert!(matches!(service.confirm_upload(&reads, hers.announced).await, Err(Error::Forbidden(_))));
    service.get_download_url(&reads, hers.stored).await.unwrap();
    let writes = Ctx { grants: Grants { read: false, ..Grants::full() }, ..person };
    assert!(matches!(service.get_download_url(&writes, hers.stored).await, Err(Error::Forbidden(_))));
    service.confirm_upload(&writes, hers.announced).await.unwrap();
}

#[tokio::test]
async fn what_is_shared_is_fetched_by_all_and_changed_by_its_owner_alone() {
    let world = World::local().await;
    let (alice, bob) = (world.app.mcp("alice"), world.app.mcp("bob"));
    let sent = bytes(10);
    let mut arguments = crate::media::world::announcement("for all.bin", &sent);
    arguments["namespace"] = json!("shared");
    let announced = alice.call("create_upload", arguments).await;
    world.send(&announced, sent.clone()).await;
    let id = announced["id"].as_str().unwrap();
    let early = bob.call_in_vain("confirm_upload", json!({ "id": id })).await;
    assert!(early.contains("no upload"), "what is announced is not shared yet: {early}");
    alice.call("confirm_upload", json!({ "id": id })).await;

    assert_eq!(world.fetch(&bob, id).await, sent);
    assert_eq!(bob.call("get_memory", json!({ "id": id })).await["file"]["filename"], "for all.bin");
    let listed = world.app.service().list_media(&world.person("bob").await, ListMediaRequest::default()).await.unwrap();
    assert!(listed.total == 1 && !listed.items[0].memory.own);
    let confirmed = bob.call_in_vain("confirm_upload", json!({ "id": id })).await;
    assert!(confirmed.contains("no upload"), "{confirmed}");
    assert!(bob.try_call("forget", json!({ "id": id })).await.is_error);

    // It is private again, and from that moment nobody gets a new link.
    alice.call("update", json!({ "id": id, "namespace": "mine" })).await;
    let told = bob.call_in_vain("get_download_url", json!({ "id": id })).await;
    assert!(told.contains("There is no memory"), "{told}");
}

#[tokio::test]
async fn a_signed_url_of_one_user_never_reaches_an_object_of_another() {
    for world in [World::local().await, World::s3().await] {
        let (alice, bob) = (world.app.mcp("alice"), world.app.mcp("bob"));
        let hers = world.keep(&alice, "hers.bin", b"hers").await;
        let url = async |client: &McpClient, id: &str| {
            client.call("get_download_url", json!({ "id": id })).await["url"].as_str().unwrap().to_owned()
        };
        let her_path = url(&alice, &hers).await.split_once('?').unwrap().0.to_owned();
        let his = world.keep(&bob, "his.bin", b"his").await;
        let his_query = url(&bob, &his).await.split_once('?').unwrap().1.to_owned();
        let announced = world.announce(&bob, "over hers.bin", b"HERS").await;
        let put_query = announced["url"].as_str().unwrap().split_once('?').unwrap().1.to_owned();

        let get = world.app.client().get(format!("{her_path}?{his_query}")).send().await.unwrap();
        assert_eq!(get.status(), StatusCode::FORBIDDEN);
        let put = world.app.client().put(format!("{her_path}?{put_query}"));
        let put = put.header("content-type", "application/octet-stream").body("HERS").send().await.unwrap();
        assert_eq!(put.status(), StatusCode::FORBIDDEN);
        assert_eq!(world.fetch(&alice, &hers).await, b"hers");
    }
}

#[tokio::test]
async fn an_upload_page_is_good_for_its_own_upload_alone() {
    let world = World::local().await;
    let (alice, bob) = (world.app.mcp("alice"), world.app.mcp("bob"));
    let hers = world.announce(&alice, "hers.bin", &bytes(10)).await;
    let his = world.announce(&bob, "his.bin", &bytes(10)).await;
    let page = his["upload_page"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let form = Form::new().part("file", reqwest::multipart::Part::bytes(bytes(10)).file_name("x"));
    let sent = world
        .app
        .client()
        .post(format!("{}/upload/{page}/file", world.app.base()))
        .multipart(form)
        .send()
        .await
        .unwrap();
    assert_eq!(sent.status(), StatusCode::SEE_OTHER);
    assert_eq!((world.count(&alice).await, world.count(&bob).await), (0, 1));
    assert!(alice.call_in_vain("confirm_upload", json!({ "id": hers["id"] })).await.contains("have not arrived"));
}

/// Row-level security stands behind the conditions of the queries.
#[tokio::test]
async fn the_database_itself_shows_nobody_the_files_of_another() {
    let world = World::local().await;
    plant(&world).await;
    let bob = world.person("bob").await;
    let database = world.app.database().await;
    use sea_orm::{ConnectionTrait as _, Statement, TransactionTrait as _};
    for table in ["uploads", "media", "objects_to_delete", "server_secrets"] {
        let transaction = database.begin().await.unwrap();
        let role = "do $$ begin create role polymnemo_story nologin; exception when duplicate_object then null; end $$";
        transaction.execute_unprepared(role).await.unwrap();
        transaction
            .execute_unprepared(&format!("grant select on {table}, memories, namespaces to polymnemo_story"))
            .await
            .unwrap();
        let scope = format!("set local polymnemo.user_id = '{}'; set local role polymnemo_story", bob.user.id);
        transaction.execute_unprepared(&scope).await.unwrap();
        let count = Statement::from_string(transaction.get_database_backend(), format!("select count(*) from {table}"));
        let count: i64 = transaction.query_one_raw(count).await.unwrap().unwrap().try_get_by_index(0).unwrap();
        assert_eq!(count, 0, "{table}");
        transaction.rollback().await.unwrap();
    }
}
