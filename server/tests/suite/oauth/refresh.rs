//! Rotation, and the clients that use a refresh token twice for good or bad (reports 11, 12, 13).

use reqwest::StatusCode;

use crate::oauth::{app, let_in, refresh, refusal, run, status_with, token_request, tokens};

fn dead() -> (u16, String) {
    (400, "invalid_grant".to_owned())
}

#[tokio::test]
async fn each_refresh_gives_the_next_pair() {
    let app = app().await;
    let (client, first) = let_in(&app, &[]).await;
    let second = tokens(refresh(&app, &client, &first.refresh).await).await;
    assert_ne!(second, first);
    let third = tokens(refresh(&app, &client, &second.refresh).await).await;
    assert_eq!(status_with(&app, &third.access).await, 200);
    assert_eq!(status_with(&app, &first.access).await, 200, "an access token is good until its time is over");
}

/// Several processes share one token, and refresh it at the same moment.
#[tokio::test]
async fn a_refresh_at_the_same_time_gives_the_same_pair() {
    let app = app().await;
    let (client, first) = let_in(&app, &[]).await;
    let racers = futures::future::join_all((0..8).map(|_| refresh(&app, &client, &first.refresh))).await;
    let mut pairs = Vec::new();
    for racer in racers {
        pairs.push(tokens(racer).await);
    }
    assert!(pairs.windows(2).all(|pair| pair[0] == pair[1]));
    let second = pairs.remove(0);
    assert_eq!(status_with(&app, &second.access).await, 200);
    // Still so half a minute later, though the first process works with the new pair.
    run(&app, "update oauth_tokens set refreshed_at = refreshed_at - interval '30 seconds'").await;
    assert_eq!(tokens(refresh(&app, &client, &first.refresh).await).await, second);
}

/// Whoever comes with it later, after the next pair was used, has it from somewhere else.
#[tokio::test]
async fn a_late_second_use_ends_everything() {
    let app = app().await;
    let (client, first) = let_in(&app, &[]).await;
    let second = tokens(refresh(&app, &client, &first.refresh).await).await;
    assert_eq!(status_with(&app, &second.access).await, 200);
    run(&app, "update oauth_tokens set refreshed_at = refreshed_at - interval '61 seconds'").await;
    assert_eq!(refusal(refresh(&app, &client, &first.refresh).await).await, dead());
    for token in [&first.access, &second.access] {
        assert_eq!(status_with(&app, token).await, 401);
    }
    assert_eq!(refusal(refresh(&app, &client, &second.refresh).await).await, dead());
}

/// The answer to a refresh was lost on the way, so nobody ever used the next pair: it is given again, however late.
#[tokio::test]
async fn a_lost_answer_is_given_again() {
    let app = app().await;
    let (client, first) = let_in(&app, &[]).await;
    let lost = tokens(refresh(&app, &client, &first.refresh).await).await;
    run(&app, "update oauth_tokens set refreshed_at = refreshed_at - interval '2 hours', access_expires_at = now()")
        .await;
    assert_eq!(tokens(refresh(&app, &client, &first.refresh).await).await, lost);
    assert_eq!(status_with(&app, &lost.access).await, 200, "it is good for as long as the answer says");
}

#[tokio::test]
async fn a_refresh_token_is_of_no_use_to_another_client_or_too_late() {
    let app = app().await;
    let (client, first) = let_in(&app, &[]).await;
    let other = crate::oauth::registered(&app).await;
    assert_eq!(refusal(refresh(&app, &other, &first.refresh).await).await, dead());
    assert_eq!(refusal(refresh(&app, &client, &first.access).await).await, dead());
    assert_eq!(refusal(refresh(&app, &client, "pmnr_nothing").await).await, dead());
    assert_eq!(refusal(refresh(&app, "nobody", &first.refresh).await).await, (401, "invalid_client".to_owned()));
    let elsewhere = [
        ("grant_type", "refresh_token"),
        ("client_id", client.as_str()),
        ("refresh_token", first.refresh.as_str()),
        ("resource", "https://other.example/mcp"),
    ];
    let response = token_request(&app, &elsewhere).send().await.unwrap();
    assert_eq!(refusal(response).await, (400, "invalid_target".to_owned()));
    assert_eq!(refresh(&app, &client, &first.refresh).await.status(), StatusCode::OK, "none of that used it up");

    let (client, first) = let_in(&app, &[]).await;
    run(&app, "update oauth_tokens set refresh_expires_at = now() - interval '1 second'").await;
    assert_eq!(refusal(refresh(&app, &client, &first.refresh).await).await, dead());
}

/// A person decides for how long, and no refresh gets past that.
#[tokio::test]
async fn an_app_ends_when_the_person_said() {
    let app = app().await;
    let (client, first) = let_in(&app, &[("days", "1")]).await;
    run(&app, "update apps set expires_at = now() - interval '1 second'").await;
    assert_eq!(status_with(&app, &first.access).await, 401);
    run(&app, "update oauth_families set ends_at = now() - interval '1 second'").await;
    assert_eq!(refusal(refresh(&app, &client, &first.refresh).await).await, dead());
}
