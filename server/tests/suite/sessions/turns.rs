use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use async_trait::async_trait;
use polymnemo_memory::{
    Result,
    ports::{Embedder, Model, Sessions as _, Store as _},
    testing::FakeEmbedder,
};
use polymnemo_store::{PgOptions, PgStore};
use polymnemo_types::{EmbedderStatus, Kind, RecallRequest};
use sea_orm::ConnectionTrait as _;

use crate::{
    sessions::{said, session},
    support::TestApp,
};

/// An embedder that never has time for what nobody waits for, or is never loaded.
#[derive(Default)]
struct Busy {
    inner: FakeEmbedder,
    is_loading: AtomicBool,
}

impl Busy {
    fn loading() -> Self {
        Self { is_loading: true.into(), ..Self::default() }
    }
}

#[async_trait]
impl Embedder for Busy {
    fn model(&self) -> &Model {
        self.inner.model()
    }

    fn status(&self) -> EmbedderStatus {
        self.inner.status()
    }

    async fn ready(&self) -> Result<()> {
        match self.is_loading.load(Ordering::Relaxed) {
            true => std::future::pending().await,
            false => self.inner.ready().await,
        }
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>> {
        self.inner.embed_query(text).await
    }

    async fn embed_passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        self.inner.embed_passages(texts).await
    }

    async fn embed_when_idle(&self, _: Vec<String>) -> Result<Vec<Vec<f32>>> {
        std::future::pending().await
    }

    async fn tokens(&self, text: &str) -> Result<Vec<Range<usize>>> {
        self.inner.tokens(text).await
    }
}

/// Whoever brings a long history makes nobody else wait, nor what they say themselves afterwards.
#[tokio::test]
async fn each_namespace_has_its_turn_with_the_embedder() {
    let embedder = Arc::new(Busy::default());
    let app = TestApp::builder().embedder(embedder.clone()).start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let history = (0..300).map(|number| said("user", &format!("What was said as number {number}."))).collect();
    service.save_session(&alice, session("history", history)).await.unwrap();
    service.save_session(&alice, session("today", vec![said("user", "Alice speaks now.")])).await.unwrap();
    service.save_session(&bob, session("short", vec![said("user", "Bob speaks now.")])).await.unwrap();
    while service.index_sessions().await.unwrap() > 0 {}
    let store = PgStore::connect(app.database_url(), PgOptions::default()).await.unwrap();
    let next = store.pending(embedder.model(), 8).await.unwrap();
    let texts: Vec<&str> = next.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts.len(), 8);
    for said in ["Bob speaks now.", "Alice speaks now.", "What was said as number 0."] {
        assert!(texts.contains(&said), "{said} {texts:?}");
    }
}

/// The same is true of the keywords.
#[tokio::test]
async fn each_session_has_its_turn_with_the_index() {
    let app = TestApp::builder().embedder(Arc::new(Busy::loading())).start().await;
    let (alice, bob) = (app.ctx("alice").await, app.ctx("bob").await);
    let history = (0..30).map(|number| said("user", &format!("What was said as number {number}."))).collect();
    app.service().save_session(&alice, session("history", history)).await.unwrap();
    app.service().save_session(&bob, session("short", vec![said("user", "Bob speaks now.")])).await.unwrap();
    let store = PgStore::connect(app.database_url(), PgOptions::default()).await.unwrap();
    let next = store.unindexed(None, 4).await.unwrap();
    assert_eq!(next.len(), 4);
    assert!(next.iter().any(|message| message.content == "Bob speaks now."), "{next:?}");
    assert!(next.iter().any(|message| message.content == "What was said as number 0."), "{next:?}");
}

/// Nobody waits for the index: what has words of the query is in it when the answer is made.
#[tokio::test]
async fn what_is_not_indexed_yet_is_found_by_its_words() {
    let embedder = Arc::new(Busy::loading());
    let app = TestApp::builder().embedder(embedder.clone()).start().await;
    let (service, alice, bob) = (app.service(), app.ctx("alice").await, app.ctx("bob").await);
    let mut history: Vec<_> = (0..600).map(|number| said("user", &format!("Small talk, number {number}."))).collect();
    history.push(said("assistant", "The Saffron hides in the blue tin."));
    history.push(said("user", "番红花在蓝色的罐子里。"));
    let saved = service.save_session(&alice, session("kitchen", history)).await.unwrap();
    // What began to wait for the model waits for ever, so nothing is indexed in the background.
    embedder.is_loading.store(false, Ordering::Relaxed);

    for (query, number) in [("where is the saffron?", 601), ("番红花", 602), ("number 417", 418)] {
        let request = RecallRequest { query: query.into(), ..RecallRequest::default() };
        let found = service.recall(&alice, request.clone()).await.unwrap();
        let hit = found.hits.first().and_then(|hit| hit.message.as_ref()).expect(query);
        assert_eq!((hit.session_id.as_str(), hit.number), ("kitchen", number), "{query}");
        assert!(found.pending > 400, "{query}: {}", found.pending);
        let matches = service.search_session(&alice, saved.id, query, None).await.unwrap();
        assert_eq!(matches.first().map(|found| found.number), Some(number), "{query}");
        let of_bob = service.recall(&bob, request).await.unwrap();
        assert!(of_bob.hits.is_empty() && of_bob.pending == 0, "{query}");
    }
    let elsewhere = RecallRequest { query: "saffron".into(), kind: Some(Kind::Memory), ..RecallRequest::default() };
    assert!(service.recall(&alice, elsewhere).await.unwrap().hits.is_empty());
}

/// What is in the trash is never indexed, so nobody waits for it.
#[tokio::test]
async fn what_was_forgotten_before_it_was_indexed_is_not_pending() {
    let app = TestApp::builder().embedder(Arc::new(Busy::default())).start().await;
    let (service, alice) = (app.service(), app.ctx("alice").await);
    let history = (0..5).map(|number| said("user", &format!("What was said as number {number}."))).collect();
    let saved = service.save_session(&alice, session("history", history)).await.unwrap();
    let waits = format!("update messages set indexed = false where memory_id = '{}'", saved.id);
    service.forget(&alice, &[saved.id]).await.unwrap();
    app.database().await.execute_unprepared(&waits).await.unwrap();
    let request = RecallRequest { query: "number".into(), ..RecallRequest::default() };
    assert_eq!(service.recall(&alice, request).await.unwrap().pending, 0);
}
