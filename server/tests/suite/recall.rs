//! Stories of recall: what is found, what is not, and that the index never changes the answer.

use std::{collections::HashMap, sync::Arc, time::Duration};

use crate::support::{TestApp, TestDatabase};
use polymnemo_memory::{
    Ctx, Door, Grants, Identity, MemoryService, NamespaceGrant, UserDefaults,
    ports::{Embedder as _, Filter, Search, Store, SystemClock},
    testing::FakeEmbedder,
};
use polymnemo_store::{PgOptions, PgStore};
use polymnemo_types::{ListRequest, MemoryId, RecallRequest, RememberRequest};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{select, subsequence},
    strategy::ValueTree as _,
    test_runner::TestRunner,
};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, Statement};

fn text(content: &str) -> RememberRequest {
    RememberRequest { content: content.to_owned(), ..RememberRequest::default() }
}

fn query(query: &str) -> RecallRequest {
    RecallRequest { query: query.to_owned(), ..RecallRequest::default() }
}

async fn passages(service: &MemoryService, ctx: &Ctx, request: RecallRequest) -> Vec<String> {
    service.recall(ctx, request).await.unwrap().hits.into_iter().map(|hit| hit.passage).collect()
}

#[tokio::test]
async fn words_are_found_in_english_chinese_and_japanese() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    for content in [
        "The spare key is with Mrs. Oakley in number 12.",
        "我每天早上喝绿茶。",
        "東京タワーの近くで寿司を食べた。",
        "Ticket XK-4471 is about the login page.",
        "Der Zug fährt um 7:45 ab Gleis 3.",
    ] {
        service.remember(&alice, text(content)).await.unwrap();
    }
    for (words, expected) in [
        ("spare keys", "Oakley"),
        ("绿茶", "绿茶"),
        ("茶", "绿茶"),
        ("寿司", "寿司"),
        ("タワー", "タワー"),
        ("xk-4471", "XK-4471"),
        ("4471", "XK-4471"),
        ("fahrt der zug", "Gleis"),
        ("ＸＫ－４４７１", "XK-4471"),
    ] {
        let found = passages(service, &alice, query(words)).await;
        assert!(found.first().is_some_and(|first| first.contains(expected)), "{words}: {found:?}");
    }
}

#[tokio::test]
async fn a_hit_names_the_words_that_were_asked_for() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    service.remember(&alice, text("The meeting with Zoe about the databases is on Monday.")).await.unwrap();
    let found = service.recall(&alice, query("Where are meetings with Zoë on our DATABASE?")).await.unwrap();
    assert_eq!(found.hits[0].why.matched, ["meetings", "zoë", "database"]);
}

#[tokio::test]
async fn a_long_memory_does_not_keep_others_out() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let long: Vec<String> = (0..900)
        .map(|number| {
            format!("Section {number}: the rocket engine of stage {number} drives the rocket, and the engine burns.")
        })
        .collect();
    service.remember(&alice, text(&long.join("\n\n"))).await.unwrap();
    for note in ["The lecture is on Tuesday.", "Launchers want a trial.", "Elena works on rocket engine software."] {
        service.remember(&alice, text(note)).await.unwrap();
    }
    let found = passages(service, &alice, query("rocket engine")).await;
    assert!(found.iter().any(|passage| passage.starts_with("Elena")), "{found:?}");
}

