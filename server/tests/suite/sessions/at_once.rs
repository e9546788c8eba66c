use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use polymnemo_types::NewMessage;

use crate::{
    sessions::{given, load, said, session, together, with_id},
    support::TestApp,
};

const CLIENTS: usize = 50;

fn all() -> Vec<NewMessage> {
    let start: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    (0..400)
        .map(|number: i64| NewMessage {
            at: Some((start + SignedDuration::from_secs(number)).to_string()),
            ..said(if number % 2 == 0 { "user" } else { "assistant" }, &format!("message {number}"))
        })
        .collect()
}

async fn save_at_once(app: &TestApp, saves: Vec<Vec<NewMessage>>) {
    let alice = app.ctx("alice").await;
    let saved =
        join_all(saves.into_iter().map(|messages| app.service().save_session(&alice, session("at-once", messages))))
            .await;
    let saved: Vec<_> = saved.into_iter().map(Result::unwrap).collect();
    assert!(saved.iter().all(|one| one.id == saved[0].id));
    assert_eq!(saved.iter().filter(|one| one.created).count(), 1);
}

#[tokio::test]
async fn fifty_clients_that_save_the_conversation_so_far_store_it_once() {
    let app = TestApp::start().await;
    let all: Vec<NewMessage> = all().into_iter().map(|message| NewMessage { at: None, ..message }).collect();
    save_at_once(&app, (1..=CLIENTS).map(|client| all[..client * all.len() / CLIENTS].to_vec()).collect()).await;
    assert_eq!(together(&load(app.service(), &app.ctx("alice").await, "at-once", 50).await), given(&all));
}

#[tokio::test]
async fn fifty_clients_that_save_parts_with_times_store_them_in_order() {
    let app = TestApp::start().await;
    let all = all();
    // Parts overlap, and each is saved twice.
    let part = |client: usize| all[(client * 8).saturating_sub(3)..client * 8 + 8].to_vec();
    save_at_once(&app, (0..CLIENTS).chain(0..CLIENTS).map(part).collect()).await;
    let read = load(app.service(), &app.ctx("alice").await, "at-once", 50).await;
    assert!(together(&read) == given(&all), "{} messages", read.len());
}

#[tokio::test]
async fn fifty_clients_that_save_parts_with_ids_lose_and_double_nothing() {
    let app = TestApp::start().await;
    let all: Vec<NewMessage> = all()
        .into_iter()
        .enumerate()
        .map(|(number, message)| with_id(&format!("m-{number}"), NewMessage { at: None, ..message }))
        .collect();
    let part = |client: usize| all[client * 8..client * 8 + 8].to_vec();
    save_at_once(&app, (0..CLIENTS).chain(0..CLIENTS).map(part).collect()).await;
    let read = together(&load(app.service(), &app.ctx("alice").await, "at-once", 50).await);
    let mut sorted = (read.clone(), given(&all));
    sorted.0.sort_by(|one, other| one.2.cmp(&other.2));
    sorted.1.sort_by(|one, other| one.2.cmp(&other.2));
    assert_eq!(sorted.0, sorted.1);
    // Each client's own order is kept.
    let place = |number: usize| read.iter().position(|message| message.2 == format!("message {number}")).unwrap();
    for client in 0..CLIENTS {
        let places: Vec<usize> = (client * 8..client * 8 + 8).map(place).collect();
        assert!(places.is_sorted(), "{client}: {places:?}");
    }
}

#[tokio::test]
async fn replicas_save_one_session_too() {
    let app = TestApp::start().await;
    let other = app.replica().await;
    let alice = app.ctx("alice").await;
    let all = all();
    let saves = (1..=20).map(|client| {
        let service = if client % 2 == 0 { app.service() } else { other.service() };
        service.save_session(&alice, session("both", all[..client * 20].to_vec()))
    });
    join_all(saves).await.into_iter().for_each(|saved| assert!(saved.is_ok(), "{saved:?}"));
    assert_eq!(together(&load(app.service(), &alice, "both", 50).await), given(&all));
}
