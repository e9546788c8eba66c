use jiff::SignedDuration;
use polymnemo_memory::{Ctx, Door, Error, MemoryService, TokenRefusal};
use polymnemo_types::{BulkChange, GetRequest, ListRequest, NewApiToken, RecallRequest, SettingsChange, limits};

use super::{noon, person, remember, rows_that_hold, text, with_clock};
use crate::support::TestApp;

fn named(name: &str) -> NewApiToken {
    NewApiToken { name: name.to_owned(), ..NewApiToken::default() }
}

/// What a request with this token is to the service.
async fn with_token(service: &MemoryService, secret: &str) -> Ctx {
    let access = service.authenticate_token(secret).await.unwrap().unwrap();
    Ctx { user: access.user, door: Door::ApiToken, client: Some(access.name), app: None, grants: access.grants }
}

#[tokio::test]
async fn a_token_is_shown_once_and_nothing_ever_tells_it_again() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let created = service.create_token(&alice, named(" nightly backup ")).await.unwrap();
    let random = created.secret.strip_prefix("pmn_").unwrap();
    assert!(random.len() == 43 && random.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{random}");
    assert_eq!(created.token.name, "nightly backup");
    let (hint, rest) = created.secret.split_at(8);
    assert_eq!(created.token.hint, hint);
    let another = service.create_token(&alice, named("nightly backup")).await.unwrap();
    assert_ne!(another.secret, created.secret);

    let listed = service.list_tokens(&alice, None, None).await.unwrap();
    assert_eq!(listed.total, 2);
    assert!(!serde_json::to_string(&listed).unwrap().contains(rest));
    assert_eq!(rows_that_hold(&app, hint).await.len(), 1, "the hint is kept");
    assert_eq!(rows_that_hold(&app, rest).await, [""; 0], "the rest is not");
}

#[tokio::test]
async fn a_token_does_what_it_was_made_for_until_it_is_revoked() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let tea = remember(service, &alice, text("Tea at five.")).await;

    let reader = service.create_token(&alice, named("reader")).await.unwrap();
    let writer = service.create_token(&alice, NewApiToken { can_write: true, ..named("writer") }).await.unwrap();
    let reading = with_token(service, &reader.secret).await;
    assert_eq!(service.list_memories(&reading, ListRequest::default()).await.unwrap().items[0].id, tea);
    let error = service.remember(&reading, text("Coffee at six.")).await.unwrap_err();
    assert!(matches!(error, Error::Forbidden(_)), "{error}");
    let error =
        service.change_memories(&reading, BulkChange { ids: vec![tea], forget: true, ..Default::default() }).await;
    assert!(matches!(error, Err(Error::Forbidden(_))), "{error:?}");
    remember(service, &with_token(service, &writer.secret).await, text("Coffee at six.")).await;

    service.revoke_token(&alice, reader.token.id).await.unwrap();
    service.revoke_token(&alice, reader.token.id).await.unwrap();
    assert_eq!(service.authenticate_token(&reader.secret).await.unwrap().unwrap_err(), TokenRefusal::Revoked);
    with_token(service, &writer.secret).await;
    for unknown in ["pmn_", "", &format!("pmn_{}", "a".repeat(43)), &reader.secret.to_lowercase(), &reader.token.hint] {
        assert_eq!(service.authenticate_token(unknown).await.unwrap().unwrap_err(), TokenRefusal::Unknown, "{unknown}");
    }
}

#[tokio::test]
async fn a_token_for_some_namespaces_sees_and_writes_no_other() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let secret = remember(service, &alice, text("My diary is under the bed.")).await;
    let new = NewApiToken { can_write: true, namespaces: Some(vec!["work".into(), "work".into()]), ..named("CI") };
    let created = service.create_token(&alice, new).await.unwrap();
    assert_eq!(created.token.namespaces.as_deref(), Some(&["work".to_owned()][..]));
    let token = with_token(service, &created.secret).await;
    let in_work = polymnemo_types::RememberRequest { namespace: Some("work".into()), ..text("The build is green.") };
    remember(service, &token, in_work).await;
    service.remember(&token, text("No namespace given.")).await.unwrap_err();
    assert_eq!(service.list_memories(&token, ListRequest::default()).await.unwrap().total, 1);
    let query = RecallRequest { query: "diary under the bed".into(), ..RecallRequest::default() };
    assert!(service.recall(&token, query).await.unwrap().hits.is_empty());
    let whole = GetRequest { id: secret, offset: 0, max_bytes: None };
    assert!(matches!(service.get_memory(&token, whole).await, Err(Error::NotFound(_))));
    assert!(matches!(service.forget(&token, &[secret]).await, Err(Error::NotFound(_))));

    // A namespace that gets another name is the same namespace.
    service.rename_namespace(&alice, "work", "office").await.unwrap();
    let token = with_token(service, &created.secret).await;
    assert_eq!(service.list_memories(&token, ListRequest::default()).await.unwrap().total, 1);
}