#[tokio::test]
async fn every_filter_holds() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let remember = async |content: &str, namespace: &str, tags: &[&str], source: &str, day: &str| {
        let request = RememberRequest {
            namespace: Some(namespace.into()),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            source: Some(source.into()),
            occurred_at: Some(day.into()),
            ..text(content)
        };
        service.remember(&alice, request).await.unwrap();
    };
    remember("meeting one", "work", &["Plan", "Q1"], "Anna", "2026-01-10").await;
    remember("meeting two", "work", &["plan"], "Ben", "2026-02-10").await;
    remember("meeting three", "home", &["q1"], "Anna", "2026-03-10").await;
    let all = || query("meeting");
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    for (request, expected) in [
        (RecallRequest { namespace: Some("work".into()), ..all() }, vec!["meeting one", "meeting two"]),
        (RecallRequest { tags: owned(&["PLAN"]), ..all() }, vec!["meeting one", "meeting two"]),
        (RecallRequest { tags: owned(&["plan", "q1"]), ..all() }, vec!["meeting one"]),
        (RecallRequest { source: Some("Anna".into()), ..all() }, vec!["meeting one", "meeting three"]),
        (RecallRequest { after: Some("2026-02-10".into()), ..all() }, vec!["meeting three", "meeting two"]),
        (RecallRequest { before: Some("2026-02-10".into()), ..all() }, vec!["meeting one"]),
        (RecallRequest { kind: Some(polymnemo_types::Kind::Session), ..all() }, vec![]),
    ] {
        let described = format!("{request:?}");
        let mut found = passages(service, &alice, request).await;
        found.sort();
        assert_eq!(found, expected, "{described}");
    }
    // A date is one of the user's own zone (Europe/Berlin here): the 10th begins an hour before it does in UTC.
    let edge = RecallRequest { after: Some("2026-02-09T23:00:01Z".into()), before: Some("2026-02-20".into()), ..all() };
    assert!(passages(service, &alice, edge).await.is_empty());
    // What was written on a day is also found by that day.
    assert_eq!(passages(service, &alice, query("March 2026")).await.first().unwrap(), "meeting three");
}

