use polymnemo_memory::Error;
use polymnemo_types::{GetRequest, ListRequest, NamespaceDetails, RememberRequest, SettingsChange, UpdateRequest};

use super::{found, person, remember, text};
use crate::support::TestApp;

fn within(namespace: &str, content: &str) -> RememberRequest {
    RememberRequest { namespace: Some(namespace.to_owned()), ..text(content) }
}

fn names(page: &[NamespaceDetails]) -> Vec<&str> {
    page.iter().map(|namespace| namespace.name.as_str()).collect()
}

#[tokio::test]
async fn namespaces_are_listed_with_what_a_list_of_each_would_show() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    assert_eq!(names(&service.own_namespaces(&alice, None, None).await.unwrap().items), ["personal"]);

    let old = remember(service, &alice, within("work", "The code is 4471.")).await;
    remember(service, &alice, RememberRequest { supersedes: vec![old], ..within("work", "The code is 9152.") }).await;
    remember(service, &alice, within("work", "The office is on the second floor.")).await;
    let gone = remember(service, &alice, within("work", "The printer is broken.")).await;
    service.forget(&alice, &[gone]).await.unwrap();
    remember(service, &alice, text("Tea at five.")).await;

    let work = service.own_namespace(&alice, "work").await.unwrap();
    assert_eq!((work.memories, work.superseded, work.forgotten), (2, 1, 1));
    assert!(!work.default && !work.shared());
    let listed = ListRequest { namespace: Some("work".into()), ..ListRequest::default() };
    assert_eq!(service.list_memories(&alice, listed).await.unwrap().total, work.memories);

    for name in ["a", "z", "工作"] {
        service.create_namespace(&alice, name).await.unwrap();
    }
    let error = service.create_namespace(&alice, " a ").await.unwrap_err();
    assert!(error.to_string().contains("already"), "{error}");
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = service.own_namespaces(&alice, cursor.as_deref(), Some(2)).await.unwrap();
        assert_eq!(page.total, 5);
        seen.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut seen_names = names(&seen);
    seen_names.sort_unstable();
    assert_eq!(seen_names, ["a", "personal", "work", "z", "工作"]);
    assert!(seen.iter().all(|namespace| namespace.default == (namespace.name == "personal")));
}

#[tokio::test]
async fn a_renamed_namespace_is_the_same_one_everywhere() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let id = remember(service, &alice, text("Tea at five.")).await;
    service
        .update(&alice, UpdateRequest { content: Some("Tea at six.".into()), ..UpdateRequest::new(id) })
        .await
        .unwrap();
    service.create_namespace(&alice, "work").await.unwrap();

    let error = service.rename_namespace(&alice, "personal", "work").await.unwrap_err();
    assert!(matches!(error, Error::Invalid(_)), "{error}");
    let renamed = service.rename_namespace(&alice, "personal", "home").await.unwrap();
    assert_eq!((renamed.memories, renamed.default), (1, true));
    assert_eq!(service.settings(&alice).await.unwrap().default_namespace, "home");
    let whole = GetRequest { id, offset: 0, max_bytes: None };
    assert_eq!(service.get_memory(&alice, whole).await.unwrap().memory.namespace, "home");
    assert_eq!(service.revision(&alice, id, 1).await.unwrap().namespace, "home");
    assert_eq!(found(service, &alice, "tea").await, [id]);
    assert!(matches!(service.own_namespace(&alice, "personal").await, Err(Error::Missing(_))));

    // A client that is asked next stores there, too.
    let stored = service.remember(&app.ctx("alice").await, text("Coffee at seven.")).await.unwrap();
    assert_eq!(stored.namespace, "home");
    assert_eq!(service.rename_namespace(&alice, "home", "home").await.unwrap().memories, 2);
}

#[tokio::test]
async fn renaming_and_making_the_same_name_at_once_gives_one_namespace() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    for round in 0..10 {
        let (old, new) = (format!("old {round}"), format!("new {round}"));
        remember(service, &alice, within(&old, "Here.")).await;
        let (renamed, stored) = tokio::join!(
            service.rename_namespace(&alice, &old, &new),
            service.remember(&alice, within(&new, "There.")),
        );
        stored.unwrap();
        let new = service.own_namespace(&alice, &new).await.unwrap();
        match renamed {
            Ok(_) => assert_eq!(new.memories, 2),
            Err(Error::Invalid(message)) => assert!(message.contains("already") && new.memories == 1, "{message}"),
            Err(error) => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn what_its_owner_shares_is_read_by_everyone_until_it_is_private_again() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    let recipe = remember(service, &alice, within("recipes", "Waffles need buttermilk.")).await;
    assert!(found(service, &bob, "waffles").await.is_empty());

    let shared = service.share_namespace(&alice, "recipes", true).await.unwrap();
    assert!(shared.shared_by_owner && !shared.shared_by_setting);
    assert_eq!(found(service, &bob, "waffles").await, [recipe]);
    // Reading it does not make it bob's.
    assert!(matches!(service.share_namespace(&bob, "recipes", false).await, Err(Error::Missing(_))));
    assert!(matches!(service.rename_namespace(&bob, "recipes", "mine").await, Err(Error::Missing(_))));
    assert!(matches!(service.delete_namespace(&bob, "recipes").await, Err(Error::Missing(_))));
    assert!(matches!(service.history(&bob, recipe, None, None).await, Err(Error::Forbidden(_))));

    service.share_namespace(&alice, "recipes", false).await.unwrap();
    assert!(found(service, &bob, "waffles").await.is_empty());
    assert!(matches!(service.history(&bob, recipe, None, None).await, Err(Error::NotFound(_))));
}

#[tokio::test]
async fn nothing_becomes_public_by_a_new_name() {
    let app = TestApp::start().await;
    let service = app.service();
    let (alice, bob) = (person(service, "alice").await, person(service, "bob").await);
    remember(service, &alice, within("diary", "I like Carol.")).await;
    let error = service.rename_namespace(&alice, "diary", "shared").await.unwrap_err();
    assert!(error.to_string().contains("readable by everyone"), "{error}");
    assert!(found(service, &bob, "Carol").await.is_empty());

    // The other way round is what someone wants who makes a thing private.
    let note = remember(service, &alice, within("shared", "The office code is 4471.")).await;
    assert_eq!(found(service, &bob, "office code").await, [note]);
    let renamed = service.rename_namespace(&alice, "shared", "private").await.unwrap();
    assert!(!renamed.shared());
    assert!(found(service, &bob, "office code").await.is_empty());
}

#[tokio::test]
async fn only_an_empty_namespace_is_deleted() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let id = remember(service, &alice, within("work", "The code is 4471.")).await;
    let refusal = async |name: &str| service.delete_namespace(&alice, name).await.unwrap_err().to_string();
    assert!(refusal("work").await.contains("holds 1 memories"));
    service.forget(&alice, &[id]).await.unwrap();
    assert!(refusal("work").await.contains("1 memories in the trash"));
    service.erase(&alice, &[id]).await.unwrap();
    service.delete_namespace(&alice, "work").await.unwrap();
    assert!(refusal("work").await.contains("no namespace `work`"));

    assert!(refusal("personal").await.contains("default"));
    let change = SettingsChange { default_namespace: Some("home".into()), ..Default::default() };
    service.change_settings(&alice, change).await.unwrap();
    service.delete_namespace(&alice, "personal").await.unwrap();
    assert_eq!(names(&service.own_namespaces(&alice, None, None).await.unwrap().items), ["home"]);
}