#[tokio::test]
async fn a_token_ends_at_its_time_and_notes_its_use_once_a_minute() {
    let app = TestApp::start().await;
    let clock = noon();
    let service = with_clock(&app, &clock).await;
    let alice = person(&service, "alice").await;
    let new = NewApiToken { expires_at: Some("2026-03-02".into()), ..named("for a day") };
    let created = service.create_token(&alice, new).await.unwrap();
    let used =
        async || service.list_tokens(&alice, None, None).await.unwrap().items[0].last_used_at.map(|at| at.to_string());

    assert_eq!(used().await, None);
    with_token(&service, &created.secret).await;
    assert_eq!(used().await.as_deref(), Some("2026-03-01T12:00:00Z"));
    clock.advance(SignedDuration::from_secs(59));
    with_token(&service, &created.secret).await;
    assert_eq!(used().await.as_deref(), Some("2026-03-01T12:00:00Z"));
    clock.advance(SignedDuration::from_secs(1));
    with_token(&service, &created.secret).await;
    assert_eq!(used().await.as_deref(), Some("2026-03-01T12:01:00Z"));

    // The user's day ends in the user's zone.
    let end = created.token.expires_at.unwrap();
    assert_eq!(end.to_string(), "2026-03-01T23:00:00Z");
    clock.advance(SignedDuration::from_hours(11) - SignedDuration::from_secs(61));
    with_token(&service, &created.secret).await;
    clock.advance(SignedDuration::from_secs(1));
    assert_eq!(service.authenticate_token(&created.secret).await.unwrap().unwrap_err(), TokenRefusal::Expired);

    let past = NewApiToken { expires_at: Some("2026-02-28".into()), ..named("too late") };
    assert!(service.create_token(&alice, past).await.unwrap_err().to_string().contains("`expires_at`"));
}

#[tokio::test]
async fn tokens_are_paged_and_bounded() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let mut made = Vec::new();
    for number in 0..limits::TOKENS {
        made.push(service.create_token(&alice, named(&format!("token {number}"))).await.unwrap().token.id);
    }
    let error = service.create_token(&alice, named("one too many")).await.unwrap_err();
    assert!(error.to_string().contains("Revoke"), "{error}");
    service.revoke_token(&alice, made[0]).await.unwrap();
    made.push(service.create_token(&alice, named("in its place")).await.unwrap().token.id);

    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = service.list_tokens(&alice, cursor.as_deref(), Some(30)).await.unwrap();
        assert_eq!(page.total, u64::from(limits::TOKENS) + 1);
        seen.extend(page.items.into_iter().map(|token| token.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    made.reverse();
    assert_eq!(seen, made, "the newest first, each once");

    for (new, expected) in [
        (named(" "), "`name`"),
        (named(&"x".repeat(101)), "`name`"),
        (NewApiToken { namespaces: Some(Vec::new()), ..named("none") }, "`namespaces`"),
        (NewApiToken { namespaces: Some(vec!["<b>".into()]), ..named("bad") }, "`namespace`"),
        (NewApiToken { expires_at: Some("tomorrow".into()), ..named("soon") }, "`expires_at`"),
    ] {
        let error = service.create_token(&alice, new).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[tokio::test]
async fn no_client_manages_an_account_whatever_it_presents() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let kept = service.create_token(&alice, NewApiToken { can_write: true, ..named("kept") }).await.unwrap();
    let forgotten = remember(service, &alice, text("Old news.")).await;
    service.forget(&alice, &[forgotten]).await.unwrap();

    for door in [Door::ApiToken, Door::OauthApp, Door::StaticKey, Door::CapabilityPath, Door::Stdio] {
        let client = Ctx { door, ..alice.clone() };
        let refusals = [
            ("create_token", service.create_token(&client, named("more")).await.err()),
            ("list_tokens", service.list_tokens(&client, None, None).await.err()),
            ("revoke_token", service.revoke_token(&client, kept.token.id).await.err()),
            ("settings", service.settings(&client).await.err()),
            ("change_settings", service.change_settings(&client, SettingsChange::default()).await.err()),
            ("sign_out_everywhere", service.sign_out_everywhere(&client).await.err()),
            ("own_namespaces", service.own_namespaces(&client, None, None).await.err()),
            ("own_namespace", service.own_namespace(&client, "personal").await.err()),
            ("create_namespace", service.create_namespace(&client, "new").await.err()),
            ("rename_namespace", service.rename_namespace(&client, "personal", "new").await.err()),
            ("share_namespace", service.share_namespace(&client, "personal", true).await.err()),
            ("delete_namespace", service.delete_namespace(&client, "personal").await.err()),
            ("erase", service.erase(&client, &[forgotten]).await.err()),
            (
                "get_forgotten",
                service.get_forgotten(&client, GetRequest { id: forgotten, offset: 0, max_bytes: None }).await.err(),
            ),
            ("list_sightings", service.list_sightings(&client).await.err()),
        ];
        for (method, error) in refusals {
            let error = error.unwrap_or_else(|| panic!("{method} let {door:?} in"));
            assert!(matches!(error, Error::Forbidden(_)) && error.to_string().contains("web app"), "{method}: {error}");
        }
    }
    assert_eq!(service.list_tokens(&alice, None, None).await.unwrap().total, 1);
    with_token(service, &kept.secret).await;
}
