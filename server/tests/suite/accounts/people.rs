use polymnemo_memory::Identity;
use sea_orm::ConnectionTrait as _;

use super::{person, remember, text};
use crate::support::TestApp;

fn octocat() -> Identity {
    Identity { issuer: "https://github.example.com".into(), subject: "583231".into() }
}

#[tokio::test]
async fn a_person_is_known_by_what_never_changes_and_shown_by_what_they_are_called_now() {
    let app = TestApp::start().await;
    let service = app.service();
    let first = service.sign_in(&octocat(), "octocat").await.unwrap();
    let renamed = service.sign_in(&octocat(), "monalisa").await.unwrap();
    assert_eq!(first.user.id, renamed.user.id);
    assert_eq!((first.user.name.as_str(), renamed.user.name.as_str()), ("octocat", "monalisa"));
    assert_eq!(service.account(first.user.id).await.unwrap().unwrap().user.name, "monalisa");

    // Someone else who takes over the old name is someone else.
    let other = Identity { subject: "1".into(), ..octocat() };
    assert_ne!(service.sign_in(&other, "octocat").await.unwrap().user.id, first.user.id);
    // A name is text of a stranger; without one the subject stands in.
    assert_eq!(service.sign_in(&other, "\u{0}\n").await.unwrap().user.name, "1");
    assert_eq!(service.sign_in(&other, &"x".repeat(1_000)).await.unwrap().user.name.len(), 100);
}

#[tokio::test]
async fn the_local_person_is_the_same_as_their_key() {
    let app = TestApp::start().await;
    let service = app.service();
    let by_key = service.user(&Identity::named("alice")).await.unwrap();
    assert_eq!(person(service, "alice").await.user.id, by_key.id);
}

#[tokio::test]
async fn signing_out_everywhere_changes_the_secret_of_that_person_alone() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let secret = async |ctx: &polymnemo_memory::Ctx| {
        service.account(ctx.user.id).await.unwrap().unwrap().session_secret.as_bytes().to_vec()
    };
    let (of_alice, of_bob) = (secret(&alice).await, secret(&bob).await);
    assert_eq!(of_alice.len(), 32);
    assert_ne!(of_alice, of_bob);
    assert_eq!(secret(&alice).await, of_alice, "it stays as long as nobody asks");

    service.sign_out_everywhere(&alice).await.unwrap();
    assert_ne!(secret(&alice).await, of_alice);
    assert_eq!(secret(&bob).await, of_bob);
}

#[tokio::test]
async fn a_person_who_is_removed_is_nobody_at_once() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    remember(service, &alice, text("I was here.")).await;
    let new = polymnemo_types::NewApiToken { name: "CI".into(), ..Default::default() };
    let token = service.create_token(&alice, new).await.unwrap();
    app.database()
        .await
        .execute_unprepared(&format!("delete from users where id = '{}'", alice.user.id))
        .await
        .unwrap();
    assert!(service.account(alice.user.id).await.unwrap().is_none());
    let refused = service.authenticate_token(&token.secret).await.unwrap().unwrap_err();
    assert_eq!(refused, polymnemo_memory::TokenRefusal::Unknown);
    let error = service.settings(&alice).await.unwrap_err();
    assert!(error.to_string().contains("Sign in again"), "{error}");
}
