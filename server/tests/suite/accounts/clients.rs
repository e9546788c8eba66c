use std::time::Duration;

use jiff::SignedDuration;
use polymnemo_memory::{Ctx, Door, MemoryService};
use polymnemo_types::{ClientSighting, limits};

use super::{noon, person, with_clock};
use crate::support::TestApp;

/// Waits until the sightings are as expected: they are written after the request that they tell of.
async fn sightings(
    service: &MemoryService,
    person: &Ctx,
    expected: impl Fn(&[ClientSighting]) -> bool,
) -> Vec<ClientSighting> {
    let mut seen = Vec::new();
    for _ in 0..100 {
        seen = service.list_sightings(person).await.unwrap();
        if expected(&seen) {
            return seen;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{seen:?}");
}

#[tokio::test]
async fn a_client_is_seen_once_a_minute() {
    let app = TestApp::start().await;
    let clock = noon();
    let service = with_clock(&app, &clock).await;
    let (alice, bob) = (person(&service, "alice").await, person(&service, "bob").await);
    let client = |name: Option<&str>, door| Ctx { client: name.map(str::to_owned), door, ..alice.clone() };
    let at = |seen: &[ClientSighting]| -> Vec<(Option<String>, Door, String)> {
        seen.iter().map(|seen| (seen.client.clone(), seen.door, seen.last_seen_at.to_string())).collect()
    };

    service.record_seen(&client(Some("claude-code\n"), Door::StaticKey));
    sightings(&service, &alice, |seen| seen.len() == 1).await;
    clock.advance(SignedDuration::from_secs(30));
    service.record_seen(&client(Some("claude-code"), Door::StaticKey));
    service.record_seen(&client(None, Door::ApiToken));
    service.record_seen(&alice);
    let seen = sightings(&service, &alice, |seen| seen.len() == 2).await;
    assert_eq!(
        at(&seen),
        [
            (None, Door::ApiToken, "2026-03-01T12:00:30Z".into()),
            (Some("claude-code".into()), Door::StaticKey, "2026-03-01T12:00:00Z".into()),
        ]
    );

    clock.advance(SignedDuration::from_secs(30));
    service.record_seen(&client(Some("claude-code"), Door::StaticKey));
    let seen = sightings(&service, &alice, |seen| seen[0].client.is_some()).await;
    assert_eq!(seen[0].last_seen_at.to_string(), "2026-03-01T12:01:00Z");
    assert_eq!(service.list_sightings(&bob).await.unwrap(), []);

    // Another server that saw the same client a moment ago writes nothing older.
    let other = with_clock(&app, &noon()).await;
    other.record_seen(&client(Some("claude-code"), Door::StaticKey));
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(service.list_sightings(&alice).await.unwrap(), seen);
}

#[tokio::test]
async fn names_made_up_in_a_row_do_not_pile_up() {
    let app = TestApp::start().await;
    let clock = noon();
    let service = with_clock(&app, &clock).await;
    let alice = person(&service, "alice").await;
    let most = limits::CLIENTS as usize;
    for number in 0..most + 10 {
        clock.advance(SignedDuration::from_secs(1));
        let name = format!("client {number}");
        service.record_seen(&Ctx { client: Some(name.clone()), door: Door::ApiToken, ..alice.clone() });
        sightings(&service, &alice, |seen| seen.first().is_some_and(|last| last.client.as_ref() == Some(&name))).await;
    }
    let seen = service.list_sightings(&alice).await.unwrap();
    assert_eq!(seen.len(), most);
    assert_eq!(seen.last().unwrap().client.as_deref(), Some("client 10"));
}
