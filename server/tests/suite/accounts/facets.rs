use polymnemo_types::{Facets, ListRequest, RememberRequest, ValueCount};

use super::{person, remember, text};
use crate::support::TestApp;

fn pairs(counts: &[ValueCount]) -> Vec<(&str, u64)> {
    counts.iter().map(|count| (count.value.as_str(), count.memories)).collect()
}

#[tokio::test]
async fn facets_count_what_the_list_beside_them_shows() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    let mut from_cursor = app.ctx("alice").await;
    from_cursor.client = Some("cursor".into());
    let about = |tags: &[&str], source: Option<&str>, content: &str| RememberRequest {
        tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
        source: source.map(str::to_owned),
        ..text(content)
    };
    let tea = remember(service, &alice, about(&["drink", "daily"], Some("diary"), "Tea at five.")).await;
    remember(service, &from_cursor, about(&["drink"], Some("diary"), "Coffee at six.")).await;
    remember(service, &from_cursor, about(&["food"], None, "Cake at seven.")).await;
    let old = remember(service, &alice, about(&["drink"], Some("letter"), "Wine at eight.")).await;
    remember(service, &alice, RememberRequest { supersedes: vec![old], ..about(&["food"], None, "No wine.") }).await;
    let elsewhere = RememberRequest { namespace: Some("work".into()), ..about(&["drink"], None, "Water.") };
    remember(service, &alice, elsewhere).await;

    let all = service.facets(&alice, &ListRequest::default()).await.unwrap();
    assert_eq!(pairs(&all.tags), [("drink", 3), ("food", 2), ("daily", 1)]);
    assert_eq!(pairs(&all.sources), [("diary", 2)]);
    assert_eq!(pairs(&all.clients), [("cursor", 2)]);
    for request in [
        ListRequest { tags: vec!["drink".into()], ..ListRequest::default() },
        ListRequest { namespace: Some("personal".into()), source: Some("diary".into()), ..ListRequest::default() },
        ListRequest { client: Some("cursor".into()), ..ListRequest::default() },
        ListRequest { include_superseded: true, ..ListRequest::default() },
    ] {
        let facets = service.facets(&alice, &request).await.unwrap();
        for count in &facets.tags {
            let mut narrowed = request.clone();
            narrowed.tags.push(count.value.clone());
            let listed = service.list_memories(&alice, narrowed).await.unwrap();
            assert_eq!(listed.total, count.memories, "{request:?} {count:?}");
        }
        for count in &facets.clients {
            let narrowed = ListRequest { client: Some(count.value.clone()), ..request.clone() };
            assert_eq!(service.list_memories(&alice, narrowed).await.unwrap().total, count.memories);
        }
    }

    // The trash has its own, and its own filters.
    service.forget(&alice, &[tea]).await.unwrap();
    let trash = ListRequest { trash: true, ..ListRequest::default() };
    assert_eq!(pairs(&service.facets(&alice, &trash).await.unwrap().tags), [("daily", 1), ("drink", 1)]);
    let daily = ListRequest { tags: vec!["daily".into()], ..trash };
    assert_eq!(service.list_memories(&alice, daily).await.unwrap().items[0].id, tea);
    assert_eq!(
        service.facets(&person(service, "bob").await, &ListRequest::default()).await.unwrap(),
        Facets::default()
    );
}

#[tokio::test]
async fn of_many_values_the_most_frequent_fifty_are_counted() {
    let app = TestApp::start().await;
    let service = app.service();
    let alice = person(service, "alice").await;
    for memory in 0..4 {
        let tags = (0..30).map(|tag| format!("tag {memory} {tag}")).chain(["often".to_owned()]).collect();
        remember(service, &alice, RememberRequest { tags, ..text(&format!("Number {memory}.")) }).await;
    }
    let facets = service.facets(&alice, &ListRequest::default()).await.unwrap();
    assert_eq!(facets.tags.len(), 50);
    assert_eq!(pairs(&facets.tags)[0], ("often", 4));
}