/// A small store: what someone told of their work and life, remarks that say nothing, and a long text.
async fn remember_a_life(service: &MemoryService, ctx: &Ctx) {
    for content in [
        "The sprint review is on Wednesdays at 10, in the small room on the third floor.",
        "Marta looks after the billing service; ask her before anything there is changed.",
        "The staging server runs on port 8443 behind nginx.",
        "Deployments are frozen from December 18 until January 4.",
        "Ticket XK-4471: the login page loops when cookies are blocked.",
        "Backups are copied to Frankfurt each night at two.",
        "Please answer in bullet points and skip the pleasantries.",
        "My daughter Lina is allergic to peanuts.",
        "We adopted a grey cat named Biscuit from the shelter.",
        "I stopped eating meat two years ago, for the climate.",
        "I take 20 mg of omeprazole before breakfast.",
        "I am afraid of flying and take the train whenever possible.",
        "我每天早上喝一杯绿茶。",
        "妈妈的手术安排在下周二，在省人民医院。",
        "ok",
        "hello",
        "好的",
        "thanks!",
    ] {
        service.remember(ctx, text(content)).await.unwrap();
    }
    let long: Vec<String> = (1..=60)
        .map(|day| {
            format!(
                "Day {day}. We walked on along the coast, ate what we had and slept in the tent until the sun woke us."
            )
        })
        .collect();
    service.remember(ctx, text(&long.join("\n\n"))).await.unwrap();
    while service.embed_pending().await.unwrap() > 0 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn noise_is_not_answered_and_a_question_without_a_word_of_its_answer_is() {
    let app =
        TestApp::builder().setting("POLYMNEMO_EMBED_MODEL", "multilingual-e5-small").real_embedder().start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    remember_a_life(service, &alice).await;

    let mut wrong = Vec::new();
    for noise in [
        "zxqv blorp fnord",
        "asdfghjkl",
        "qpwoei ruty",
        "xxxxxxxx",
        "??",
        "🙂🙂🙂",
        "83920174",
        "魑魅炊飏兀",
        "ぬふあうえ",
        "how tall is the Eiffel tower",
        "what is the capital of Mongolia",
        "who painted the Mona Lisa",
        "how do volcanoes erupt",
        "weather in Sydney tomorrow",
        "what is the speed of light",
        "tell me a joke",
        "rules of cricket",
        "why is the sky blue",
        "埃菲尔铁塔有多高",
        "恐龙为什么灭绝",
        "光速是多少",
    ] {
        let recall = service.recall(&alice, query(noise)).await.unwrap();
        if !recall.hits.is_empty() || recall.below_threshold == 0 {
            wrong.push(format!("{noise}: {:?}", recall.hits.first().map(|hit| &hit.passage)));
        }
    }
    for (question, answer) in [
        // No word in common.
        ("whom do I ask about changes to invoices", "Marta"),
        ("is it allowed to ship over Christmas", "frozen"),
        ("what must my child not eat", "peanuts"),
        ("do we have a pet", "Biscuit"),
        ("am I a vegetarian", "meat"),
        ("how do I prefer to travel", "train"),
        // Another language.
        ("我女儿不能吃什么", "peanuts"),
        ("我们家的猫叫什么名字", "Biscuit"),
        ("私の飼い猫の名前は", "Biscuit"),
        ("what do I drink in the morning", "绿茶"),
        ("mother's surgery", "手术"),
        // Exact words.
        ("XK-4471", "XK-4471"),
        ("omeprazole", "omeprazole"),
        ("what was it again that someone said on xk-4471 in the big meeting yesterday", "XK-4471"),
        ("8443", "8443"),
        ("绿茶", "绿茶"),
        ("hello", "hello"),
    ] {
        let found = passages(service, &alice, query(question)).await;
        // Where memories were written one after the other, neighbours may come first; it must not be hidden.
        if !found.iter().take(5).any(|passage| passage.contains(answer)) {
            wrong.push(format!("{question}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_namespace_that_is_not_there_is_no_empty_one() {
    let app = TestApp::start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let diary = RememberRequest { namespace: Some("diary".into()), ..text("The tea is green.") };
    let stored = service.remember(&alice, diary).await.unwrap().id;
    let ask = async |ctx: &Ctx, namespace: &str| {
        let namespace = Some(namespace.to_owned());
        let found = service.recall(ctx, RecallRequest { namespace: namespace.clone(), ..query("tea") }).await;
        let listed = service.list_memories(ctx, ListRequest { namespace, ..ListRequest::default() }).await;
        (found.map(|found| found.hits.len()), listed.map(|page| page.total))
    };
    assert!(matches!(ask(&alice, "diary").await, (Ok(1), Ok(1))));
    let refused = async |ctx: &Ctx, namespace: &str| {
        let (found, listed) = ask(ctx, namespace).await;
        let (found, listed) = (found.unwrap_err().to_string(), listed.unwrap_err().to_string());
        assert_eq!(found, listed);
        assert!(found.contains(namespace) && found.contains("Leave `namespace` out"), "{found}");
        found.replace(namespace, "NAME")
    };
    // Another user's answers like one that never was, and so does the beginning of a name.
    assert_eq!(refused(&bob, "diary").await, refused(&bob, "nowhere").await);
    refused(&alice, "dia").await;
    // One's own is there before the first memory and after the last, and a filter may leave nothing of it.
    assert!(matches!(ask(&bob, "personal").await, (Ok(0), Ok(0))));
    let filtered = RecallRequest { namespace: Some("diary".into()), tags: vec!["none".into()], ..query("tea") };
    assert!(service.recall(&alice, filtered).await.unwrap().hits.is_empty());
    service.forget(&alice, &[stored]).await.unwrap();
    assert!(matches!(ask(&alice, "diary").await, (Ok(0), Ok(0))));
}

#[tokio::test]
async fn hits_and_those_below_the_threshold_are_all_that_was_compared() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    // More than are ever candidates, some of two passages.
    for number in 0..90 {
        let content = match number % 10 {
            0 => format!("Tea {number}. {}", "The harbour is quiet at night and nobody is there. ".repeat(40)),
            _ => format!("Report {number} on the weather of the north"),
        };
        service.remember(&alice, text(&content)).await.unwrap();
    }
    for (question, limit) in [("tea", 50), ("tea", 3), ("weather of the north", 50), ("quantum chromodynamics", 10)] {
        let mut hits = 0;
        let mut cursor = None;
        loop {
            let request = RecallRequest { limit: Some(limit), cursor, ..query(question) };
            let page = service.recall(&alice, request).await.unwrap();
            hits += page.hits.len() as u32;
            cursor = page.next_cursor;
            if cursor.is_none() {
                assert_eq!(hits + page.below_threshold, 90, "{question} {limit}: {hits} hits");
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_grant_narrows_what_is_found() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let request = |namespace: &str| RememberRequest { namespace: Some(namespace.into()), ..text("The tea is green.") };
    service.remember(&alice, request("work")).await.unwrap();
    let home = service.remember(&alice, request("home")).await.unwrap().id;
    let narrow = Ctx {
        grants: Grants { namespaces: NamespaceGrant::Only(vec!["work".into()]), ..Grants::full() },
        ..alice.clone()
    };
    assert_eq!(service.recall(&narrow, query("tea")).await.unwrap().hits.len(), 1);
    assert!(service.forget(&narrow, &[home]).await.is_err());
    assert!(service.remember(&narrow, request("elsewhere")).await.is_err());
    let blind = Ctx { grants: Grants { read: false, ..Grants::full() }, ..alice };
    assert!(service.recall(&blind, query("tea")).await.is_err());
}

#[tokio::test]
async fn an_answer_can_be_paged_to_its_end() {
    let app = TestApp::start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    for number in 0..55 {
        service.remember(&alice, text(&format!("Tea number {number}"))).await.unwrap();
    }
    let mut seen: Vec<MemoryId> = Vec::new();
    let mut cursor = None;
    loop {
        let request = RecallRequest { limit: Some(20), cursor, ..query("tea") };
        let page = service.recall(&alice, request).await.unwrap();
        seen.extend(page.hits.iter().map(|hit| hit.memory.id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut unique = seen.clone();
    unique.sort();
    unique.dedup();
    assert_eq!((seen.len(), unique.len()), (55, 55));
}

/// Two services over one database: one that always uses the index, one that always scans.
async fn by_index_and_by_scan(url: &str) -> [MemoryService; 2] {
    [exact_up_to(url, 0).await, exact_up_to(url, u32::MAX).await]
}

/// A service that scans so many passages, and asks the index where there are more.
async fn exact_up_to(url: &str, exact_up_to: u32) -> MemoryService {
    over(store_exact_up_to(url, exact_up_to).await)
}

/// The store of such a service.
async fn store_exact_up_to(url: &str, exact_up_to: u32) -> Arc<dyn Store> {
    let store = PgStore::connect(url, PgOptions { exact_up_to, ..PgOptions::default() }).await.unwrap();
    store.set_shared_namespaces(&["shared".to_owned()]).await.unwrap();
    Arc::new(store)
}

fn over(store: Arc<dyn Store>) -> MemoryService {
    let defaults = UserDefaults { namespace: "personal".into(), time_zone: "UTC".into() };
    MemoryService::new(store, Arc::new(FakeEmbedder::default()), Arc::new(SystemClock), defaults)
}

async fn ctx(service: &MemoryService, name: &str) -> Ctx {
    let user = service.user(&Identity::named(name)).await.unwrap();
    Ctx { user, door: Door::StaticKey, client: None, app: None, grants: Grants::full() }
}

const WORDS: [&str; 24] = [
    "tea", "green", "meeting", "anna", "berlin", "garden", "the", "of", "project", "deadline", "绿茶", "会议", "花园",
    "violin", "invoice", "server", "port", "8443", "umbrella", "train", "snow", "kitchen", "budget", "map",
];

/// One memory of a random store: its owner, namespace, words, labels and day.
type RandomMemory = (&'static str, &'static str, Vec<&'static str>, Vec<&'static str>, u8);

fn memory() -> impl Strategy<Value = RandomMemory> {
    (
        select(&["alice", "bob", "carol"][..]),
        select(&["personal", "work", "shared"][..]),
        vec(select(&WORDS[..]), 1..12),
        subsequence(&["a", "b", "c"][..], 0..=2),
        1..28_u8,
    )
}

/// Stores memories. Each seventh corrects the last one of its owner, and each ninth is forgotten.
async fn remember_all(service: &MemoryService, memories: &[RandomMemory]) {
    let mut last: HashMap<&str, MemoryId> = HashMap::new();
    for (number, (owner, namespace, words, tags, day)) in memories.iter().enumerate() {
        let ctx = ctx(service, owner).await;
        let request = RememberRequest {
            namespace: Some((*namespace).to_owned()),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            occurred_at: Some(format!("2026-03-{day:02}")),
            supersedes: last.remove(owner).filter(|_| number % 7 == 0).into_iter().collect(),
            ..text(&format!("{} {number}", words.join(" ")))
        };
        let id = service.remember(&ctx, request).await.unwrap().id;
        if number % 9 == 0 {
            service.forget(&ctx, &[id]).await.unwrap();
        } else {
            last.insert(owner, id);
        }
    }
}

#[derive(Debug, Clone)]
struct Question {
    user: &'static str,
    words: Vec<&'static str>,
    namespace: Option<&'static str>,
    tag: Option<&'static str>,
    after: Option<u8>,
}

fn question() -> impl Strategy<Value = Question> {
    (
        select(&["alice", "bob", "carol"][..]),
        vec(select(&WORDS[..]), 1..5),
        proptest::option::of(select(&["personal", "work", "shared", "nowhere"][..])),
        proptest::option::of(select(&["a", "b", "c"][..])),
        proptest::option::of(1..28_u8),
    )
        .prop_map(|(user, words, namespace, tag, after)| Question { user, words, namespace, tag, after })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_index_finds_what_a_scan_finds() {
    let mut runner = TestRunner::default();
    for _ in 0..6 {
        let memories = vec(memory(), 20..140).new_tree(&mut runner).unwrap().current();
        let questions = vec(question(), 25).new_tree(&mut runner).unwrap().current();
        let database = TestDatabase::create().await;
        let [index, scan] = by_index_and_by_scan(database.url()).await;
        remember_all(&index, &memories).await;
        for question in questions {
            let request = RecallRequest {
                namespace: question.namespace.map(str::to_owned),
                tags: question.tag.map(str::to_owned).into_iter().collect(),
                after: question.after.map(|day| format!("2026-03-{day:02}")),
                limit: Some(20),
                ..query(&question.words.join(" "))
            };
            let asking = ctx(&index, question.user).await;
            // Some ask in namespaces that are not theirs, or nobody's.
            let by_index = index.recall(&asking, request.clone()).await.map_err(|error| error.to_string());
            let by_scan = scan.recall(&asking, request).await.map_err(|error| error.to_string());
            let order = |recall: polymnemo_types::Recall| {
                recall.hits.iter().map(|hit| (hit.memory.id, (hit.score * 1e4).round() as i64)).collect::<Vec<_>>()
            };
            assert_eq!(by_index.map(order), by_scan.map(order), "{question:?} in {memories:?}");
        }
    }
}

/// Stores twenty notes of two words each.
async fn remember_notes(service: &MemoryService, ctx: &Ctx) {
    for number in 0..20 {
        let content = format!("{} {} note {number}", WORDS[number % 24], WORDS[(number * 7 + 3) % 24]);
        service.remember(ctx, text(&content)).await.unwrap();
    }
}

#[tokio::test]
async fn a_small_store_beside_a_huge_one_gets_exactly_what_a_scan_finds() {
    let database = TestDatabase::create().await;
    let [index, scan] = by_index_and_by_scan(database.url()).await;
    let [small, huge] = [ctx(&index, "alice").await, ctx(&index, "bob").await];
    remember_notes(&index, &small).await;
    // The huge store holds the same words, so that each of its passages lies in the way.
    let admin = database.connect_as_superuser().await;
    crate::support::fill_with_copies(&admin, huge.user.id, small.user.id, 2_500).await;
    for words in [&["tea", "green"][..], &["绿茶"], &["server", "port"], &["umbrella", "the", "snow"], &["kitchen"]] {
        let request = RecallRequest { limit: Some(20), ..query(&words.join(" ")) };
        let by_index = index.recall(&small, request.clone()).await.unwrap();
        let by_scan = scan.recall(&small, request).await.unwrap();
        let ids = |recall: &polymnemo_types::Recall| recall.hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>();
        assert!(!by_scan.hits.is_empty());
        assert_eq!(ids(&by_index), ids(&by_scan), "{words:?}");
    }
}

/// Before a database has counted its rows, half a minute after they came in, it takes them for a few.
#[tokio::test]
async fn what_the_database_has_not_counted_yet_is_still_looked_up_in_the_index() {
    let database = TestDatabase::create().await;
    let service = exact_up_to(database.url(), 1_000).await;
    let [first, alice] = [ctx(&service, "first").await, ctx(&service, "alice").await];
    remember_notes(&service, &first).await;
    let admin = database.connect_as_superuser().await;
    crate::support::fill_with_copies(&admin, alice.user.id, first.user.id, 100).await;
    let uncounted = "
        do $$ declare name text; begin
            foreach name in array array['memories', 'tags', 'chunks', 'vectors', 'terms', 'postings', 'messages'] loop
                execute format('alter table %I set (autovacuum_enabled = off)', name);
                perform pg_clear_relation_stats(current_schema, name);
            end loop;
        end $$;
        delete from pg_statistic where starelid >= 16384;
        select pg_stat_reset()";
    admin.execute_unprepared(uncounted).await.unwrap();

    // Not long after it is needed for the first time it is counted, and each connection tells within a second or so what
    // it read.
    let mut searches = 0;
    for round in 0..60 {
        service.remember(&alice, text(&format!("a violin in the snow, note {round}"))).await.unwrap();
        assert!(!service.recall(&alice, query("violin snow")).await.unwrap().hits.is_empty());
        searches = searches_by_index(&admin).await;
        if searches > 10 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(searches > 10, "the index on vectors was asked {searches} times");
}

/// How often the HNSW index was asked.
async fn searches_by_index(admin: &DatabaseConnection) -> i64 {
    let sql = "select coalesce(sum(idx_scan), 0)::bigint as searches
               from pg_stat_user_indexes where indexrelname like 'vectors_hnsw_%'";
    let row = admin.query_one_raw(Statement::from_string(DbBackend::Postgres, sql)).await.unwrap().unwrap();
    row.try_get("", "searches").unwrap()
}

/// The steps of a recall, taken one by one.
#[tokio::test]
async fn neighbours_are_given_once_and_only_where_they_are_no_candidates() {
    let database = TestDatabase::create().await;
    let store = store_exact_up_to(database.url(), 0).await;
    let service = over(store.clone());
    let embedder = FakeEmbedder::default();
    let alice = ctx(&service, "alice").await;
    let mut ids = Vec::new();
    for number in 0..40 {
        let word = if [20, 22].contains(&number) { "zanzibar zanzibar zanzibar" } else { "harbour" };
        let request = RememberRequest {
            occurred_at: Some(format!("2026-03-01T12:{number:02}:00Z")),
            source: Some(format!("letter {number}")),
            ..text(&format!("{word} {number}"))
        };
        ids.push(service.remember(&alice, request).await.unwrap().id);
    }
    let search = Search {
        filter: Filter::default(),
        terms: vec!["zanzibar".to_owned(), "21".to_owned()],
        model: embedder.model().clone(),
        depth: 2,
        exact: false,
    };
    let mut steps = store.begin_recall(&alice, search).await.unwrap();
    let vector = embedder.embed_query("zanzibar zanzibar zanzibar").await.unwrap();
    let candidates: Vec<MemoryId> =
        steps.candidates(&vector).await.unwrap().passages.iter().map(|passage| passage.memory).collect();
    let anchors = [ids[20], ids[22]];
    assert!(anchors.iter().all(|anchor| candidates.contains(anchor)), "{candidates:?} in {ids:?}");

    let near = steps.neighbourhood(&anchors).await.unwrap();
    let mut rows = near.rows;
    rows.sort();
    assert_eq!(rows, [ids[18..=22].to_vec(), ids[20..=24].to_vec()]);
    let mut found: Vec<MemoryId> = near.passages.iter().map(|passage| passage.memory).collect();
    found.sort();
    let expected: Vec<MemoryId> = ids[18..=24].iter().copied().filter(|id| !candidates.contains(id)).collect();
    assert_eq!(found, expected);
    let between = near.passages.iter().find(|passage| passage.memory == ids[21]).unwrap();
    assert_eq!(between.source.as_deref(), Some("letter 21"));
    assert_eq!(between.matched.iter().map(|matched| matched.0).collect::<Vec<_>>(), [1]);
    assert!(between.cosine.is_some() && between.length > 0, "{between:?}");
}
